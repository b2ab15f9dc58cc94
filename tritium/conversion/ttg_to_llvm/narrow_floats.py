"""8-bit floats on NVIDIA GPUs: `cvt` where the target has it, else integer arithmetic (`llvm.small_floats`).

| conversion | sm_89 and later | before |
|---|---|---|
| e5m2 -> f16 | bytes in place, four at once: e5m2 is the upper half of f16 | the same |
| e4m3 -> f16 | `cvt.rn.f16x2.e4m3x2`, two at once, exact | bytes in place, then packed arithmetic |
| e4m3, e5m2 -> f32, bf16, f64 | by way of f16, exact | by way of f16, exact |
| f16 -> e4m3, e5m2 | `cvt.rn.satfinite.e4m3x2.f16x2`, two at once | in integers |
| f32, bf16, f64 -> e4m3, e5m2 | `cvt.rn.satfinite.e4m3x2.f32`, two at once | in integers |
| towards zero, other formats | in integers | in integers |

(PTX ISA 8.7, section 9.7.9.21.) f64 becomes f32 first, rounded to odd, so that what follows rounds once. Numbers too
large become the largest finite one, NaN stays NaN, as on CPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dialects import tt
from ...ir import TensorType, Type, element_type, f16, f32, f64
from ...layout.mma import copies_of
from ...support import UnsupportedOperation
from ..llvm.small_floats import FORMATS, Words, narrow, stepped_back, widen
from .context import FunctionContext
from .types import llvm_type

__all__ = ["convert_small_floats", "small_float_cast"]

_PTX = {"f8E5M2": "e5m2", "f8E4M3FN": "e4m3"}
#: Names, since the numbers of the two dialects' modes overlap.
_NEAREST, _TOWARDS_ZERO = ("", "rtne", "to_nearest_even"), ("rtz", "toward_zero")


def small_float_cast(e: FunctionContext, op: Any) -> None:
    """Lower a conversion of floats of which at least one has 8 bits."""
    value, result = op.operands[0], op.results[0]
    source, target = element_type(value.type), element_type(result.type)
    mode = getattr(op, "rounding" if isinstance(op, tt.FpToFp) else "roundingmode", None)
    rounding = "" if mode is None else mode.name
    if rounding not in (*_NEAREST, *_TOWARDS_ZERO):
        raise UnsupportedOperation(op, f"with rounding {rounding} is not supported on {e.target.name}")
    for ty in (source, target):
        if ty.width < 16 and ty.name not in FORMATS:  # type: ignore[attr-defined]
            raise UnsupportedOperation(op, f"with {ty} is not supported on {e.target.name}")
    parts = e(value)
    copies = copies_of(e.layout(value)) if isinstance(value.type, TensorType) else 0
    own = [i for i in range(len(parts)) if not i & copies]
    found = convert_small_floats(e, [parts[i] for i in own], source, target, rounding in _TOWARDS_ZERO)
    by_register = dict(zip(own, found))
    e.bind(result, [by_register[i & ~copies] for i in range(len(parts))])


def convert_small_floats(
    e: FunctionContext, parts: list[str], source: Any, target: Any, towards_zero: bool = False
) -> list[str]:
    """Elements of the type `source` as `target`."""
    if source is target:
        return parts
    if source.width == 8:
        return _widened(e, parts, source, target, towards_zero)
    native = target.name in e.target.native_small_floats and not towards_zero
    if native and source is f16:
        return _in_groups(parts, 2, lambda low, high: _halves_to_bytes(e, low, high, _PTX[target.name]))
    singles = [_single(e, part, source) for part in parts]
    if native:
        return _in_groups(singles, 2, lambda low, high: _singles_to_bytes(e, low, high, _PTX[target.name]))
    form, words = FORMATS[target.name], Words(e.op)
    near = [narrow(words, part, form) for part in singles]
    if not towards_zero:
        return near
    return [stepped_back(words, part, n, form) for part, n in zip(singles, near)]


def _widened(e: FunctionContext, parts: list[str], source: Any, target: Any, towards_zero: bool) -> list[str]:
    if source.name not in _PTX:
        words, form = Words(e.op), FORMATS[source.name]
        return _from(e, [widen(words, part, form) for part in parts], f32, target, towards_zero)
    if source.name in e.target.native_small_floats and not (source.name == "f8E5M2" and target is f16):
        halves = _in_groups(parts, 2, lambda low, high: _bytes_to_halves(e, low, high, _PTX[source.name]))
    else:
        halves = _in_groups(parts, 4, lambda *four: _in_place(e, four, source.name == "f8E4M3FN"))
    return _from(e, halves, f16, target, towards_zero)


def _from(e: FunctionContext, parts: list[str], source: Type, target: Any, towards_zero: bool) -> list[str]:
    """f16 or f32 that are 8-bit floats by value, as `target`: exact unless that has 8 bits too."""
    if target.width == 8:
        return convert_small_floats(e, parts, source, target, towards_zero)
    if source is target:
        return parts
    wide = [_single(e, part, source) for part in parts]
    if target is f32:
        return wide
    cast = "fpext" if target is f64 else "fptrunc"
    return [e.op(f"{cast} float {part} to {llvm_type(target)}") for part in wide]


def _single(e: FunctionContext, value: str, source: Any) -> str:
    """A float as f32; f64 rounded to odd (Boldo and Melquiond, 2008), since it is rounded again."""
    if source is f32:
        return value
    if source is not f64:
        return e.op(f"fpext {llvm_type(source)} {value} to float")
    cut = e.target.narrow_double(e, e.current, value, "rz")
    back = e.op(f"fpext float {cut} to double")
    lost = e.op(f"zext i1 {e.op(f'fcmp one double {back}, {value}')} to i32")
    bits = e.op(f"or i32 {e.op(f'bitcast float {cut} to i32')}, {lost}")
    return e.op(f"bitcast i32 {bits} to float")


def _in_groups(parts: list[str], size: int, write: Callable[..., Sequence[str]]) -> list[str]:
    """Apply `write(*group)` to groups of `size` elements; the last group is padded with its last element."""
    out: list[str] = []
    for i in range(0, len(parts), size):
        group = parts[i : i + size]
        out += write(*group, *[group[-1]] * (size - len(group)))
    return out[: len(parts)]


def _pair(e: FunctionContext, ty: str, low: str, high: str, whole: str) -> str:
    """Two elements side by side in an integer."""
    first = e.op(f"insertelement <2 x {ty}> poison, {ty} {low}, i32 0")
    both = e.op(f"insertelement <2 x {ty}> {first}, {ty} {high}, i32 1")
    return e.op(f"bitcast <2 x {ty}> {both} to {whole}")


def _apart(e: FunctionContext, whole: str, value: str, ty: str) -> tuple[str, str]:
    both = e.op(f"bitcast {whole} {value} to <2 x {ty}>")
    low, high = (e.op(f"extractelement <2 x {ty}> {both}, i32 {i}") for i in range(2))
    return low, high


def _bytes_to_halves(e: FunctionContext, low: str, high: str, ptx: str) -> tuple[str, str]:
    pair = _pair(e, "i8", low, high, "i16")
    return _apart(e, "i32", e.asm(f"cvt.rn.f16x2.{ptx}x2 $0, $1;", "=r,h", [("i16", pair)], "i32", False), "half")


def _halves_to_bytes(e: FunctionContext, low: str, high: str, ptx: str) -> tuple[str, str]:
    pair = _pair(e, "half", low, high, "i32")
    text = f"cvt.rn.satfinite.{ptx}x2.f16x2 $0, $1;"
    return _apart(e, "i16", e.asm(text, "=h,r", [("i32", pair)], "i16", False), "i8")


def _singles_to_bytes(e: FunctionContext, low: str, high: str, ptx: str) -> tuple[str, str]:
    """The upper element is the first operand of the instruction."""
    text = f"cvt.rn.satfinite.{ptx}x2.f32 $0, $1, $2;"
    return _apart(e, "i16", e.asm(text, "=h,f,f", [("float", high), ("float", low)], "i16", False), "i8")


def _in_place(e: FunctionContext, four: Sequence[str], is_e4m3: bool) -> list[str]:
    """Four bytes, each as the upper half of an f16; e4m3, whose exponent is wrong there, is put right."""
    word = "poison"
    for i, part in enumerate(four):
        word = e.op(f"insertelement <4 x i8> {word}, i8 {part}, i32 {i}")
    word = e.op(f"bitcast <4 x i8> {word} to i32")
    out: list[str] = []
    for selector in (0x1404, 0x3424):  # bytes 0 and 1, then 2 and 3, with zeros below
        pair = e.target.byte_permute(e, word, selector)
        out += _apart(e, "i32", _from_e4m3(e, pair) if is_e4m3 else pair, "half")
    return out


def _from_e4m3(e: FunctionContext, pair: str) -> str:
    """Two e4m3 in upper bytes as f16: shifted, the exponent is 8 too small, a multiplication by 256 makes that good.

    0x7f is NaN: adding 1 to the magnitude carries into the place of the sign for it alone.
    """
    magnitude = e.op(f"and i32 {pair}, {0x7F007F00}")
    placed = e.op(f"bitcast i32 {e.op(f'lshr i32 {magnitude}, 1')} to <2 x half>")
    scaled = e.op(f"bitcast <2 x half> {e.op(f'fmul <2 x half> {placed}, splat (half 0xH5C00)')} to i32")
    top = e.op(f"and i32 {e.op(f'add i32 {magnitude}, {0x01000100}')}, {0x80008000}")
    nan = e.op(f"sub i32 {top}, {e.op(f'lshr i32 {top}, 6')}")  # 0x8000 becomes 0x7e00, a quiet NaN
    sign = e.op(f"and i32 {pair}, {0x80008000}")
    return e.op(f"or i32 {e.op(f'or i32 {scaled}, {nan}')}, {sign}")
