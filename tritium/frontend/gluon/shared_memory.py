"""Buffers in shared memory: allocation, loads and stores, gathers and scatters, views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ...dialects import tt, ttg
from ...dialects.ttg_maps import map_or_none
from ...dialects.ttg_memory import MemDescType, NvmmaShared, PaddedShared, SharedLinear, SwizzledShared
from ...dialects.ttg_operands import transposed_buffer
from ...dialects.ttg_rules import bits_from, buffer_bits
from ...ir import Attribute, Operation, Value
from ...layout import LinearLayout
from ...layout.views import renamed_dims, reshaped
from ..constexpr import unwrap
from ..dtypes import dtype, int1, int32
from ..semantics.errors import type_error, value_error
from ..tensor import tensor
from .layout_base import plain
from .layouts import layout_of
from .types import distributed_type, is_int_list, shared_memory_descriptor_type

if TYPE_CHECKING:
    from ..semantics.context import Operand
    from .semantic import GluonSemantic

__all__ = [
    "allocate_shared",
    "integers_of",
    "memdesc_index",
    "memdesc_reinterpret",
    "memdesc_reshape",
    "memdesc_slice",
    "memdesc_trans",
    "shared_atomic_scatter",
    "shared_dealloc",
    "shared_gather",
    "shared_load",
    "shared_memory_descriptor",
    "shared_scatter",
    "shared_store",
]


class shared_memory_descriptor:
    """A buffer in shared memory. Its methods are functions of the language, defined in `library`."""

    __slots__ = ("handle", "type")
    operand_hint = "a buffer is no tensor: load it by buffer.load(layout)"

    def __init__(self, handle: Value, type: shared_memory_descriptor_type) -> None:
        self.handle: Any = handle
        self.type = type

    def _flatten_ir(self, out: list[Any]) -> None:
        out.append(self.handle)

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self.type.element_ty

    @property
    def shape(self) -> list[int]:
        """The dimensions."""
        return self.type.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.type.shape)

    @property
    def numel(self) -> int:
        """The number of elements."""
        return prod(self.type.shape)

    @property
    def nbytes_per_cta(self) -> int:
        """The bytes that each CTA of a cluster holds."""
        return self.type.nbytes_per_cta

    @property
    def layout(self) -> Any:
        """The layout."""
        return self.type.layout

    def __repr__(self) -> str:
        return repr(self.type)


shared_memory_descriptor_type.make_descriptor = shared_memory_descriptor


def _buffer(sem: GluonSemantic, op: Operation, ty: shared_memory_descriptor_type) -> shared_memory_descriptor:
    """Insert `op`; its result, a buffer."""
    sem.builder.insert(op)
    return shared_memory_descriptor(op.results[0], ty)


def _view(
    sem: GluonSemantic, make: Callable[[MemDescType], Operation], ty: MemDescType, element: dtype
) -> shared_memory_descriptor:
    """Insert the view that `make` makes of the type `ty`."""
    encoding: Any = ty.encoding
    layout = layout_of(encoding, ty.allocShape[-encoding.rank :])
    found = shared_memory_descriptor_type(element, list(ty.shape), layout, list(ty.allocShape))
    return _buffer(sem, make(found.ir), found)


def integers_of(values: object, what: str) -> list[int]:
    """A list of integers known at compile time, as constexprs or not. Raises LanguageError for others."""
    found: list[int] = plain(list(values) if isinstance(values, Iterable) else [values])
    if not isinstance(values, Iterable) or not is_int_list(found):
        raise value_error(f"all elements of '{what}' must be integers but got {found}")
    return found


# -- allocation, loads, stores ------------------------------------------------------------------------------------


def allocate_shared(
    sem: GluonSemantic, element_ty: object, shape: object, layout: object, value: Any = None
) -> shared_memory_descriptor:
    """A new buffer, with the contents `value` if given."""
    element_ty = unwrap(element_ty)
    if not isinstance(element_ty, dtype):
        raise type_error(f"expected 'element_ty' to be a dtype but got {element_ty!r}", "such as gl.float16")
    dims = integers_of(unwrap(shape), "shape")
    ty = shared_memory_descriptor_type(element_ty, dims, layout, dims)
    if value is None:
        return _buffer(sem, ttg.LocalAlloc(result=ty.ir), ty)
    value = sem.to_tensor(value)
    _check_value(value, ty)
    return _buffer(sem, ttg.LocalAlloc(value.handle, result=ty.ir), ty)


def _check_value(value: tensor, ty: shared_memory_descriptor_type) -> None:
    """Raise unless `value` can be the contents of a buffer."""
    if list(value.type.shape) != ty.shape:
        raise value_error(f"source shape {list(value.type.shape)} and destination shape {ty.shape} must match")
    if value.dtype is not ty.element_ty:
        raise value_error(
            f"source dtype {value.dtype} and destination dtype {ty.element_ty} must match", "cast it: x.to(dtype)"
        )


def shared_load(sem: GluonSemantic, buffer: shared_memory_descriptor, layout: object) -> tensor:
    """The contents of a buffer, in `layout`."""
    ty = distributed_type(buffer.dtype, buffer.shape, layout)
    return sem.emit(ttg.LocalLoad(buffer.handle, result=ty.ir), ty)


def shared_store(sem: GluonSemantic, buffer: shared_memory_descriptor, value: object) -> None:
    """Store `value` to a buffer."""
    if value.__class__ is not tensor:
        raise type_error(f"expected 'value' to be a tensor, but got a {type(value).__name__}")
    _check_value(value, buffer.type)
    sem.builder.insert(ttg.LocalStore(value.handle, buffer.handle))


def shared_dealloc(sem: GluonSemantic, buffer: shared_memory_descriptor) -> None:
    """The end of a buffer's life: its memory may be used for others from here on."""
    sem.builder.insert(ttg.LocalDealloc(buffer.handle))


# -- gather and scatter -------------------------------------------------------------------------------------------


def _axis(buffer: shared_memory_descriptor, indices: object, axis: object) -> tuple[tensor, int]:
    """The axis, checked with the indices along it."""
    axis = unwrap(axis)
    if not isinstance(indices, tensor):
        raise type_error(f"expected 'indices' to be a tensor, but got a {type(indices).__name__}")
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise type_error(f"expected 'axis' to be an int, but got a {type(axis).__name__}")
    if len(indices.type.shape) != buffer.rank:
        raise value_error(
            f"indices rank must match memdesc rank: got {len(indices.type.shape)} and {buffer.rank}",
            "add dimensions to the indices: i[None, :] or i[:, None]",
        )
    if not 0 <= axis < buffer.rank:
        raise value_error(f"axis {axis} is out of bounds for memdesc rank {buffer.rank}")
    if not indices.dtype.is_int():
        raise type_error(f"indices must have integer dtype, got {indices.dtype}")
    return indices, axis


def shared_gather(sem: GluonSemantic, buffer: shared_memory_descriptor, indices: object, axis: object) -> tensor:
    """result[i…] = buffer[i… with the coordinate at `axis` replaced by indices[i…]]"""
    at, axis = _axis(buffer, indices, axis)
    ty = at.type.with_element_ty(buffer.dtype)
    return sem.emit(ttg.LocalGather(buffer.handle, at.handle, axis, result=ty.ir), ty)


def _scattered(
    sem: GluonSemantic, buffer: shared_memory_descriptor, values: object, indices: tensor, mask: Operand | None
) -> tuple[tensor, tensor, tensor | None]:
    """Values, indices and mask in one shape."""
    if not isinstance(values, tensor):
        raise type_error(f"expected 'values' to be a tensor, but got a {type(values).__name__}")
    if values.dtype is not buffer.dtype:
        raise value_error(
            f"values element type must match destination element type: got {values.dtype} and {buffer.dtype}"
        )
    if mask is None:
        values, indices = sem.broadcast_tensors(values, indices)
        return values, indices, None
    values, indices, where = sem.broadcast_tensors(values, indices, sem.to_tensor(mask))
    if where.dtype is not int1:
        raise type_error(f"mask must have boolean dtype, got {where.dtype}")
    return values, indices, where


def shared_scatter(
    sem: GluonSemantic, buffer: shared_memory_descriptor, values: object, indices: object, axis: object
) -> None:
    """buffer[i… with the coordinate at `axis` replaced by indices[i…]] = values[i…]"""
    at, axis = _axis(buffer, indices, axis)
    new, at, _ = _scattered(sem, buffer, values, at, None)
    sem.builder.insert(ttg.LocalScatter(buffer.handle, new.handle, at.handle, axis))


_INTEGER_ATOMICS = {
    "and": (tt.AtomicOp._and,) * 2,
    "or": (tt.AtomicOp._or,) * 2,
    "xor": (tt.AtomicOp.xor,) * 2,
    "max": (tt.AtomicOp.max, tt.AtomicOp.umax),
    "min": (tt.AtomicOp.min, tt.AtomicOp.umin),
}


def _atomic(kind: str, element: dtype) -> tt.AtomicOp:
    """The atomic operation `kind` on elements of a type."""
    if kind == "xchg":
        return tt.AtomicOp.exch
    if kind == "add":
        return tt.AtomicOp.fadd if element.is_floating() else tt.AtomicOp.add
    if not element.is_int():
        raise type_error(f"atomic_scatter_{kind} does not support dtype {element}", "it takes integers")
    return _INTEGER_ATOMICS[kind][element.is_int_unsigned()]


def shared_atomic_scatter(
    sem: GluonSemantic,
    buffer: shared_memory_descriptor,
    kind: str,
    values: object,
    indices: object,
    axis: object,
    mask: Operand | None = None,
) -> tensor:
    """The elements before, and `kind` (add, max, min, and, or, xor, xchg) applied to each in one atomic step."""
    at, axis = _axis(buffer, indices, axis)
    new, at, where = _scattered(sem, buffer, values, at, mask)
    handle = None if where is None else where.handle
    op = ttg.LocalAtomicScatterRmw(
        _atomic(kind, new.dtype), buffer.handle, new.handle, at.handle, handle, axis, result=new.type.ir
    )
    return sem.emit(op, new.type)


# -- views --------------------------------------------------------------------------------------------------------


def memdesc_slice(
    sem: GluonSemantic, buffer: shared_memory_descriptor, start: object, length: object, dim: Any
) -> shared_memory_descriptor:
    """The part of `length` from `start` along `dim`."""
    start, length, dim = integers_of([start, length, dim], "slice")
    if not 0 <= dim < buffer.rank:
        raise value_error(f"dim {dim} is out of bounds for memdesc rank {buffer.rank}")
    whole = buffer.shape[dim]
    if length < 1 or not 0 <= start <= whole - length:
        raise value_error(
            f"a slice of {length} from {start} on leaves dimension {dim} of the buffer, which has {whole}",
            "slice(start, length, dim) takes a length, not an end",
        )
    encoding: Any = buffer.type.ir.encoding
    inside = dim >= buffer.rank - encoding.rank  # not a dimension that counts buffers
    if inside and (length & (length - 1) or start % length):
        raise value_error(
            f"a slice of {length} cannot begin at {start}: its length must be a power of two that divides the start",
            "take a longer slice, or index a dimension of its own: buffers.index(i)",
        )
    offsets = [start if d == dim else 0 for d in range(buffer.rank)]
    shape = [length if d == dim else n for d, n in enumerate(buffer.shape)]
    ty = shared_memory_descriptor_type(buffer.dtype, shape, buffer.layout, buffer.type.alloc_shape)
    return _buffer(sem, ttg.MemDescSubslice(buffer.handle, offsets, result=ty.ir), ty)


def memdesc_index(sem: GluonSemantic, buffer: shared_memory_descriptor, index: Operand) -> shared_memory_descriptor:
    """The buffer number `index` of several along dimension 0."""
    at = sem.to_tensor(index)
    if at.type.is_block() or at.dtype is not int32:
        raise type_error(f"expected index to be a scalar of int32 but got {at.type}", "cast it: i.to(gl.int32)")
    if buffer.rank < 2:
        raise value_error(f"a buffer of one dimension has no others along it: shape {buffer.shape}")
    known = unwrap(index)
    if isinstance(known, int) and not 0 <= known < buffer.shape[0]:
        raise value_error(f"index {known} is out of range for {buffer.shape[0]} buffers", f"shape {buffer.shape}")
    ty = shared_memory_descriptor_type(buffer.dtype, buffer.shape[1:], buffer.layout, buffer.shape[1:])
    return _buffer(sem, ttg.MemDescIndex(buffer.handle, at.handle, result=ty.ir), ty)


def memdesc_trans(sem: GluonSemantic, buffer: shared_memory_descriptor, order: object) -> shared_memory_descriptor:
    """Dimension k of the view is dimension order[k] of the buffer."""
    dims = integers_of(order, "order")
    if sorted(dims) != list(range(buffer.rank)):
        raise value_error(f"source rank ({buffer.rank}) and order length ({len(dims)}) must match, got order {dims}")
    ty = buffer.handle.type
    encoding = _transposed_layout(ty, dims)
    turned = transposed_buffer(ty, dims) if encoding is None else _reordered(ty, dims, encoding)
    return _view(sem, lambda made: ttg.MemDescTrans(buffer.handle, dims, result=made), turned, buffer.dtype)


def _reordered(ty: MemDescType, order: Sequence[int], encoding: Attribute) -> MemDescType:
    front = len(ty.allocShape) - len(order)
    alloc = (*ty.allocShape[:front], *(ty.allocShape[front + d] for d in order))
    shape = tuple(ty.shape[d] for d in order)
    return MemDescType(shape, ty.element, encoding, ty.memorySpace, ty.mutable, alloc)


def _bases_in(bases: Iterable[Sequence[int]], order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(basis[d] for d in order) for basis in bases)


def _transposed_layout(ty: MemDescType, order: Sequence[int]) -> Attribute | None:
    """The layout with its dimensions in another order; None where `transposed_buffer` says it."""
    layout: Any = ty.encoding
    if isinstance(layout, SharedLinear):
        return SharedLinear(_bases_in(layout.offset, order), _bases_in(layout.block, order), layout.alignment)
    if isinstance(layout, PaddedShared):
        bases = _bases_in(layout.offset, order), _bases_in(layout.block, order)
        return PaddedShared(layout.intervals, layout.paddings, *bases, tuple(layout.shape[d] for d in order))
    if isinstance(layout, NvmmaShared) and list(order) != [1, 0]:
        whole = map_or_none(layout, ty.shape)
        assert whole is not None
        return _linear(renamed_dims(whole, order), layout.alignment)
    return None


def _linear(layout: LinearLayout, alignment: int) -> SharedLinear:
    bases = layout.bases
    return SharedLinear(tuple(bases["offset"]), tuple(bases.get("block", ())), alignment)


def memdesc_reshape(sem: GluonSemantic, buffer: shared_memory_descriptor, shape: object) -> shared_memory_descriptor:
    """The same elements in another shape, in row-major order."""
    dims = integers_of(shape, "shape")
    if prod(dims) != buffer.numel:
        raise value_error(f"memdesc_reshape total elements mismatch: {buffer.shape} -> {dims}")
    ty = buffer.handle.type
    encoding = _reshaped_layout(ty, tuple(dims))
    front = len(ty.allocShape) - len(ty.shape)
    made = MemDescType(tuple(dims), ty.element, encoding, ty.memorySpace, ty.mutable, (*ty.allocShape[:front], *dims))
    return _view(sem, lambda found: ttg.MemDescReshape(buffer.handle, result=found), made, buffer.dtype)


def _reshaped_layout(ty: MemDescType, shape: tuple[int, ...]) -> Attribute:
    """The layout of the same memory in another shape: of the same kind where one says it, else linear."""
    layout: Any = ty.encoding
    whole = map_or_none(layout, ty.shape)
    if whole is None:
        raise value_error(f"a buffer in {layout} cannot be reshaped")
    wanted = reshaped(whole, shape)
    if isinstance(layout, PaddedShared):
        bases = wanted.bases
        parts = tuple(bases["offset"]), tuple(bases.get("block", ()))
        return PaddedShared(layout.intervals, layout.paddings, *parts, shape)
    if isinstance(layout, NvmmaShared):
        same = layout.with_(rank=len(shape), CGALayout=())
        if layout.ctas == 1 and map_or_none(same, shape) is wanted:
            return same
    if isinstance(layout, SwizzledShared) and layout.ctas == 1:
        order = tuple(range(len(shape)))[::-1]
        same = layout.with_(order=order, CGALayout=())
        if map_or_none(same, shape) is wanted:
            return same
    return _linear(wanted, layout.alignment)


def memdesc_reinterpret(
    sem: GluonSemantic,
    buffer: shared_memory_descriptor,
    element: object = None,
    shape: object = None,
    layout: Any = None,
) -> shared_memory_descriptor:
    """The bytes of the buffer as other elements, in another shape and layout."""
    element = buffer.dtype if unwrap(element) is None else unwrap(element)
    if not isinstance(element, dtype):
        raise type_error(f"expected 'dtype' to be a dtype but got {element!r}", "such as gl.float16")
    dims = buffer.shape if unwrap(shape) is None else integers_of(unwrap(shape), "shape")
    layout = buffer.layout if unwrap(layout) is None else layout
    ty = shared_memory_descriptor_type(element, dims, layout, dims)
    have, want = bits_from(buffer.handle), buffer_bits(ty.ir)  # of an argument of a function: checked when inlined
    if have is not None and want is not None and want > have:
        raise value_error(
            f"a view of {want // 8} bytes cannot begin where its allocation has {have // 8} left: {ty}",
            "allocate as many bytes as the largest view of them has, or begin at an earlier buffer",
        )
    return _buffer(sem, ttg.MemDescReinterpret(buffer.handle, result=ty.ir), ty)
