"""Floating-point instructions of the vector ALU (MI300 ISA, sections 6.4-6.6, 12.7-12.11; RDNA3 ISA, 7 and 16.7-16.10).

Results are rounded once, to nearest even. Approximations (`v_exp_f32`, `v_rcp_f32`, ...) are documented to be within
1 ulp; here they are the rounded exact value. Of f32 they take denormals for zero, and give zero for denormals: programs
that need more scale their operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...floats import add_odd, fma32, fma64
from ...types import Array
from ..registry import vector

F16, F32, F64 = np.float16, np.float32, np.float64
U16, U32, I32, U64, I64 = np.uint16, np.uint32, np.int32, np.uint64, np.int64
FLOATS: dict[str, type[np.generic]] = {"f16": F16, "f32": F32, "f64": F64}


def fma16(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of f16, rounded once: a * b is exact in f64, and the sum is rounded to odd first."""
    exact = a.astype(F64) * b
    return add_odd(*np.broadcast_arrays(exact, c.astype(F64))).astype(F16)


FMA: dict[str, Callable[[Array, Array, Array], Array]] = {"f16": fma16, "f32": fma32, "f64": fma64}

for _ty in FLOATS:
    _two = f"{_ty} = {_ty} {_ty}"
    vector(f"v_add_{_ty}", _two)(lambda a, b: a + b)
    vector(f"v_sub_{_ty}", _two)(lambda a, b: a - b)
    vector(f"v_subrev_{_ty}", _two)(lambda a, b: b - a)
    vector(f"v_mul_{_ty}", _two)(lambda a, b: a * b)
    _fma = FMA[_ty]
    vector(f"v_fma_{_ty} v_mad_{_ty} v_fmaak_{_ty}", f"{_ty} = {_ty} {_ty} {_ty}")(_fma)
    vector(f"v_fmac_{_ty}", f"{_ty} = {_ty} {_ty} d:{_ty}")(_fma)
    vector(f"v_fmamk_{_ty}", f"{_ty} = {_ty} {_ty} {_ty}")((lambda f: lambda a, k, c: f(a, k, c))(_fma))


@vector("v_mul_legacy_f32 v_mul_dx9_zero_f32", "f32 = f32 f32")
def mul_legacy(a: Array, b: Array) -> Array:
    """0 times anything is 0."""
    return np.where((a == 0) | (b == 0), F32(0), a * b)


# -- minimum and maximum -----------------------------------------------------------------------------------------------


def fmin(a: Array, b: Array) -> Array:
    """IEEE minNum: a number if one operand is NaN."""
    a, b = np.broadcast_arrays(a, b)
    both = (a == 0) & (b == 0)
    out = np.fmin(a, b)
    return np.where(both, np.where(np.signbit(a) | np.signbit(b), a.dtype.type(-0.0), a.dtype.type(0.0)), out)


def fmax(a: Array, b: Array) -> Array:
    """IEEE maxNum."""
    a, b = np.broadcast_arrays(a, b)
    both = (a == 0) & (b == 0)
    out = np.fmax(a, b)
    return np.where(both, np.where(np.signbit(a) & np.signbit(b), a.dtype.type(-0.0), a.dtype.type(0.0)), out)


def med3(a: Array, b: Array, c: Array) -> Array:
    """The median; if one is NaN, the minimum of all (MI300 ISA, V_MED3_F32)."""
    least = fmin(fmin(a, b), c)
    out = fmax(fmin(a, b), fmin(fmax(a, b), c))
    return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), least, out)


for _ty in FLOATS:
    vector(f"v_min_{_ty}", f"{_ty} = {_ty} {_ty}")(fmin)
    vector(f"v_max_{_ty}", f"{_ty} = {_ty} {_ty}")(fmax)
    _three = f"{_ty} = {_ty} {_ty} {_ty}"
    vector(f"v_min3_{_ty}", _three)(lambda a, b, c: fmin(fmin(a, b), c))
    vector(f"v_max3_{_ty}", _three)(lambda a, b, c: fmax(fmax(a, b), c))
    vector(f"v_med3_{_ty}", _three)(med3)
    vector(f"v_minmax_{_ty}", _three)(lambda a, b, c: fmax(fmin(a, b), c))
    vector(f"v_maxmin_{_ty}", _three)(lambda a, b, c: fmin(fmax(a, b), c))


# -- rounding and parts ------------------------------------------------------------------------------------------------


def fract(a: Array) -> Array:
    """a - floor(a), below 1."""
    ty = a.dtype.type
    return np.minimum(a - np.floor(a), np.nextafter(ty(1), ty(0)))


def frexp_mant(a: Array) -> Array:
    """The significand in [0.5, 1); a itself if it is infinite or NaN."""
    return np.where(np.isfinite(a), np.frexp(a)[0], a).astype(a.dtype)


def frexp_exp(a: Array) -> Array:
    return np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(I32)


def ldexp(a: Array, n: Array) -> Array:
    """a * 2**n, rounded once."""
    n = np.clip(n.astype(I32), -4200, 4200)
    if a.dtype == F64:
        return np.ldexp(a, n)
    return np.ldexp(a.astype(F64), np.clip(n, -400, 400)).astype(a.dtype)


for _ty in FLOATS:
    _one = f"{_ty} = {_ty}"
    vector(f"v_floor_{_ty}", _one)(np.floor)
    vector(f"v_ceil_{_ty}", _one)(np.ceil)
    vector(f"v_trunc_{_ty}", _one)(np.trunc)
    vector(f"v_rndne_{_ty}", _one)(np.rint)
    vector(f"v_fract_{_ty}", _one)(fract)
    vector(f"v_frexp_mant_{_ty}", _one)(frexp_mant)
for _ty in ("f32", "f64"):
    vector(f"v_frexp_exp_i32_{_ty}", f"i32 = {_ty}")(frexp_exp)
    vector(f"v_ldexp_{_ty}", f"{_ty} = {_ty} i32")(ldexp)
vector("v_fma_legacy_f16 v_mad_legacy_f16", "f16 = f16 f16 f16")(fma16)
vector("v_frexp_exp_i16_f16", "i16 = f16")(lambda a: frexp_exp(a).astype(np.int16))
vector("v_ldexp_f16", "f16 = f16 i16")(ldexp)


# -- approximations ----------------------------------------------------------------------------------------------------


def _without_denormals(a: Array) -> Array:
    return np.where(np.abs(a) < F32(2.0**-126), np.copysign(F32(0), a), a)


def _approximate(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of f32 by f64: denormal operands and results are zero."""
    return lambda a: _without_denormals(function(_without_denormals(a).astype(F64)).astype(F32))


def _turns(a: Array) -> Array:
    """Angles are in turns; beyond 256 of them the result is as for 0 (RDNA3 ISA, V_SIN_F32)."""
    inside = np.abs(a) <= 256
    turns = np.where(np.isfinite(a), a - np.rint(a), np.nan)
    return np.where(inside | ~np.isfinite(a), turns, 0.0)


APPROXIMATIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp2,
    "log": np.log2,
    "rcp": lambda a: 1.0 / a,
    "rsq": lambda a: 1.0 / np.sqrt(a),
    "sqrt": np.sqrt,
    "sin": lambda a: np.sin(_turns(a) * (2 * np.pi)),
    "cos": lambda a: np.cos(_turns(a) * (2 * np.pi)),
}
for _name, _function in APPROXIMATIONS.items():
    vector(f"v_{_name}_f32", "f32 = f32")(_approximate(_function))
    vector(f"v_{_name}_f16", "f16 = f16")((lambda f: lambda a: f(a.astype(F64)).astype(F16))(_function))
for _name in ("rcp", "rsq", "sqrt"):
    vector(f"v_{_name}_f64", "f64 = f64")(APPROXIMATIONS[_name])
vector("v_rcp_iflag_f32", "f32 = f32")(_approximate(APPROXIMATIONS["rcp"]))


# -- division ----------------------------------------------------------------------------------------------------------


class _Division:
    """The constants of a division in a format, whose instructions scale by 2**`scale`."""

    def __init__(self, ty: str) -> None:
        self.dtype: type[np.generic] = FLOATS[ty]
        self.word: type[np.generic] = {"f32": U32, "f64": U64}[ty]
        self.mantissa, self.bias = {"f32": (23, 127), "f64": (52, 1023)}[ty]
        self.far = {"f32": 96, "f64": 768}[ty]
        self.scale = {"f32": 64, "f64": 128}[ty]
        self.tiny = {"f32": 23, "f64": 53}[ty]
        self.underflow = {"f32": -150, "f64": -1075}[ty]
        self.largest = 2 * self.bias + 1

    def exponent(self, a: Array) -> Array:
        """The exponent field."""
        return (a.view(self.word) >> self.word(self.mantissa)).astype(I64) & self.largest

    def is_denormal(self, a: Array) -> Array:
        return (self.exponent(a) == 0) & (a != 0)

    def scaled(self, a: Array, n: int) -> Array:
        return ldexp(a, np.asarray([n]))

    def div_scale(self, value: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
        """Scale one operand of a quotient where its refinement would overflow or lose bits.

        The cases and their order are those of V_DIV_SCALE_F32 and _F64 in the CDNA 3 ISA reference (VOP3 opcodes 480
        and 481), read differently in two places. It tests 1 / denominator of f32 for subnormals of f64, which it never
        is. Where inverse and quotient are subnormal, it multiplies the denominator by 2**64, which overflows every such
        denominator; divided by 2**64, the sequence is a division.
        """
        value, denominator, numerator = np.broadcast_arrays(value, denominator, numerator)
        is_denominator = value.view(self.word) == denominator.view(self.word)
        is_numerator = value.view(self.word) == numerator.view(self.word)
        inverse, quotient = self.dtype(1) / denominator, numerator / denominator
        up, down = self.scaled(value, self.scale), self.scaled(value, -self.scale)
        small_inverse = np.abs(inverse) < self.dtype(2.0) ** self.dtype(1 - self.bias)
        small_quotient = (np.abs(quotient) < self.dtype(2.0) ** self.dtype(1 - self.bias)) & (numerator != 0)
        far = self.exponent(numerator) - self.exponent(denominator) >= self.far
        cases = [
            (denominator == 0) | (numerator == 0),
            far,
            self.is_denormal(denominator),
            small_inverse & small_quotient,
            small_inverse,
            small_quotient,
            self.exponent(numerator) <= self.tiny,
        ]
        values = [
            np.full_like(value, np.nan),
            np.where(is_denominator, up, value),
            up,
            np.where(is_denominator, down, value),
            down,
            np.where(is_numerator, up, value),
            up,
        ]
        flags = [False, True, False, True, False, True, False]
        return np.select(cases, values, value), np.select(cases, [np.full(value.shape, f) for f in flags], False)

    def div_fmas(self, a: Array, b: Array, c: Array, vcc: Array) -> Array:
        """a * b + c, scaled back where V_DIV_SCALE set VCC: up if the quotient is large, else down.

        The CDNA 3 ISA reference (VOP3 opcodes 482 and 483) has the factor 2**32 (2**64 of f64), which no scaling by
        V_DIV_SCALE matches. The GCN ISA description of the assembler CLRX has 2**64 where |c| >= 2, else 2**-64, as
        does tinygrad's emulator: with that the sequence of instructions is a division that is rounded correctly.
        """
        a, b, c, vcc = np.broadcast_arrays(a, b, c, vcc)
        scale = np.where(self.exponent(c) > self.bias, self.scale, -self.scale)
        if self.dtype == F32:  # rounded to odd in f64, then once
            return np.ldexp(add_odd(a.astype(F64) * b, c.astype(F64)), np.where(vcc, scale, 0)).astype(F32)
        total = fma64(a, b, c)
        out = np.where(vcc, np.ldexp(total, scale), total)
        for n in zip(*np.nonzero(vcc & (np.abs(out) < 2.0**-1021) & np.isfinite(total))):
            exact = Fraction(float(a[n])) * Fraction(float(b[n])) + Fraction(float(c[n]))
            out[n] = float(exact / (1 << self.scale))
        return out

    def div_fixup(self, quotient: Array, denominator: Array, numerator: Array) -> Array:
        """The quotient, or its value where an operand is special (CDNA 3 ISA reference, VOP3 opcodes 478 and 479).

        A quotient that is NaN though no operand is has overflowed on its way.
        """
        quotient, denominator, numerator = np.broadcast_arrays(quotient, denominator, numerator)
        sign = np.signbit(denominator) ^ np.signbit(numerator)
        infinite_n, infinite_d = np.isinf(numerator), np.isinf(denominator)
        inf, zero = np.full_like(quotient, np.inf), np.zeros_like(quotient)
        small = self.exponent(numerator) - self.exponent(denominator) < self.underflow
        cases = [
            np.isnan(numerator) | np.isnan(denominator),
            ((denominator == 0) & (numerator == 0)) | (infinite_n & infinite_d),
            (denominator == 0) | infinite_n,
            infinite_d | (numerator == 0),
            small,
        ]
        nan = np.full_like(quotient, np.nan)
        magnitude = np.select(cases, [nan, nan, inf, zero, zero], np.where(np.isnan(quotient), inf, np.abs(quotient)))
        return np.where(cases[0] | cases[1], magnitude, np.where(sign, -magnitude, magnitude))


for _ty in ("f32", "f64"):
    _division = _Division(_ty)
    _three = f"{_ty} {_ty} {_ty}"
    vector(f"v_div_scale_{_ty}", f"{_ty} mask = {_three}")(_division.div_scale)
    vector(f"v_div_fmas_{_ty}", f"{_ty} = {_three} vcc")(_division.div_fmas)
    vector(f"v_div_fixup_{_ty}", f"{_ty} = {_three}")(_division.div_fixup)


@vector("v_div_fixup_f16 v_div_fixup_legacy_f16", "f16 = f16 f16 f16")
def div_fixup16(quotient: Array, denominator: Array, numerator: Array) -> Array:
    exact = numerator.astype(F32) / denominator.astype(F32)
    special = ~np.isfinite(exact) | (exact == 0) | ~np.isfinite(numerator) | ~np.isfinite(denominator)
    return np.where(special, exact.astype(F16), np.copysign(quotient, exact.astype(F16)))


def _two_over_pi(bits: int) -> int:
    """floor(2**bits * 2 / pi), by Machin's formula for pi."""
    one = 1 << (bits + 64)

    def arctan_inverse(n: int) -> int:
        total = term = one // n
        k, sign = 3, -1
        while term:
            term //= n * n
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return (2 * one << bits) // pi


_PREOP_BITS = 1201
_TWO_OVER_PI = _two_over_pi(_PREOP_BITS)


@vector("v_trig_preop_f64", "f64 = f64 u32")
def trig_preop(a: Array, segment: Array) -> Array:
    """53 bits of 2/pi: those that matter for an argument of this size, some segments further on (V_TRIG_PREOP_F64)."""
    exponent = (a.view(U64) >> U64(52)).astype(I64) & 2047
    shift = (segment & U32(31)).astype(I64) * 53 + np.where(exponent > 1077, exponent - 1077, 0)
    places, index = np.unique(shift, return_inverse=True)
    values = []
    for place in places.tolist():
        down = _PREOP_BITS - 53 - place
        bits = _TWO_OVER_PI >> down if down >= 0 else _TWO_OVER_PI << -down
        values.append(math.ldexp(float(bits & ((1 << 53) - 1)), -53 - place))
    result = np.array(values)[index].reshape(shift.shape)
    return np.where(exponent >= 1968, np.ldexp(result, 128), result)


# -- dots --------------------------------------------------------------------------------------------------------------


def _halves(a: Array) -> tuple[Array, Array]:
    low, high = (a & U32(0xFFFF)).astype(U16), (a >> U32(16)).astype(U16)
    return low.view(F16).astype(F64), high.view(F16).astype(F64)


def _bf_halves(a: Array) -> tuple[Array, Array]:
    return (a << U32(16)).view(F32).astype(F64), (a & U32(0xFFFF0000)).view(F32).astype(F64)


def _dot2(halves: Callable[[Array], tuple[Array, Array]]) -> Callable[[Array, Array, Array], Array]:
    def dot(a: Array, b: Array, c: Array) -> Array:
        (a0, a1), (b0, b1) = halves(a), halves(b)
        return (a0 * b0 + a1 * b1 + c).astype(F32)

    return dot


vector("v_dot2_f32_f16", "f32 = b32 b32 f32")(_dot2(_halves))
vector("v_dot2c_f32_f16 v_dot2acc_f32_f16", "f32 = b32 b32 d:f32")(_dot2(_halves))
vector("v_dot2_f32_bf16", "f32 = b32 b32 f32")(_dot2(_bf_halves))
vector("v_dot2c_f32_bf16", "f32 = b32 b32 d:f32")(_dot2(_bf_halves))
