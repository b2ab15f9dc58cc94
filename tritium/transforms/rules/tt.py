"""Rules of the tt dialect: shapes of uniform tiles, pointers, masks, assertions."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...dialects import arith, cf, llvm, tt
from ...ir import (
    CHANGED,
    DenseElementsAttr,
    FloatType,
    IntegerType,
    Rule,
    TensorType,
    Touched,
    Value,
    element_type,
    i1,
    i64,
    rule,
)
from .arith_compare import compare_integers
from .constants import constant, constant_attr, is_zero, splat_of

__all__ = ["SHAPE_RULES", "TT_RULES"]

_EQUALITIES = (arith.CmpIPredicate.eq, arith.CmpIPredicate.ne)


@rule(tt.Broadcast, tt.ExpandDims, tt.Reshape, tt.Trans, tt.Splat)
def shape_of_constant(op: Any) -> Any:
    """shape(c) = c in the new shape, for a scalar or a constant with one number in every element"""
    c = splat_of(op.src)
    return None if c is None else constant_attr(c, op.result.type)


@rule(tt.ExpandDims, tt.Reshape)
def view_of_constant(op: Any) -> Any:
    """expand_dims(c) = c and reshape(c) = c in the new shape, with the elements in the same order"""
    inner = op.src.defining_op
    if inner.__class__ is not arith.Constant or not isinstance(inner.value, DenseElementsAttr):
        return None
    return None if "allow_reorder" in op.attributes else DenseElementsAttr(inner.value.values, op.result.type)


@rule(tt.Broadcast, tt.ExpandDims, tt.Reshape, tt.Trans)
def shape_of_splat(op: Any) -> Any:
    """shape(splat(x)) = splat(x)"""
    inner = op.src.defining_op
    return tt.Splat(inner.src, result=op.result.type) if inner.__class__ is tt.Splat else None


@rule(tt.Broadcast, tt.Reshape)
def shape_kept(op: Any) -> Any:
    """broadcast(x) = x and reshape(x) = x to the shape that x has"""
    if op.src.type is not op.result.type or "allow_reorder" in op.attributes:
        return None
    return op.src


@rule(tt.Broadcast, tt.Reshape)
def shape_twice(op: Any) -> Any:
    """broadcast(broadcast(x)) = broadcast(x), reshape(reshape(x)) = reshape(x), free to reorder if either is"""
    inner = op.src.defining_op
    if inner.__class__ is not op.__class__ or "efficient_layout" in op.attributes:
        return None
    attributes = dict(op.attributes)
    if "allow_reorder" in inner.attributes:
        attributes["allow_reorder"] = inner.attributes["allow_reorder"]
    return op.__class__(inner.src, result=op.result.type, attributes=attributes)


@rule(tt.ExpandDims)
def expand_of_broadcast(op: Any) -> Any:
    """expand_dims(broadcast(x), a) = broadcast(expand_dims(x, a))"""
    inner = op.src.defining_op
    if inner.__class__ is not tt.Broadcast:
        return None
    shape, ty = inner.src.type.shape, op.result.type
    small = TensorType((*shape[: op.axis], 1, *shape[op.axis :]), ty.element, ty.encoding)
    return tt.Broadcast(tt.ExpandDims(inner.src, op.axis, result=small).result, result=ty)


@rule(tt.Trans)
def transpose_twice(op: Any) -> Any:
    """trans(x, identity) = x, trans(trans(x, p), q) = trans(x, p after q)"""
    if op.order == tuple(range(len(op.order))):
        return op.src if op.src.type is op.result.type else None
    inner = op.src.defining_op
    if inner.__class__ is not tt.Trans:
        return None
    return tt.Trans(inner.src, tuple(inner.order[k] for k in op.order), result=op.result.type)


@rule(tt.Unsplat)
def unsplat_uniform(op: Any) -> Any:
    """unsplat(splat(x)) = x, unsplat(c) = c"""
    inner = op.src.defining_op
    if inner.__class__ is tt.Splat:
        return inner.src
    c = splat_of(op.src)
    return None if c is None else constant_attr(c, op.result.type)


@rule(tt.MakeRange)
def range_of_one(op: Any) -> Any:
    """make_range(c, c + 1) = c"""
    return constant_attr(op.start, op.result.type) if op.end == op.start + 1 else None


@rule(arith.CmpI)
def compare_range(op: Any) -> Any:
    """make_range(a, b) < c = true when b <= c, false when c <= a; so for every comparison that all elements agree on"""
    steps, c = op.lhs.defining_op, splat_of(op.rhs)
    if c is None or steps.__class__ is not tt.MakeRange:
        return None
    if op.predicate in _EQUALITIES:
        return (
            constant_attr(op.predicate == _EQUALITIES[1], op.result.type) if not steps.start <= c < steps.end else None
        )
    first = compare_integers(op.predicate, steps.start, c, 32)
    last = compare_integers(op.predicate, steps.end - 1, c, 32)
    return constant_attr(first, op.result.type) if first == last else None


@rule(arith.CmpI)
def compare_extended_with_splat(op: arith.CmpI) -> arith.CmpI | None:
    """sext(x) < splat(sext(s)) = x < splat(s), and with the sides exchanged; so for every comparison"""
    left, right = op.lhs.defining_op, op.rhs.defining_op
    if isinstance(right, tt.Splat) and isinstance(left, arith.ExtSI):
        narrow = _narrow_splat(right, left.in_)
        return None if narrow is None else arith.CmpI(op.predicate, left.in_, narrow)
    if isinstance(left, tt.Splat) and isinstance(right, arith.ExtSI):
        narrow = _narrow_splat(left, right.in_)
        return None if narrow is None else arith.CmpI(op.predicate, narrow, right.in_)
    return None


def _narrow_splat(splat: tt.Splat, like: Value) -> Value | None:
    """The splat of the integer before its extension, if it is of the type of `like`."""
    scalar = splat.src.defining_op
    if not isinstance(scalar, arith.ExtSI) or scalar.in_.type is not element_type(like.type):
        return None
    return tt.Splat(scalar.in_, result=like.type).result


class _Steps(NamedTuple):
    """The elements `start` + `steps`, with 0 <= `steps` < `end`, in another shape after `views`, the last first."""

    start: Value
    steps: Value
    end: int
    views: list[tt.Broadcast | tt.ExpandDims]


@rule(arith.CmpI)
def compare_steps(op: arith.CmpI) -> arith.CmpI | None:
    """c + x < c + y = x < y for ranges x and y in [0, 2^n), where 2^n divides c; so for every comparison"""
    left, right = _steps(op.lhs), _steps(op.rhs)
    if left is None or right is None or left.start is not right.start:
        return None
    if max(left.end, right.end) > 1 << min(_trailing_zeros(left.start), 31):
        return None  # the sums may wrap around
    return arith.CmpI(op.predicate, _without_start(left), _without_start(right))


def _steps(value: Value) -> _Steps | None:
    """The start and the range that a tensor consists of; None where it does not."""
    views: list[tt.Broadcast | tt.ExpandDims] = []
    made = value.defining_op
    while isinstance(made, (tt.Broadcast, tt.ExpandDims)):
        views.append(made)
        made = made.src.defining_op
    if not isinstance(made, arith.AddI):
        return None
    for start, steps in ((made.lhs, made.rhs), (made.rhs, made.lhs)):
        first, last = start.defining_op, steps.defining_op
        if isinstance(last, (arith.ExtSI, arith.ExtUI)):
            last = last.in_.defining_op
        if isinstance(first, tt.Splat) and isinstance(last, tt.MakeRange) and last.start >= 0:
            return _Steps(first.src, steps, last.end, views)
    return None


def _without_start(tile: _Steps) -> Value:
    value = tile.steps
    for view in reversed(tile.views):
        kind = view.result.type
        if isinstance(view, tt.Broadcast):
            value = tt.Broadcast(value, result=kind).result
        else:
            value = tt.ExpandDims(value, view.axis, result=kind).result
    return value


def _trailing_zeros(value: Value, depth: int = 4) -> int:
    """The number of low bits of an integer that are known to be 0."""
    made, c = value.defining_op, splat_of(value)
    if isinstance(c, int):
        return (c & -c).bit_length() - 1 if c else 0
    if depth == 0:
        return 0
    if isinstance(made, (arith.ExtSI, arith.ExtUI)):
        return _trailing_zeros(made.in_, depth - 1)
    if isinstance(made, arith.MulI):
        return _trailing_zeros(made.lhs, depth - 1) + _trailing_zeros(made.rhs, depth - 1)
    if isinstance(made, arith.AddI):
        return min(_trailing_zeros(made.lhs, depth - 1), _trailing_zeros(made.rhs, depth - 1))
    return 0


@rule(tt.Split)
def split_of_join(op: Any) -> Any:
    """split(join(x, y)) = x, y"""
    inner = op.src.defining_op
    if inner.__class__ is not tt.Join or inner.lhs.type is not op.results[0].type:  # layouts that are equal as maps
        return None
    return [inner.lhs, inner.rhs]


@rule(tt.Join)
def join_of_split(op: Any) -> Any:
    """join(split(x)) = x"""
    inner = op.lhs.defining_op
    if inner.__class__ is not tt.Split or op.rhs.defining_op is not inner:
        return None
    return inner.src if op.lhs.index == 0 and op.rhs.index == 1 and inner.src.type is op.result.type else None


@rule(tt.Join, tt.Split)
def join_or_split_constant(op: Any) -> Any:
    """join(c, c) = c, split(c) = c, c, for tiles with one number in every element"""
    c = splat_of(op.operands[0])
    if c is None or c != splat_of(op.operands[-1]) or str(c) != str(splat_of(op.operands[-1])):
        return None
    return [constant_attr(c, r.type) for r in op.results]


# -- pointers -----------------------------------------------------------------------------------------------------


@rule(tt.AddPtr)
def add_no_offset(op: Any) -> Any:
    """addptr(p, 0) = p"""
    return op.ptr if is_zero(op.offset) else None


@rule(tt.Bitcast)
def bitcast_pointers(op: Any) -> Any:
    """bitcast(x) = x to its own type, bitcast(bitcast(x)) = bitcast(x)"""
    if op.src.type is op.result.type:
        return op.src
    inner = op.src.defining_op
    return tt.Bitcast(inner.src, result=op.result.type) if inner.__class__ is tt.Bitcast else None


@rule(tt.PtrToInt)
def address_of_address(op: Any) -> Any:
    """ptr_to_int(int_to_ptr(x)) = x, where x has as many bits as the address"""
    inner = op.src.defining_op
    return inner.src if inner.__class__ is tt.IntToPtr and inner.src.type is op.result.type else None


@rule(tt.IntToPtr)
def pointer_of_address(op: Any) -> Any:
    """int_to_ptr(ptr_to_int(p)) = bitcast(p), or p where the type is the same"""
    inner = op.src.defining_op
    if inner.__class__ is not tt.PtrToInt or element_type(op.src.type) is not i64:
        return None
    return inner.src if inner.src.type is op.result.type else tt.Bitcast(inner.src, result=op.result.type)


@rule(tt.IntToPtr)
def pointer_of_sum(op: Any) -> Any:
    """int_to_ptr(x + c) = addptr(int_to_ptr(x), c / size), for c that is a multiple of the pointee's size, in i64"""
    inner, ty = op.src.defining_op, op.result.type
    if inner.__class__ is not arith.AddI or element_type(op.src.type) is not i64:
        return None
    c, size = splat_of(inner.rhs), _pointee_bytes(element_type(ty))
    if c is None or size is None or c % size:
        return None
    return tt.AddPtr(tt.IntToPtr(inner.lhs, result=ty).result, constant(c // size, inner.rhs.type))


def _pointee_bytes(pointer: Any) -> int | None:
    """The bytes that a pointer moves by for an offset of 1."""
    width = 8 if pointer.pointee is i1 else getattr(pointer.pointee, "width", 0)
    return width // 8 if width and width % 8 == 0 else None


@rule(tt.Advance)
def advance_nowhere(op: Any) -> Any:
    """advance(p, 0) = p"""
    return op.ptr if all(is_zero(v) for v in op.offsets) else None


# -- memory -------------------------------------------------------------------------------------------------------


def drop_operands(op: Any, *fields: str) -> Touched:
    """Remove optional operands of an access, and update its operand segments. Returns the result of a rule."""
    names = [f.name for f in type(op).operand_fields]
    present = [(name, v) for name in names if (v := getattr(op, name)) is not None]
    gone = [v.defining_op for name, v in present if name in fields]
    op.set_operands([v for name, v in present if name not in fields])
    if type(op).segmented:
        sizes = op.attributes["operandSegmentSizes"]
        values = tuple(0 if name in fields else n for name, n in zip(names, sizes.values))
        op.attributes["operandSegmentSizes"] = type(sizes)(values, sizes.element)
    return Touched(CHANGED, [definer for definer in gone if definer is not None])


@rule(tt.Load)
def load_with_known_mask(op: Any) -> Any:
    """load(p, true, x) = load(p), load(p, false, x) = x, load(p, false) = anything, here 0"""
    mask = None if op.mask is None else splat_of(op.mask)
    if mask is None or op.isVolatile:
        return None
    if mask:
        return drop_operands(op, "mask", "other")
    if op.other is not None:
        return op.other
    try:
        return constant(0, op.result.type)
    except ValueError:  # a tile of pointers has no zero
        return None


@rule(tt.Store, tt.AtomicStore, tt.AtomicRMW)
def access_with_known_mask(op: Any) -> Any:
    """store(p, x, true) = store(p, x), store(p, x, false) = nothing"""
    mask = None if op.mask is None else splat_of(op.mask)
    if mask is None:
        return None
    if mask:
        return drop_operands(op, "mask")
    if any(r.users for r in op.results):
        return None
    return [constant_attr(0, r.type) for r in op.results]


@rule(tt.Assert, cf.Assert, llvm.Assume)
def assertion_that_holds(op: Any) -> Any:
    """assert(true) = nothing, assume(true) = nothing"""
    return [] if splat_of(op.operands[0]) else None


# -- numbers -----------------------------------------------------------------------------------------------------


@rule(tt.MulhiUI)
def fold_high_product(op: Any) -> Any:
    """mulhiui(c1, c2) = c3, mulhiui(x, 0) = 0, mulhiui(x, 1) = 0"""
    ty = op.result.type
    element = ty.element if isinstance(ty, TensorType) else ty
    b = splat_of(op.y)
    if b is None or not isinstance(element, IntegerType):
        return None
    if b in (0, 1):
        return constant_attr(0, ty)
    a = splat_of(op.x)
    cut = (1 << element.width) - 1
    return None if a is None else constant_attr(((a & cut) * (b & cut)) >> element.width, ty)


@rule(tt.FpToFp)
def float_to_own_type_or_zero(op: Any) -> Any:
    """fp_to_fp(x) = x to the type it has, fp_to_fp(0.0) = 0.0, fp_to_fp(-0.0) = -0.0, or 0.0 in a type without it"""
    if op.src.type is op.result.type:
        return op.src
    element, c = element_type(op.result.type), splat_of(op.src)
    if c != 0 or not isinstance(element, FloatType) or element.name == "f8E8M0FNU":  # which has no zero
        return None
    return constant_attr(0.0 if element.name.endswith("FNUZ") else c, op.result.type)


SHAPE_RULES: list[Rule] = [
    shape_of_constant,
    view_of_constant,
    shape_of_splat,
    shape_kept,
    shape_twice,
    expand_of_broadcast,
    transpose_twice,
]
"""Rules of tiles that only change shape."""

TT_RULES: list[Rule] = [
    *SHAPE_RULES,
    unsplat_uniform,
    range_of_one,
    compare_range,
    compare_steps,
    compare_extended_with_splat,
    split_of_join,
    join_of_split,
    join_or_split_constant,
    add_no_offset,
    bitcast_pointers,
    address_of_address,
    pointer_of_address,
    pointer_of_sum,
    advance_nowhere,
    load_with_known_mask,
    access_with_known_mask,
    assertion_that_holds,
    fold_high_product,
    float_to_own_type_or_zero,
]
