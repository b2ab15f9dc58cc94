"""Floating-point numbers of any width as Python floats: rounding, bit patterns, MLIR's spelling.

Python's float holds every value of all types here but some of f80 and f128. What it does not tell apart (those, and
the payloads of NaNs) is kept by `ExactFloat`, a float that remembers its bits.

>>> from .types import FLOATS
>>> round_float(0.1, FLOATS["f16"]), hex(float_bits(448.0, FLOATS["f8E4M3FN"]))
(0.0999755859375, '0x7e')
"""

from __future__ import annotations

import math
import struct

from .types import FloatType

__all__ = ["ExactFloat", "bits_float", "float_bits", "format_float", "round_float", "saturated"]

_PACKED = {"f64": ("<d", "<Q"), "f32": ("<f", "<I"), "f16": ("<e", "<H")}
_WIDE = ("f64", "f80", "f128")


class ExactFloat(float):
    """A number of type `ty` that a Python float cannot say exactly, with its bit pattern; arithmetic forgets it."""

    bits: int
    ty: FloatType

    @classmethod
    def of(cls, value: float, bits: int, ty: FloatType) -> ExactFloat:
        """`value` is what comes closest."""
        self = cls(value)
        self.bits, self.ty = bits, ty
        return self


def _bias(ty: FloatType) -> int:
    if ty.name == "f8E4M3B11FNUZ":
        return 11
    return (1 << (ty.exponent - 1)) - (0 if ty.name.endswith("UZ") else 1)


def _is_finite_only(ty: FloatType) -> bool:
    """True for types without infinities, which use the top exponent for numbers."""
    return ty.name.endswith(("FN", "UZ", "FNU"))


def _has_nan(ty: FloatType) -> bool:
    """The types of four and six bits have neither infinities nor NaN: what is too large becomes the largest number."""
    return ty.width > 6


def _nan_bits(ty: FloatType) -> int:
    """The pattern of the NaN that computations give; types without any get that of zero."""
    if ty.name.endswith("UZ"):
        return 1 << (ty.width - 1)
    if ty.name == "f8E8M0FNU":
        return 0xFF
    if ty.name == "f8E4M3FN":
        return 0x7F
    if not _has_nan(ty):
        return 0
    if ty.name == "f80":
        return 0x7FFFC << 60
    return ((1 << ty.exponent) - 1) << ty.mantissa | 1 << (ty.mantissa - 1)


def _largest(ty: FloatType) -> float:
    top = (1 << ty.exponent) - (1 if _is_finite_only(ty) and ty.name != "f8E8M0FNU" else 2)
    mantissa = (1 << (ty.mantissa + 1)) - (2 if ty.name == "f8E4M3FN" else 1)
    return math.ldexp(mantissa, top - _bias(ty) - ty.mantissa)


def _overflow(value: float, ty: FloatType) -> float:
    """What a number beyond the largest becomes."""
    if not _is_finite_only(ty):
        return math.copysign(math.inf, value)
    if not _has_nan(ty):
        return math.copysign(_largest(ty), value)
    return ExactFloat.of(math.nan, 0xFF, ty) if value < 0 and ty.name == "f8E4M3FN" else math.nan


def round_float(value: float, ty: FloatType) -> float:
    """`value` rounded to the nearest number of `ty`, ties to even; too large: infinity, NaN where there is none."""
    name = ty.name
    if value.__class__ is ExactFloat:
        if value.ty is ty:  # type: ignore[attr-defined]
            return value
        value = float(value)
    if value != value:
        return math.nan if _has_nan(ty) else 0.0  # one NaN, without sign and payload
    if name in _WIDE:
        return value
    if value in (math.inf, -math.inf):
        return _overflow(value, ty)
    if name in ("f32", "f16"):
        code = _PACKED[name][0]
        try:
            return struct.unpack(code, struct.pack(code, value))[0]  # type: ignore[no-any-return]
        except OverflowError:
            return math.copysign(math.inf, value)
    largest = _largest(ty)
    if abs(value) >= 2 * largest:
        return _overflow(value, ty)
    smallest = 1 - _bias(ty) if ty.mantissa else -_bias(ty)
    if name == "f8E8M0FNU" and value <= math.ldexp(1.0, smallest):
        return math.ldexp(1.0, smallest) if value >= 0 else math.nan  # neither zero nor negative numbers
    step = max(math.frexp(value)[1] - 1, smallest) - ty.mantissa
    rounded = math.copysign(math.ldexp(round(math.ldexp(value, -step)), step), value)
    if abs(rounded) > largest:
        return _overflow(value, ty)
    return abs(rounded) if rounded == 0.0 and name.endswith("UZ") else rounded


def saturated(value: float, ty: FloatType) -> float:
    """`value` rounded to `ty`; what is too large becomes the largest number, so does infinity where there is none."""
    rounded = round_float(value, ty)
    if math.isfinite(rounded) or value != value or (rounded == value and math.isinf(value)):
        return rounded
    return math.copysign(_largest(ty), value)


def float_bits(value: float, ty: FloatType) -> int:
    """The bit pattern of `value` rounded to `ty`."""
    value = round_float(value, ty)
    if value.__class__ is ExactFloat:
        return value.bits  # type: ignore[attr-defined, no-any-return]
    if value != value:
        return _nan_bits(ty)
    if ty.name in _PACKED:
        number, integer = _PACKED[ty.name]
        return struct.unpack(integer, struct.pack(number, value))[0]  # type: ignore[no-any-return]
    sign = 1 << (ty.width - 1) if math.copysign(1.0, value) < 0 else 0
    value = abs(value)
    if ty.name == "f80":
        return sign | _bits_of_f80(value)
    if value == math.inf:
        return sign | ((1 << ty.exponent) - 1) << ty.mantissa
    if value == 0.0:
        return 0 if ty.name.endswith("UZ") else sign
    exponent = math.frexp(value)[1] - 1 + _bias(ty)
    if exponent < 1 and ty.mantissa:
        return sign | int(math.ldexp(value, _bias(ty) - 1 + ty.mantissa))
    fraction = int(math.ldexp(value, ty.mantissa - exponent + _bias(ty))) - (1 << ty.mantissa)
    return sign | exponent << ty.mantissa | fraction


def _bits_of_f80(value: float) -> int:
    """The leading bit of an f80 stands in its pattern, unlike that of all others."""
    if value == math.inf:
        return 0x7FFF8 << 60
    if value == 0.0:
        return 0
    exponent = math.frexp(value)[1] - 1
    return (exponent + 16383) << 64 | int(math.ldexp(value, 63 - exponent))


def bits_float(bits: int, ty: FloatType) -> float:
    """The number with this bit pattern: the inverse of `float_bits`."""
    try:
        value = _value_of_bits(bits, ty)
    except OverflowError:
        value = -math.inf if bits >> (ty.width - 1) else math.inf
    return value if float_bits(value, ty) == bits else ExactFloat.of(value, bits, ty)


def _value_of_bits(bits: int, ty: FloatType) -> float:
    if ty.name in _PACKED:
        number, integer = _PACKED[ty.name]
        value: float = struct.unpack(number, struct.pack(integer, bits))[0]
        return math.nan if value != value else value
    sign = -1.0 if ty.name != "f8E8M0FNU" and bits >> (ty.width - 1) else 1.0
    top = (1 << ty.exponent) - 1
    exponent, mantissa = bits >> ty.mantissa & top, bits & ((1 << ty.mantissa) - 1)
    if ty.name == "f80":
        if exponent == top:
            return sign * math.inf if mantissa == 1 << 63 else math.nan
        return sign * math.ldexp(mantissa, max(exponent, 1) - 16383 - 63)
    if _is_finite_only(ty):
        nan = _nan_bits(ty)
        if nan and bits in (nan, nan | (0x80 if ty.name == "f8E4M3FN" else 0)):
            return math.nan
    elif exponent == top:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0 and ty.mantissa:
        return sign * math.ldexp(mantissa, 1 - _bias(ty) - ty.mantissa)
    return sign * math.ldexp(1 << ty.mantissa | mantissa, exponent - _bias(ty) - ty.mantissa)


# -- MLIR's spelling --------------------------------------------------------------------------------------------------


def format_float(value: float, ty: FloatType) -> str:
    """MLIR's spelling: six digits, `1.000000e+00`, where they read back as the same number; then as many as tell the
    numbers of `ty` apart; the bits where these digits would be taken for a whole number, and of what is no number."""
    if value - value == 0.0 and value.__class__ is not ExactFloat:
        if value == 0.0:
            return "-0.000000e+00" if math.copysign(1.0, value) < 0 else "0.000000e+00"
        text = _scientific(*_decimal(value, 6), value < 0)
        if round_float(float(text), ty) == value and (ty.width < 80 or _is_exactly(text, value)):
            return text
        precision = 2 + (ty.mantissa + (ty.name != "f80")) * 59 // 196
        text = _shortest(*_decimal(value, precision), value < 0, precision)
        if "." in text:
            return text
    return f"0x{float_bits(value, ty):X}"


def _is_exactly(text: str, value: float) -> bool:
    from fractions import Fraction  # for the widest types only

    return Fraction(text) == Fraction(value)


def _decimal(value: float, precision: int) -> tuple[str, int]:
    """Digits and the power of ten of the last: at most `precision` digits, none of them a trailing zero.

    What LLVM's APFloat does, and its way of rounding with it: an exact decimal number is first cut to about
    `precision` digits, and rounded (half up) only if there are still more than that.
    """
    significand, denominator = abs(value).as_integer_ratio()
    power = denominator.bit_length() - 1  # value = significand * 5^power * 10^-power
    significand *= 5**power
    exponent = -power
    wanted = (precision * 196 + 58) // 59  # bits: 196/59 is a little more than lb(10)
    surplus = significand.bit_length() - wanted
    if surplus > 0:
        removable = surplus * 59 // 196
        exponent += removable
        significand //= 10**removable
    digits = str(significand)
    exponent += len(digits)
    kept = digits[:precision]
    if digits[precision : precision + 1] >= "5":
        kept = str(int(kept) + 1)
        exponent += len(kept) - precision
    kept = kept.rstrip("0")
    return kept, exponent - len(kept)


def _scientific(digits: str, exponent: int, negative: bool) -> str:
    power = exponent + len(digits) - 1
    return f"{'-' if negative else ''}{digits[0]}.{digits[1:]:0<6}e{'-' if power < 0 else '+'}{abs(power):02}"


def _shortest(digits: str, exponent: int, negative: bool, precision: int) -> str:
    """Plain digits where at most three zeros fill up, else `1.25E-7`; a whole number has no point."""
    sign = "-" if negative else ""
    point = exponent + len(digits)  # digits before the point
    if 0 <= exponent <= 3 and point <= precision:
        return sign + digits + "0" * exponent
    if exponent < 0 < point:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if exponent < 0 and point > -3:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{'-' if power < 0 else '+'}{abs(power)}"
