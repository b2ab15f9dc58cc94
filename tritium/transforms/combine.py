"""combine: Combine operations of the tt dialect across patterns that change how a result is computed.

Canonicalization leaves these alone. Adding to a dot with a zero accumulator makes the addend its accumulator, and a sum
over a multiplication of broadcasts becomes a dot. The first changes the order in which floats are added, as it does in
Triton.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith, tt
from ..ir import (
    CHANGED,
    UNIT,
    Operation,
    RuleTable,
    TensorType,
    Touched,
    Value,
    element_type,
    f32,
    functions_of,
    i64,
    pass_on,
    rewrite_greedily,
    rule,
)
from ..support.lazy import LazyModule
from .rules.constants import constant, integer_width, splat_of

__all__ = ["COMBINE_RULES", "combine"]

_functions = LazyModule("..analysis.combine", __package__)  # rarely needed


@rule(arith.AddF, arith.AddI)
def add_to_dot(op: Any) -> Any:
    """dot(a, b, 0) + c = dot(a, b, c), scaled or not, when the dot has no other use and accumulates precisely"""
    for product, addend in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        dot = product.defining_op
        if dot.__class__ not in (tt.Dot, tt.DotScaled) or not product.has_one_use:
            continue
        if dot.__class__ is tt.Dot and dot.maxNumImpreciseAcc != 0:
            continue
        if splat_of(dot.c) == 0 and addend.type is product.type and addend is not product:
            operands = [addend if i == 2 else v for i, v in enumerate(dot.operands)]
            return type(dot).create(operands, [product.type], dict(dot.attributes))
    return None


@rule(tt.Reshape)
def reshape_before_reduction(op: Any) -> Any:
    """reshape(x) = reshape(x) allow_reorder, to one dimension, when only reductions and histograms over all of it use
    it

    They must be independent of the order: no other operand (indices, a mask), and a commutative function.
    """
    if "allow_reorder" in op.attributes or op.result.type.rank != 1 or not op.result.users:
        return None
    if not all(len(user.operands) == 1 and _takes_any_order(user) for user in op.result.users):
        return None
    op.attributes["allow_reorder"] = UNIT
    return CHANGED


def _takes_any_order(user: Any) -> bool:
    if user.__class__ is tt.Reduce:
        return _functions.combine_of(user.regions[0].entry).order is not _functions.Order.ORDERED  # type: ignore[no-any-return]
    return user.__class__ is tt.Histogram


@rule(tt.Reshape)
def load_of_lower_rank(op: Any) -> Any:
    """reshape(descriptor_load(d)) = descriptor_load(d) in that shape, if that drops leading dimensions of 1"""
    load, shape = op.src.defining_op, op.result.type.shape
    if load.__class__ is not tt.DescriptorLoad or not op.src.has_one_use:
        return None
    whole = load.result.type.shape
    more = len(whole) - len(shape)
    if more <= 0 or whole[:more] != (1,) * more or whole[more:] != shape:
        return None
    new = tt.DescriptorLoad.create(list(load.operands), [op.result.type], dict(load.attributes), loc=load.loc)
    load.parent.insert_before(new, load)
    return Touched(new.result, [load])


_HINTS = ("tt.divisibility", "tt.contiguity", "tt.constancy", "tt.pointee_type")


def _kept(op: Operation) -> dict[str, Any]:
    """The attributes that describe the value of an operation, however it is computed."""
    return {name: attr for name, attr in op.attributes.items() if name in _HINTS}


@rule(tt.AddPtr)
def add_offsets(op: Any) -> Any:
    """addptr(addptr(p, x), y) = addptr(p, x + y), for i64, and for constants whose sum does not overflow"""
    inner = op.ptr.defining_op
    if inner.__class__ is not tt.AddPtr or inner.offset.type is not op.offset.type:
        return None
    ty = op.offset.type
    x, y = splat_of(inner.offset), splat_of(op.offset)
    if x is not None and y is not None:
        if abs(x + y) >> (integer_width(ty) - 1):
            return None
        return tt.AddPtr(inner.ptr, constant(x + y, ty), attributes=_kept(op))
    if element_type(ty) is not i64 or isinstance(ty, TensorType) or not op.ptr.has_one_use:
        return None
    return tt.AddPtr(inner.ptr, arith.AddI(inner.offset, op.offset).result, attributes=_kept(op))


def _mask_of(condition: Value) -> Value:
    """The scalar that a mask broadcasts, or the mask."""
    op = condition.defining_op
    return op.operands[0] if op.__class__ is tt.Splat else condition  # type: ignore[union-attr]


def _available_at(value: Value, op: Operation) -> bool:
    """True when `value` is defined before `op` in its block, or outside of it."""
    if value.block is not op.parent:
        return not op.is_ancestor_of(value.defining_op) and _encloses(value, op)
    definer = value.defining_op
    return definer is None or definer.is_before(op)


def _encloses(value: Value, op: Operation) -> bool:
    inner: Operation | None = op
    while inner is not None:
        if inner.parent is value.block:
            definer = value.defining_op
            return definer is None or definer.is_before(inner)
        inner = inner.parent_op
    return False


@rule(arith.Select)
def select_of_load(op: Any) -> Any:
    """select(m, load(p, m, x), y) = load(p, m, y), when the load has no other use and y is defined before it"""
    load = op.true_value.defining_op
    if load.__class__ is not tt.Load or load.mask is None or load.isVolatile or not op.true_value.has_one_use:
        return None
    if _mask_of(op.condition) is not _mask_of(load.mask) or not _available_at(op.false_value, load):
        return None
    new = tt.Load(load.ptr, load.mask, op.false_value, attributes=_plain(load), loc=load.loc)
    load.parent.insert_before(new, load)
    return new.result


def _plain(op: Any) -> dict[str, Any]:
    return {n: a for n, a in op.attributes.items() if n != "operandSegmentSizes"}


def _source(value: Value, axis: int) -> Value | None:
    """x where `value` is x with dimension `axis` inserted and broadcast."""
    op = value.defining_op
    if op.__class__ is tt.Broadcast:
        op = op.operands[0].defining_op  # type: ignore[union-attr]
    if op.__class__ is tt.ExpandDims and op.axis == axis:  # type: ignore[union-attr]
        return op.operands[0]  # type: ignore[union-attr]
    return None


@rule(tt.Reduce)
def sum_of_products(op: Any) -> Any:
    """sum(a[:, :, None] * b[None, :, :], axis 1) = dot(a, b, 0), for f32 tiles of at least 16 by 16 by 16"""
    if len(op.srcs) != 1 or op.axis != 1 or not _is_float_sum(op.combine.block):
        return None
    product = op.srcs[0].defining_op
    ty = op.srcs[0].type
    if product.__class__ is not arith.MulF or ty.rank != 3 or ty.element is not f32 or min(ty.shape) < 16:
        return None
    for x, y in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        a, b = _source(x, 2), _source(y, 0)
        if a is not None and b is not None and op.srcs[0].has_one_use:
            zero = constant(0.0, op.results[0].type)
            return tt.Dot(a, b, zero, tt.InputPrecision.ieee, 0)
    return None


def _is_float_sum(block: Any) -> bool:
    first, last = block.first, block.last
    if first.__class__ is not arith.AddF or first.next is not last:
        return False
    return set(first.operands) == set(block.args) and list(last.operands) == [first.result]


COMBINE_RULES = [
    add_to_dot,
    add_offsets,
    select_of_load,
    sum_of_products,
    reshape_before_reduction,
    load_of_lower_rank,
]
_TABLE = RuleTable(COMBINE_RULES)


@pass_on("function")
def combine(op: Operation) -> bool:
    """Combine operations in a function, or in all functions of a module."""
    changed = False
    for func in functions_of(op):
        changed |= rewrite_greedily(func, _TABLE)
    return changed
