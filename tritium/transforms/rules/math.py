"""Rules of the math dialect: evaluation where the result is exact or correctly rounded, and functions applied twice.

exp, log and their like are never evaluated here: the target's own functions round in their own way, and a constant
must be what the same call gives at run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dialects.math import (
    AbsF,
    AbsI,
    Ceil,
    CopySign,
    Ctlz,
    Ctpop,
    Cttz,
    Floor,
    Round,
    RoundEven,
    Sqrt,
    Trunc,
)
from ...ir import FloatType, Rule, element_type, rule
from .constants import FOLDABLE_FLOATS, constant_attr, integer_width, signed, splat_of, unsigned

__all__ = ["MATH_RULES"]


def _integral(fn: Callable[[float], float]) -> Callable[[float], float]:
    """`fn` on finite numbers with the sign of zero kept; infinities are their own."""
    return lambda x: math.copysign(fn(x), x) if math.isfinite(x) else x


def _half_away(x: float) -> float:
    whole = math.trunc(x)
    return float(whole + math.copysign(1, x) if abs(x - whole) >= 0.5 else whole)


EVALUATE_FLOAT: dict[type, Callable[[float], float]] = {
    AbsF: abs,
    Ceil: _integral(math.ceil),
    Floor: _integral(math.floor),
    Trunc: _integral(math.trunc),
    Round: _integral(_half_away),
    RoundEven: _integral(round),
    Sqrt: lambda x: math.sqrt(x) if x >= 0 else math.nan,
}

EVALUATE_INTEGER: dict[type, Callable[[int, int], int]] = {
    AbsI: lambda a, w: abs(signed(a, w)),
    Ctpop: lambda a, w: unsigned(a, w).bit_count(),
    Ctlz: lambda a, w: w - unsigned(a, w).bit_length(),
    Cttz: lambda a, w: w if a == 0 else (a & -a).bit_length() - 1,
}


@rule(*EVALUATE_FLOAT)
def fold_float_function(op: Any) -> Any:
    """f(c1) = c2"""
    c, element = splat_of(op.operand), element_type(op.result.type)
    if c is None or math.isnan(c) or not isinstance(element, FloatType) or element.name not in FOLDABLE_FLOATS:
        return None
    value = EVALUATE_FLOAT[op.__class__](c)
    return None if math.isnan(value) else constant_attr(value, op.result.type)


@rule(*EVALUATE_INTEGER)
def fold_integer_function(op: Any) -> Any:
    """f(c1) = c2"""
    c = splat_of(op.operand)
    if c is None:
        return None
    return constant_attr(EVALUATE_INTEGER[op.__class__](c, integer_width(op.result.type)), op.result.type)


@rule(AbsF, AbsI, Ceil, Floor, Trunc, Round, RoundEven)
def apply_twice(op: Any) -> Any:
    """f(f(x)) = f(x)"""
    inner = op.operand.defining_op
    return op.operand if inner.__class__ is op.__class__ else None


@rule(CopySign)
def copy_own_sign(op: Any) -> Any:
    """copysign(x, x) = x"""
    return op.lhs if op.lhs is op.rhs else None


MATH_RULES: list[Rule] = [fold_float_function, fold_integer_function, apply_twice, copy_own_sign]
