"""Floating-point numbers of every format, rounded as the PTX ISA says.

Registers hold bits; `widen` turns them into NumPy's float32 or float64, in which every number of the smaller formats
is exact, and `narrow` rounds back. Between the two stands arithmetic in float64 *rounded to odd*: where a result does
not fit, its last bit is set. Such a result rounds further to any format with at most 51 bits as the exact one would,
in every rounding mode (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
rounding to odd", IEEE TC 57(4), 2008). So each operation here is rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .types import Array

__all__ = [
    "FORMATS",
    "Format",
    "add_odd",
    "exact64",
    "flush",
    "fma32",
    "fma64",
    "fma_odd",
    "narrow",
    "round_to",
    "widen",
]

F32, F64 = np.float32, np.float64
MODES = ("rn", "rz", "rm", "rp", "rna")


class Format(NamedTuple):
    """A format: digits of precision, exponent of the smallest normal number, largest number, bits of its NaN."""

    precision: int
    smallest: int
    largest: float
    nan: int
    bits: int
    infinite: bool = True


FORMATS = {
    "f16": Format(11, -14, 65504.0, 0x7FFF, 16),
    "bf16": Format(8, -126, (2 - 2.0**-7) * 2.0**127, 0x7FFF, 16),
    "tf32": Format(11, -126, (2 - 2.0**-10) * 2.0**127, 0x7FFFFFFF, 32),
    "f32": Format(24, -126, (2 - 2.0**-23) * 2.0**127, 0x7FFFFFFF, 32),
    "f64": Format(53, -1022, math.ldexp(2 - 2.0**-52, 1023), 0x7FF8000000000000, 64),
    "e4m3": Format(4, -6, 448.0, 0x7F, 8, infinite=False),
    "e5m2": Format(3, -14, 57344.0, 0x7F, 8),
}


def _e4m3_table() -> Array:
    codes = np.arange(256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    values = np.where(exponent == 0, np.ldexp(mantissa / 8.0, -6), np.ldexp(1 + mantissa / 8.0, exponent - 7))
    values = np.where(codes & 127 == 127, np.nan, values)
    return np.where(codes >> 7 == 1, -values, values).astype(F32)


_E4M3 = _e4m3_table()


def widen(name: str, raw: Any) -> Any:
    """Bits (or float16, float32, float64 arrays) of a format as float32, or float64 for f64."""
    if name in ("f32", "f64"):
        return raw
    if name == "f16":
        return (raw if raw.dtype == np.float16 else raw.view(np.float16)).astype(F32)
    if name == "bf16":
        return (raw.astype(np.uint32) << np.uint32(16)).view(F32)
    if name == "tf32":
        return (raw.view(np.uint32) & np.uint32(0xFFFFE000)).view(F32)
    if name == "e5m2":
        return (raw.astype(np.uint16) << np.uint16(8)).view(np.float16).astype(F32)
    return _E4M3[raw]


def add_odd(a: Array, b: Array) -> Array:
    """a + b of float64, rounded to odd."""
    return _to_odd(*_two_sum(a, b))


def _to_odd(s: Array, error: Array) -> Array:
    """`s`, whose exact value is s + error, with its last bit set where the error is not zero."""
    move = (error != 0) & np.isfinite(s) & np.isfinite(error)
    if not move.any():
        return s
    bits = np.atleast_1d(s).view(np.int64)
    up = np.where((error > 0) == (s > 0), 1, -1)
    bits = np.where(move & (bits & 1 == 0), bits + up, bits)
    return bits.view(F64)


def fma_odd(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded to odd, for float64 arrays that multiply exactly (factors of at most 26 bits)."""
    return add_odd(a * b, c)


def fma32(a: Any, b: Any, c: Any) -> Array:
    """a * b + c of float32, rounded once to nearest, ties to even."""
    product = np.multiply(a, b, dtype=F64)
    total = np.add(product, c, dtype=F64)
    # Rounded twice is wrong only where the first result lies in the middle of two float32, or below their normal
    # range, where the middles are elsewhere.
    middle = (total.view(np.uint64) & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    if middle.any() or (np.abs(total) < 2.0**-125).any():
        total = add_odd(product, np.asarray(c, F64))
    return total.astype(F32)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Dekker's multiplication: a * b = high + low exactly, where nothing overflows or underflows."""
    high = a * b
    split = 134217729.0
    x, y = a * split, b * split
    a1, b1 = x - (x - a), y - (y - b)
    a2, b2 = a - a1, b - b1
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Knuth's sum: a + b = high + low exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float64, rounded once to nearest, ties to even."""
    a, b, c = (np.ascontiguousarray(x, F64) for x in np.broadcast_arrays(a, b, c))
    high, low = _two_product(a, b)
    t, t_low = _two_sum(c, low)
    v, v_low = _two_sum(high, t)
    out = v + add_odd(t_low, v_low)
    # That holds where no part overflows or underflows; the rest is done exactly, one by one.
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    exponents = [np.frexp(x)[1] for x in (a, b, c)]
    tame = (np.abs(exponents[0]) < 400) & (np.abs(exponents[1]) < 400) & (np.abs(exponents[2]) < 800)
    # A zero among the factors, or a sum that cancels, has a sign that the parts do not tell.
    tame &= (high != 0) & (out != 0)
    plain = np.where(np.isfinite(a) & np.isfinite(b) & ~np.isfinite(c), c, a * b + c)
    out = np.where(finite, out, plain)
    for n in zip(*np.nonzero(finite & ~tame)):
        out[n] = exact64("fma", (float(a[n]), float(b[n]), float(c[n])), "rn")
    return out


def exact64(operation: str, values: tuple[float, ...], mode: str) -> float:
    """One operation on finite float64, exactly, then rounded; infinities and NaN as IEEE 754 has them."""
    if not all(math.isfinite(v) for v in values):
        return _special64(operation, values)
    x = [Fraction(v) for v in values]
    if operation == "add":
        exact = x[0] + x[1]
        zero = values[0] + values[1] if exact == 0 else 0.0
    elif operation == "mul":
        exact, zero = x[0] * x[1], values[0] * values[1]
    elif operation == "fma":
        exact = x[0] * x[1] + x[2]
        product = math.copysign(1.0, values[0]) * math.copysign(1.0, values[1])
        zero = math.copysign(0.0, product) + values[2] if x[0] * x[1] == 0 else 0.0
    elif operation == "div":
        if x[1] == 0:
            return _special64(operation, values)
        exact, zero = x[0] / x[1], math.copysign(0.0, math.copysign(1.0, values[0]) * math.copysign(1.0, values[1]))
    else:
        return _sqrt64(values[0], mode)
    if exact == 0:
        cancelled = operation in ("add", "fma") and zero == 0 and _opposed(operation, values)
        return -0.0 if mode == "rm" and cancelled else zero
    return round_fraction(exact, mode)


def _opposed(operation: str, values: tuple[float, ...]) -> bool:
    """Whether a sum that is zero is one of terms with unequal signs."""
    if operation == "add":
        return math.copysign(1.0, values[0]) != math.copysign(1.0, values[1])
    product = math.copysign(1.0, values[0]) * math.copysign(1.0, values[1])
    return product != math.copysign(1.0, values[2])


def _special64(operation: str, values: tuple[float, ...]) -> float:
    with np.errstate(all="ignore"):
        x = [F64(v) for v in values]
        if operation == "add":
            return float(x[0] + x[1])
        if operation == "mul":
            return float(x[0] * x[1])
        if operation == "fma":
            if math.isinf(values[2]) and all(math.isfinite(v) for v in values[:2]):
                return values[2]
            return float(x[0] * x[1] + x[2])
        if operation == "div":
            return float(x[0] / x[1])
        return float(np.sqrt(x[0]))


def _sqrt64(value: float, mode: str) -> float:
    if value <= 0:
        return value if value == 0 else math.nan
    mantissa, exponent = math.frexp(value)
    shift = 161 - (exponent & 1)
    scaled = int(math.ldexp(mantissa, 53)) << shift
    root = math.isqrt(scaled)
    # The value is scaled * 2**(exponent - 53 - shift); what the root lacks only matters as "more than that".
    total = Fraction(root) + (Fraction(1, 2) if root * root != scaled else 0)
    power = exponent - 53 - shift
    assert power % 2 == 0
    return round_fraction(total * Fraction(2) ** (power // 2), mode)


def round_fraction(exact: Fraction, mode: str) -> float:
    """A fraction that is not zero as float64."""
    sign = -1.0 if exact < 0 else 1.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    ulp = max(exponent, -1022) - 52
    scaled = size / Fraction(2) ** ulp
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    away = mode == ("rp" if sign > 0 else "rm")
    twice = 2 * rest
    if (away and rest) or (
        mode == "rn" and (twice, whole & 1) > (scaled.denominator, 0) and twice >= scaled.denominator
    ):
        whole += 1
    try:
        return sign * math.ldexp(whole, ulp)
    except OverflowError:
        return sign * (math.inf if away or mode == "rn" else FORMATS["f64"].largest)


def round_to(name: str, x: Array, mode: str) -> Array:
    """float64 (exact, or rounded to odd) rounded to a format, as float64; beyond its range infinite or largest."""
    form = FORMATS[name]
    exponent = np.frexp(x)[1] - form.precision
    ulp = np.maximum(exponent, form.smallest - form.precision + 1)
    scaled = np.ldexp(x, -ulp)
    whole = _ROUNDINGS[mode](scaled)
    result = np.where(np.isfinite(x), np.ldexp(whole, ulp), x)
    result = np.where(result == 0, np.copysign(0.0, x), result)
    over = np.isfinite(x) & (np.abs(result) > form.largest)
    if over.any():
        keep = {"rz": np.ones_like(over), "rm": x > 0, "rp": x < 0}.get(mode, np.zeros_like(over))
        beyond = np.where(keep, form.largest, np.inf)
        result = np.where(over, np.copysign(beyond, x), result)
    return result


def _away(x: Array) -> Array:
    return np.trunc(x + np.copysign(0.5, x))


_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "rn": np.rint,
    "rz": np.trunc,
    "rm": np.floor,
    "rp": np.ceil,
    "rna": _away,
}


def narrow(name: str, x: Array, mode: str = "rn", saturate: bool = False) -> Array:
    """float32 or float64 rounded to a format, as its bits; NaN becomes the format's own.

    With `saturate` (satfinite), what is beyond the largest number becomes that.
    """
    form = FORMATS[name]
    if name == "f32" and mode == "rn" and not saturate:
        bits = np.atleast_1d(x.astype(F32)).view(np.uint32)
    elif name == "f16" and mode == "rn" and not saturate:
        bits = np.atleast_1d(x.astype(np.float16)).view(np.uint16)
    elif name == "f64":
        bits = np.atleast_1d(x.astype(F64)).view(np.uint64)
    else:
        value = round_to(name, x.astype(F64), mode)
        if saturate:
            value = np.where(np.abs(value) > form.largest, np.copysign(form.largest, value), value)
        bits = _encode(name, value)
    nan = np.isnan(x)
    if nan.any():
        bits = np.where(nan, bits.dtype.type(form.nan), bits)
    return bits


def _encode(name: str, value: Array) -> Array:
    """The bits of numbers that the format has; NaN is left to the caller."""
    if name == "f16":
        return value.astype(np.float16).view(np.uint16)
    if name in ("f32", "tf32"):
        return value.astype(F32).view(np.uint32)
    if name == "bf16":
        return (value.astype(F32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if name == "e5m2":
        return (value.astype(np.float16).view(np.uint16) >> np.uint16(8)).astype(np.uint8)
    mantissa, exponent = np.frexp(np.where(np.isfinite(value), np.abs(value), 0.0))
    exponent = np.maximum(exponent - 1, -6)
    steps = np.ldexp(np.where(np.isfinite(value), np.abs(value), 0.0), 3 - exponent).astype(np.int64)
    code = np.where(steps >= 8, (exponent + 7 << 3) + steps - 8, steps)
    code = np.where(np.isinf(value), 0x7F, code)
    return (code | np.where(np.signbit(value), 0x80, 0)).astype(np.uint8)


def flush(x: Any) -> Any:
    """float32 with subnormal numbers replaced by zeros of their sign."""
    return np.where(np.abs(x) < F32(2.0**-126), np.copysign(F32(0), x), x)
