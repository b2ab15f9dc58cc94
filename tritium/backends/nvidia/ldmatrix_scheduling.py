"""Sink shared-memory loads of MMA operands (`ldmatrix`, `ld.shared`) towards the `mma.sync` that use them.

The lowering loads an operand as a whole where its dot begins, or earlier, where several dots share a wait:

    read a0    read a1    read b0    read b1    mma a0 b0    mma a1 b1

All of it is live while the first MMAs run, unless the assembler schedules it otherwise. Here a load sinks until
`LOOKAHEAD` MMAs are between it and its first use:

    read a0    read b0    read a1    mma a0 b0    read b1    mma a1 b1                (lookahead of one)

Then only a few fragments are live, not two whole operands. Where registers suffice the assembler finds a good schedule
itself, at times a better one: this is for kernels that spill, and tried (`spill_retry`).

Nothing moves across instructions that may write memory or synchronize, or across labels and branches: only across
instructions that are known to read memory or to work on registers alone. Loads for a later block stay: they are for
the next iteration. Line numbers stay, too, so that a load that moves counts as part of the dot there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ...support.patterns import pattern

__all__ = ["LOOKAHEAD", "sink_shared_loads"]

LOOKAHEAD = 8
"""MMAs between a load and its first use: an f16 MMA takes 8 cycles on Ampere, the latency of shared memory is 30."""

_READ = pattern(r"\t(?:ldmatrix\.sync\.|ld\.shared\.)[^;]*;$")
_MMA = pattern(r"\tmma\.sync\.[^;]*;$")
_REGISTERS = pattern(
    r"\t(?:abs|add|addc|and|bfe|bfi|bfind|bmsk|brev|clz|cnot|copysign|cos|cvt|cvta|div|dp4a|ex2|fma|fns|ld\.param|lg2|lop3|mad"
    r"|madc|max|min|mov|mul|mul24|neg|not|or|popc|prmt|rcp|rem|rsqrt|selp|set|setp|shf|shfl\.sync|shl|shr|sin|slct|sqrt|sub"
    r"|subc|szext|tanh|testp|xor)\.?[^;]*;$"
)
_NEUTRAL = pattern(r"\s*(?://.*)?$|\t\.loc\b|\$L__tmp\d+:$")
_REGISTER = pattern(r"%\w+")
_RESULT = pattern(r"\t\S+\s+(\{[^}]*\}|%\w+(?:\|%\w+)?)")


def sink_shared_loads(ptx: str) -> str:
    """The text with sunk loads."""
    lines = ptx.split("\n")
    if not any(_MMA.match(line) for line in lines):
        return ptx
    out: list[str] = []
    start = 0
    for end in range(len(lines) + 1):
        if end == len(lines) or not _may_sink_past(lines[end]):
            out += _ordered(lines[start:end])
            out += lines[end : end + 1]
            start = end + 1
    return "\n".join(out)


def _may_sink_past(line: str) -> bool:
    return any(kind.match(line) for kind in (_NEUTRAL, _REGISTERS, _READ, _MMA))


def _ordered(lines: Sequence[str]) -> Sequence[str]:
    """Schedule the lines between two barriers to motion."""
    mmas = [i for i, line in enumerate(lines) if _MMA.match(line)]
    places = _places(lines, mmas) if mmas else {}
    if not places:
        return lines
    moved: dict[int, list[str]] = {}
    for i in sorted(places):
        moved.setdefault(places[i], []).append(lines[i])
    return [text for i, line in enumerate(lines) for text in (*moved.get(i, ()), *(() if i in places else (line,)))]


def _places(lines: Sequence[str], mmas: list[int]) -> dict[int, int]:
    """Loads that move -> the MMA before which they are placed.

    A load stays before uses and writes of its registers, and before writes of the registers of its address.
    """
    places: dict[int, int] = {}
    touched: dict[str, int] = {}  # register -> the next line that accesses it
    written: dict[str, int] = {}
    following = len(mmas)  # the first MMA after the line
    for i in range(len(lines) - 1, -1, -1):
        line = lines[i]
        if following and mmas[following - 1] == i:
            following -= 1
        if _NEUTRAL.match(line):
            continue
        registers = _REGISTER.findall(line)
        found = _RESULT.match(line)
        results = [] if found is None else _REGISTER.findall(found[1])
        if _READ.match(line):
            uses = [touched[r] for r in results if r in touched]
            until = min([*uses, *(written[r] for r in registers if r in written)], default=-1)
            first = bisect_left(mmas, until)  # MMAs before the first use
            if uses and first - LOOKAHEAD > following:
                places[i] = mmas[first - LOOKAHEAD]
        for register in registers:
            touched[register] = i
        for register in results:
            written[register] = i
    return places
