"""Workarounds for ptxas bugs with negation, subtraction and absolute values that wrap around.

-x and |x| of the minimum of a type are that minimum again, in LLVM and in kernels. Older versions of ptxas differ (read
in machine code of 12.9 and 13.0; 13.5 is right in the first three):

- `neg.s16` becomes a 32-bit negation without a sign extension, so that instructions that read the result as a signed
  number (a conversion, comparison, shift, minimum or maximum) see 32768. `sub.u16` of 0 is the same instruction for
  the hardware, and its result is extended.
- `abs` is assumed to be non-negative: `abs.s16` is 32768 in the same places, and `abs.s32(x) < 0` is folded to false.
  The maximum of x and -x is not folded.
- From sm_90 on two `max.s32` (or `max.s16`, or minima) in a row become one `VIMNMX3`, with `neg` as a modifier of its
  second operand; the instruction has none, and `max(max(x, -y), z)` becomes `max(max(x, y), z)` (pytorch/pytorch#190973
  has it in 12.8 to 13.3). A negation that ptxas does not recognize is computed: -y = ~(y - 1), two instructions instead
  of one or none.
- `mul.hi.u32` minus a 64-bit number becomes `IMAD.HI` that adds the negated lower half, and its carry is used for that
  of the subtraction (12.8 to 13.5): it lacks one where the lower half is 0. x - y = x + ~y + 1.

Only instructions at the start of a line are rewritten: LLVM's are, predicated ones are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...support.patterns import pattern

__all__ = ["fix_signed_arithmetic"]

_VIMNMX3 = 90
"""The minimum capability with the instruction."""

_EXTREME = pattern(r"\b(?:max|min)\.s(?:32|16)[ \t]+%\w+, (%\w+|-?\d+), (%\w+|-?\d+);")
_COPY = pattern(r"\b(?:mov|selp)\.[bsu](?:32|16)[ \t]+(%\w+), (%\w+|-?\d+)(?:, (%\w+|-?\d+))?(?:, %\w+)?;")
_NEGATION = pattern(r"^([ \t]*)neg\.s(32|16)([ \t]+)(%\w+), (%\w+);")
_DIFFERENCE = pattern(r"^([ \t]*)sub\.s16\b", re.MULTILINE)
_UPPER = pattern(r"\bmul\.hi\.u32[ \t]+(%\w+),")
_WIDENED = pattern(r"\bcvt\.u64\.u32[ \t]+(%\w+), (%\w+);")
_DIFFERENCE_64 = pattern(r"^([ \t]*)sub\.s64([ \t]+)(%\w+), (%\w+), (%\w+|-?\d+);", re.MULTILINE)
_ABSOLUTE = pattern(r"^([ \t]*)abs\.s(16|32|64)([ \t]+)(%\w+), (?!\4\b)(%\w+);", re.MULTILINE)


def fix_signed_arithmetic(ptx: str, capability: int) -> str:
    """The same program without the patterns that ptxas miscompiles for this capability."""
    if "abs.s" in ptx:
        ptx = _ABSOLUTE.sub(_max_with_negation, ptx)
    if "mul.hi.u32" in ptx and "sub.s64" in ptx:
        ptx = _expand_subtractions(ptx)
    if "sub.s16" in ptx:
        ptx = _DIFFERENCE.sub(r"\1sub.u16", ptx)  # that of 0, which may be a register's value, is a `neg`
    return _compute_negations(ptx, capability) if "neg.s" in ptx else ptx


def _compute_negations(ptx: str, capability: int) -> str:
    """Compute negations of 16 bits, and from sm_90 on those of operands of minima and maxima."""
    lines = ptx.split("\n")
    compared = _compared(lines) if capability >= _VIMNMX3 and ("max.s" in ptx or "min.s" in ptx) else set[str]()

    def computed(found: re.Match[str]) -> str:
        indent, bits, space, to, of = found.groups()
        if to in compared:
            return _negated(indent, bits, space, to, of)
        return f"{indent}sub.u16{space}{to}, 0, {of};" if bits == "16" else found[0]

    return "\n".join([_NEGATION.sub(computed, line) if "neg.s" in line else line for line in lines])


def _expand_subtractions(ptx: str) -> str:
    """Expand 64-bit subtractions from the upper half of a multiplication: x + ~y + 1."""
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


def _compared(lines: Sequence[str]) -> set[str]:
    """Operands of signed minima and maxima, and the sources of their copies."""
    extremes = [line for line in lines if "max.s" in line or "min.s" in line]
    compared = {name for line in extremes for found in _EXTREME.finditer(line) for name in found.groups()}
    moves = [line for line in lines if "mov." in line or "selp." in line]
    copies = [found.groups() for line in moves for found in _COPY.finditer(line)]
    before = 0
    while before != len(compared):
        before = len(compared)
        compared.update(source for to, *sources in copies if to in compared for source in sources if source)
    return compared


def _negated(indent: str, bits: str, space: str, to: str, of: str) -> str:
    return f"{indent}add.s{bits}{space}{to}, {of}, -1;\n{indent}not.b{bits}{space}{to}, {to};"


def _max_with_negation(found: re.Match[str]) -> str:
    indent, bits, space, to, of = found.groups()
    return f"{_negated(indent, bits, space, to, of)}\n{indent}max.s{bits}{space}{to}, {to}, {of};"
