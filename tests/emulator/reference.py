"""Slow references in plain Python: integers as integers, floating-point numbers as fractions, each rounded by the
definition of its format. Nothing here comes from the emulator, or from NumPy."""

from __future__ import annotations

import math
import random
from fractions import Fraction

#: name -> (bits of the exponent, bits of the mantissa, whether infinities exist)
FORMATS = {
    "f16": (5, 10, True),
    "bf16": (8, 7, True),
    "f32": (8, 23, True),
    "f64": (11, 52, True),
    "e4m3": (4, 3, False),
    "e5m2": (5, 2, True),
}
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "e4m3": 0x7F, "e5m2": 0x7F}

NAN, INF, NEGATIVE_INF = "nan", "inf", "-inf"


def width(name: str) -> int:
    e, m, _ = FORMATS[name]
    return 1 + e + m


def decode(name: str, bits: int):
    """(negative, value): a fraction, "inf" or "nan"."""
    e, m, infinite = FORMATS[name]
    negative = bool(bits >> (e + m) & 1)
    exponent, mantissa = bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    bias = (1 << (e - 1)) - 1
    if exponent == (1 << e) - 1 and infinite:
        return negative, NAN if mantissa else INF
    if not infinite and exponent == (1 << e) - 1 and mantissa == (1 << m) - 1:
        return negative, NAN
    if exponent == 0:
        value = Fraction(mantissa, 1) * Fraction(2) ** (1 - bias - m)
    else:
        value = Fraction(mantissa + (1 << m), 1) * Fraction(2) ** (exponent - bias - m)
    return negative, -value if negative else value


def encode(name: str, value, negative: bool = False, mode: str = "rn", saturate: bool = False) -> int:
    """The bits of a fraction rounded to a format; `negative` is the sign of a zero, an infinity."""
    e, m, infinite = FORMATS[name]
    bias = (1 << (e - 1)) - 1
    top = ((1 << e) - 1) << m
    largest = top - 1 if infinite else top + (1 << m) - 2
    if value == NAN:
        return CANONICAL.get(name, top | 1 << (m - 1))
    if value == INF:
        sign = int(negative) << (e + m)
        if saturate:
            return sign | largest
        return sign | (top if infinite else top + (1 << m) - 1)
    if value != 0:
        negative = value < 0
    sign = int(negative) << (e + m)
    size = abs(value)
    if size == 0:
        return sign
    size = Fraction(size)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    steps = size / Fraction(2) ** (exponent - m)
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1),
        "rna": rest >= Fraction(1, 2),
        "rz": False,
        "rm": negative and rest > 0,
        "rp": not negative and rest > 0,
    }[mode]
    whole += bool(up)
    code = whole if exponent == 1 - bias else whole - (1 << m) + ((exponent + bias) << m)
    if exponent == 1 - bias and whole >= 1 << m:
        code = whole - (1 << m) + (1 << m)
    if code > largest:
        if saturate or mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative):
            code = largest
        else:
            code = top if infinite else top + (1 << m) - 1
    return sign | code


def arithmetic(name: str, operation: str, operands: list[int], mode: str = "rn") -> int:
    """add, sub, mul, div, fma and sqrt of bits of a format."""
    values = [decode(name, bits) for bits in operands]
    if operation == "sub":
        operation, values[1] = "add", negated(values[1])
    if any(v == NAN for _, v in values):
        return encode(name, NAN)
    if operation == "add":
        return encode(name, *add(values[0], values[1], mode), mode)
    if operation == "mul":
        return encode(name, *multiply(values[0], values[1]), mode)
    if operation == "fma":
        product = multiply(values[0], values[1])
        if product[0] == NAN:
            return encode(name, NAN)
        return encode(name, *add((product[1], product[0]), values[2], mode), mode)
    if operation == "div":
        return encode(name, *divide(values[0], values[1]), mode)
    raise AssertionError(operation)


def negated(v):
    negative, value = v
    return (not negative, value if isinstance(value, str) else -value)


def add(a, b, mode):
    (na, x), (nb, y) = a, b
    if INF in (x, y):
        if x == y and na != nb:
            return NAN, False
        return INF, na if x == INF else nb
    total = x + y
    if total == 0:
        return total, (na and nb) or (na != nb and mode == "rm")
    return total, total < 0


def multiply(a, b):
    (na, x), (nb, y) = a, b
    negative = na != nb
    if INF in (x, y):
        return (NAN, False) if x == 0 or y == 0 else (INF, negative)
    return x * y, negative


def divide(a, b):
    (na, x), (nb, y) = a, b
    negative = na != nb
    if x == INF:
        return (NAN, False) if y == INF else (INF, negative)
    if y == INF:
        return Fraction(0), negative
    if y == 0:
        return (NAN, False) if x == 0 else (INF, negative)
    return x / y, negative


def square_root(name: str, bits: int, mode: str = "rn") -> int:
    """The root to 400 bits, which decides every rounding, as a root is never in the middle of two numbers."""
    negative, value = decode(name, bits)
    if value == NAN or (negative and value != 0):
        return encode(name, NAN)
    if value in (INF, 0):
        return bits
    scaled = value * Fraction(4) ** 600
    whole = scaled.numerator // scaled.denominator
    root = math.isqrt(whole)
    exact = Fraction(root)
    if root * root != whole or whole != scaled:
        exact += Fraction(1, 2)
    return encode(name, exact / Fraction(2) ** 600, False, mode)


def patterns(name: str, count: int, rng: random.Random) -> list[int]:
    """Bits that reach the corners: specials, subnormals, neighbours of powers of two, numbers of near magnitude."""
    e, m, _ = FORMATS[name]
    bits = 1 + e + m
    top = ((1 << e) - 1) << m
    special = [
        0,
        1,
        2,
        (1 << m) - 1,
        1 << m,
        (1 << m) + 1,
        top - 1,
        top,
        top + 1,
        top | 1 << (m - 1),
        ((1 << (e - 1)) - 1) << m,
    ]
    special += [s | 1 << (e + m) for s in special]
    out = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.25:
            out.append(rng.choice(special))
        elif kind < 0.5:
            out.append(rng.getrandbits(bits))
        elif kind < 0.6:
            out.append(rng.getrandbits(m) | rng.getrandbits(1) << (e + m))
        else:
            exponent = (1 << (e - 1)) - 1 + rng.randrange(-min(30, 1 << (e - 2)), min(30, 1 << (e - 2)))
            mantissa = rng.choice([rng.getrandbits(m), 0, (1 << m) - 1, 1 << rng.randrange(m), rng.getrandbits(3)])
            out.append(exponent << m | mantissa & ((1 << m) - 1) | rng.getrandbits(1) << (e + m))
    return out


def integers(bits: int, count: int, rng: random.Random) -> list[int]:
    """Unsigned integers that reach the corners."""
    corners = [
        0,
        1,
        2,
        (1 << bits) - 1,
        1 << (bits - 1),
        (1 << (bits - 1)) - 1,
        (1 << (bits - 1)) + 1,
        bits,
        bits - 1,
        bits + 1,
    ]
    return [
        rng.choice(corners) if rng.random() < 0.3 else rng.getrandbits(bits) >> rng.choice([0, 0, bits // 2, bits - 5])
        for _ in range(count)
    ]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value
