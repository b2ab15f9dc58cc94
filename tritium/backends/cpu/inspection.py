"""Static analysis of a CPU kernel's assembly: vectors, spills, calls, loops.

kernel.inspect().widths         # {512: 84, 256: 0, 128: 3, 0: 41}: instructions by the width of their vectors
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...support.dataclasses import dataclass
from ...support.lazy import LazyMethod
from ...support.plain import plain
from ..errors import stage_of
from ..findings import Finding, finding_at
from ..listing import Coded, calls_of, interleave, place
from ..roofline import Launch, Roofline, roofline_of
from .machine_code import Line, Loop, loops_of, read_assembly, stack_of, vector_bits
from .target import CPUTarget

__all__ = ["Called", "Inspection", "InnerLoop", "Spills", "get_listing", "inspect"]


class Called(NamedTuple):
    """A function that is called: how often in the text, and in loops of it."""

    name: str
    number: int
    in_loops: int


@dataclass(frozen=True)
class Spills:
    """Vector and general registers that are kept on the stack meanwhile: accesses in the text and in loops of it, and
    the bytes that those of the text move."""

    stores: int
    loads: int
    in_loops: int
    bytes: int


@dataclass(frozen=True)
class InnerLoop:
    """A loop with none inside: where most of it comes from, instructions, the widest vectors (bits; 0: none), and how
    many of its instructions compute single floats."""

    place: str
    instructions: int
    bits: int
    scalar_floats: int


@dataclass(frozen=True)
class Inspection:
    """Everything that is known of a kernel compiled for a CPU; `as_json` has it as plain values.

    `vector_bits` is the width that the target prefers, `widths` counts instructions by that of their vectors (0: they
    work on none), `stack` and `scratch` are bytes of a thread. `roofline` is None unless a launch is given.
    """

    kernel: str
    target: str
    vector_bits: int
    instructions: int
    widths: dict[int, int]
    stack: int
    scratch: int
    spills: Spills
    calls: tuple[Called, ...]
    loops: tuple[InnerLoop, ...]
    roofline: Roofline | None
    findings: tuple[Finding, ...]

    @property
    def floor(self) -> Roofline | None:
        """The former name of `roofline`, accepted for one release."""
        return self.roofline

    _repr_mimebundle_ = LazyMethod("...support.display", __package__)  # what notebooks show

    def as_json(self) -> dict[str, Any]:
        """Dictionaries, lists, numbers and strings."""
        return {**plain(self), "roofline": None if self.roofline is None else self.roofline.as_json()}


def inspect(
    asm: Mapping[str, Any], metadata: Mapping[str, Any], target: CPUTarget, launch: Launch | None = None
) -> Inspection:
    """The inspection of a kernel that was compiled with `line_info`; with the roofline bound of a `launch` that has
    rates."""
    code = read_assembly(stage_of(asm, "asm"), metadata["name"])
    inside, loops = loops_of(code)
    widths = Counter(vector_bits(line) for line in code)
    found = tuple(_loop(code, loop) for loop in loops)
    return Inspection(
        kernel=metadata["name"],
        target=f"cpu:{target.cpu or target.arch}",
        vector_bits=target.vector_bits,
        instructions=len(code),
        widths={bits: widths[bits] for bits in sorted(widths, reverse=True)},
        stack=stack_of(code),
        scratch=metadata.get("scratch_bytes", 0),
        spills=_spills(code, inside),
        calls=tuple(_calls(code, inside)),
        loops=found,
        roofline=None if launch is None else roofline_of(launch, asm, None),
        findings=(*_of_loops(code, loops), *_of_spills(code, loops), *_of_calls(code, inside)),
    )


def get_listing(asm: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """The instructions with a line of the source above what comes from it."""
    code = read_assembly(stage_of(asm, "asm"), metadata["name"])
    rows = [Coded("".join(f"{label}:\n" for label in c.labels) + f"\t{c.text}", c.file, c.line) for c in code]
    return interleave(rows, calls_of(asm.get("llir", "")))


def _spills(code: Sequence[Line], inside: Sequence[bool]) -> Spills:
    touched = [(line, looped) for line, looped in zip(code, inside) if line.stored or line.loaded]
    return Spills(
        sum(1 for line, _ in touched if line.stored),
        sum(1 for line, _ in touched if line.loaded),
        sum(looped for _, looped in touched),
        sum(line.stored + line.loaded for line, _ in touched),
    )


def _calls(code: Sequence[Line], inside: Sequence[bool]) -> Iterator[Called]:
    total: Counter[str] = Counter(line.called for line in code)
    looped: Counter[str] = Counter(line.called for line, within in zip(code, inside) if within)
    for name, number in total.most_common():
        if name:
            yield Called(name, number, looped[name])


def _loop(code: Sequence[Line], loop: Loop) -> InnerLoop:
    body = code[loop.begin : loop.end]
    file, line = _place(body)
    bits = max(vector_bits(c) for c in body)
    return InnerLoop(place(file, line) if line else "", len(body), bits, sum(c.scalar_float for c in body))


def _place(body: Sequence[Line]) -> tuple[str, int]:
    """The line that most of some instructions come from."""
    places = Counter((c.file, c.line) for c in body if c.line)
    return places.most_common(1)[0][0] if places else ("", 0)


# -- what is slow -----------------------------------------------------------------------------------------------------


def _of_loops(code: Sequence[Line], loops: Sequence[Loop]) -> Iterator[Finding]:
    seen = set()
    for loop in loops:
        found = _loop(code, loop)
        if found.scalar_floats and not found.bits and found.place not in seen:
            seen.add(found.place)
            floats = f"one float at a time ({found.scalar_floats} of them)"
            text = f"a loop of {found.instructions} instructions computes {floats}"
            hint = "tiles are computed by vectors: compute on blocks (tl.arange), not in loops over numbers"
            yield finding_at("scalar-loop", *_place(code[loop.begin : loop.end]), text, hint)


def _of_spills(code: Sequence[Line], loops: Sequence[Loop]) -> Iterator[Finding]:
    places: Counter[tuple[str, int]] = Counter()
    for line in (line for loop in loops for line in code[loop.begin : loop.end]):
        if (line.stored or line.loaded) and vector_bits(line):
            places[line.file, line.line] += 1
    for (file, line_number), number in places.most_common(_MOST_LINES):
        spills = f"{number} such instruction{'s' * (number != 1)}"
        text = f"an innermost loop stores or loads spilled vector registers ({spills})"
        yield finding_at(
            "spills", file, line_number, text, "use smaller tiles, or fewer values that are live across the loop"
        )


_MOST_LINES = 4
_HARMLESS = ("memset", "memcpy", "memmove")  # of whole tiles


def _of_calls(code: Sequence[Line], inside: Sequence[bool]) -> Iterator[Finding]:
    seen = set()
    for line, looped in zip(code, inside):
        if looped and line.called and line.called not in _HARMLESS and (line.called, line.line) not in seen:
            seen.add((line.called, line.line))
            text = f"{line.called} is called in a loop, for one number at a time"
            yield finding_at(
                "call-in-loop", line.file, line.line, text, "functions of tl and tl.math are vectorized; others are not"
            )
