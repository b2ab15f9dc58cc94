"""Numbers of 16 bits, which ptxas keeps in registers of 32 and gets wrong in three cases.

Found on an H100 (2026-11) with ptxas 12.8 and 13.0, and the first two in machine code of 13.5:

- It knows the range of `min.f16(max.f16(x, a), b)`, takes the 16 bits of the result for a register of 32 with zeros in
  front (there is whatever stood beside them), and leaves out what would put zeros there. All that reads the bits as a
  number without sign is wrong by its upper half: `setp.gt.u16`, `shr.u16`, `mul.wide.u16`, `cvt.u32.u16`. bf16 and
  numbers held from one side are right. It does not know the range of a choice: a bound that compares and chooses says
  the same for two instructions, in programs that read 16 bits without sign at all.
- Of a choice among three, `selp.b16 x, a, (selp.b16 y, b, c)`, it makes one instruction that changes `a` where it
  stands; where sums of halves become sums of pairs (`HADD2`, `HFMA2`), one that needs `a`, too, reads what was chosen.
  A choice of 32 bits is none of halves.
- Of two numbers that it rounds to halves together (`F2FP`, for `cvt.rn.bf16.f32` and its like) it forgets the mask of
  the lower one, `and.b16`, where both are put into one word again: |x| of bf16 kept its sign. Masked as words with a
  sign they are put together behind that.

Only instructions at the start of a line are looked at: those of LLVM are, and ones under a predicate are not.
"""

from __future__ import annotations

import re

from ...support.patterns import pattern

__all__ = ["with_halves_apart"]

_WITHOUT_SIGN = pattern(r"\.u16\b|\bsetp\.\w+\.b16\b")
_CONSTANT = pattern(r"^[ \t]*mov\.b16[ \t]+(%\w+), 0x([0-9A-Fa-f]+);", re.MULTILINE)
_EXTREME = pattern(r"^([ \t]*)(min|max)\.(NaN\.)?f16([ \t]+)(%\w+), (%\w+), (%\w+);", re.MULTILINE)
_MAGNITUDE = 0x7FFF

_ROUNDED = pattern(r"\bcvt\.[\w.]*\bb?f16\.f32[ \t]+(%\w+),")
_MASK = pattern(r"^([ \t]*)and\.b16[ \t]+(%\w+), (%\w+), (-?\d+);", re.MULTILINE)

_SUM = pattern(r"\b(?:add|sub|mul|fma)\.[\w.]*b?f16\b")
_CHOICE = pattern(r"^([ \t]*)selp\.b16[ \t]+(%\w+), ([%\w-]+), ([%\w-]+), (%\w+);", re.MULTILINE)


def with_halves_apart(ptx: str) -> str:
    """The same program, in which none of these occurs."""
    if ("min.f16" in ptx or "min.NaN.f16" in ptx) and _WITHOUT_SIGN.search(ptx):
        ptx = _ranges_hidden(ptx)
    if "selp.b16" in ptx and _SUM.search(ptx):
        ptx = _choices_widened(ptx)
    if "and.b16" in ptx:
        ptx = _masks_widened(ptx)
    return ptx


def _ranges_hidden(ptx: str) -> str:
    """Bounds that are constants (LLVM has them in registers) are choices: the upper ones, and the lower ones where an
    upper one is zero, whose sign a choice would not keep."""
    constants = {name: int(bits, 16) & _MAGNITUDE for name, bits in _CONSTANT.findall(ptx)}
    upper = [constants.get(a, constants.get(b)) for _, kind, *_, a, b in _EXTREME.findall(ptx) if kind == "min"]
    kinds = ("min", "max") if 0 in upper else ("min",)

    def chosen(found: re.Match[str]) -> str:
        indent, kind, nan, space, to, a, b = found.groups()
        number, bound = (b, a) if a in constants else (a, b)
        if kind not in kinds or not constants.get(bound):
            return found[0]
        relation = ("lt" if kind == "min" else "gt") + ("u" if nan else "")
        lines = (  # the choice has one of its own, where `_choices_widened` looks
            "{ .reg .pred %within;",
            f"setp.{relation}.f16{space}%within, {number}, {bound};",
            f"selp.b16{space}{to}, {number}, {bound}, %within; }}",
        )
        return "\n".join(indent + line for line in lines)

    return _EXTREME.sub(chosen, ptx)


def _choices_widened(ptx: str) -> str:
    """Of choices among what was chosen, the outer ones are of 32 bits."""
    chosen = {found[2] for found in _CHOICE.finditer(ptx)}

    def widened(found: re.Match[str]) -> str:
        indent, to, a, b, condition = found.groups()
        if a not in chosen and b not in chosen:
            return found[0]
        return (
            f"{indent}{{ .reg .b32 %this, %that; {_wide('%this', a)} {_wide('%that', b)} "
            f"selp.b32 %this, %this, %that, {condition}; cvt.u16.u32 {to}, %this; }}"
        )

    return _CHOICE.sub(widened, ptx)


def _masks_widened(ptx: str) -> str:
    """Constants that mask what was just rounded mask 32 bits."""
    rounded = set(_ROUNDED.findall(ptx))

    def widened(found: re.Match[str]) -> str:
        indent, to, of, mask = found.groups()
        if of not in rounded:
            return found[0]
        return (
            f"{indent}{{ .reg .b32 %this; cvt.s32.s16 %this, {of}; and.b32 %this, %this, {int(mask) & 0xFFFF}; "
            f"cvt.u16.u32 {to}, %this; }}"
        )

    return _MASK.sub(widened, ptx) if rounded else ptx


def _wide(to: str, of: str) -> str:
    return f"cvt.u32.u16 {to}, {of};" if of.startswith("%") else f"mov.b32 {to}, {int(of, 0) & 0xFFFF};"
