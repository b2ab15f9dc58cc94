"""Workarounds for ptxas bugs with 16-bit values, which it keeps in 32-bit registers.

Found on an H100 (2026-11) with ptxas 12.8 and 13.0, and the first two in machine code of 13.5:

- It derives the range of `min.f16(max.f16(x, a), b)`, assumes that the upper half of the 32-bit register is zero (it
  holds garbage), and drops the zero extension. Instructions that read the bits as an unsigned number are wrong by the
  upper half: `setp.gt.u16`, `shr.u16`, `mul.wide.u16`, `cvt.u32.u16`. bf16 and one-sided clamps are right. It derives
  no range for a select: a bound becomes a compare and a select, for two instructions, in programs with unsigned 16-bit
  reads.
- A nested select, `selp.b16 x, a, (selp.b16 y, b, c)`, becomes one instruction that overwrites `a`; where f16 additions
  are packed (`HADD2`, `HFMA2`), one that needs `a`, too, reads the result. A 32-bit select is not packed.
- Of two values that it rounds to f16 together (`F2FP`, for `cvt.rn.bf16.f32` and the like) it drops the mask of the
  lower one, `and.b16`, where both are packed into one word again: |x| of bf16 kept its sign. Masks of sign-extended
  words are kept.

Only instructions at the start of a line are rewritten: LLVM's are, predicated ones are not.
"""

from __future__ import annotations

import re

from ...support.patterns import pattern

__all__ = ["fix_packed_f16"]

_UNSIGNED = pattern(r"\.u16\b|\bsetp\.\w+\.b16\b")
_CONSTANT = pattern(r"^[ \t]*mov\.b16[ \t]+(%\w+), 0x([0-9A-Fa-f]+);", re.MULTILINE)
_EXTREME = pattern(r"^([ \t]*)(min|max)\.(NaN\.)?f16([ \t]+)(%\w+), (%\w+), (%\w+);", re.MULTILINE)
_MAGNITUDE = 0x7FFF

_ROUNDED = pattern(r"\bcvt\.[\w.]*\bb?f16\.f32[ \t]+(%\w+),")
_MASK = pattern(r"^([ \t]*)and\.b16[ \t]+(%\w+), (%\w+), (-?\d+);", re.MULTILINE)

_ADDITION = pattern(r"\b(?:add|sub|mul|fma)\.[\w.]*b?f16\b")
_SELECT = pattern(r"^([ \t]*)selp\.b16[ \t]+(%\w+), ([%\w-]+), ([%\w-]+), (%\w+);", re.MULTILINE)


def fix_packed_f16(ptx: str) -> str:
    """The same program without these patterns."""
    if ("min.f16" in ptx or "min.NaN.f16" in ptx) and _UNSIGNED.search(ptx):
        ptx = _hide_ranges(ptx)
    if "selp.b16" in ptx and _ADDITION.search(ptx):
        ptx = _widen_selects(ptx)
    if "and.b16" in ptx:
        ptx = _widen_masks(ptx)
    return ptx


def _hide_ranges(ptx: str) -> str:
    """Clamps to constants (LLVM has them in registers) become selects: the upper bounds, and the lower bounds where an
    upper one is zero, whose sign a select would not keep."""
    constants = {name: int(bits, 16) & _MAGNITUDE for name, bits in _CONSTANT.findall(ptx)}
    upper = [constants.get(a, constants.get(b)) for _, kind, *_, a, b in _EXTREME.findall(ptx) if kind == "min"]
    kinds = ("min", "max") if 0 in upper else ("min",)

    def chosen(found: re.Match[str]) -> str:
        indent, kind, nan, space, to, a, b = found.groups()
        number, bound = (b, a) if a in constants else (a, b)
        if kind not in kinds or not constants.get(bound):
            return found[0]
        relation = ("lt" if kind == "min" else "gt") + ("u" if nan else "")
        lines = (  # the select is on a line of its own, for `_widen_selects`
            "{ .reg .pred %within;",
            f"setp.{relation}.f16{space}%within, {number}, {bound};",
            f"selp.b16{space}{to}, {number}, {bound}, %within; }}",
        )
        return "\n".join(indent + line for line in lines)

    return _EXTREME.sub(chosen, ptx)


def _widen_selects(ptx: str) -> str:
    """Of nested selects, the outer ones become 32-bit selects."""
    chosen = {found[2] for found in _SELECT.finditer(ptx)}

    def widened(found: re.Match[str]) -> str:
        indent, to, a, b, condition = found.groups()
        if a not in chosen and b not in chosen:
            return found[0]
        return (
            f"{indent}{{ .reg .b32 %this, %that; {_wide('%this', a)} {_wide('%that', b)} "
            f"selp.b32 %this, %this, %that, {condition}; cvt.u16.u32 {to}, %this; }}"
        )

    return _SELECT.sub(widened, ptx)


def _widen_masks(ptx: str) -> str:
    """Masks of values that were just rounded become 32-bit masks."""
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
