"""Reads of shared memory for products by one warp (`mma.sync`) begin a few products before the first that needs them.

An operand is read whole where its product begins, or earlier, where several products share a wait:

    read a0    read a1    read b0    read b1    mma a0 b0    mma a1 b1

All of it is in registers while the first products run, unless the assembler orders it otherwise. Here a read moves down
until `AHEAD` products are between it and the first line that uses it:

    read a0    read b0    read a1    mma a0 b0    read b1    mma a1 b1                (one product ahead)

What a thread multiplies with at a time is then a few fragments, not all of two operands. Where registers suffice the
assembler finds a good order by itself, at times a better one: this is for kernels that spill, and tried (`stages`).

Nothing moves across what may write memory or wait for others, or across labels and branches: all but instructions that
are known to work on registers alone or to read. What a later block needs stays: it is for the next iteration. A line
number stays, too, so that a read that moves counts as part of the product there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from ...support.patterns import pattern

__all__ = ["AHEAD", "late_reads"]

AHEAD = 8
"""Products between a read and the first that it is for: a tensor core of Ampere takes 8 clocks for one of f16, shared
memory answers after 30."""

_READ = pattern(r"\t(?:ldmatrix\.sync\.|ld\.shared\.)[^;]*;$")
_PRODUCT = pattern(r"\tmma\.sync\.[^;]*;$")
_REGISTERS = pattern(
    r"\t(?:abs|add|addc|and|bfe|bfi|bfind|bmsk|brev|clz|cnot|copysign|cos|cvt|cvta|div|dp4a|ex2|fma|fns|ld\.param|lg2|lop3|mad"
    r"|madc|max|min|mov|mul|mul24|neg|not|or|popc|prmt|rcp|rem|rsqrt|selp|set|setp|shf|shfl\.sync|shl|shr|sin|slct|sqrt|sub"
    r"|subc|szext|tanh|testp|xor)\.?[^;]*;$"
)
_NEUTRAL = pattern(r"\s*(?://.*)?$|\t\.loc\b|\$L__tmp\d+:$")
_REGISTER = pattern(r"%\w+")
_RESULT = pattern(r"\t\S+\s+(\{[^}]*\}|%\w+(?:\|%\w+)?)")


def late_reads(ptx: str) -> str:
    """The text with reads for products moved down."""
    lines = ptx.split("\n")
    if not any(_PRODUCT.match(line) for line in lines):
        return ptx
    out: list[str] = []
    start = 0
    for end in range(len(lines) + 1):
        if end == len(lines) or not _may_be_passed(lines[end]):
            out += _ordered(lines[start:end])
            out += lines[end : end + 1]
            start = end + 1
    return "\n".join(out)


def _may_be_passed(line: str) -> bool:
    return any(kind.match(line) for kind in (_NEUTRAL, _REGISTERS, _READ, _PRODUCT))


def _ordered(lines: Sequence[str]) -> Sequence[str]:
    """Lines between two that nothing passes."""
    products = [i for i, line in enumerate(lines) if _PRODUCT.match(line)]
    places = _places(lines, products) if products else {}
    if not places:
        return lines
    moved: dict[int, list[str]] = {}
    for i in sorted(places):
        moved.setdefault(places[i], []).append(lines[i])
    return [text for i, line in enumerate(lines) for text in (*moved.get(i, ()), *(() if i in places else (line,)))]


def _places(lines: Sequence[str], products: list[int]) -> dict[int, int]:
    """Reads that move -> the product in front of which they stand then.

    A read stays in front of whatever uses or writes its registers, and of what writes those of its address.
    """
    places: dict[int, int] = {}
    touched: dict[str, int] = {}  # register -> the next line that has it
    written: dict[str, int] = {}
    behind = len(products)  # the first product behind the line
    for i in range(len(lines) - 1, -1, -1):
        line = lines[i]
        if behind and products[behind - 1] == i:
            behind -= 1
        if _NEUTRAL.match(line):
            continue
        registers = _REGISTER.findall(line)
        found = _RESULT.match(line)
        results = [] if found is None else _REGISTER.findall(found[1])
        if _READ.match(line):
            uses = [touched[r] for r in results if r in touched]
            until = min([*uses, *(written[r] for r in registers if r in written)], default=-1)
            first = bisect_left(products, until)  # products in front of who needs it
            if uses and first - AHEAD > behind:
                places[i] = products[first - AHEAD]
        for register in registers:
            touched[register] = i
        for register in results:
            written[register] = i
    return places
