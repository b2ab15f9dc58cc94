"""Negated operands of signed minima and maxima, which ptxas loses for chips from sm_90 on.

ptxas before 13.4 makes one `VIMNMX3` of two `max.s32` (or `max.s16`, or minima) in a row. It takes `neg` for a modifier
of its second operand; the instruction has none, and `max(max(x, -y), z)` becomes `max(max(x, y), z)` (seen in ptxas
12.9 and 13.0; pytorch/pytorch#190973 has it in 12.8 to 13.3). What it does not take for a negation is computed:
-y = ~(y - 1), for two instructions where `neg` was one or none.
"""

from __future__ import annotations

import re

from ...support.patterns import pattern

__all__ = ["AFFECTED", "with_negations_computed"]

AFFECTED = 90
"""The least capability whose chips have the instruction."""

_EXTREME = pattern(r"\b(?:max|min)\.s(?:32|16)[ \t]+%\w+, (%\w+|-?\d+), (%\w+|-?\d+);")
_COPY = pattern(r"\b(?:mov|selp)\.[bsu](?:32|16)[ \t]+(%\w+), (%\w+|-?\d+)(?:, (%\w+|-?\d+))?(?:, %\w+)?;")
_NEGATION = pattern(r"\bneg\.s(32|16)([ \t]+)(%\w+), (%\w+);")


def with_negations_computed(ptx: str) -> str:
    """The same program, in which no signed minimum or maximum has an operand made by `neg`, or a copy of one."""
    if "neg.s" not in ptx or ("max.s" not in ptx and "min.s" not in ptx):
        return ptx
    compared = {name for found in _EXTREME.finditer(ptx) for name in found.groups()}
    copies = [found.groups() for found in _COPY.finditer(ptx)]
    before = 0
    while before != len(compared):  # what a compared register is a copy of
        before = len(compared)
        compared.update(source for to, *sources in copies if to in compared for source in sources if source)

    def computed(found: re.Match[str]) -> str:
        bits, space, to, of = found.groups()
        if to not in compared:
            return found[0]
        return f"add.s{bits}{space}{to}, {of}, -1;\n\tnot.b{bits}{space}{to}, {to};"

    return _NEGATION.sub(computed, ptx)
