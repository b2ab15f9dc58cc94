"""Rules of comparisons and `arith.select`; equations as in `arith.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects.arith import (
    AddI,
    CmpF,
    CmpFPredicate,
    CmpI,
    CmpIPredicate,
    ExtSI,
    ExtUI,
    Select,
    XOrI,
)
from ...ir import CHANGED, IntegerAttr, Rule, element_type, i1, i64, rule
from .constants import constant, constant_attr, integer_width, is_one, signed, splat_of, unsigned

__all__ = ["COMPARE_RULES"]

P = CmpIPredicate
F = CmpFPredicate

_SWAPPED = {
    P.eq: P.eq,
    P.ne: P.ne,
    P.slt: P.sgt,
    P.sle: P.sge,
    P.sgt: P.slt,
    P.sge: P.sle,
    P.ult: P.ugt,
    P.ule: P.uge,
    P.ugt: P.ult,
    P.uge: P.ule,
}
_NEGATED = {
    P.eq: P.ne,
    P.ne: P.eq,
    P.slt: P.sge,
    P.sge: P.slt,
    P.sle: P.sgt,
    P.sgt: P.sle,
    P.ult: P.uge,
    P.uge: P.ult,
    P.ule: P.ugt,
    P.ugt: P.ule,
}
_TRUE_OF_EQUALS = frozenset({P.eq, P.sle, P.sge, P.ule, P.uge})
_ORDERED: dict[CmpIPredicate, Callable[[int, int], bool]] = {
    P.eq: int.__eq__,
    P.ne: int.__ne__,
    P.slt: int.__lt__,
    P.sle: int.__le__,
    P.sgt: int.__gt__,
    P.sge: int.__ge__,
    P.ult: int.__lt__,
    P.ule: int.__le__,
    P.ugt: int.__gt__,
    P.uge: int.__ge__,
}
_UNSIGNED = frozenset({P.ult, P.ule, P.ugt, P.uge})
_UNSIGNED_OF = {P.slt: P.ult, P.sle: P.ule, P.sgt: P.ugt, P.sge: P.uge}


def _view(number: int, predicate: CmpIPredicate, width: int) -> int:
    return unsigned(number, width) if predicate in _UNSIGNED else signed(number, width)


def compare_integers(predicate: CmpIPredicate, a: int, b: int, width: int) -> bool:
    """a <predicate> b for numbers of `width` bits."""
    return _ORDERED[predicate](_view(a, predicate, width), _view(b, predicate, width))


def _predicate(op: Any, predicate: int) -> Any:
    op.attributes["predicate"] = IntegerAttr(int(predicate), i64)
    return CHANGED


@rule(CmpI)
def fold_integer_comparison(op: Any) -> Any:
    """c1 < c2 = true or false, and x < x = false, x <= x = true"""
    if op.lhs is op.rhs:
        return constant_attr(op.predicate in _TRUE_OF_EQUALS, op.result.type)
    b = splat_of(op.rhs)
    a = None if b is None else splat_of(op.lhs)
    if a is None:
        return None
    return constant_attr(compare_integers(op.predicate, a, b, integer_width(op.lhs.type)), op.result.type)


@rule(CmpI)
def comparison_constant_right(op: Any) -> Any:
    """c < x = x > c"""
    if splat_of(op.lhs) is None or splat_of(op.rhs) is not None:
        return None
    op.set_operands([op.rhs, op.lhs])
    return _predicate(op, _SWAPPED[op.predicate])


@rule(CmpI)
def comparison_with_extreme(op: Any) -> Any:
    """x < MIN = false, x >= MIN = true, x > MAX = false, x <= MAX = true, signed and unsigned"""
    c = splat_of(op.rhs)
    p = op.predicate
    if c is None or p in (P.eq, P.ne):
        return None
    w = integer_width(op.lhs.type)
    low, high = (0, (1 << w) - 1) if p in _UNSIGNED else (-(1 << (w - 1)), (1 << (w - 1)) - 1)
    c = _view(c, p, w)
    if (c == low and p in (P.slt, P.ult)) or (c == high and p in (P.sgt, P.ugt)):
        return constant_attr(0, op.result.type)
    if (c == low and p in (P.sge, P.uge)) or (c == high and p in (P.sle, P.ule)):
        return constant_attr(1, op.result.type)
    return None


@rule(CmpI)
def compare_boolean(op: Any) -> Any:
    """x == true = x, x != false = x, x == false = x ^ true, x != true = x ^ true, for i1"""
    if op.predicate not in (P.eq, P.ne) or element_type(op.lhs.type) is not i1:
        return None
    c = splat_of(op.rhs)
    if c is None:
        return None
    if (c == 1) == (op.predicate == P.eq):
        return op.lhs
    return XOrI(op.lhs, constant(1, op.lhs.type))


@rule(CmpI)
def compare_extended(op: Any) -> Any:
    """sext(x) < sext(y) = x < y, zext(x) < zext(y) = x < y unsigned, also for constants y; so for every comparison"""
    inner = op.lhs.defining_op
    if inner.__class__ not in (ExtSI, ExtUI):
        return None
    ty, is_signed = inner.in_.type, inner.__class__ is ExtSI
    other, c = op.rhs.defining_op, splat_of(op.rhs)
    if c is not None:
        values = 1 << (integer_width(ty) - is_signed)
        if not (-values if is_signed else 0) <= c < values:
            return None
        narrow = constant(c, ty)
    elif other.__class__ is inner.__class__ and other.in_.type is ty:
        narrow = other.in_
    else:
        return None
    return CmpI(op.predicate if is_signed else _UNSIGNED_OF.get(op.predicate, op.predicate), inner.in_, narrow)


@rule(CmpI)
def compare_sum(op: Any) -> Any:
    """x + c1 == c2 = (x == c2 - c1), x + c1 != c2 = (x != c2 - c1)"""
    inner, c2 = op.lhs.defining_op, splat_of(op.rhs)
    if op.predicate not in (P.eq, P.ne) or c2 is None or inner.__class__ is not AddI:
        return None
    c1 = splat_of(inner.rhs)
    return None if c1 is None else CmpI(op.predicate, inner.lhs, constant(c2 - c1, op.rhs.type))


@rule(XOrI)
def not_of_comparison(op: Any) -> Any:
    """(x < y) ^ true = (x >= y), and for floats the predicate that holds exactly when the other does not"""
    inner = op.lhs.defining_op
    if not is_one(op.rhs) or element_type(op.result.type) is not i1:
        return None
    if inner.__class__ is CmpI:
        return CmpI(_NEGATED[inner.predicate], inner.lhs, inner.rhs)
    if inner.__class__ is CmpF:
        return CmpF(_FLOAT_OF_OUTCOMES[15 - _OUTCOMES[inner.predicate]], inner.lhs, inner.rhs, inner.fastmath)
    return None


# What makes each predicate true, as bits: 1 equal, 2 greater, 4 less, 8 unordered.
_OUTCOMES = {p: 8 if p == F.uno else p + 1 if F.ueq <= p <= F.une else int(p) for p in F}
_FLOAT_OF_OUTCOMES = {bits: p for p, bits in _OUTCOMES.items()}
_FALSE_OF_EQUALS_F = frozenset({F.false, F.ogt, F.olt, F.one})
_TRUE_OF_EQUALS_F = frozenset({F.true, F.ueq, F.uge, F.ule})


def compare_floats(predicate: CmpFPredicate, a: float, b: float) -> bool:
    """a <predicate> b."""
    outcome = 8 if a != a or b != b else 1 if a == b else 2 if a > b else 4
    return bool(_OUTCOMES[predicate] & outcome)


@rule(CmpF)
def fold_float_comparison(op: Any) -> Any:
    """c1 < c2 = true or false, and what x < x is whether x is NaN or not"""
    if op.predicate in (F.false, F.true):
        return constant_attr(op.predicate == F.true, op.result.type)
    if op.lhs is op.rhs:
        if op.predicate in _TRUE_OF_EQUALS_F or op.predicate in _FALSE_OF_EQUALS_F:
            return constant_attr(op.predicate in _TRUE_OF_EQUALS_F, op.result.type)
    b = splat_of(op.rhs)
    a = None if b is None else splat_of(op.lhs)
    return None if a is None else constant_attr(compare_floats(op.predicate, a, b), op.result.type)


# -- select -------------------------------------------------------------------------------------------------------


@rule(Select)
def select_known(op: Any) -> Any:
    """select(true, x, y) = x, select(false, x, y) = y, select(c, x, x) = x"""
    if op.true_value is op.false_value:
        return op.true_value
    c = splat_of(op.condition)
    return None if c is None else op.true_value if c else op.false_value


@rule(Select)
def select_boolean(op: Any) -> Any:
    """select(p, true, false) = p, select(p, false, true) = p ^ true"""
    if op.result.type is not op.condition.type:
        return None
    a, b = splat_of(op.true_value), splat_of(op.false_value)
    if a == 1 and b == 0:
        return op.condition
    return XOrI(op.condition, constant(1, op.result.type)) if a == 0 and b == 1 else None


@rule(Select)
def select_negated(op: Any) -> Any:
    """select(p ^ true, x, y) = select(p, y, x)"""
    inner = op.condition.defining_op
    if inner.__class__ is not XOrI or not is_one(inner.rhs):
        return None
    return Select(inner.lhs, op.false_value, op.true_value)


@rule(Select)
def select_of_select(op: Any) -> Any:
    """select(p, select(p, x, y), z) = select(p, x, z), select(p, x, select(p, y, z)) = select(p, x, z)"""
    p = op.condition
    inner = op.true_value.defining_op
    if inner.__class__ is Select and inner.condition is p:
        return Select(p, inner.true_value, op.false_value)
    inner = op.false_value.defining_op
    if inner.__class__ is Select and inner.condition is p:
        return Select(p, op.true_value, inner.false_value)
    return None


COMPARE_RULES: list[Rule] = [
    fold_integer_comparison,
    comparison_constant_right,
    comparison_with_extreme,
    compare_boolean,
    compare_extended,
    compare_sum,
    not_of_comparison,
    fold_float_comparison,
    select_known,
    select_boolean,
    select_negated,
    select_of_select,
]
