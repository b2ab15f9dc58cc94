"""Copies between global and shared memory by the Tensor Memory Accelerator (TMA)."""

from __future__ import annotations

from typing import Any, TypeAlias

from ...dialects import tt, ttng
from ..constexpr import unwrap
from ..dtypes import int16, int32
from ..errors import LanguageError
from ..language.builtin import builtin, flag, static_int
from ..semantics import Semantic
from ..semantics.memory import index_values
from ..tensor import tensor
from .cache_policy import tma_policy
from .descriptors import tensor_descriptor, tensor_descriptor_im2col, tensor_descriptor_type
from .layout_base import plain
from .layouts import NVMMASharedLayout
from .mbarrier import barrier_of, condition
from .shared_memory import shared_memory_descriptor

__all__ = [
    "async_atomic_add",
    "async_atomic_and",
    "async_atomic_max",
    "async_atomic_min",
    "async_atomic_or",
    "async_atomic_xor",
    "async_load",
    "async_load_im2col",
    "async_store",
    "make_tensor_descriptor",
    "store_wait",
]

Semantics: TypeAlias = Any
"""The `GluonSemantic` that the visitor passes; None in a call from Python."""


def _descriptor(desc: object, buffer: object, name: str) -> tuple[tensor_descriptor, shared_memory_descriptor]:
    """A descriptor and a buffer of its blocks. Raises LanguageError where they do not match."""
    if not isinstance(desc, tensor_descriptor):
        raise LanguageError(
            f"TypeError: {name} takes a tensor descriptor with a layout, got {getattr(desc, 'type', desc)}",
            "make it with tma.make_tensor_descriptor, or pass a gluon TensorDescriptor",
        )
    if not isinstance(buffer, shared_memory_descriptor):
        raise LanguageError(f"TypeError: {name} takes a buffer in shared memory, got {getattr(buffer, 'type', buffer)}")
    if list(desc.block_type.shape) != buffer.shape or desc.dtype.primitive_bitwidth != buffer.dtype.primitive_bitwidth:
        raise LanguageError(
            f"ValueError: {name}: the descriptor has blocks of {desc.block_type}, the buffer is {buffer.shape} of"
            f" {buffer.dtype}"
        )
    if desc.layout != buffer.layout:
        raise LanguageError(
            f"ValueError: {name}: the descriptor's layout is {desc.layout}, the buffer's {buffer.layout}",
            "allocate the buffer with desc.layout",
        )
    return desc, buffer


def _tiled(desc: object, buffer: object, name: str) -> tuple[tensor_descriptor, shared_memory_descriptor]:
    """The same of a descriptor of tiles."""
    if isinstance(desc, tensor_descriptor_im2col):
        raise LanguageError(
            f"TypeError: {name} takes a descriptor of tiles, got {desc.type}", "tma.async_load_im2col copies from it"
        )
    return _descriptor(desc, buffer, name)


def _coordinates(sem: Semantics, desc: tensor_descriptor, coord: Any, name: str) -> list[Any]:
    values = index_values(sem, coord, f"coordinates of {name}", int32)
    rank = len(desc.type.shape_type)
    if len(values) != rank:
        raise LanguageError(f"ValueError: {name}: expected {rank} coordinates, but got {len(values)}")
    return [v.handle for v in values]


@builtin
def async_load(
    tensor_desc: object,
    coord: object,
    barrier: object,
    result: object,
    pred: object = True,
    multicast: object = False,
    cache_policy: object = None,
    _semantic: Semantics = None,
) -> None:
    """Copy the block at `coord` (in elements) to the buffer `result`, where `pred`; its bytes count at `barrier`.

    With `multicast`, the CTAs of a cluster that hold the same part of `result` get it by one copy. `cache_policy` is a
    hint for the second level of the cache.
    """
    desc, buffer = _tiled(tensor_desc, result, "async_load")
    op = ttng.AsyncTMACopyGlobalToLocal(
        desc.handle,
        _coordinates(_semantic, desc, coord, "async_load"),
        [],
        barrier_of(barrier, "async_load").handle,
        buffer.handle,
        condition(_semantic, pred),
        flag(multicast) and any(not any(basis) for basis in buffer.layout.cga_layout),
        tma_policy(cache_policy),
    )
    _semantic.builder.insert(op)


@builtin
def async_load_im2col(
    tensor_desc: object,
    coord: object,
    offsets: object,
    barrier: object,
    result: object,
    pred: object = True,
    multicast: object = False,
    cache_policy: object = None,
    _semantic: Semantics = None,
) -> None:
    """Copy a column of pixels from a descriptor of images to the buffer `result`, where `pred`.

    `coord` is the first pixel, and the first channel, in the pixel box of the descriptor. `offsets` (i16, one for each
    spatial dimension) move all pixels that are read, so that the box can pass over the images once for each tap of a
    filter. Pixels outside of the images have the padding value.
    """
    name = "async_load_im2col"
    desc, buffer = _descriptor(tensor_desc, result, name)
    if not isinstance(desc, tensor_descriptor_im2col):
        raise LanguageError(
            f"TypeError: {name} takes an im2col descriptor, got {desc.type}", "pass a gluon TensorDescriptorIm2Col"
        )
    moved = index_values(_semantic, offsets, f"offsets of {name}", int16)
    rank = len(desc.type.shape_type)
    if len(moved) != rank - 2:
        raise LanguageError(f"ValueError: {name}: expected {rank - 2} offsets, but got {len(moved)}")
    op = ttng.AsyncTMACopyGlobalToLocal(
        desc.handle,
        _coordinates(_semantic, desc, coord, name),
        [v.handle for v in moved],
        barrier_of(barrier, name).handle,
        buffer.handle,
        condition(_semantic, pred),
        flag(multicast) and any(not any(basis) for basis in buffer.layout.cga_layout),
        tma_policy(cache_policy),
    )
    _semantic.builder.insert(op)


@builtin
def async_store(
    tensor_desc: object, coord: object, src: object, cache_policy: object = None, _semantic: Semantics = None
) -> None:
    """Copy the buffer `src` to the block at `coord` (in elements); `store_wait` waits for it."""
    desc, buffer = _tiled(tensor_desc, src, "async_store")
    where = _coordinates(_semantic, desc, coord, "async_store")
    _semantic.builder.insert(
        ttng.AsyncTMACopyLocalToGlobal(desc.handle, where, buffer.handle, tma_policy(cache_policy))
    )


def _atomic(kind: str) -> Any:
    def async_atomic(tensor_desc: object, coord: object, src: object, _semantic: Semantics = None) -> None:
        desc, buffer = _tiled(tensor_desc, src, f"async_atomic_{kind}")
        where = _coordinates(_semantic, desc, coord, f"async_atomic_{kind}")
        reduction = tt.DescriptorReduceKind[_KINDS[kind]]
        _semantic.builder.insert(ttng.AsyncTMAReduce(reduction, desc.handle, where, buffer.handle))

    async_atomic.__name__ = f"async_atomic_{kind}"
    async_atomic.__doc__ = (
        f"Combine the block at `coord` with the buffer `src`, atomically for each element: {kind}; `store_wait` waits."
    )
    return builtin(async_atomic)


_KINDS = {"add": "add", "min": "min", "max": "max", "and": "_and", "or": "_or", "xor": "xor"}
async_atomic_add, async_atomic_min, async_atomic_max = map(_atomic, ("add", "min", "max"))
async_atomic_and, async_atomic_or, async_atomic_xor = map(_atomic, ("and", "or", "xor"))


@builtin
def store_wait(pendings: object, read_only: object = True, _semantic: Semantics = None) -> None:
    """Wait until at most `pendings` stores are pending.

    With `read_only`, until the others have read their buffers; else until what they wrote is visible.
    """
    _semantic.builder.insert(ttng.TMAStoreWait(static_int(pendings, "pendings"), flag(read_only)))


@builtin
def make_tensor_descriptor(
    base: tensor,
    shape: object,
    strides: object,
    block_shape: object,
    layout: object,
    padding_option: object = "zero",
    _semantic: Semantics = None,
) -> tensor_descriptor:
    """A descriptor of the tensor at `base` of `shape` and `strides` (in elements; the last is 1), made on the device.

    Blocks of `block_shape` have `layout` in shared memory; `padding_option` ("zero" or "nan") is the value outside.
    """
    layout = plain(layout)
    if not isinstance(layout, NVMMASharedLayout):
        raise LanguageError(f"TypeError: expected layout to be a NVMMASharedLayout, got {layout!r}")
    dims = plain(list(unwrap(block_shape)))  # type: ignore[call-overload]
    made = Semantic.make_tensor_descriptor(_semantic, base, shape, strides, dims, unwrap(padding_option))
    ty = tensor_descriptor_type(made.block_type, made.type.shape_type, made.type.strides_type, layout)
    made.handle.type = ty.ir
    return tensor_descriptor(made.handle, made.shape, made.strides, ty)
