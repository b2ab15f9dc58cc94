"""Split offsets of a tensor into a part that all elements share, a scalar, and the rest.

    (splat %u + %o) + 1                  %u + 1 and %o
    (splat %u + %o) * splat %s           %u * %s and %o * splat %s
    broadcast, expand_dims, reshape      the same part, and the rest rearranged

Parts that are zero are left out.
"""

from __future__ import annotations

from typing import NamedTuple

from ....dialects import arith, tt
from ....dialects.constraints import bit_width
from ....ir import (
    REARRANGES,
    Builder,
    DenseElementsAttr,
    IntegerAttr,
    IntegerType,
    Operation,
    TensorType,
    Type,
    Value,
    constant_of,
    element_type,
)

__all__ = ["Parts", "add_offsets", "is_zero_offset", "offset_parts", "resized", "uniform_of", "zero_offset"]


class Parts(NamedTuple):
    """What all elements share, a scalar, and the rest, a tensor."""

    uniform: Value
    rest: Value


def zero_offset(b: Builder, ty: Type) -> Value:
    """A zero of a type, or a tensor of it."""
    made: Value = b.add(arith.Constant.of(0, ty))
    return made


def is_zero_offset(value: Value) -> bool:
    """Whether an offset is known to be zero."""
    if isinstance(op := value.defining_op, tt.Splat):
        return is_zero_offset(op.src)
    attr = constant_of(value)
    if isinstance(attr, DenseElementsAttr):
        return not any(attr.values)
    return isinstance(attr, IntegerAttr) and attr.value == 0


def resized(b: Builder, value: Value, width: int) -> Value:
    """An integer or tensor of integers of another width: sign-extended or truncated."""
    before = bit_width(element_type(value.type))
    if before == width:
        return value
    element = IntegerType(width)
    ty = TensorType(value.type.shape, element, value.type.encoding) if isinstance(value.type, TensorType) else element
    made: Value = b.add(arith.ExtSI(value, out=ty) if before < width else arith.TruncI(value, out=ty))
    return made


def add_offsets(b: Builder, first: Value, second: Value) -> Value:
    """The sum of two scalars or two tensors, of the wider type."""
    width = max(bit_width(element_type(v.type)) for v in (first, second))
    if is_zero_offset(first):
        return resized(b, second, width)
    if is_zero_offset(second):
        return resized(b, first, width)
    made: Value = b.add(arith.AddI(resized(b, first, width), resized(b, second, width)))
    return made


def uniform_of(b: Builder, value: Value) -> Value | None:
    """The scalar that all elements of a tensor are; None where they may differ."""
    if isinstance(op := value.defining_op, tt.Splat):
        return op.src
    attr = constant_of(value)
    if isinstance(attr, DenseElementsAttr) and len(set(attr.values)) == 1:
        made: Value = b.add(arith.Constant.of(attr.values[0], element_type(value.type)))
        return made
    return None


def offset_parts(b: Builder, value: Value) -> Parts:
    """The parts of a tensor of offsets."""
    ty = value.type
    assert isinstance(ty, TensorType)
    uniform = uniform_of(b, value)
    if uniform is not None:
        return Parts(uniform, zero_offset(b, ty))
    op = value.defining_op
    if isinstance(op, arith.AddI):
        left, right = offset_parts(b, op.lhs), offset_parts(b, op.rhs)
        return Parts(add_offsets(b, left.uniform, right.uniform), add_offsets(b, left.rest, right.rest))
    if isinstance(op, arith.MulI):
        return _multiplied(b, offset_parts(b, op.lhs), offset_parts(b, op.rhs), ty)
    if op is not None and op.traits & REARRANGES and len(op.operands) == len(op.results) == 1:
        inner = offset_parts(b, op.operands[0])
        again: Operation = op.clone()
        again.set_operands([inner.rest])
        return Parts(inner.uniform, b.add(again))
    return Parts(zero_offset(b, ty.element), value)


def _multiplied(b: Builder, left: Parts, right: Parts, ty: TensorType) -> Parts:
    """(u + r) * (v + s) = u * v + (r * s + u * s + r * v)"""
    uniform = b.add(arith.MulI(left.uniform, right.uniform))
    shared = [b.add(tt.Splat(part.uniform, result=ty)) for part in (left, right)]
    both = b.add(arith.MulI(left.rest, right.rest))
    first = b.add(arith.AddI(both, b.add(arith.MulI(shared[0], right.rest))))
    return Parts(uniform, b.add(arith.AddI(first, b.add(arith.MulI(left.rest, shared[1])))))
