"""Rules of floating-point arithmetic, exact ones only; equations as in `arith.py`, and NaN = NaN in them.

That x + 0.0 = x is no rule: -0.0 + 0.0 is 0.0. Nothing is evaluated that would give NaN, whose sign and payload
hardware chooses, nor a division by zero, whose flags a program may want.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dialects.arith import AddF, DivF, MaximumF, MaxNumF, MinimumF, MinNumF, MulF, NegF, RemF, SubF
from ...dialects.math import AbsF, Fma
from ...ir import FloatType, Rule, element_type, rule
from .constants import FOLDABLE_FLOATS, constant, constant_attr, splat_of

__all__ = ["FLOAT_RULES"]


def _is(value: Any, number: float) -> bool:
    found = splat_of(value)
    return found is not None and found == number and math.copysign(1, found) == math.copysign(1, number)


def _divide(a: float, b: float) -> float:
    return a / b if b else math.nan


def _remainder(a: float, b: float) -> float:
    return math.fmod(a, b) if b and math.isfinite(a) else math.nan


def _maximum(a: float, b: float) -> float:
    if a == b:
        return a if math.copysign(1, a) > 0 else b
    return max(a, b)


def _minimum(a: float, b: float) -> float:
    return -_maximum(-a, -b)


def _rounds_otherwise(op: Any) -> bool:
    """True where the result is not rounded to nearest: the equations here are of that."""
    return "roundingmode" in op.attributes


EVALUATE: dict[type, Callable[[float, float], float]] = {
    AddF: lambda a, b: a + b,
    SubF: lambda a, b: a - b,
    MulF: lambda a, b: a * b,
    DivF: _divide,
    RemF: _remainder,
    MaximumF: _maximum,
    MinimumF: _minimum,
    MaxNumF: _maximum,
    MinNumF: _minimum,
}
"""(lhs, rhs), neither of them NaN -> the result in double before rounding; NaN where it is not to be evaluated."""


@rule(*EVALUATE)
def fold_floats(op: Any) -> Any:
    """c1 op c2 = c3, rounded once"""
    b = splat_of(op.rhs)
    a = None if b is None else splat_of(op.lhs)
    if a is None or math.isnan(a) or math.isnan(b) or _rounds_otherwise(op):
        return None
    element = element_type(op.result.type)
    if not isinstance(element, FloatType) or element.name not in FOLDABLE_FLOATS:
        return None
    value = EVALUATE[op.__class__](a, b)
    return None if math.isnan(value) else constant_attr(value, op.result.type)


@rule(NegF)
def fold_negation(op: Any) -> Any:
    """-c1 = c2, and -(-x) = x"""
    inner = op.operand.defining_op
    if inner.__class__ is NegF:
        return inner.operand
    c = splat_of(op.operand)
    return None if c is None or math.isnan(c) else constant_attr(-c, op.result.type)


@rule(AddF)
def add_negative_zero(op: Any) -> Any:
    """x + -0.0 = x"""
    return op.lhs if _is(op.rhs, -0.0) and not _rounds_otherwise(op) else None


@rule(SubF)
def subtract_zero(op: Any) -> Any:
    """x - 0.0 = x"""
    return op.lhs if _is(op.rhs, 0.0) and not _rounds_otherwise(op) else None


@rule(MulF, DivF)
def one_right_float(op: Any) -> Any:
    """x * 1.0 = x, x / 1.0 = x"""
    return op.lhs if _is(op.rhs, 1.0) else None


@rule(MulF, DivF)
def minus_one_right(op: Any) -> Any:
    """x * -1.0 = -x, x / -1.0 = -x"""
    return NegF(op.lhs) if _is(op.rhs, -1.0) else None


@rule(AddF)
def add_negated(op: Any) -> Any:
    """x + -y = x - y, and -y + x = x - y"""
    for x, negated in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        inner = negated.defining_op
        if inner.__class__ is NegF and not _rounds_otherwise(op):
            return SubF(x, inner.operand, op.fastmath)
    return None


@rule(SubF)
def subtract_negated(op: Any) -> Any:
    """x - -y = x + y"""
    inner = op.rhs.defining_op
    if inner.__class__ is not NegF or _rounds_otherwise(op):
        return None
    return AddF(op.lhs, inner.operand, op.fastmath)


@rule(MulF, DivF)
def both_negated(op: Any) -> Any:
    """-x * -y = x * y, -x / -y = x / y"""
    a, b = op.lhs.defining_op, op.rhs.defining_op
    if a.__class__ is not NegF or b.__class__ is not NegF or _rounds_otherwise(op):
        return None
    return op.__class__(a.operand, b.operand, op.fastmath)


@rule(DivF)
def divide_by_power_of_two(op: Any) -> Any:
    """x / 2^k = x * 2^-k, where both are normal numbers"""
    c, element = splat_of(op.rhs), element_type(op.result.type)
    if c is None or not isinstance(element, FloatType) or element.name not in FOLDABLE_FLOATS:
        return None
    if _rounds_otherwise(op) or c == 0 or not math.isfinite(c) or abs(math.frexp(c)[0]) != 0.5:
        return None
    bias = (1 << (element.exponent - 1)) - 1
    k = math.frexp(c)[1] - 1
    if not (1 - bias <= k <= bias and 1 - bias <= -k <= bias):
        return None
    return MulF(op.lhs, constant(1.0 / c, op.result.type), op.fastmath)


@rule(MaximumF, MinimumF, MaxNumF, MinNumF)
def idempotent_float(op: Any) -> Any:
    """max(x, x) = x, min(x, x) = x"""
    return op.lhs if op.lhs is op.rhs else None


@rule(MaximumF, MinimumF, MaxNumF, MinNumF)
def infinity_right(op: Any) -> Any:
    """maximum(x, -inf) = x, minimum(x, inf) = x, maxnum(x, inf) = inf, minnum(x, -inf) = -inf"""
    c = splat_of(op.rhs)
    if c is None or not math.isinf(c):
        return None
    upwards = op.__class__ in (MaximumF, MaxNumF)
    if op.__class__ in (MaximumF, MinimumF):  # these keep NaN, so the neutral side is known and no other
        return op.lhs if (c < 0) == upwards else None
    return op.rhs if (c > 0) == upwards else None


@rule(AbsF)
def absolute_of_sign(op: Any) -> Any:
    """|-x| = |x|"""
    inner = op.operand.defining_op
    return AbsF(inner.operand) if inner.__class__ is NegF else None


@rule(Fma)
def fma_without_product_or_sum(op: Any) -> Any:
    """fma(x, 1.0, z) = x + z, fma(x, y, -0.0) = x * y, fma(x, -1.0, z) = z - x"""
    if _is(op.b, 1.0):
        return AddF(op.a, op.c)
    if _is(op.b, -1.0):
        return SubF(op.c, op.a)
    return MulF(op.a, op.b) if _is(op.c, -0.0) else None


FLOAT_RULES: list[Rule] = [
    fold_floats,
    fold_negation,
    add_negative_zero,
    subtract_zero,
    one_right_float,
    minus_one_right,
    add_negated,
    subtract_negated,
    both_negated,
    divide_by_power_of_two,
    idempotent_float,
    infinity_right,
    absolute_of_sign,
    fma_without_product_or_sum,
]
