"""Build TMA operations: buffers, mbarriers, loads, stores, and descriptors.

%buffer  = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>       buffer_type
%barrier = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>          barrier_type
ttng.barrier_expect %barrier, 8192, %pred                                                 expected_bytes
ttng.async_tma_copy_global_to_local %desc[%i, %j] %buffer, %barrier, %pred                start_load
ttng.async_tma_copy_local_to_global %desc[%i, %j] %buffer                                 start_store
ttng.tensormap_create %at, %base, …                                                       create_descriptor
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....analysis.tma import block_bytes, box_of, element_number, layout_for_shape, swizzle_number
from ....dialects import arith, tt, ttng
from ....dialects.ttg_context import num_ctas
from ....dialects.ttg_memory import MemDescType, NvmmaShared, SharedMemorySpace, SwizzledShared
from ....ir import Builder, Operation, TensorType, Value, i1, i32, i64, is_descriptor_load
from ....support import InternalError, UnsupportedOperation

__all__ = [
    "barrier_type",
    "buffer_type",
    "create_descriptor",
    "expected_bytes",
    "start_load",
    "start_store",
]


def buffer_type(desc: Value, ty: TensorType, copies: int | None = None, mutable: bool = True) -> MemDescType:
    """The type of a buffer for a tile of type `ty` of a descriptor; with `copies`, of that many consecutive buffers."""
    described: Any = desc.type
    layout = described.block.encoding
    if layout is None:
        raise InternalError(f"{described} has no layout: optimize-descriptor-encoding must run before")
    if isinstance(layout, NvmmaShared) and layout.rank != len(ty.shape):
        layout = layout_for_shape(layout, ty.shape)
    shape = ty.shape if copies is None else (copies, *ty.shape)
    return MemDescType(shape, ty.element, layout, SharedMemorySpace(), mutable)


def barrier_type(op: Operation, copies: int | None = None) -> MemDescType:
    """The type of an mbarrier for each CTA of the cluster; with `copies`, of that many consecutive mbarriers."""
    blocks = num_ctas(op)
    bases = tuple((1 << i,) for i in range(blocks.bit_length() - 1))
    layout = SwizzledShared(vec=1, perPhase=1, maxPhase=1, order=(0,), CGALayout=bases)
    shape = (blocks,) if copies is None else (copies, blocks)
    return MemDescType(shape, i64, layout, SharedMemorySpace(), True)


def expected_bytes(buffer: MemDescType) -> int:
    """The bytes that one CTA receives from a TMA load into a buffer of this type, which has no leading `copies`."""
    return block_bytes(buffer.encoding, buffer.shape, buffer.element.width)  # type: ignore[attr-defined]


def _rows(b: Builder, rows: Value) -> Value:
    """Row indices extended to i32."""
    ty: Any = rows.type
    if ty.element is i32:
        return rows
    return b.add(arith.ExtSI(rows, out=TensorType(ty.shape, i32, ty.encoding)))  # type: ignore[no-any-return]


def start_load(b: Builder, op: Any, buffer: Value, barrier: Value, pred: Value) -> Operation:
    """Build the TMA load of a `tt.descriptor_load` or `tt.descriptor_gather` into a buffer."""
    assert is_descriptor_load(op), op
    policy = op.attributes.get("cachePolicy")
    if isinstance(op, tt.DescriptorGather):
        rows = _rows(b, op.x_offsets)
        made: Operation = ttng.AsyncTMAGather(op.desc, rows, op.y_offset, barrier, buffer, pred, None, policy)
    else:
        made = ttng.AsyncTMACopyGlobalToLocal(op.desc, list(op.indices), [], barrier, buffer, pred, None, policy, False)
    return b.insert(made)


def start_store(b: Builder, op: Any, buffer: Value) -> Operation:
    """Build the TMA store, reduction or scatter from a buffer."""
    policy = op.attributes.get("cachePolicy")
    if isinstance(op, tt.DescriptorScatter):
        made: Operation = ttng.AsyncTMAScatter(op.desc, _rows(b, op.x_offsets), op.y_offset, buffer, policy)
    elif isinstance(op, tt.DescriptorReduce):
        made = ttng.AsyncTMAReduce(op.kind, op.desc, list(op.indices), buffer)
    else:
        made = ttng.AsyncTMACopyLocalToGlobal(op.desc, list(op.indices), buffer, policy)
    return b.insert(made)


# -- descriptors built by the kernel ----------------------------------------------------------------------------------


def create_descriptor(b: Builder, op: tt.MakeTensorDescriptor, at: Value) -> Operation:
    """Build the `ttng.tensormap_create` of a `tt.make_tensor_descriptor`, at the address `at`.

    Dimensions are listed innermost first; strides are in bytes, without the innermost one.
    """
    ty: Any = op.result.type
    layout, element = ty.block.encoding, ty.block.element
    number = element_number(ty)
    try:
        swizzle = swizzle_number(layout)
        box = box_of(layout, ty.block.shape)
    except ValueError as error:
        raise UnsupportedOperation(op, f"cannot be lowered to TMA: {error}") from None
    if number is None:
        raise UnsupportedOperation(op, f"TMA has no element type {element}")
    padded = isinstance(layout, NvmmaShared) and layout.fp4Padded
    dims = [b.add(arith.Constant.of(n, i32)) for n in box[::-1]]
    one = b.add(arith.Constant.of(1, i32))
    size = b.add(arith.Constant.of(element.width // 8, i64))
    shape = list(op.shape)[::-1]
    if padded:
        shape[0] = b.add(arith.MulI(shape[0], b.add(arith.Constant.of(2, i32))))
    strides: Sequence[Value] = [b.add(arith.MulI(v, size)) for v in list(op.strides)[-2::-1]]
    nan = op.padding == tt.PaddingOption.pad_nan
    return b.insert(
        ttng.TensormapCreate(at, op.base, dims, shape, strides, [one] * len(dims), number, 0, swizzle, int(nan))
    )


def true(b: Builder) -> Value:
    """A predicate that is always true."""
    return b.add(arith.Constant.of(True, i1))  # type: ignore[no-any-return]
