"""Floats of 16 bits held between two constants, whose bits ptxas takes for a whole word.

ptxas knows the range of `min.f16(max.f16(x, a), b)`, takes the 16 bits of the result for a register of 32 with zeros in
front (there is whatever stood beside them), and leaves out what would put zeros there. All that reads the bits as a
number without sign is wrong then, by its upper half: `setp.gt.u16`, `shr.u16`, `mul.wide.u16`, `cvt.u32.u16`. Found on
an H100 (2026-11) with ptxas 12.8 and 13.0, and in machine code of 13.5 for sm_80 and sm_90; bf16 and numbers held from
one side alone are right.

It does not know the range of a choice: of the two, one that compares and chooses says the same for two instructions,
in programs that read 16 bits without sign at all.
"""

from __future__ import annotations

import re

from ...support.patterns import pattern

__all__ = ["with_ranges_hidden"]

_WITHOUT_SIGN = pattern(r"\.u16\b|\bsetp\.\w+\.b16\b")
_CONSTANT = pattern(r"^[ \t]*mov\.b16[ \t]+(%\w+), 0x([0-9A-Fa-f]+);", re.MULTILINE)
_EXTREME = pattern(r"^([ \t]*)(min|max)\.(NaN\.)?f16([ \t]+)(%\w+), (%\w+), (%\w+);", re.MULTILINE)
_MAGNITUDE = 0x7FFF


def with_ranges_hidden(ptx: str) -> str:
    """The same program, in which ptxas does not know the range of a number whose bits may be read without sign.

    Constants stand in registers, as LLVM puts them; a bound of zero, whose sign a choice would not keep, stays.
    """
    if ("min.f16" not in ptx and "min.NaN.f16" not in ptx) or _WITHOUT_SIGN.search(ptx) is None:
        return ptx
    constants = {name: int(bits, 16) for name, bits in _CONSTANT.findall(ptx)}

    def chosen(found: re.Match[str]) -> str:
        indent, kind, nan, space, to, a, b = found.groups()
        number, bound = (b, a) if a in constants else (a, b)
        if not constants.get(bound, 0) & _MAGNITUDE:
            return found[0]
        relation = ("lt" if kind == "min" else "gt") + ("u" if nan else "")
        return (
            f"{indent}{{ .reg .pred %within; setp.{relation}.f16{space}%within, {number}, {bound}; "
            f"selp.b16 {to}, {number}, {bound}, %within; }}"
        )

    return _EXTREME.sub(chosen, ptx)
