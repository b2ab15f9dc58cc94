"""Negated numbers, differences and absolute values, which ptxas gets wrong where they wrap around.

-x and |x| of a type's least number are that number again, for LLVM and for whoever wrote the kernel. Older versions of
ptxas have it otherwise (read in machine code of 12.9 and 13.0; 13.5 is right in the first three):

- Of `neg.s16` they make a negation in 32 bits and widen nothing after it, so that what reads the result as a signed
  number (a conversion, comparison, shift or extreme) finds 32768. `sub.u16` of 0 is the same instruction for the
  hardware, and what follows is widened.
- `abs` is never negative to them: `abs.s16` is 32768 in the same places, and `abs.s32(x) < 0` is folded to false. The
  greater one of x and -x has no such name.
- From sm_90 on they make one `VIMNMX3` of two `max.s32` (or `max.s16`, or minima) in a row, and take `neg` for a
  modifier of its second operand; the instruction has none, and `max(max(x, -y), z)` becomes `max(max(x, y), z)`
  (pytorch/pytorch#190973 has it in 12.8 to 13.3). What they do not take for a negation is computed: -y = ~(y - 1), for
  two instructions where `neg` was one or none.
- Of `mul.hi.u32` less a number of 64 bits it makes `IMAD.HI` that adds the negated lower half, and takes the carry of
  that for the one of the difference (12.8 to 13.5): it lacks one where the lower half is 0. x - y = x + ~y + 1.

Only instructions at the start of a line are looked at: those of LLVM are, and ones under a predicate are not.
"""

from __future__ import annotations

import re

from ...support.patterns import pattern

__all__ = ["with_signs_computed"]

_VIMNMX3 = 90
"""The least capability whose chips have the instruction."""

_EXTREME = pattern(r"\b(?:max|min)\.s(?:32|16)[ \t]+%\w+, (%\w+|-?\d+), (%\w+|-?\d+);")
_COPY = pattern(r"\b(?:mov|selp)\.[bsu](?:32|16)[ \t]+(%\w+), (%\w+|-?\d+)(?:, (%\w+|-?\d+))?(?:, %\w+)?;")
_NEGATION = pattern(r"^([ \t]*)neg\.s(32|16)([ \t]+)(%\w+), (%\w+);", re.MULTILINE)
_DIFFERENCE = pattern(r"^([ \t]*)sub\.s16\b", re.MULTILINE)
_UPPER = pattern(r"\bmul\.hi\.u32[ \t]+(%\w+),")
_WIDENED = pattern(r"\bcvt\.u64\.u32[ \t]+(%\w+), (%\w+);")
_DIFFERENCE_64 = pattern(r"^([ \t]*)sub\.s64([ \t]+)(%\w+), (%\w+), (%\w+|-?\d+);", re.MULTILINE)
_ABSOLUTE = pattern(r"^([ \t]*)abs\.s(16|32|64)([ \t]+)(%\w+), (?!\4\b)(%\w+);", re.MULTILINE)


def with_signs_computed(ptx: str, capability: int) -> str:
    """The same program, in which no sign is left to ptxas that it may lose on a chip of this capability."""
    if "abs.s" in ptx:
        ptx = _ABSOLUTE.sub(_greater_of_both, ptx)
    if "mul.hi.u32" in ptx and "sub.s64" in ptx:
        ptx = _with_carries(ptx)
    if "sub.s16" in ptx:
        ptx = _DIFFERENCE.sub(r"\1sub.u16", ptx)  # that of 0, which may be a register's value, is a `neg`
    if "neg.s" not in ptx:
        return ptx
    compared = _compared(ptx) if capability >= _VIMNMX3 and ("max.s" in ptx or "min.s" in ptx) else set[str]()

    def computed(found: re.Match[str]) -> str:
        indent, bits, space, to, of = found.groups()
        if to in compared:
            return _negated(indent, bits, space, to, of)
        return f"{indent}sub.u16{space}{to}, 0, {of};" if bits == "16" else found[0]

    return _NEGATION.sub(computed, ptx)


def _with_carries(ptx: str) -> str:
    """Differences of 64 bits from the upper half of a product, as sums."""
    upper = set(_UPPER.findall(ptx))
    wide = {to for to, of in _WIDENED.findall(ptx) if of in upper}

    def summed(found: re.Match[str]) -> str:
        indent, space, to, x, y = found.groups()
        if x not in wide:
            return found[0]
        lines = (
            "{ .reg .b64 %below;",
            f"not.b64{space}%below, {y};",
            f"add.s64{space}%below, %below, {x};",
            f"add.s64{space}{to}, %below, 1; }}",
        )
        return "\n".join(indent + line for line in lines)

    return _DIFFERENCE_64.sub(summed, ptx)


def _compared(ptx: str) -> set[str]:
    """Operands of signed minima and maxima, and what those are copies of."""
    compared = {name for found in _EXTREME.finditer(ptx) for name in found.groups()}
    copies = [found.groups() for found in _COPY.finditer(ptx)]
    before = 0
    while before != len(compared):
        before = len(compared)
        compared.update(source for to, *sources in copies if to in compared for source in sources if source)
    return compared


def _negated(indent: str, bits: str, space: str, to: str, of: str) -> str:
    return f"{indent}add.s{bits}{space}{to}, {of}, -1;\n{indent}not.b{bits}{space}{to}, {to};"


def _greater_of_both(found: re.Match[str]) -> str:
    indent, bits, space, to, of = found.groups()
    return f"{_negated(indent, bits, space, to, of)}\n{indent}max.s{bits}{space}{to}, {to}, {of};"
