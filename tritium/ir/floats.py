"""Floating-point numbers of any width as Python floats: rounding, bit patterns, MLIR's spelling.

Python's float holds every value of all types here (but f80, f128, which are taken as f64).

>>> from .types import FLOATS
>>> round_float(0.1, FLOATS["f16"]), hex(float_bits(448.0, FLOATS["f8E4M3FN"]))
(0.0999755859375, '0x7e')
"""

from __future__ import annotations

import math
import struct

from .types import FloatType

__all__ = ["bits_float", "float_bits", "format_float", "round_float"]

_PACKED = {"f64": ("<d", "<Q"), "f32": ("<f", "<I"), "f16": ("<e", "<H")}
_WIDE = ("f64", "f80", "f128")


def _bias(ty: FloatType) -> int:
    if ty.name == "f8E4M3B11FNUZ":
        return 11
    return (1 << (ty.exponent - 1)) - (0 if ty.name.endswith("UZ") else 1)


def _is_finite_only(ty: FloatType) -> bool:
    """True for types without infinities, which use the top exponent for numbers."""
    return ty.name.endswith(("FN", "UZ", "FNU"))


def _nan_bits(ty: FloatType) -> int:
    """The pattern MLIR writes for NaN; types without any get that of zero."""
    if ty.name.endswith("UZ"):
        return 1 << (ty.width - 1)
    if ty.name == "f8E8M0FNU":
        return 0xFF
    if ty.name == "f8E4M3FN":
        return 0x7F
    if _is_finite_only(ty):
        return 0
    return ((1 << ty.exponent) - 1) << ty.mantissa | 1 << (ty.mantissa - 1)


def _largest(ty: FloatType) -> float:
    top = (1 << ty.exponent) - (1 if _is_finite_only(ty) and ty.name != "f8E8M0FNU" else 2)
    mantissa = (1 << (ty.mantissa + 1)) - (2 if ty.name == "f8E4M3FN" else 1)
    return math.ldexp(mantissa, top - _bias(ty) - ty.mantissa)


def round_float(value: float, ty: FloatType) -> float:
    """`value` rounded to the nearest number of `ty`, ties to even; too large: infinity, NaN where there is none."""
    name = ty.name
    if value != value:
        return math.nan  # one NaN, without sign and payload
    if name in _WIDE:
        return value
    if value in (math.inf, -math.inf):
        return math.nan if _is_finite_only(ty) else value
    if name in ("f32", "f16"):
        code = _PACKED[name][0]
        try:
            return struct.unpack(code, struct.pack(code, value))[0]  # type: ignore[no-any-return]
        except OverflowError:
            return math.copysign(math.inf, value)
    smallest = 1 - _bias(ty) if ty.mantissa else -_bias(ty)
    step = max(math.frexp(value)[1] - 1, smallest) - ty.mantissa
    rounded = math.copysign(math.ldexp(round(math.ldexp(value, -step)), step), value)
    if abs(rounded) > _largest(ty):
        return math.nan if _is_finite_only(ty) else math.copysign(math.inf, value)
    return rounded


def float_bits(value: float, ty: FloatType) -> int:
    """The bit pattern of `value` rounded to `ty`."""
    value = round_float(value, ty)
    if value != value:
        return _nan_bits(ty)
    if ty.name in _PACKED:
        number, integer = _PACKED[ty.name]
        return struct.unpack(integer, struct.pack(number, value))[0]  # type: ignore[no-any-return]
    sign = 1 << (ty.width - 1) if math.copysign(1.0, value) < 0 else 0
    value = abs(value)
    if value == math.inf:
        return sign | ((1 << ty.exponent) - 1) << ty.mantissa
    if value == 0.0:
        return 0 if ty.name.endswith("UZ") else sign
    exponent = math.frexp(value)[1] - 1 + _bias(ty)
    if exponent < 1 and ty.mantissa:
        return sign | int(math.ldexp(value, _bias(ty) - 1 + ty.mantissa))
    fraction = int(math.ldexp(value, ty.mantissa - exponent + _bias(ty))) - (1 << ty.mantissa)
    return sign | exponent << ty.mantissa | fraction


def bits_float(bits: int, ty: FloatType) -> float:
    """The number with this bit pattern: the inverse of `float_bits`; the payloads of NaNs are lost."""
    if ty.name in _PACKED:
        number, integer = _PACKED[ty.name]
        return struct.unpack(number, struct.pack(integer, bits))[0]  # type: ignore[no-any-return]
    unsigned = ty.name == "f8E8M0FNU"
    sign = -1.0 if not unsigned and bits >> (ty.width - 1) else 1.0
    top = (1 << ty.exponent) - 1
    exponent, mantissa = bits >> ty.mantissa & top, bits & ((1 << ty.mantissa) - 1)
    if _is_finite_only(ty):
        nan = _nan_bits(ty)
        if nan and bits in (nan, nan | (0x80 if ty.name == "f8E4M3FN" else 0)):
            return math.nan
    elif exponent == top:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0 and ty.mantissa:
        return sign * math.ldexp(mantissa, 1 - _bias(ty) - ty.mantissa)
    return sign * math.ldexp(1 << ty.mantissa | mantissa, exponent - _bias(ty) - ty.mantissa)


def format_float(value: float, ty: FloatType) -> str:
    """MLIR's spelling: `1.000000e+00` where that reads back as the same number of `ty`, then more digits, else bits."""
    if math.isinf(value) or math.isnan(value):
        return f"0x{float_bits(value, ty):0{(ty.width + 3) // 4}X}"
    text = f"{value:.6e}"
    if round_float(float(text), ty) == value:
        return text
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}.0{e}{exponent}" if "." not in mantissa else text
