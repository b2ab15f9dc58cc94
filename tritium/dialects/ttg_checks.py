"""What the operations of the ttg dialect require; each function is the `verify_op` of a definition.

What a layout means for a tensor's shape, and whether two layouts put every element in the same place, is not decided
here: that a layout fits to the module is the business of `ttg_context`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ..ir import IntegerType, Operation, TensorType, Type, bf16, element_type, f16, i1, i32, shape_of
from .constraints import GOOD, bit_width, is_float, is_integer
from .tt_types import PointerType
from .ttg_memory import (
    MemDescType,
    Shared,
    SharedMemorySpace,
    element_bits,
    padded_layout,
)

__all__ = ["inside"]

Messages = Sequence[str]
_shared_memory = SharedMemorySpace()


def inside(name: str) -> Callable[[Any], Messages]:
    """The check that the parent of an operation is one of the kind `name`."""

    def check(op: Any) -> Messages:
        parent = op.parent_op
        return GOOD if parent is None or parent.name == name else (f"must be in {name}, not in {parent.name}",)

    return check


def _tensor(ty: Type, what: str) -> list[str]:
    return [] if isinstance(ty, TensorType) else [f"{what} must be a tensor, not {ty}"]


def _buffer(ty: Type, what: str) -> list[str]:
    return [] if isinstance(ty, MemDescType) else [f"{what} must be a buffer, not {ty}"]


# -- layouts ------------------------------------------------------------------------------------------------------


def convert_layout(op: Operation) -> Messages:
    """Tensors of one shape and element type."""
    a, b = op.operands[0].type, op.results[0].type
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return (f"converts tensors, not {a} to {b}",)
    good = a.shape == b.shape and a.element is b.element
    return GOOD if good else (f"only the layout may change, but there are {a} and {b}",)


def fp4_to_fp(op: Any) -> Messages:
    """From i8 to f16 or bf16; twice as many elements along `axis`."""
    a, b, axis = op.operands[0].type, op.results[0].type, op.axis
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return (f"converts tensors, not {a} to {b}",)
    if not isinstance(a.element, IntegerType) or a.element.width != 8 or b.element not in (f16, bf16):
        return (f"converts i8 to f16 or bf16, not {a} to {b}",)
    if not 0 <= axis < len(a.shape):
        return (f"axis {axis} is out of range for {a}",)
    want = (*a.shape[:axis], 2 * a.shape[axis], *a.shape[axis + 1 :])
    if b.shape != want:
        return (f"the result must have the shape {list(want)}, not {list(b.shape)}",)
    if (a.encoding is None) != (b.encoding is None):
        return (f"both must have a layout, or none: {a} to {b}",)
    return GOOD


def inline_asm(op: Any) -> Messages:
    """Assembly that is given buffers has effects."""
    if op.pure and any(isinstance(v.type, MemDescType) for v in op.operands):
        return ("assembly that is given buffers cannot be pure",)
    return GOOD


# -- buffers ------------------------------------------------------------------------------------------------------


def _same_contents(tensor: Type, buffer: Type) -> list[str]:
    """Element and shape of a tensor and the buffer it is loaded from or stored to."""
    wrong = _tensor(tensor, "what is moved") + _buffer(buffer, "where it is moved")
    if wrong:
        return wrong
    assert isinstance(buffer, MemDescType)
    shape = shape_of(tensor)
    if element_type(tensor) is not buffer.element or shape != buffer.shape:
        return [f"element types and shapes must be equal, but there are {tensor} and {buffer}"]
    rank = getattr(buffer.encoding, "rank", None)
    if rank != len(shape):
        return [f"a tensor of {len(shape)} dimensions does not fit to a layout of {rank}: {buffer}"]
    return []


def local_alloc(op: Any) -> Messages:
    """A whole buffer in shared memory, of elements of whole bytes; without a source it must be mutable."""
    ty = op.results[0].type
    out = _buffer(ty, "the result")
    if out:
        return out
    if ty.memorySpace is not _shared_memory:
        out.append(f"allocates shared memory, not {ty.memorySpace}")
    if element_bits(ty) % 8 or not element_bits(ty):
        out.append(f"elements must be whole bytes, not {ty.element}")
    if ty.shape != ty.allocShape:
        out.append(f"a fresh buffer is no part of another: {ty}")
    if op.operands:
        out += _same_contents(op.operands[0].type, ty)
    elif not ty.mutable:
        out.append("a buffer without a source must be mutable")
    return out


def local_store(op: Any) -> Messages:
    """Into a mutable buffer of the tensor's shape and elements."""
    src, dst = (v.type for v in op.operands)
    out = _same_contents(src, dst)
    if not out and not dst.mutable:
        out.append(f"the buffer is not mutable: {dst}")
    return out


def local_load(op: Any) -> Messages:
    """From a buffer of the result's shape and elements."""
    return _same_contents(op.results[0].type, op.operands[0].type)


def _moved_by_index(op: Any, buffer: Type, indices: Type, values: Type) -> list[str]:
    """What gather, scatter and atomics share: indices and values alike, of the buffer's rank; an axis there is."""
    out = _buffer(buffer, "the memory") + _tensor(indices, "indices") + _tensor(values, "values")
    if out:
        return out
    assert isinstance(buffer, MemDescType) and isinstance(indices, TensorType) and isinstance(values, TensorType)
    if not isinstance(buffer.encoding, Shared):
        out.append(f"the memory must be shared memory, not {buffer}")
    if not is_integer[indices]:
        out.append(f"indices must be integers, not {indices}")
    if indices.shape != values.shape or indices.encoding is not values.encoding:
        out.append(f"indices and values must have one shape and one layout: {indices} and {values}")
    if len(indices.shape) != len(buffer.shape):
        out.append(f"{indices} and {buffer} have different numbers of dimensions")
    if not 0 <= op.axis < len(buffer.shape):
        out.append(f"axis {op.axis} is out of range for {buffer}")
    if values.element is not buffer.element:
        out.append(f"element types must be equal, but there are {values} and {buffer}")
    return out


def local_gather(op: Any) -> Messages:
    """Indices and result alike, elements of the buffer."""
    return _moved_by_index(op, op.src.type, op.indices.type, op.results[0].type)


def local_scatter(op: Any) -> Messages:
    """Indices and values alike, elements of the buffer."""
    return _moved_by_index(op, op.dst.type, op.indices.type, op.values.type)


def local_atomic_scatter_rmw(op: Any) -> Messages:
    """Indices, values, mask and result alike; the buffer is mutable."""
    values, mask = op.values.type, op.mask
    out = _moved_by_index(op, op.dst.type, op.indices.type, values)
    if out:
        return out
    if not op.dst.type.mutable:
        out.append(f"the buffer is not mutable: {op.dst.type}")
    if not is_integer[values] and not is_float[values]:
        out.append(f"values must be integers or floats, not {values}")
    if mask is not None and mask.type is not TensorType(values.shape, i1, values.encoding):
        out.append(f"a mask of type {mask.type} does not fit to {values}")
    if op.results[0].type is not values:
        out.append(f"the result must be {values}, not {op.results[0].type}")
    rank = getattr(op.dst.type.encoding, "rank", None)
    if rank != len(values.shape):
        out.append(f"values of {len(values.shape)} dimensions do not fit to a layout of {rank}")
    return out


def async_copy_global_to_local(op: Any) -> Messages:
    """A tensor of pointers; mask and other fit to it; the buffer is mutable."""
    src, buffer = op.src.type, op.result.type
    if not isinstance(src, TensorType) or not isinstance(src.element, PointerType):
        return (f"copies from a tensor of pointers, not {src}",)
    out = _buffer(buffer, "the destination")
    if not out and not buffer.mutable:
        out.append(f"the buffer is not mutable: {buffer}")
    mask, other = op.mask, op.other
    if mask is not None and mask.type is not TensorType(src.shape, i1, src.encoding):
        out.append(f"a mask of type {mask.type} does not fit to {src}")
    if other is not None and other.type is not TensorType(src.shape, src.element.pointee, src.encoding):
        out.append(f"'other' of type {other.type} does not fit to {src}")
    return out


# -- views --------------------------------------------------------------------------------------------------------


def _view(op: Operation) -> list[str]:
    """From a buffer to a buffer of the same memory."""
    a, b = op.operands[0].type, op.results[0].type
    return _buffer(a, "the source") + _buffer(b, "the result")


def memdesc_index(op: Any) -> Messages:
    """Dimension 0 goes; all else stays, and buffers are whole, though not all of an allocation need be there."""
    if op.operands[1].type is not i32:
        return (f"the index must be i32, not {op.operands[1].type}",)
    return _indexed(op.operands[0].type, op.results[0].type)


@functools.lru_cache(2048)
def _indexed(a: Any, b: Any) -> Messages:
    out = _buffer(a, "the source") + _buffer(b, "the result")
    if out:
        return out
    if a.element is not b.element or a.encoding is not b.encoding:
        out.append(f"element type and layout must stay: {a} to {b}")
    if b.shape != a.shape[1:]:
        out.append(f"the result must have the shape {list(a.shape[1:])}, not {list(b.shape)}")
    if a.allocShape[1:] != a.shape[1:] or b.allocShape != b.shape:  # the source may be a slice of several buffers
        out.append(f"neither may be part of a larger buffer: {a} to {b}")
    return out


def memdesc_subslice(op: Any) -> Messages:
    """As many offsets as dimensions; a part begins at a multiple of its size, inside the source."""
    out = _view(op)
    if out:
        return out
    a, b, offsets = op.operands[0].type, op.results[0].type, op.offsets
    if a.element is not b.element or a.encoding is not b.encoding:
        out.append(f"element type and layout must stay: {a} to {b}")
    if not isinstance(a.encoding, Shared):
        out.append(f"takes parts of shared memory, not of {a}")
    if len(offsets) != len(a.shape) or len(b.shape) != len(a.shape):
        return [*out, f"{len(offsets)} offsets and {len(b.shape)} dimensions for a buffer of {len(a.shape)}"]
    buffers = len(a.shape) - getattr(a.encoding, "rank", len(a.shape))  # dimensions that count buffers
    for d, (n, m, offset) in enumerate(zip(a.shape, b.shape, offsets)):
        if n == m and offset:
            out.append(f"dimension {d} is whole, so that its offset is 0, not {offset}")
        elif d < buffers and not 0 <= offset <= n - m:
            out.append(f"{m} buffers from {offset} on of dimension {d} end after the {n} that there are")
        elif d >= buffers and n != m and (offset & (m - 1) or not 0 <= offset < n):
            out.append(f"offset {offset} of dimension {d} must be a multiple of {m} below {n}")
    if a.shape != b.shape and padded_layout(a.encoding) is not None and a.encoding.rank < len(a.shape):
        out.append(f"a padded layout of {a.encoding.rank} dimensions cannot be cut in a buffer of {len(a.shape)}")
    return out


def memdesc_trans(op: Any) -> Messages:
    """`order` is a permutation, and shape and allocation are the source's in that order."""
    out = _view(op)
    if out:
        return out
    a, b, order = op.operands[0].type, op.results[0].type, op.order
    rank = len(a.shape)
    if sorted(order) != list(range(rank)):
        return [f"order {list(order)} is no permutation of the {rank} dimensions"]
    front = len(a.allocShape) - rank
    alloc = (*a.allocShape[:front], *(a.allocShape[front + k] for k in order))
    if b.shape != tuple(a.shape[k] for k in order) or b.allocShape != alloc or b.element is not a.element:
        out.append(f"{a} in the order {list(order)} is not {b}")
    if a.mutable != b.mutable or a.memorySpace is not b.memorySpace:
        out.append(f"memory space and mutability must stay: {a} to {b}")
    return out


def memdesc_reshape(op: Any) -> Messages:
    """As many elements of one type; the source is no part of a larger buffer."""
    out = _view(op)
    if out:
        return out
    a, b = op.operands[0].type, op.results[0].type
    if a.element is not b.element or prod(a.shape) != prod(b.shape):
        out.append(f"{a} and {b} do not hold the same elements")
    if a.allocShape[len(a.allocShape) - len(a.shape) :] != a.shape:
        out.append(f"a part of a buffer cannot be reshaped: {a}")
    if a.mutable != b.mutable or a.memorySpace is not b.memorySpace:
        out.append(f"memory space and mutability must stay: {a} to {b}")
    return out


def _padding(ty: MemDescType) -> dict[int, int] | None:
    """Intervals and paddings in bytes."""
    layout = padded_layout(ty.encoding)
    if layout is None:
        return None
    size = bit_width(ty.element) // 8
    return {i * size: p * size for i, p in zip(layout.intervals, layout.paddings)}


def memdesc_reinterpret(op: Any) -> Messages:
    """As many bytes of the same memory, with the same padding; neither is part of a larger buffer."""
    out = _view(op)
    if out:
        return out
    a, b = op.operands[0].type, op.results[0].type
    if _padding(a) != _padding(b):
        out.append(f"the padding must stay: {a} to {b}")
    if a.mutable != b.mutable or a.memorySpace is not b.memorySpace:
        out.append(f"memory space and mutability must stay: {a} to {b}")
    for ty in (a, b):
        rank = getattr(ty.encoding, "rank", len(ty.shape))
        if ty.shape[-rank:] != ty.allocShape[-rank:]:
            out.append(f"a part of a buffer cannot be reinterpreted: {ty}")
    return out
