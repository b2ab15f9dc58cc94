"""What the operations of the ttc dialect require; each function is the `verify_op` of a definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import IntegerType, Type, Value, VectorType, element_type, i1, i64, index, shape_of
from .constraints import GOOD, listed
from .tt_types import PointerType


def _mask(op: Any, mask: Value | None, shape: tuple[int, ...]) -> Sequence[str]:
    """A mask holds an i1 for each element."""
    if mask is None or (element_type(mask.type) is i1 and shape_of(mask.type) == shape):
        return GOOD
    return (f"a mask of type {mask.type} does not fit to {list(shape)} elements",)


def _is_offset(ty: Type) -> bool:
    return element_type(ty) is index or isinstance(element_type(ty), IntegerType)


def address(op: Any) -> Sequence[str]:
    """A scalar offset into a buffer, and a pointer to its element type."""
    buffer, offset, result = op.buffer.type, op.offset.type, op.results[0].type
    if not hasattr(buffer, "size") or not _is_offset(offset) or shape_of(offset):
        return (f"needs a buffer and a scalar offset, not {listed([buffer, offset])}",)
    if result is not PointerType(buffer.element):
        return (f"the result must be {PointerType(buffer.element)}, not {result}",)
    return GOOD


def offset_pointer(op: Any) -> Sequence[str]:
    """One pointer, integers in a vector, as many pointers."""
    base, offsets, result = op.base.type, op.offsets.type, op.results[0].type
    if not isinstance(base, PointerType) or not isinstance(offsets, VectorType) or not _is_offset(offsets):
        return (f"needs a pointer and a vector of offsets, not {listed([base, offsets])}",)
    if result is not VectorType(offsets.shape, base):
        return (f"the result must be {VectorType(offsets.shape, base)}, not {result}",)
    return GOOD


def splat(op: Any) -> Sequence[str]:
    """The scalar has the element type of the vector."""
    src, result = op.src.type, op.results[0].type
    return GOOD if isinstance(result, VectorType) and result.element is src else (f"repeats {src}, not {result}",)


def _contiguous(op: Any, value: Type) -> Sequence[str]:
    """One pointer to the elements of `value`."""
    ptr = op.ptr.type
    if not isinstance(ptr, PointerType):
        return (f"needs a pointer, not {ptr}",)
    if ptr.pointee is not element_type(value):
        return (f"{ptr} does not point to elements of {value}",)
    return _mask(op, op.mask, shape_of(value))


def load(op: Any) -> Sequence[str]:
    """A pointer to the result's elements; mask and other like the result."""
    result = op.results[0].type
    return _other(op, result) or _contiguous(op, result)


def store(op: Any) -> Sequence[str]:
    """A pointer to the value's elements; a mask like the value."""
    return _contiguous(op, op.value.type)


def _other(op: Any, result: Type) -> Sequence[str]:
    if op.other is not None and (op.mask is None or op.other.type is not result):
        return (f"'other' needs a mask, and must be {result}, not {op.other.type}",)
    return GOOD


def _scattered(op: Any, value: Type) -> Sequence[str]:
    """As many pointers as elements."""
    ptrs = op.ptrs.type
    element = element_type(ptrs)
    if not isinstance(ptrs, VectorType) or not isinstance(element, PointerType):
        return (f"needs a vector of pointers, not {ptrs}",)
    if value is not VectorType(ptrs.shape, element.pointee):
        return (f"{ptrs} do not point to the elements of {value}",)
    return _mask(op, op.mask, ptrs.shape)


def gather(op: Any) -> Sequence[str]:
    """A pointer for each element of the result; mask and other like it."""
    result = op.results[0].type
    return _other(op, result) or _scattered(op, result)


def scatter(op: Any) -> Sequence[str]:
    """A pointer for each element of the value; a mask like it."""
    return _scattered(op, op.value.type)


def shuffle(op: Any) -> Sequence[str]:
    """Lanes of two vectors of one type."""
    lhs, rhs, result, lanes = op.lhs.type, op.rhs.type, op.results[0].type, op.lanes
    if not isinstance(lhs, VectorType) or lhs is not rhs or lhs.rank != 1:
        return (f"shuffles two vectors of one type, not {listed([lhs, rhs])}",)
    if result is not VectorType((len(lanes),), lhs.element):
        return (f"the result must be {VectorType((len(lanes),), lhs.element)}, not {result}",)
    if any(not -1 <= lane < 2 * lhs.numel for lane in lanes):
        return (f"lanes {list(lanes)} are not all among the {2 * lhs.numel} there are",)
    return GOOD


def extract(op: Any) -> Sequence[str]:
    """A lane that exists."""
    src, result = op.src.type, op.results[0].type
    if not isinstance(src, VectorType) or result is not src.element or not 0 <= op.lane < src.numel:
        return (f"takes a lane of a vector, not lane {op.lane} of {src} as {result}",)
    return GOOD


def dot(op: Any) -> Sequence[str]:
    """Buffers or pointers, and sizes of at least one."""
    if min(op.m, op.n, op.k) < 1:
        return (f"the sizes {op.m}, {op.n}, {op.k} must be positive",)
    return GOOD


def clock(op: Any) -> Sequence[str]:
    """An i64."""
    ty = op.results[0].type
    return GOOD if ty is i64 else (f"the time is i64, not {ty}",)


def assert_op(op: Any) -> Sequence[str]:
    """A scalar i1."""
    return GOOD if op.condition.type is i1 else (f"the condition must be i1, not {op.condition.type}",)


def check_bounds(op: Any) -> Sequence[str]:
    """Pointers, and a mask in their shape."""
    ptrs = op.ptrs.type
    if not isinstance(element_type(ptrs), PointerType) or not isinstance(op.base.type, PointerType):
        return (f"needs pointers, not {listed([ptrs, op.base.type])}",)
    return _mask(op, op.mask, shape_of(ptrs))


def check_writable(op: Any) -> Sequence[str]:
    """Pointers, and a mask in their shape."""
    ptrs = op.ptrs.type
    if not isinstance(element_type(ptrs), PointerType):
        return (f"needs pointers, not {ptrs}",)
    return _mask(op, op.mask, shape_of(ptrs))


def print_op(op: Any) -> Sequence[str]:
    """One sign and one type a tile."""
    counts = (len(op.ptrs), len(op.isSigned), len(op.types.split()))
    return GOOD if len(set(counts)) == 1 else (f"{counts} tiles, signs and types",)
