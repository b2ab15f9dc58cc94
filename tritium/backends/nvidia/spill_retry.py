"""Retries for kernels that spill: other PTX and other assembler options, in turn, until one does not spill.

ptxas neither knows the occupancy of a launch, nor does it find the schedule with the lowest register pressure. Each
round of `retry_rounds` is some texts, and assembler options for all of them. A round is tried where all before it spill
and, from the second on, where few registers spill (`worth_retrying`):

| round | texts | options |
|---|---|---|
| 1 | with `.minnctapersm` (`with_min_ctas_per_sm`); with shared loads sunk to their MMAs (`ldmatrix_scheduling`) | |
| 2 | the same, and the first text | no faster code for more registers |
| 3 | LLVM's schedule for register pressure (`reordered`), and that with sunk loads | |
| 4 | those two | no faster code for more registers |

All keep the occupancy of the first code, so that fewer spills do not cost occupancy. A round takes up to 0.5 s for long
texts; kernels without spills do not pay for it. With enough cores (`assemble_rounds`), the texts of rounds 1 and 2 are
assembled in parallel, and those of 3 and 4: the choice is the same.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from ...support.dataclasses import dataclass
from ...support.patterns import pattern
from ..errors import PTXASError
from .assembler import Assembler, Resources
from .ldmatrix_scheduling import sink_shared_loads

__all__ = ["USAGE_LEVEL", "SpillRetry", "assemble_rounds", "retry_rounds", "with_min_ctas_per_sm", "worth_retrying"]

Round = tuple[list[str], list[str]]
"""Texts, and the assembler options for all of them."""

USAGE_LEVEL = ("--register-usage-level", "-regUsageLevel")
"""The long and the short spelling of the assembler option."""

MINIMIZE_REGISTERS = [f"{USAGE_LEVEL[0]}=0"]
"""Disables optimizations that trade registers for speed (`ptxas --help`: levels 0 to 10, default 5). A matmul of e5m2
floats, 128 x 128 x 64, 4 warps, on sm_80 spills 92 bytes in a loop of 724 instructions without it, and none in a loop
of 679 with it (ptxas 13.0)."""


@dataclass(frozen=True)
class SpillRetry:
    """The permitted retries: for `ctas_per_sm` (None: the user limits the registers), with `more` registers available
    at that occupancy; with `sink_loads`; another `usage_level`; LLVM's `reordered` schedule."""

    ctas_per_sm: int | None
    more: bool = False
    sink_loads: bool = True
    usage_level: bool = True
    reordered: bool = True


def retry_rounds(
    ptx: str, options: SpillRetry, reordered: Callable[[], str | None], worth: Callable[[], bool]
) -> Iterator[list[Round]]:
    """The rounds of a text, then those of LLVM's schedule for register pressure, if `reordered` returns one; several at
    once if they do not depend on each other's results. `worth` applies `worth_retrying` to the best result so far."""
    same, late = _variants(ptx, options)
    first: Round = ([*(same if options.more else []), *late], [])
    again: list[Round] = [([*same, *late], MINIMIZE_REGISTERS)] if options.usage_level else []
    if worth():
        yield [first, *again]
    else:
        yield [first]
        if worth():
            yield again
    other = reordered() if options.reordered and worth() else None
    if other is not None and other != ptx:
        same, late = _variants(other, options)
        texts = [*same, *late]
        yield [(texts, []), (texts, MINIMIZE_REGISTERS)] if options.usage_level else [(texts, [])]


def worth_retrying(found: Resources) -> bool:
    """Whether few enough registers spill that another schedule may avoid it: at most a quarter of those in use.

    Of 30 kernels that spill (`examples/` and tutorials for sm_80 and sm_90, various tiles; ptxas 13.5) no later round
    reduced spills of more than 63 registers (beside 255 in use) by more than a tenth, and most increased them; spills
    of 59 registers became 7, 43 became 26, 23 and 17 none.
    """
    return found.spilled * 4 <= found.registers


def assemble_rounds(
    rounds: list[Round], start: Callable[[list[str]], Assembler], kernel: str, cores: int
) -> Iterator[list[tuple[bytes, Resources]]]:
    """Assemble each round in turn; texts that the assembler refuses are left out.

    Up to `cores` assemblers run at once, those of later rounds included: they are killed if the caller stops early.
    """
    waiting = iter([(text, options) for texts, options in rounds for text in texts])
    running: deque[tuple[Assembler | None, str]] = deque()
    try:
        for texts, _ in rounds:
            made: list[tuple[bytes, Resources]] = []
            for _ in texts:
                for text, options in islice(waiting, max(cores, 1) - len(running)):
                    running.append((_begun(start, text, options), text))
                run, text = running.popleft()
                found = None if run is None else run.finish_if_possible(text, kernel)
                made += [] if found is None else [found]
            yield made
    finally:
        for run, _ in running:
            if run is not None:
                run.close()


def _begun(start: Callable[[list[str]], Assembler], text: str, options: list[str]) -> Assembler | None:
    """An assembler started on the text; None if it cannot be started."""
    try:
        run = start(options)
    except PTXASError:
        return None
    try:
        run.begin(text)
    except PTXASError:
        run.close()
        return None
    return run


def _variants(ptx: str, options: SpillRetry) -> tuple[list[str], list[str]]:
    """The text with `.minnctapersm`, and the same with sunk loads where that differs."""
    late = sink_shared_loads(ptx) if options.sink_loads else ptx
    texts = [ptx] if late == ptx else [ptx, late]
    if options.ctas_per_sm is not None:
        texts = [text for one in texts if (text := with_min_ctas_per_sm(one, options.ctas_per_sm)) is not None]
    return texts[:1], texts[1:]


_THREADS = pattern(r"^\s*\.reqntid\s+(\d+)", re.M)
_LIMITS = pattern(r"^\s*\.(?:maxnreg|minnctapersm)\b", re.M)


def with_min_ctas_per_sm(ptx: str, ctas: int) -> str | None:
    """The text with `.minnctapersm`, which lets ptxas use the registers of `ctas` CTAs per SM; None where the text
    limits the registers or the CTAs itself.

    ptxas does not know the dynamic shared memory of a launch. It spills to allow another CTA per SM, which shared
    memory may not allow in any case: attention with a head size of 128 on sm_80, 64 x 64, 8 warps, 88 KiB, has 128
    registers and 8 bytes of spills, and 248 and none with `.minnctapersm 1`; gradients of keys, 64 x 128, 4 warps, 65
    KiB, have 168 and 1,856, then, for two, 255 and 580. And it fails badly: 128 x 128, 4 warps, has 32 registers and
    35,616 bytes, then 255 and 2,840.
    """
    found = None if _LIMITS.search(ptx) else _THREADS.search(ptx)
    return f"{ptx[: found.end()]} .minnctapersm {ctas}{ptx[found.end() :]}" if found else None
