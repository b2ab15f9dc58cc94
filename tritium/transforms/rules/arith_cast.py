"""Rules of conversions between numbers; equations as in `arith.py`.

`sext`, `zext`, `trunc` are `arith.extsi`, `extui`, `trunci`; `iN` is the type before the outermost conversion.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from ...dialects.arith import (
    Bitcast,
    ExtF,
    ExtSI,
    ExtUI,
    FPToSI,
    FPToUI,
    IndexCast,
    IndexCastUI,
    SIToFP,
    TruncF,
    TruncI,
    UIToFP,
)
from ...ir import FloatType, IntegerType, Rule, Type, element_type, rule
from .constants import FOLDABLE_FLOATS, constant_attr, integer_width, signed, splat_of, unsigned

__all__ = ["CAST_RULES"]

_BITS_FORMAT = {"f16": "<e", "f32": "<f", "f64": "<d"}
_INT_FORMAT = {16: "<H", 32: "<I", 64: "<Q"}


@rule(ExtSI, ExtUI, TruncI, IndexCast, IndexCastUI)
def fold_integer_cast(op: Any) -> Any:
    """cast(c1) = c2"""
    c = splat_of(op.in_)
    if c is None:
        return None
    w = integer_width(op.in_.type)
    view = unsigned if op.__class__ in (ExtUI, IndexCastUI) else signed
    return constant_attr(view(c, w), op.out.type)


@rule(ExtSI, ExtUI)
def extend_twice(op: Any) -> Any:
    """sext(sext(x)) = sext(x), zext(zext(x)) = zext(x), sext(zext(x)) = zext(x)"""
    inner = op.in_.defining_op
    if inner.__class__ is op.__class__ or (op.__class__ is ExtSI and inner.__class__ is ExtUI):
        return inner.__class__(inner.in_, out=op.out.type)
    return None


@rule(TruncI)
def truncate_extended(op: Any) -> Any:
    """trunc(ext(x)) = x, or trunc(x), or ext(x), by the widths of x and the result"""
    inner = op.in_.defining_op
    if inner.__class__ not in (ExtSI, ExtUI):
        return None
    x, ty = inner.in_, op.out.type
    if x.type is ty:
        return x
    return TruncI(x, out=ty) if integer_width(x.type) > integer_width(ty) else inner.__class__(x, out=ty)


@rule(TruncI)
def truncate_twice(op: Any) -> Any:
    """trunc(trunc(x)) = trunc(x)"""
    inner = op.in_.defining_op
    return TruncI(inner.in_, out=op.out.type) if inner.__class__ is TruncI else None


@rule(SIToFP, UIToFP)
def convert_extended(op: Any) -> Any:
    """sitofp(sext(x)) = sitofp(x), uitofp(zext(x)) = uitofp(x), sitofp(zext(x)) = uitofp(x)"""
    inner = op.in_.defining_op
    if inner.__class__ is ExtUI:
        return UIToFP(inner.in_, out=op.out.type)
    return SIToFP(inner.in_, out=op.out.type) if inner.__class__ is ExtSI and op.__class__ is SIToFP else None


@rule(IndexCast, IndexCastUI)
def cast_to_index_and_back(op: Any) -> Any:
    """index_cast(index_cast(x)) = x, where the cast in between loses no bits"""
    inner = op.in_.defining_op
    if inner.__class__ is not op.__class__ or inner.in_.type is not op.out.type:
        return None
    return inner.in_ if integer_width(op.in_.type) >= integer_width(op.out.type) else None


def _foldable(*types: Type) -> bool:
    return all(
        not isinstance(t, FloatType) or t.name in FOLDABLE_FLOATS for t in (element_type(given) for given in types)
    )


@rule(ExtF, TruncF)
def fold_float_cast(op: Any) -> Any:
    """cast(c1) = c2, rounded to nearest even"""
    c = splat_of(op.in_)
    if c is None or math.isnan(c) or "roundingmode" in op.attributes or not _foldable(op.in_.type, op.out.type):
        return None
    return constant_attr(c, op.out.type)


@rule(TruncF)
def truncate_extended_float(op: Any) -> Any:
    """truncf(extf(x)) = x, when x has the type of the result: it is exact whichever way it rounds"""
    inner = op.in_.defining_op
    return inner.in_ if inner.__class__ is ExtF and inner.in_.type is op.out.type else None


@rule(ExtF)
def extend_float_twice(op: Any) -> Any:
    """extf(extf(x)) = extf(x)"""
    inner = op.in_.defining_op
    return ExtF(inner.in_, out=op.out.type) if inner.__class__ is ExtF else None


@rule(SIToFP, UIToFP)
def fold_to_float(op: Any) -> Any:
    """tofp(c1) = c2, rounded once to nearest even"""
    c = splat_of(op.in_)
    if c is None or not _foldable(op.out.type):
        return None
    view = signed if op.__class__ is SIToFP else unsigned
    number = view(c, integer_width(op.in_.type))
    if abs(number) > 1 << 53 and element_type(op.out.type).name != "f64":  # type: ignore[attr-defined]
        return None  # by way of double it would be rounded twice
    return constant_attr(float(number), op.out.type)


@rule(FPToSI, FPToUI)
def fold_from_float(op: Any) -> Any:
    """toint(c1) = c2, rounded towards zero, when it fits"""
    c = splat_of(op.in_)
    if c is None or not math.isfinite(c):
        return None
    w, number = integer_width(op.out.type), math.trunc(c)
    low, high = (-(1 << (w - 1)), 1 << (w - 1)) if op.__class__ is FPToSI else (0, 1 << w)
    return constant_attr(number, op.out.type) if low <= number < high else None


def _bits_of(number: Any, ty: Type) -> int | None:
    if isinstance(ty, IntegerType):
        return unsigned(number, ty.width)
    if not isinstance(ty, FloatType) or math.isnan(number):
        return None
    if ty.name == "bf16":
        return int(struct.unpack("<I", struct.pack("<f", number))[0]) >> 16
    form = _BITS_FORMAT.get(ty.name)
    return None if form is None else int(struct.unpack(_INT_FORMAT[ty.width], struct.pack(form, number))[0])


def _number_of(bits: int, ty: Type) -> Any:
    if isinstance(ty, IntegerType):
        return bits
    if not isinstance(ty, FloatType):
        return None
    if ty.name == "bf16":
        number = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    elif ty.name in _BITS_FORMAT:
        number = struct.unpack(_BITS_FORMAT[ty.name], struct.pack(_INT_FORMAT[ty.width], bits))[0]
    else:
        return None
    return None if math.isnan(number) else number


@rule(Bitcast)
def fold_bitcast(op: Any) -> Any:
    """bitcast(c1) = c2, bitcast(x) = x to its own type, bitcast(bitcast(x)) = bitcast(x)"""
    if op.in_.type is op.out.type:
        return op.in_
    inner = op.in_.defining_op
    if inner.__class__ is Bitcast:
        return Bitcast(inner.in_, out=op.out.type)
    c = splat_of(op.in_)
    bits = None if c is None else _bits_of(c, element_type(op.in_.type))
    number = None if bits is None else _number_of(bits, element_type(op.out.type))
    return None if number is None else constant_attr(number, op.out.type)


CAST_RULES: list[Rule] = [
    fold_integer_cast,
    extend_twice,
    truncate_extended,
    truncate_twice,
    convert_extended,
    cast_to_index_and_back,
    fold_float_cast,
    truncate_extended_float,
    extend_float_twice,
    fold_to_float,
    fold_from_float,
    fold_bitcast,
]
