"""Rules of integer arithmetic. Each docstring is an equation that the tests prove (`test_rules_proofs.py`).

In equations x, y, z are any values, c, c1, c2 constants, all of one width with arithmetic that wraps; `op` is the
operation the rule is for. Every operation is total, as docs/semantics.md says: x / 0 = x, x % 0 = 0, the least integer
divided by -1 is itself, and a shift by the width or more shifts out every bit. Constants are on the right of
commutative operations: `constant_right` sees to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects.arith import (
    AddI,
    AddUIExtended,
    AndI,
    CeilDivSI,
    CeilDivUI,
    CmpI,
    CmpIPredicate,
    Constant,
    DivSI,
    DivUI,
    ExtUI,
    FloorDivSI,
    MaxSI,
    MaxUI,
    MinSI,
    MinUI,
    MulI,
    MulSIExtended,
    MulUIExtended,
    OrI,
    RemSI,
    RemUI,
    ShLI,
    ShRSI,
    ShRUI,
    SubI,
    XOrI,
)
from ...ir import CHANGED, COMMUTATIVE, Rule, rule
from .constants import (
    constant,
    constant_attr,
    integer_width,
    is_one,
    is_ones,
    is_zero,
    signed,
    splat_of,
    unsigned,
)

__all__ = ["INTEGER_RULES", "constant_right"]


def _signed_quotient(a: int, b: int, w: int) -> int:
    """Rounded towards zero; a for b = 0."""
    a, b = signed(a, w), signed(b, w)
    q = abs(a) // abs(b) if b else a
    return q if b == 0 or (a < 0) == (b < 0) else -q


def _signed_remainder(a: int, b: int, w: int) -> int:
    return signed(a, w) - _signed_quotient(a, b, w) * signed(b, w) if signed(b, w) else 0


def _floor_quotient(a: int, b: int, w: int) -> int:
    return signed(a, w) // signed(b, w) if signed(b, w) else a


def _ceiling_quotient(a: int, b: int, w: int) -> int:
    return -(-signed(a, w) // signed(b, w)) if signed(b, w) else a


def _unsigned_by(fn: Callable[[int, int], int], by_zero: Callable[[int], int]) -> Callable[[int, int, int], int]:
    return lambda a, b, w: fn(unsigned(a, w), unsigned(b, w)) if unsigned(b, w) else by_zero(a)


EVALUATE: dict[type, Callable[[int, int, int], int]] = {
    AddI: lambda a, b, w: a + b,
    SubI: lambda a, b, w: a - b,
    MulI: lambda a, b, w: a * b,
    DivSI: _signed_quotient,
    DivUI: _unsigned_by(lambda a, b: a // b, lambda a: a),
    CeilDivSI: _ceiling_quotient,
    CeilDivUI: _unsigned_by(lambda a, b: -(-a // b), lambda a: a),
    FloorDivSI: _floor_quotient,
    RemSI: _signed_remainder,
    RemUI: _unsigned_by(lambda a, b: a % b, lambda a: 0),
    AndI: lambda a, b, w: a & b,
    OrI: lambda a, b, w: a | b,
    XOrI: lambda a, b, w: a ^ b,
    ShLI: lambda a, b, w: a << min(unsigned(b, w), w),
    ShRSI: lambda a, b, w: signed(a, w) >> min(unsigned(b, w), w),
    ShRUI: lambda a, b, w: unsigned(a, w) >> min(unsigned(b, w), w),
    MaxSI: lambda a, b, w: max(signed(a, w), signed(b, w)),
    MaxUI: lambda a, b, w: max(unsigned(a, w), unsigned(b, w)),
    MinSI: lambda a, b, w: min(signed(a, w), signed(b, w)),
    MinUI: lambda a, b, w: min(unsigned(a, w), unsigned(b, w)),
}
"""(lhs, rhs, width) -> the result, to be truncated to the width.

Distances of the width or more shift out every bit, as a distance of the width does.
"""

_SIGNED_DIVISIONS = (DivSI, CeilDivSI, FloorDivSI)
_DIVISIONS = (*_SIGNED_DIVISIONS, DivUI, CeilDivUI)
_REMAINDERS = (RemSI, RemUI)
_SHIFTS = (ShLI, ShRSI, ShRUI)
_MINMAX = (MaxSI, MaxUI, MinSI, MinUI)
_ASSOCIATIVE = (AddI, MulI, AndI, OrI, XOrI, *_MINMAX)


@rule(*EVALUATE)
def fold_integers(op: Any) -> Any:
    """c1 op c2 = c3"""
    b = splat_of(op.operands[1])
    if b is None:
        return None
    a = splat_of(op.operands[0])
    if a is None:
        return None
    ty = op.results[0].type
    return constant_attr(EVALUATE[op.__class__](a, b, integer_width(ty)), ty)


@rule(traits=COMMUTATIVE)
def constant_right(op: Any) -> Any:
    """c op x = x op c"""
    operands = op.operands
    if splat_of(operands[0]) is None or splat_of(operands[1]) is not None:
        return None
    op.set_operands([operands[1], operands[0], *operands[2:]])
    return CHANGED


@rule(*_ASSOCIATIVE)
def reassociate_constants(op: Any) -> Any:
    """(x op c1) op c2 = x op (c1 op c2)"""
    c2 = splat_of(op.rhs)
    inner = op.lhs.defining_op
    if c2 is None or inner.__class__ is not op.__class__:
        return None
    c1 = splat_of(inner.rhs)
    if c1 is None:
        return None
    ty = op.result.type
    c = EVALUATE[op.__class__](c1, c2, integer_width(ty))
    return op.__class__(inner.lhs, constant(c, ty))


@rule(AddI, SubI, OrI, XOrI, *_SHIFTS)
def zero_right(op: Any) -> Any:
    """x op 0 = x"""
    return op.lhs if is_zero(op.rhs) else None


@rule(*_SHIFTS)
def shift_of_zero(op: Any) -> Any:
    """0 op x = 0"""
    return op.lhs if is_zero(op.lhs) else None


@rule(SubI, XOrI)
def cancel(op: Any) -> Any:
    """x op x = 0"""
    return constant_attr(0, op.result.type) if op.lhs is op.rhs else None


@rule(AndI, OrI, *_MINMAX)
def idempotent(op: Any) -> Any:
    """x op x = x"""
    return op.lhs if op.lhs is op.rhs else None


@rule(AddI)
def add_of_difference(op: Any) -> Any:
    """(x - y) + y = x, (x - c1) + c2 = x + (c2 - c1), (c1 - x) + c2 = (c1 + c2) - x, and x + y * -1 = x - y"""
    lhs, rhs = op.operands
    for difference, other in ((lhs, rhs), (rhs, lhs)):
        inner = difference.defining_op
        kind = inner.__class__
        if kind is MulI:
            if inner.operands[1].defining_op.__class__ is Constant and splat_of(inner.rhs) == -1:
                return SubI(other, inner.lhs)
        elif kind is SubI:
            if inner.rhs is other:
                return inner.lhs
            c2 = splat_of(other)
            if c2 is not None:
                c1 = splat_of(inner.rhs)
                if c1 is not None:
                    return AddI(inner.lhs, constant(c2 - c1, op.result.type))
                c1 = splat_of(inner.lhs)
                if c1 is not None:
                    return SubI(constant(c1 + c2, op.result.type), inner.rhs)
    return None


@rule(SubI)
def difference_of_sum(op: Any) -> Any:
    """(x + y) - x = y, and (x + y) - y = x, and (x + c1) - c2 = x + (c1 - c2)"""
    inner = op.lhs.defining_op
    if inner.__class__ is not AddI:
        return None
    if inner.lhs is op.rhs:
        return inner.rhs
    if inner.rhs is op.rhs:
        return inner.lhs
    c1, c2 = splat_of(inner.rhs), splat_of(op.rhs)
    return None if c1 is None or c2 is None else AddI(inner.lhs, constant(c1 - c2, op.result.type))


@rule(SubI)
def difference_of_difference(op: Any) -> Any:
    """(x - c1) - c2 = x - (c1 + c2), and x - (x - y) = y"""
    inner = op.rhs.defining_op
    if inner.__class__ is SubI and inner.lhs is op.lhs:
        return inner.rhs
    inner, c2 = op.lhs.defining_op, splat_of(op.rhs)
    if inner.__class__ is not SubI or c2 is None:
        return None
    c1 = splat_of(inner.rhs)
    return None if c1 is None else SubI(inner.lhs, constant(c1 + c2, op.result.type))


@rule(MulI, AndI)
def annihilate(op: Any) -> Any:
    """x op 0 = 0"""
    return op.rhs if is_zero(op.rhs) else None


@rule(OrI)
def or_ones(op: Any) -> Any:
    """x | -1 = -1"""
    return op.rhs if is_ones(op.rhs) else None


@rule(AndI)
def and_ones(op: Any) -> Any:
    """x & -1 = x"""
    return op.lhs if is_ones(op.rhs) else None


@rule(AndI, OrI)
def absorb(op: Any) -> Any:
    """x & (x | y) = x, and x | (x & y) = x"""
    other = OrI if op.__class__ is AndI else AndI
    for x, compound in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        inner = compound.defining_op
        if inner.__class__ is other and (inner.lhs is x or inner.rhs is x):
            return x
    return None


@rule(XOrI)
def xor_twice(op: Any) -> Any:
    """(x ^ y) ^ y = x, and (x ^ y) ^ x = y"""
    for compound, y in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        inner = compound.defining_op
        if inner.__class__ is XOrI:
            if inner.rhs is y:
                return inner.lhs
            if inner.lhs is y:
                return inner.rhs
    return None


@rule(MulI, *_DIVISIONS)
def one_right(op: Any) -> Any:
    """x op 1 = x"""
    if integer_width(op.result.type) == 1 and op.__class__ in _SIGNED_DIVISIONS:
        return None  # the 1 of i1 is -1 where it is signed
    return op.lhs if is_one(op.rhs) else None


@rule(*_DIVISIONS, *_REMAINDERS)
def zero_left(op: Any) -> Any:
    """0 op x = 0"""
    return op.lhs if is_zero(op.lhs) else None


@rule(AddI)
def quotient_rounded_up(op: Any) -> Any:
    """x / c + zext(x % c > 0) = ceil(x / c), for c > 0"""
    division, extended = op.lhs.defining_op, op.rhs.defining_op
    if division.__class__ is not DivSI:
        division, extended = extended, division
    if division.__class__ is not DivSI or extended.__class__ is not ExtUI:
        return None
    compared = extended.in_.defining_op
    if compared.__class__ is not CmpI or compared.predicate != CmpIPredicate.sgt or not is_zero(compared.rhs):
        return None
    rest, c = compared.lhs.defining_op, splat_of(division.rhs)
    if rest.__class__ is not RemSI or rest.lhs is not division.lhs or c is None or c != splat_of(rest.rhs):
        return None
    return CeilDivSI(division.lhs, division.rhs) if signed(c, integer_width(op.result.type)) > 0 else None


@rule(*_REMAINDERS)
def remainder_zero(op: Any) -> Any:
    """x op 1 = 0, and x op x = 0 (0 op 0 is 0, too)"""
    return constant_attr(0, op.result.type) if op.lhs is op.rhs or is_one(op.rhs) else None


@rule(*_MINMAX)
def extreme_right(op: Any) -> Any:
    """max(x, MIN) = x, max(x, MAX) = MAX, min(x, MAX) = x, min(x, MIN) = MIN"""
    c = splat_of(op.rhs)
    if c is None:
        return None
    w = integer_width(op.result.type)
    if op.__class__ in (MaxSI, MinSI):
        low, high, c = -(1 << (w - 1)), (1 << (w - 1)) - 1, signed(c, w)
    else:
        low, high, c = 0, (1 << w) - 1, unsigned(c, w)
    absorbing, neutral = (high, low) if op.__class__ in (MaxSI, MaxUI) else (low, high)
    if c == neutral:
        return op.lhs
    return op.rhs if c == absorbing else None


@rule(AddUIExtended)
def fold_extended_sum(op: Any) -> Any:
    """c1 + c2 = (low, carry), and x + 0 = (x, 0)"""
    b = splat_of(op.rhs)
    if b is None:
        return None
    low, carry = (r.type for r in op.results)
    if b == 0:
        return [op.lhs, constant_attr(0, carry)]
    a = splat_of(op.lhs)
    if a is None:
        return None
    w = integer_width(low)
    total = unsigned(a, w) + unsigned(b, w)
    return [constant_attr(total, low), constant_attr(total >> w, carry)]


@rule(MulSIExtended, MulUIExtended)
def fold_extended_product(op: Any) -> Any:
    """c1 * c2 = (low, high), and x * 0 = (0, 0)"""
    b = splat_of(op.rhs)
    if b is None:
        return None
    ty = op.results[0].type
    a = 0 if b == 0 else splat_of(op.lhs)
    if a is None:
        return None
    w = integer_width(ty)
    view = signed if op.__class__ is MulSIExtended else unsigned
    product = view(a, w) * view(b, w)
    return [constant_attr(product, ty), constant_attr(product >> w, ty)]


INTEGER_RULES: list[Rule] = [
    fold_integers,
    constant_right,
    zero_right,
    one_right,
    annihilate,
    cancel,
    idempotent,
    reassociate_constants,
    add_of_difference,
    difference_of_sum,
    difference_of_difference,
    and_ones,
    or_ones,
    absorb,
    xor_twice,
    shift_of_zero,
    zero_left,
    quotient_rounded_up,
    remainder_zero,
    extreme_right,
    fold_extended_sum,
    fold_extended_product,
]
