"""Other texts and options for kernels that keep registers in memory: tried in turn, up to one that does not.

ptxas neither knows how many blocks there will be on a multiprocessor, nor does it find the order with the fewest
registers. Each round of `attempts` is some texts, and options of the assembler for all of them. Each is tried where all
before it spill, and from the second on where that is little (`is_near`):

| round | texts | options |
|---|---|---|
| 1 | for as many blocks as there is room for (`for_blocks`); reads where products need them (`late_reads`) | |
| 2 | the same, and the first one | no faster code for more registers |
| 3 | what LLVM orders for few registers (`reordered`), and that with late reads | |
| 4 | those two | no faster code for more registers |

All are for as many blocks at a time as the first code has, so that fewer spills are not bought with idle threads. A
round takes up to 0.5 s where texts are long; nothing else pays for them. Where there are cores for it (`assembled`),
the assembler has the texts of 1 and 2 at once, and of 3 and 4: what is chosen is the same.
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
from .late_reads import late_reads

__all__ = ["USAGE_LEVEL", "Asked", "assembled", "attempts", "for_blocks", "is_near"]

Round = tuple[list[str], list[str]]
"""Texts, and options for all of them."""

USAGE_LEVEL = ("--register-usage-level", "-regUsageLevel")
"""What the option of the assembler is called, at length and in short."""

FEW_REGISTERS = [f"{USAGE_LEVEL[0]}=0"]
"""Asks ptxas for none of what makes code faster for more registers (`ptxas --help`: levels 0 to 10, 5 where nobody
says). Products of e5m2 floats, 128 x 128 x 64, 4 warps, on sm_80 spill 92 bytes in a loop of 724 instructions without,
and none in one of 679 with it (ptxas 13.0)."""


@dataclass(frozen=True)
class Asked:
    """What may be tried: for `blocks` at a time (None: somebody has said how many registers there are), which are fewer
    than there are registers for where there is `more` to have; `late` reads; another `usage_level`; what LLVM has
    `reordered`."""

    blocks: int | None
    more: bool = False
    late: bool = True
    usage_level: bool = True
    reordered: bool = True


def attempts(
    ptx: str, asked: Asked, reordered: Callable[[], str | None], near: Callable[[], bool]
) -> Iterator[list[Round]]:
    """The rounds of a text, then those of the one that LLVM orders for few registers, if `reordered` makes one; several
    together if they do not depend on what comes out. `near` says whether the best so far `is_near`."""
    same, late = _told(ptx, asked)
    first: Round = ([*(same if asked.more else []), *late], [])
    again: list[Round] = [([*same, *late], FEW_REGISTERS)] if asked.usage_level else []
    if near():
        yield [first, *again]
    else:
        yield [first]
        if near():
            yield again
    other = reordered() if asked.reordered and near() else None
    if other is not None and other != ptx:
        same, late = _told(other, asked)
        texts = [*same, *late]
        yield [(texts, []), (texts, FEW_REGISTERS)] if asked.usage_level else [(texts, [])]


def is_near(found: Resources) -> bool:
    """Whether so little is in memory that other orders may have it in registers: a quarter of what is there.

    Of 30 kernels that spill (`examples/` and tutorials for sm_80 and sm_90, tiles of all kinds; ptxas 13.5) no later
    round made what was more than 63 beside 255 registers less by more than a tenth, and most made it more; of 59 they
    left 7, of 43 26, of 23 and 17 none.
    """
    return found.spilled * 4 <= found.registers


def assembled(
    rounds: list[Round], start: Callable[[list[str]], Assembler], kernel: str, cores: int
) -> Iterator[list[tuple[bytes, Resources]]]:
    """What the assembler, started with options, makes of each round in turn, but for what it refuses.

    As many texts are with it as there are `cores`, those of rounds that nobody may ask for among them: they are ended
    where somebody does not.
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
    """An assembler at work on the text; None where there can be none."""
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


def _told(ptx: str, asked: Asked) -> tuple[list[str], list[str]]:
    """A text for so many blocks, and the same with late reads where that is another one."""
    late = late_reads(ptx) if asked.late else ptx
    texts = [ptx] if late == ptx else [ptx, late]
    if asked.blocks is not None:
        texts = [text for one in texts if (text := for_blocks(one, asked.blocks)) is not None]
    return texts[:1], texts[1:]


_THREADS = pattern(r"^\s*\.reqntid\s+(\d+)", re.M)
_LIMITS = pattern(r"^\s*\.(?:maxnreg|minnctapersm)\b", re.M)


def for_blocks(ptx: str, blocks: int) -> str | None:
    """The text, telling that a multiprocessor need not have registers for more than so many blocks; None where it says
    for how many it must, or how many registers there may be.

    ptxas does not know the shared memory that a launch will ask for. It spills rather than have no room for another
    block, which may have none in any case: attention of heads of 128 on sm_80, 64 x 64, 8 warps, 88 KiB, has 128
    registers and 8 bytes of spills, and 248 and none when this is said for one block; gradients of keys, 64 x 128,
    4 warps, 65 KiB, have 168 and 1,856, then, for two, 255 and 580. And it gives up: 128 x 128, 4 warps, has 32
    registers and 35,616 bytes, then 255 and 2,840.
    """
    found = None if _LIMITS.search(ptx) else _THREADS.search(ptx)
    return f"{ptx[: found.end()]} .minnctapersm {blocks}{ptx[found.end() :]}" if found else None
