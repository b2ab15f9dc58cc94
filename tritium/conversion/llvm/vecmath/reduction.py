"""x modulo pi/2 for x of any size, after Payne and Hanek, with floats in place of integers.

For an integer m = x 2^-E, x (2/pi) mod 4 = m T mod 4 with T = (2^E 2/pi) mod 4. T is kept for every sixteenth E as a
sum of doubles, computed here from pi; products of m and a part of T are exact as a sum of two doubles (fma), and
multiples of 4 are dropped from them exactly. What is left is added without rounding errors that matter (cascaded
two-sums), the nearest integer is the quadrant, and the rest times pi/2 is the reduced argument.

Precision: no f64 x comes closer to a multiple of pi/2 than 2^-62 (of an f32 one: 2^-30) times pi/2. Four parts of T,
212 bits, times an m below 2^69 leave an absolute error of 2^-141; two parts and an m below 2^40 leave 2^-64 for f32.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from .builder import F32, F64, FloatFormat, FunctionBuilder, MathFunction, Value
from .pairs import two_sum

__all__ = ["reduce_large", "two_over_pi_table"]

# Exponents that share an entry of the table, and the number of doubles in it.
STEP = 16
PARTS = {"f32": 2, "f64": 4}
PI_BITS = 1400


@cache
def _pi() -> Fraction:
    """pi to PI_BITS bits (Machin: 16 atan(1/5) - 4 atan(1/239), in fixed point)."""
    one = 1 << (PI_BITS + 32)

    def arctangent_of_inverse(k: int) -> int:
        total, term, n = 0, one // k, 1
        while term:
            total += term // n if n % 4 == 1 else -(term // n)
            term //= k * k
            n += 2
        return total

    return Fraction(16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239), one)


def _parts(value: Fraction, count: int) -> list[float]:
    """Doubles whose sum is `value` to about 53 `count` bits."""
    parts = []
    for _ in range(count):
        parts.append(float(value))
        value -= Fraction(parts[-1])
    return parts


@cache
def two_over_pi_table(format: FloatFormat) -> MathFunction:
    """The constant array of T: entry i (of PARTS doubles) belongs to E = 16 i."""
    entries = (format.bias - format.mantissa) // STEP + 1
    rows = [_parts((2 / _pi() * 2 ** (STEP * i)) % 4, PARTS[format.name]) for i in range(entries)]
    values = [f"double 0x{F64.bits_of(v):016X}" for row in rows for v in row]
    symbol = f"tt.two_over_pi.{format.name}"
    text = f"@{symbol} = internal unnamed_addr constant [{len(values)} x double] [{', '.join(values)}], align 64\n"
    return MathFunction("two_over_pi", format.name, 1, symbol, text, frozenset())


def _modulo_4(b: FunctionBuilder, a: Value) -> Value:
    """a less a multiple of 4, in [-2, 2]; exact."""
    return b.fma(b.rint(a * 0.25), -4.0, a)


def _cascade(b: FunctionBuilder, terms: list[Value]) -> list[Value]:
    """The same sum, the last term the rounded sum and the others the errors on the way (Ogita, Rump, Oishi: VecSum)."""
    terms = list(terms)
    for i in range(1, len(terms)):
        terms[i], terms[i - 1] = two_sum(terms[i], terms[i - 1])
    return terms


def _products(b: FunctionBuilder, x: Value, format: FloatFormat) -> list[Value]:
    """Doubles, from small to large, whose sum is x (2/pi) modulo 4."""
    bits = x.bits()
    exponent = (bits.logical_shift_right(52) & 2047) - (1023 + format.mantissa)
    entry = b.select(exponent > 0, exponent, 0).logical_shift_right(4)
    last = (format.bias - format.mantissa) // STEP
    entry = b.select(entry > last, b.integer(last), entry)
    m = (bits - (entry << (52 + 4))).as_float()
    terms = []
    for part in range(PARTS[format.name]):
        t = b.gather(two_over_pi_table(format), entry * PARTS[format.name] + part)
        high = m * t
        low = b.fma(m, t, -high)
        terms += [_modulo_4(b, high), _modulo_4(b, low)] if part < 2 else [high, low]
    return terms[::-1]


def reduce_large(b: FunctionBuilder, x: Value, format: FloatFormat) -> tuple[Value, Value, Value]:
    """(high, low, quadrant) of an x in double that is a number of `format`; high is NaN for inf and NaN.

    x = (pi/2) n + high + low, |high| <= pi/4, low at most half an ulp of it, quadrant = n modulo 4.
    """
    terms = _cascade(b, _products(b, x, format))
    n = b.rint(terms[-1])
    terms[-1] = terms[-1] - n
    for _ in range(1 if format is F32 else 3):
        terms = _cascade(b, terms)
    low = terms[0]
    for term in terms[1:-1]:
        low = low + term
    turns = terms[-1]
    high = turns * (math.pi / 2)
    low = b.fma(low, math.pi / 2, b.fma(turns, 6.123233995736766e-17, b.fma(turns, math.pi / 2, -high)))
    total = high + low
    total_low = low - (total - high)
    # inf - inf is NaN, x - x is 0 for all others.
    return total + (x - x), total_low, (n + b.format.rounder).bits()
