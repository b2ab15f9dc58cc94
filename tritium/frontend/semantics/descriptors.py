"""Tensor descriptors: made on the device or passed in, loads and stores of their blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ..aggregate_types import tensor_descriptor_type, type_of
from ..constexpr import unwrap
from ..dtypes import block_type, int32, int64
from ..tensor import tensor, tensor_descriptor
from ..tuples import tuple as tl_tuple
from .errors import type_error, value_error
from .memory import CACHE_LOAD, PADDING, cache_policy, choice, index_values

if TYPE_CHECKING:
    from .semantic import Semantic

__all__ = ["descriptor_load", "descriptor_store", "make_tensor_descriptor"]

MAX_RANK = 5
MIN_ROW_BYTES = 16


def make_tensor_descriptor(
    sem: Semantic, base: tensor, shape: Any, strides: Any, block_shape: Sequence[int], padding_option: Any = "zero"
) -> tensor_descriptor:
    """A descriptor of the strided tensor at `base`; the last stride is 1."""
    if base.__class__ is not tensor or not base.type.is_ptr() or base.type.element_ty.is_block():
        kind = base.type if base.__class__ is tensor else type(base).__name__
        raise type_error(f"the base of a tensor descriptor is a pointer, got {kind}")
    shape, strides = list(shape), list(strides)
    rank = len(shape)
    if not 1 <= rank <= MAX_RANK:
        raise value_error(f"Expected 1 <= ndim <= {MAX_RANK} but got {rank} dimensions")
    if len(strides) != rank:
        raise value_error(f"Expected {rank} strides but got {len(strides)}")
    if len(block_shape) != rank:
        raise value_error(f"Expected block_shape to have {rank} dimensions but got {len(block_shape)}")
    element = base.type.element_ty
    row = block_shape[-1] * element.primitive_bitwidth // 8
    if row < MIN_ROW_BYTES:
        raise value_error(
            f"Descriptor block shape must have at least {MIN_ROW_BYTES} bytes in the last dimension, but got"
            f" {block_shape[-1]} * {element.primitive_bitwidth // 8} = {row} bytes"
        )
    if unwrap(strides[-1]).__class__ is tensor or unwrap(strides[-1]) != 1:
        raise value_error(
            f"Tensor descriptor last dim must be 1 but got {strides[-1]}", "pass the constant 1 as the last stride"
        )
    padding = choice(PADDING, padding_option, "Padding option") or tt.PaddingOption.pad_zero
    if element.is_int() and padding is tt.PaddingOption.pad_nan:
        raise value_error("Padding option `nan` is not supported in integer blocks")
    sizes = index_values(sem, [_narrow(sem, d) for d in shape], "`shape` of a descriptor", int32)
    steps = index_values(sem, strides, "`strides` of a descriptor", int64)
    block = block_type(element, block_shape)
    shape_value, strides_value = tl_tuple(sizes), tl_tuple(steps)
    ty = tensor_descriptor_type(block, type_of(shape_value), type_of(strides_value))
    op = tt.MakeTensorDescriptor(
        base.handle,
        [v.handle for v in sizes],
        [v.handle for v in steps],
        padding if padding is tt.PaddingOption.pad_nan else None,
        result=ty.ir,
    )
    return tensor_descriptor(sem.builder.add(op), shape_value, strides_value, ty)


def _narrow(sem: Semantic, size: Any) -> Any:
    """Sizes are 32-bit; 64-bit ones are cut, as Triton does."""
    return sem.cast(size, int32) if size.__class__ is tensor and size.dtype.is_int() else size


def _check(desc: Any, offsets: Any, name: str) -> None:
    if not isinstance(desc, tensor_descriptor):
        kind = getattr(desc, "type", type(desc).__name__)
        raise type_error(f"{name} takes a tensor descriptor, got {kind}")
    rank = len(desc.block_type.shape)
    if not isinstance(offsets, (tl_tuple, list, tuple)) or len(offsets) != rank:
        count = len(offsets) if isinstance(offsets, (tl_tuple, list, tuple)) else 1
        raise value_error(f"expected {rank} offsets, but got {count}")


def descriptor_load(
    sem: Semantic, desc: Any, offsets: Any, cache_modifier: Any = "", eviction_policy: Any = ""
) -> tensor:
    """The block at `offsets` (in elements)."""
    _check(desc, offsets, "a descriptor load")
    indices = [v.handle for v in index_values(sem, offsets, "offsets of a descriptor load", int32)]
    policy = cache_policy(CACHE_LOAD, cache_modifier, eviction_policy)
    op = tt.DescriptorLoad(desc.handle, indices, policy, result=desc.block_type.ir)
    return tensor(sem.builder.add(op), desc.block_type)


def descriptor_store(sem: Semantic, desc: Any, offsets: Any, value: Any) -> None:
    """Write `value`, cast to the descriptor's dtype, to the block at `offsets`."""
    _check(desc, offsets, "a descriptor store")
    value = sem.to_tensor(value)
    if value.type.shape != desc.block_type.shape:
        raise value_error(
            f"a block of shape {list(value.type.shape)} cannot be stored through a descriptor of blocks"
            f" {list(desc.block_type.shape)}"
        )
    value = sem.cast(value, desc.dtype)
    indices = [v.handle for v in index_values(sem, offsets, "offsets of a descriptor store", int32)]
    sem.builder.insert(tt.DescriptorStore(desc.handle, value.handle, indices))
