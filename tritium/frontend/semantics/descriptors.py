"""Tensor descriptors: created on the device or passed as arguments; loads and stores of their blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ..aggregate_types import tensor_descriptor_type, type_of
from ..constexpr import unwrap
from ..dtypes import bfloat16, block_type, float16, float32, int16, int32, int64, uint32, uint64
from ..tensor import tensor, tensor_descriptor, value_text
from ..tuples import tuple as tl_tuple
from .errors import OperandError, type_error, value_error
from .memory import CACHE_LOAD, PADDING, cache_policy, choice, index_values

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = [
    "descriptor_gather",
    "descriptor_load",
    "descriptor_reduce",
    "descriptor_scatter",
    "descriptor_store",
    "make_tensor_descriptor",
]

MAX_RANK = 5
MIN_ROW_BYTES = 16
TMA_ALIGNMENT = 16  # bytes; `cuTensorMapEncodeTiled`: globalAddress and globalStrides


def make_tensor_descriptor(
    sem: SemanticContext,
    base: tensor,
    shape: Any,
    strides: Any,
    block_shape: Sequence[int],
    padding_option: Any = "zero",
) -> tensor_descriptor:
    """A descriptor of the strided tensor at `base`; the last stride is 1."""
    if base.__class__ is not tensor or not base.type.is_ptr() or base.type.element_ty.is_block():
        kind = base.type if base.__class__ is tensor else type(base).__name__
        raise type_error(f"the base of a tensor descriptor is a pointer, got {kind}")
    shape, strides = list(shape), list(strides)
    rank = len(shape)
    if not 1 <= rank <= MAX_RANK:
        raise value_error(
            f"Expected 1 <= ndim <= {MAX_RANK} but got {rank} dimensions",
            "merge contiguous dimensions, and reshape the loaded block",
        )
    if len(strides) != rank:
        raise value_error(f"Expected {rank} strides but got {len(strides)}")
    if len(block_shape) != rank:
        raise value_error(f"Expected block_shape to have {rank} dimensions but got {len(block_shape)}")
    element = base.type.element_ty
    if element.primitive_bitwidth < 8:
        raise type_error(
            f"a tensor descriptor has elements of 8 to 64 bits, got {element}", "cast the pointer to tl.int8 elements"
        )
    row = block_shape[-1] * element.primitive_bitwidth // 8
    if row < MIN_ROW_BYTES:
        raise value_error(
            f"Descriptor block shape must have at least {MIN_ROW_BYTES} bytes in the last dimension, but got"
            f" {block_shape[-1]} * {element.primitive_bitwidth // 8} = {row} bytes",
            f"take {MIN_ROW_BYTES * 8 // element.primitive_bitwidth} elements of {element} or more",
        )
    if unwrap(strides[-1]).__class__ is tensor or unwrap(strides[-1]) != 1:
        raise value_error(
            f"Tensor descriptor last dim must be 1 but got {value_text(strides[-1])}",
            "pass the constant 1 as the last stride",
        )
    padding = choice(PADDING, padding_option, "Padding option") or tt.PaddingOption.pad_zero
    if element.is_int() and padding is tt.PaddingOption.pad_nan:
        raise value_error("Padding option `nan` is not supported in integer blocks")
    sizes = index_values(sem, [_narrow(sem, d) for d in shape], "`shape` of a descriptor", int32)
    steps = index_values(sem, strides, "`strides` of a descriptor", int64)
    if getattr(sem.options, "enable_iisan", False):
        _assert_aligned(sem, base, strides, steps)
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


def _assert_aligned(sem: SemanticContext, base: tensor, strides: list[Any], steps: list[tensor]) -> None:
    """Assert that the base and all strides but the last are aligned as TMA requires (`instrumentation_mode=iisan`)."""

    def check(number_of_bytes: Any, what: str) -> None:
        aligned = sem.eq(sem.mod(number_of_bytes, TMA_ALIGNMENT), 0)
        sem.device_assert(aligned, f"Tensor descriptor {what} must be {TMA_ALIGNMENT}-byte aligned")

    element_bytes = base.type.element_ty.primitive_bitwidth // 8
    check(sem.cast(base, int64), "base pointer")
    for given, step in zip(strides[:-1], steps[:-1]):
        known = unwrap(given)
        if isinstance(known, int) and known * element_bytes % TMA_ALIGNMENT == 0:
            continue
        check(sem.mul(step, element_bytes), "strides")


def _narrow(sem: SemanticContext, size: Any) -> Any:
    """Sizes are 32-bit; 64-bit ones are truncated, as in Triton."""
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
    sem: SemanticContext, desc: Any, offsets: Any, cache_modifier: Any = "", eviction_policy: Any = ""
) -> tensor:
    """The block at `offsets` (in elements)."""
    _check(desc, offsets, "a descriptor load")
    indices = [v.handle for v in index_values(sem, offsets, "offsets of a descriptor load", int32)]
    policy = cache_policy(CACHE_LOAD, cache_modifier, eviction_policy)
    op = tt.DescriptorLoad(desc.handle, indices, policy, result=desc.block_type.ir)
    return tensor(sem.builder.add(op), desc.block_type)


def _value_of_block(sem: SemanticContext, desc: Any, value: Any, what: str) -> tensor:
    value = sem.to_tensor(value)
    if value.type.shape != desc.block_type.shape:
        have, want = list(value.type.shape), list(desc.block_type.shape)
        raise OperandError(
            f"ValueError: a block of shape {have} cannot be {what} through a descriptor of blocks {want}",
            {"self": f"has block shape {want}", "value": f"has shape {have}"},
            at="value",
        )
    return value


def descriptor_store(sem: SemanticContext, desc: Any, offsets: Any, value: Any) -> None:
    """Write `value`, cast to the descriptor's dtype, to the block at `offsets`."""
    _check(desc, offsets, "a descriptor store")
    value = sem.cast(_value_of_block(sem, desc, value, "stored"), desc.dtype)
    indices = [v.handle for v in index_values(sem, offsets, "offsets of a descriptor store", int32)]
    sem.builder.insert(tt.DescriptorStore(desc.handle, value.handle, indices))


# Reductions of TMA; `min` and `max` of 16-bit floats need a GPU with TMA.
_REDUCIBLE = {
    "add": (uint32, int32, uint64, float32, float16, bfloat16),
    "min": (uint32, int32, uint64, int64, float16, bfloat16),
    "max": (uint32, int32, uint64, int64, float16, bfloat16),
    "and": (uint32, int32, uint64, int64),
    "or": (uint32, int32, uint64, int64),
    "xor": (uint32, int32, uint64, int64),
}


def descriptor_reduce(sem: SemanticContext, name: str, desc: Any, offsets: Any, value: Any) -> None:
    """Atomically combine `value` by `name` with the block at `offsets`, element by element."""
    _check(desc, offsets, f"a descriptor's atomic_{name}")
    value = _value_of_block(sem, desc, value, "combined")
    if desc.dtype not in _REDUCIBLE[name]:
        known = ", ".join(str(ty) for ty in _REDUCIBLE[name])
        raise type_error(f"Unsupported dtype {desc.dtype}: atomic_{name} of a descriptor takes {known}")
    value = sem.cast(value, desc.dtype)
    indices = [v.handle for v in index_values(sem, offsets, f"offsets of a descriptor's atomic_{name}", int32)]
    kind = tt.DescriptorReduceKind[f"_{name}" if name in ("and", "or") else name]
    sem.builder.insert(tt.DescriptorReduce(kind, desc.handle, value.handle, indices))


def _check_rows(sem: SemanticContext, desc: Any, rows: Any, name: str) -> None:
    """Blocks of one row of at least 32 bytes, and at least 8 rows."""
    _check(desc, (0, 0), f"a descriptor {name}")
    shape = list(desc.block_type.shape)
    if shape[0] != 1:
        raise value_error(f"descriptor block must have 1 row, but got {shape}", "make it with block_shape=[1, columns]")
    if rows.__class__ is not tensor or len(rows.type.shape) != 1:
        kind = rows.type if rows.__class__ is tensor else type(rows).__name__
        raise value_error(f"x offsets must be 1D, but got {kind}")
    if rows.dtype not in (int16, int32):
        raise type_error(f"x offsets must have dtype int16 or int32, but got {rows.dtype}")
    if rows.type.shape[0] < 8:
        raise value_error(f"descriptor {name} must have at least 8 rows, but got {list(rows.type.shape)}")
    least = 32 // desc.dtype.primitive_bitwidth * 8
    if shape[1] < least:
        raise value_error(f"descriptor {name} of {desc.dtype} must have at least {least} columns, but got {shape[1]}")


def descriptor_gather(sem: SemanticContext, desc: Any, rows: Any, column: Any, cache: Any, eviction: Any) -> tensor:
    """The rows with indices `rows`, from `column` on."""
    _check_rows(sem, desc, rows, "gather")
    for value, what in ((cache, "cache modifier"), (eviction, "eviction policy")):
        if unwrap(value):
            raise value_error(f"{what} is not supported yet in a descriptor gather")
    (y,) = index_values(sem, [column], "the column of a descriptor gather", int32)
    ty = block_type(desc.dtype, [rows.type.shape[0], desc.block_type.shape[1]])
    return tensor(sem.builder.add(tt.DescriptorGather(desc.handle, rows.handle, y.handle, result=ty.ir)), ty)


def descriptor_scatter(sem: SemanticContext, desc: Any, value: Any, rows: Any, column: Any) -> None:
    """Write the rows of `value` to the rows with indices `rows`, from `column` on."""
    _check_rows(sem, desc, rows, "scatter")
    shape = [rows.type.shape[0], desc.block_type.shape[1]]
    if value.__class__ is not tensor or list(value.type.shape) != shape:
        kind = value.type if value.__class__ is tensor else type(value).__name__
        raise value_error(f"a descriptor scatter of {shape[0]} rows takes a block of shape {shape}, got {kind}")
    value = sem.cast(value, desc.dtype)
    (y,) = index_values(sem, [column], "the column of a descriptor scatter", int32)
    sem.builder.insert(tt.DescriptorScatter(desc.handle, rows.handle, y.handle, value.handle))
