"""The ttng dialect: asynchronous operations of NVIDIA GPUs from Hopper on.

TMA copies between global and shared memory, WGMMA (Hopper), MMA on tensor memory (Blackwell), and the mbarriers that
signal their completion. An asynchronous operation is only issued at its place; its effects are complete after a wait
or the completion of its mbarrier. Therefore these operations have side effects and are not reordered.

Buffers in shared and tensor memory are `!ttg.memdesc`. Mbarriers are buffers of i64 in shared memory, one element per
CTA of the cluster, or fewer if CTAs share one.
"""

from __future__ import annotations

from ..ir import (
    I32,
    ORDERING,
    PURE,
    READ,
    WRITE,
    Access,
    Attribute,
    Bool,
    Completion,
    DotLike,
    Flag,
    Memory,
    MemoryAccess,
    Op,
    Operand,
    OptionalI32,
    OptionalOperand,
    Result,
    Type,
    Value,
    VariadicOperand,
    VariadicResult,
    WaitLike,
    i1,
    i32,
)
from . import ttng_checks
from .tt_types import DimField, InputPrecision, PrecisionField
from .ttng_tma import (
    AsyncTMACopyGlobalToLocal,
    AsyncTMACopyLocalToGlobal,
    AsyncTMAGather,
    AsyncTMAReduce,
    AsyncTMAScatter,
    ReinterpretTensorDesc,
    TensormapCreate,
    TensormapFenceproxyAcquire,
    TMAStoreWait,
)
from .ttng_tmem import (
    TCGen5Commit,
    TCGen5MMA,
    TCGen5MMAScaled,
    TMEMAlloc,
    TMEMCopy,
    TMEMLoad,
    TMEMStore,
    TMEMSubSlice,
    TMEMWait,
)
from .ttng_types import (
    CachePolicy,
    EvictionPriority,
    LoadReduction,
    LoadReductionAttr,
    PackedArithKind,
    PackedArithKindField,
    ScalesOrder,
    ScalesOrderAttr,
    TensorDescIm2ColType,
    TensorMemory,
    TensorMemoryScales,
    TensorMemorySpace,
    TmemWaitKind,
)

__all__ = [
    "ArriveBarrier",
    "AsyncCopyMbarrierArrive",
    "AsyncSharedStore",
    "AsyncTMACopyGlobalToLocal",
    "AsyncTMACopyLocalToGlobal",
    "AsyncTMAGather",
    "AsyncTMAReduce",
    "AsyncTMAScatter",
    "BarrierExpect",
    "CLCGetProgramId",
    "CLCIsCanceled",
    "CLCLoadResult",
    "CLCTryCancel",
    "CLCTryCancelSync",
    "CachePolicy",
    "ClusterArrive",
    "ClusterBarrier",
    "ClusterWait",
    "EvictionPriority",
    "FenceAsyncShared",
    "FenceMBarrierInitReleaseCluster",
    "InitBarrier",
    "InvalBarrier",
    "LoadReduction",
    "LoadReductionAttr",
    "PackedArith",
    "PackedArithKind",
    "ReinterpretTensorDesc",
    "ScalesOrder",
    "ScalesOrderAttr",
    "TCGen5Commit",
    "TCGen5MMA",
    "TCGen5MMAScaled",
    "TMAStoreWait",
    "TMEMAlloc",
    "TMEMCopy",
    "TMEMLoad",
    "TMEMStore",
    "TMEMSubSlice",
    "TMEMWait",
    "TensorDescIm2ColType",
    "TensorMemory",
    "TensorMemoryScales",
    "TensorMemorySpace",
    "TensormapCreate",
    "TensormapFenceproxyAcquire",
    "TmemWaitKind",
    "WaitBarrier",
    "WarpGroupDot",
    "WarpGroupDotWait",
]

_BARRIER = "attr-dict `:` qualified(type($alloc))"


# -- arithmetic ---------------------------------------------------------------------------------------------------


class PackedArith(
    Op,
    name="ttng.packed_arith",
    traits=PURE,
    assembly="$op_kind $operands_ attr-dict `:` functional-type($operands_, $result)",
):
    """result = operands[0] op operands[1] (op operands[2] for fma), by an instruction for packed elements.

    Operands may have narrower elements than the result, which the instruction converts. Elements of i8 are two 4-bit
    floats each, the lower half first, along the dimension in which such an operand is half as long as the result.
    """

    verify_op = ttng_checks.packed_arith

    op_kind: PackedArithKindField
    operands_: VariadicOperand
    result: Result


class WarpGroupDot(
    DotLike,
    MemoryAccess,
    Op,
    name="ttng.warp_group_dot",
    traits=READ,
    assembly="$a `,` $b `,` $c (`,` $useC^)? attr-dict `:` type($a) `*` qualified(type($b)) `->` type($d)",
):
    """d = a @ b + c by WGMMA; `b` (and `a`, unless it is in registers) is read from shared memory.

    If `useC` (i1, true if absent) is false, d = a @ b. With `isAsync`, `d` may only be used after a
    `warp_group_dot_wait` for it. For 8-bit floats, partial sums along at most `maxNumImpreciseAcc` elements of K are
    accumulated with fewer bits than `c` has.
    """

    verify_op = ttng_checks.warp_group_dot
    accesses = (Access("a", READ, Memory.SHARED, async_proxy=True), Access("b", READ, Memory.SHARED, async_proxy=True))

    a: Operand
    b: Operand
    c: Operand
    useC: OptionalOperand
    inputPrecision: PrecisionField = InputPrecision.ieee
    maxNumImpreciseAcc: I32 = 0
    isAsync: Bool = False
    d: Result

    @property
    def completes(self) -> Completion | None:
        """Known by `warp_group_dot_wait` where it `isAsync`."""
        return Completion.WGMMA_GROUP if self.isAsync else None

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The type of the accumulator."""
        return [operands[2].type]


class WarpGroupDotWait(
    WaitLike,
    MemoryAccess,
    Op,
    name="ttng.warp_group_dot_wait",
    traits=READ | WRITE,
    assembly="$inputs attr-dict `:` type($inputs)",
):
    """outputs = inputs, after waiting until at most `pendings` asynchronous `warp_group_dot` are pending.

    `inputs` hold the results of those waited for; their shared memory may be overwritten afterwards, except with
    `warpGroupLocal` by other warp groups, which may still be reading.
    """

    verify_op = ttng_checks.warp_group_dot_wait
    accesses = (Access("inputs", READ, Memory.SHARED),)
    waits_for = Completion.WGMMA_GROUP

    inputs: VariadicOperand
    pendings: I32
    warpGroupLocal: Flag = False
    outputs: VariadicResult

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The types of the inputs."""
        return [v.type for v in operands]


# -- barriers -----------------------------------------------------------------------------------------------------


class InitBarrier(
    MemoryAccess,
    Op,
    name="ttng.init_barrier",
    traits=WRITE,
    assembly="$alloc `,` $count " + _BARRIER,
):
    """Initialize the mbarrier `alloc` in phase 0, with `count` arrivals per phase."""

    verify_op = ttng_checks.init_barrier
    accesses = (Access("alloc", WRITE, Memory.SHARED),)

    alloc: Operand
    count: I32


class InvalBarrier(MemoryAccess, Op, name="ttng.inval_barrier", traits=WRITE, assembly="$alloc " + _BARRIER):
    """Invalidate the mbarrier `alloc`, so that its memory can be reused."""

    verify_op = ttng_checks.barrier
    accesses = (Access("alloc", WRITE, Memory.SHARED),)

    alloc: Operand


class BarrierExpect(
    MemoryAccess,
    Op,
    name="ttng.barrier_expect",
    traits=READ | WRITE,
    assembly="$alloc `,` $size attr-dict `,` $pred `:` qualified(type($alloc))",
):
    """Arrive at the mbarrier `alloc` and increase its expected transaction count by `size` bytes, where `pred`.

    `fromCTA` is a mask over the bits of a block's number: with those outside of it cleared, it is the number of the
    block that arrives in its place.
    """

    verify_op = ttng_checks.barrier
    accesses = (Access("alloc", READ, Memory.SHARED),)
    completes = Completion.MBARRIER

    alloc: Operand
    pred: Operand
    size: I32
    fromCTA: OptionalI32 = None

    @property
    def completion_barrier(self) -> Value:
        """The one that waits for the announced bytes."""
        return self.alloc


class WaitBarrier(
    WaitLike,
    MemoryAccess,
    Op,
    name="ttng.wait_barrier",
    traits=READ | WRITE | ORDERING,
    assembly="$alloc `,` $phase (`,` $pred^)? (`deps` $deps^)?"
    " attr-dict `:` qualified(type($alloc)) (`,` type($deps)^)?",
):
    """Wait until the phase with parity `phase` (i32, 0 or 1) of the mbarrier has completed, where `pred`.

    `deps` are buffers that what the barrier waits for may touch until then.
    """

    verify_op = ttng_checks.barrier
    accesses = (Access("alloc", READ, Memory.SHARED),)
    waits_for = Completion.MBARRIER

    alloc: Operand
    phase: Operand
    pred: OptionalOperand
    deps: VariadicOperand


class ArriveBarrier(
    MemoryAccess,
    Op,
    name="ttng.arrive_barrier",
    traits=READ | WRITE,
    assembly="$alloc `,` $count (`,` $pred^)? " + _BARRIER,
):
    """Arrive at the mbarrier `count` times, where `pred`.

    `multicastCTA`, a mask over the bits of a block's number, makes all blocks that differ only in those bits arrive at
    each other's barriers; `fromCTA` is as in `barrier_expect`.
    """

    verify_op = ttng_checks.arrive_barrier
    accesses = (Access("alloc", READ, Memory.SHARED),)

    alloc: Operand
    pred: OptionalOperand
    count: I32
    fromCTA: OptionalI32 = None
    multicastCTA: I32 = 0


class AsyncCopyMbarrierArrive(
    MemoryAccess,
    Op,
    name="ttng.async_copy_mbarrier_arrive",
    traits=READ | WRITE,
    assembly="$barrier attr-dict `:` qualified(type($barrier))",
):
    """Arrive at the mbarrier once all `ttg.async_copy_global_to_local` issued so far have completed.

    With `noIncrement` the arrival is one of those the barrier was initialized for, else it is an extra one.
    """

    verify_op = ttng_checks.barrier
    accesses = (Access("barrier", READ, Memory.SHARED),)

    barrier: Operand
    noIncrement: Flag = False


class AsyncSharedStore(
    Op,
    name="ttng.async_shared_store",
    traits=READ | WRITE,
    assembly="$src `,` $dst `,` $mbarrier attr-dict `:` type($src)"
    " `->` qualified(type($dst)) `,` qualified(type($mbarrier))",
):
    """dst = src, asynchronously, also into buffers of other CTAs of the cluster; bytes are counted at `mbarrier`."""

    verify_op = ttng_checks.async_shared_store

    src: Operand
    dst: Operand
    mbarrier: Operand


# -- fences and the cluster ---------------------------------------------------------------------------------------


class FenceAsyncShared(Op, name="ttng.fence_async_shared", traits=READ | WRITE | ORDERING, assembly="attr-dict"):
    """Order earlier generic-proxy writes to shared memory before later async-proxy accesses.

    With `bCluster` this holds for the shared memory of the whole cluster.
    """

    bCluster: Bool


class FenceMBarrierInitReleaseCluster(
    Op, name="ttng.fence_mbarrier_init_release_cluster", traits=READ | WRITE, assembly="attr-dict"
):
    """Make mbarrier initializations visible to the other CTAs of the cluster."""

    verify_op = ttng_checks.in_cluster


class ClusterArrive(Op, name="ttng.cluster_arrive", traits=READ | WRITE, assembly="attr-dict"):
    """Arrive at the cluster barrier; `relaxed`: without ordering memory.

    An older half of `cluster_barrier`.
    """

    verify_op = ttng_checks.cluster_sync

    relaxed: Bool = False


class ClusterWait(Op, name="ttng.cluster_wait", traits=READ | WRITE, assembly="attr-dict"):
    """Wait until all CTAs of the cluster have arrived by `cluster_arrive`."""

    verify_op = ttng_checks.cluster_sync


class ClusterBarrier(Op, name="ttng.cluster_barrier", traits=READ | WRITE, assembly="attr-dict"):
    """Cluster barrier; `relaxed`: without ordering memory."""

    verify_op = ttng_checks.cluster_barrier

    relaxed: Bool = False


# -- launches that are taken over ---------------------------------------------------------------------------------


class CLCTryCancel(
    Op,
    name="ttng.clc_try_cancel",
    traits=READ | WRITE,
    assembly="$result `,` $mbarrier attr-dict `:` qualified(type($result)) `,` qualified(type($mbarrier))",
):
    """result = the response to a request to cancel the launch of a pending cluster, whose work this one takes over.

    The answer, two i64, arrives asynchronously and counts at `mbarrier`.
    """

    verify_op = ttng_checks.clc_try_cancel

    result: Operand
    mbarrier: Operand


class CLCTryCancelSync(
    Op, name="ttng.clc_try_cancel_sync", traits=READ | WRITE, assembly="attr-dict `:` type($response)"
):
    """response = the response to a request to cancel the launch of a pending cluster."""

    verify_op = ttng_checks.clc_response

    response: Result


class CLCLoadResult(
    Op,
    name="ttng.clc_load_result",
    traits=READ,
    assembly="$src attr-dict `:` qualified(type($src)) `->` type($clcResult)",
):
    """clcResult = the response in `src`, as an i128."""

    verify_op = ttng_checks.clc_load_result

    src: Operand
    clcResult: Result


class CLCIsCanceled(
    Op,
    name="ttng.clc_is_canceled",
    traits=PURE,
    assembly="$clcResult attr-dict `:` type($clcResult) `->` type($is_canceled)",
):
    """is_canceled = whether the response says that a cluster was canceled."""

    verify_op = ttng_checks.clc_answer

    clcResult: Operand
    is_canceled: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i1"""
        return [i1]


class CLCGetProgramId(
    Op,
    name="ttng.clc_get_program_id",
    traits=PURE,
    assembly="$clcResult `,` $dim attr-dict `:` type($clcResult) `->` type($result)",
):
    """result = the program id along `dim` of the canceled cluster in the response."""

    verify_op = ttng_checks.clc_answer

    clcResult: Operand
    dim: DimField
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i32"""
        return [i32]
