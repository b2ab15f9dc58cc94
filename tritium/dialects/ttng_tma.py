"""The TMA operations of the ttng dialect: copies between global and shared memory by descriptor."""

from __future__ import annotations

from ..ir import (
    I32,
    PURE,
    READ,
    WRITE,
    Access,
    AnyAttr,
    Bool,
    Completion,
    Flag,
    Memory,
    MemoryAccess,
    Op,
    Operand,
    Result,
    VariadicOperand,
    WaitLike,
)
from . import ttng_checks
from .tt_types import ReduceKindField

__all__ = [
    "AsyncTMACopyGlobalToLocal",
    "AsyncTMACopyLocalToGlobal",
    "AsyncTMAGather",
    "AsyncTMAReduce",
    "AsyncTMAScatter",
    "ReinterpretTensorDesc",
    "TMAStoreWait",
    "TensormapCreate",
    "TensormapFenceproxyAcquire",
]

_FROM_SHARED = "attr-dict `:` qualified(type($desc)) `,` qualified(type($src))"


class AsyncTMACopyGlobalToLocal(
    MemoryAccess,
    Op,
    name="ttng.async_tma_copy_global_to_local",
    traits=READ | WRITE,
    assembly="$desc `[` $coord `]` (`offsets` `=` `[` $offsets^ `]`)? former<CachePolicy>($cachePolicy)"
    " $result `,` $barrier `,` $pred attr-dict"
    " `:` qualified(type($desc)) `,` qualified(type($barrier)) `->` qualified(type($result))",
):
    """result = the block of `desc` at `coord`, a TMA load where `pred`; bytes are counted at `barrier`.

    A descriptor of windows (`tensordesc_im2col`) takes the position in the tensor, and `offsets` (i16, two fewer than
    there are coordinates) inside the window. With `multicast` the CTAs of the cluster that hold the same part of
    `result` get it by one copy. `cachePolicy` is a hint, `#tt.cache_policy` or `#ttng.cache_policy`.
    """

    verify_op = ttng_checks.tma_load
    accesses = (
        Access("desc", READ, Memory.GLOBAL),
        Access("result", WRITE, Memory.SHARED, async_proxy=True),
        Access("barrier", READ, Memory.SHARED),
    )
    completes = Completion.MBARRIER

    desc: Operand
    coord: VariadicOperand
    offsets: VariadicOperand
    barrier: Operand
    result: Operand
    pred: Operand
    multicast: Flag = False
    cachePolicy: AnyAttr = None
    isVolatile: Bool = False


class AsyncTMACopyLocalToGlobal(
    MemoryAccess,
    Op,
    name="ttng.async_tma_copy_local_to_global",
    traits=READ | WRITE,
    assembly="$desc `[` $coord `]` $src " + _FROM_SHARED,
):
    """The block of `desc` at `coord` = src, a TMA store; `async_tma_store_wait` waits for it."""

    verify_op = ttng_checks.tma_store
    accesses = (Access("desc", WRITE, Memory.GLOBAL), Access("src", READ, Memory.SHARED, async_proxy=True))
    completes = Completion.BULK_GROUP

    desc: Operand
    coord: VariadicOperand
    src: Operand
    cachePolicy: AnyAttr = None


class AsyncTMAReduce(
    MemoryAccess,
    Op,
    name="ttng.async_tma_reduce",
    traits=READ | WRITE,
    assembly="$kind `,` $desc `[` $coord `]` $src " + _FROM_SHARED,
):
    """The block of `desc` at `coord` = kind(block, src), a TMA reduction, atomic for each element."""

    verify_op = ttng_checks.tma_reduce
    accesses = (Access("desc", READ | WRITE, Memory.GLOBAL), Access("src", READ, Memory.SHARED, async_proxy=True))
    completes = Completion.BULK_GROUP

    kind: ReduceKindField
    desc: Operand
    coord: VariadicOperand
    src: Operand


class AsyncTMAGather(
    MemoryAccess,
    Op,
    name="ttng.async_tma_gather",
    traits=READ | WRITE,
    assembly="$desc `[` $x_offsets `,` $y_offset `]` $result `,` $barrier `,` $pred attr-dict `:` type(operands)",
):
    """result[i] = row x_offsets[i] from column `y_offset` on, a TMA gather; bytes are counted at `barrier`."""

    verify_op = ttng_checks.tma_gather
    accesses = (
        Access("desc", READ, Memory.GLOBAL),
        Access("result", WRITE, Memory.SHARED, async_proxy=True),
        Access("barrier", READ, Memory.SHARED),
    )
    completes = Completion.MBARRIER

    desc: Operand
    x_offsets: Operand
    y_offset: Operand
    barrier: Operand
    result: Operand
    pred: Operand
    multicast: Flag = False
    cachePolicy: AnyAttr = None


class AsyncTMAScatter(
    MemoryAccess,
    Op,
    name="ttng.async_tma_scatter",
    traits=READ | WRITE,
    assembly="$desc `[` $x_offsets `,` $y_offset `]` $src attr-dict `:` type(operands)",
):
    """Row x_offsets[i] from column `y_offset` on = src[i], a TMA scatter."""

    verify_op = ttng_checks.tma_scatter
    accesses = (Access("desc", WRITE, Memory.GLOBAL), Access("src", READ, Memory.SHARED, async_proxy=True))
    completes = Completion.BULK_GROUP

    desc: Operand
    x_offsets: Operand
    y_offset: Operand
    src: Operand
    cachePolicy: AnyAttr = None


class TMAStoreWait(WaitLike, Op, name="ttng.async_tma_store_wait", traits=READ | WRITE, assembly="attr-dict"):
    """Wait until at most `pendings` TMA store groups are pending.

    With `read_only` a copy has finished once it has read shared memory, which may then be overwritten.
    """

    waits_for = Completion.BULK_GROUP

    pendings: I32
    read_only: Flag = False


class ReinterpretTensorDesc(
    Op,
    name="ttng.reinterpret_tensor_descriptor",
    traits=PURE,
    assembly="$rawDesc attr-dict `:` qualified(type($rawDesc)) `to` qualified(type($result))",
):
    """result = the descriptor at the address `rawDesc`."""

    verify_op = ttng_checks.reinterpret_tensor_descriptor

    rawDesc: Operand
    result: Result


class TensormapCreate(
    Op,
    name="ttng.tensormap_create",
    traits=READ | WRITE,
    assembly="$desc_ptr `,` $global_address `,` `[` $box_dim `]` `,` `[` $global_dim `]` `,` `[` $global_stride `]`"
    " `,` `[` $element_stride `]` attr-dict `:` functional-type(operands, results)",
):
    """*desc_ptr = the descriptor of the tensor at `global_address`.

    `box_dim` is the shape of a block, `global_dim` that of the tensor, whose strides `global_stride` are in bytes (the
    innermost is not said); all from the innermost dimension out. The numbers of `elem_type`, `interleave_layout`,
    `swizzle_mode` and `fill_mode` are those of the PTX instruction `tensormap.replace`.
    """

    verify_op = ttng_checks.tensormap_create

    desc_ptr: Operand
    global_address: Operand
    box_dim: VariadicOperand
    global_dim: VariadicOperand
    global_stride: VariadicOperand
    element_stride: VariadicOperand
    elem_type: I32
    interleave_layout: I32
    swizzle_mode: I32
    fill_mode: I32


class TensormapFenceproxyAcquire(
    Op,
    name="ttng.tensormap_fenceproxy_acquire",
    traits=READ | WRITE,
    assembly="$desc_ptr attr-dict `:` qualified(type($desc_ptr))",
):
    """Make earlier writes of the descriptor at `desc_ptr` visible to later TMA copies."""

    verify_op = ttng_checks.address

    desc_ptr: Operand
