"""Keep a select of compared floats from becoming a minimum or maximum that orders zeros otherwise.

LLVM 22 selects `llvm.minnum` for

    %c = fcmp olt float %x, 0.0
    %r = select i1 %c, float %x, float 0.0

without a flag that allows it (`matchSelectPattern` in instruction selection; later releases do not). Of -0.0 and 0.0
the select takes the second, since neither is less; the hardware's minimum takes -0.0 on NVIDIA GPUs and AArch64, and
either on x86. Where the two may differ, the arms change places and the condition is negated by an instruction of its
own: instruction selection then sees no comparison, and inverts the predicate afterwards. That costs no instruction.

A comparison with a number that is not zero has no such case and stays a minimum; so does `x > 0.0 ? x : 0.0`, whose
zero is that of the maximum.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence

from ..support.patterns import pattern

__all__ = ["without_minmax_selects"]

_TYPE = r"(?:<\d+ x )?(?:half|bfloat|float|double)>?"
_VALUE = r"(?:%[\w$.-]+|%\"[^\"]*\"|zeroinitializer|splat \([^)]*\)|<[^>]*>|[-+.\w]+)"
_COMPARISON = pattern(
    rf"^ *(?P<name>%[\w$.-]+) = fcmp (?:\w+ )*?(?P<predicate>[ou](?:lt|le|gt|ge)) (?P<type>{_TYPE}) "
    rf"(?P<a>{_VALUE}), (?P<b>{_VALUE})(?=$|, !|\s*;)",
)
_SELECT = pattern(
    r"^(?P<indent> *)(?P<name>%[\w$.-]+) = select (?P<flags>(?:\w+ )*?)"
    r"(?P<mask>i1|<\d+ x i1>) (?P<condition>%[\w$.-]+), "
    rf"(?P<type>{_TYPE}) (?P<x>{_VALUE}), (?P=type) (?P<y>{_VALUE})(?P<rest>$|, !.*$|\s*;.*$)",
)
_NUMBER = pattern(r"(?:splat \(\w+ )?([-+.\w]+)\)?")


def without_minmax_selects(llir: str) -> str:
    """LLVM's text `llir` with the same meaning, or `llir` itself where no select needs a change."""
    if "fcmp" not in llir or "select" not in llir:
        return llir
    lines, changed = llir.split("\n"), False
    for comparisons, selects in _functions(lines):
        for at in selects:
            found = _SELECT.match(lines[at])
            comparison = None if found is None else comparisons.get(found["condition"])
            if found is not None and comparison is not None and _may_differ(comparison, found["x"], found["y"]):
                lines[at] = _inverted(found, llir)
                changed = True
    return "\n".join(lines) if changed else llir


def _functions(lines: Sequence[str]) -> Iterator[tuple[dict[str, re.Match[str]], list[int]]]:
    """The comparisons of floats of each function by name, and the indices of its lines with selects; blocks may be in
    any order."""
    comparisons: dict[str, re.Match[str]] = {}
    selects: list[int] = []
    for at, line in enumerate(lines):
        if " = fcmp " in line:
            found = _COMPARISON.match(line)
            if found is not None:
                comparisons[found["name"]] = found
        elif " = select " in line:
            selects.append(at)
        elif line == "}":
            if comparisons and selects:
                yield comparisons, selects
            comparisons, selects = {}, []


def _inverted(found: re.Match[str], llir: str) -> str:
    """The lines of a select with its arms exchanged and its condition negated."""
    indent, name, mask, ty = found["indent"], found["name"], found["mask"], found["type"]
    ones = "true" if mask == "i1" else "splat (i1 true)"
    opposite = f"%not.{name[1:]}"
    while f"{opposite} =" in llir:
        opposite += "."
    arms = f"{ty} {found['y']}, {ty} {found['x']}"
    return (
        f"{indent}{opposite} = xor {mask} {found['condition']}, {ones}\n"
        f"{indent}{name} = select {found['flags']}{mask} {opposite}, {arms}{found['rest']}"
    )


def _may_differ(comparison: re.Match[str], x: str, y: str) -> bool:
    """Whether a minimum or maximum in the place of `comparison ? x : y` may have another sign where both are zero."""
    a, b = comparison["a"], comparison["b"]
    straight = _alike(a, x) and _alike(b, y)
    if not straight and not (_alike(a, y) and _alike(b, x)):
        return False
    numbers = [_number(v) for v in (x, y)]
    if any(n is not None and n != 0.0 for n in numbers):
        return False
    relation = comparison["predicate"][1:]
    maximum = (relation[0] == "g") == straight
    equal, other = numbers if relation[1] == "e" else reversed(numbers)  # what the select takes of equal operands
    zero = equal if equal is not None else other
    if zero is None:
        return True
    upper = not _is_negative(zero)
    return (upper == maximum) if equal is None else (upper != maximum)


def _alike(a: str, b: str) -> bool:
    """The same value, but for the sign of a zero."""
    return a == b or (_number(a) == 0.0 and _number(b) == 0.0)


def _is_negative(zero: float) -> bool:
    return str(zero)[0] == "-"


def _number(value: str) -> float | None:
    """The constant in every lane; None for anything else."""
    if value[0] in "%<":
        return None
    if value == "zeroinitializer":
        return 0.0
    found = _NUMBER.fullmatch(value)
    text = found[1] if found else ""
    if text.startswith("0x"):
        return _from_bits(text)
    try:
        return float(text)
    except ValueError:
        return None


def _from_bits(text: str) -> float:
    """Of 0x8000000000000000 and its like, only zero and its sign matter."""
    if text[2] in "HR":
        bits = int(text[3:], 16) << 48
    else:
        bits = int(text[2:], 16) if text[2] not in "KLM" else 1
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
