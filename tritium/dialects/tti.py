"""The tti dialect: what the sanitizers of a kernel write into it.

Of concurrency: which buffer a barrier guards, told by 32-bit addresses of buffers. Of global memory (`gsan`): each
access goes to a run-time library, which keeps the clocks of blocks and of barriers in `scratch` and tells races. Of
floating point (`fpsan`): numbers as elements of a ring of integers, in which sums do not depend on their order.
"""

from __future__ import annotations

import enum
from typing import Annotated

from ..ir import (
    I32,
    PURE,
    READ,
    WRITE,
    Attribute,
    Bool,
    I32Array,
    Op,
    Operand,
    OptionalOperand,
    Result,
    Str,
    Type,
    Value,
    VariadicOperand,
    VariadicResult,
    enum_field,
    i32,
)
from . import tti_checks
from .tt_types import AtomicField, ScopeField, SemField

__all__ = [
    "AssertUniform",
    "BufferDescriptors",
    "ClusterCTAId",
    "DotI8",
    "FPSanEmbed",
    "FPSanUnembed",
    "GSanAtomicCAS",
    "GSanAtomicLoad",
    "GSanAtomicPoll",
    "GSanAtomicRMW",
    "GSanAtomicStore",
    "GSanAtomicTensorDescAccess",
    "GSanClusterBarrierInit",
    "GSanClusterBarrierSync",
    "GSanGridDependencyWait",
    "GSanIndexedTensorDescAccess",
    "GSanInit",
    "GSanKernelExit",
    "GSanMBarrierArrive",
    "GSanMBarrierInit",
    "GSanMBarrierTableInit",
    "GSanMBarrierWait",
    "GSanTensorAccess",
    "GSanTensorDescAccess",
    "GSanTensorDescInfo",
    "LocalGather",
    "LockAcquire",
    "LockRelease",
    "MemDescToI32",
    "MemType",
    "MemoryOffsetToI32",
]


class MemType(enum.IntEnum):
    """An on-chip memory."""

    shared_mem = 0
    tensor_mem = 1


MemTypeField = Annotated[MemType, enum_field(MemType)]

_SCRATCH = "attr-dict `:` stripped(`!tt.ptr`, $scratch)"
_BARRIER = _SCRATCH + " `,` qualified(type($barrier))"


class _Number:
    """Mixin: the result is i32."""

    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i32"""
        return [i32]


# -- concurrency --------------------------------------------------------------------------------------------------


class AssertUniform(
    Op,
    name="tti.experimental_assert_uniform",
    traits=READ | WRITE,
    assembly="$condition `,` $message attr-dict-with-keyword",
):
    """Stop with `message` unless `condition` (i1, the same for all threads of the warp group) holds."""

    verify_op = tti_checks.condition

    condition: Operand
    message: Str


class BufferDescriptors(
    Op,
    name="tti.experimental_buffer_descriptors",
    traits=PURE,
    assembly="$offsets `,` $lengths `,` $memType attr-dict `:` type($result)",
):
    """result[i] = the buffer of lengths[i] bytes at offsets[i] of a memory: 32 bits each in one i64."""

    verify_op = tti_checks.buffer_descriptors

    offsets: I32Array
    lengths: I32Array
    memType: MemTypeField
    result: Result


class MemDescToI32(
    _Number,
    Op,
    name="tti.experimental_memdesc_to_i32",
    traits=PURE,
    assembly="$memdesc attr-dict `:` stripped(`!ttg.memdesc`, $memdesc)",
):
    """result = the address of a buffer."""

    verify_op = tti_checks.operands

    memdesc: Operand
    result: Result


class MemoryOffsetToI32(
    _Number,
    Op,
    name="tti.experimental_memory_offset_to_i32",
    traits=PURE,
    assembly="$offset `,` $memType attr-dict",
):
    """result = the address of what lies at `offset` of this function's part of a memory."""

    offset: I32
    memType: MemTypeField
    result: Result


class ClusterCTAId(
    _Number, Op, name="tti.experimental_cluster_cta_id", traits=PURE, assembly="attr-dict `:` type($result)"
):
    """result = the rank of this CTA in its cluster."""

    result: Result


class LocalGather(
    Op,
    name="tti.experimental_local_gather",
    traits=READ,
    assembly="$src `[` $indices `]` `offsets` `=` `[` $offsets `]` attr-dict"
    " `:` qualified(type($src)) `,` type($indices) `->` type($result)",
):
    """result[i] = src at `offsets`, moved by indices[i] along `axis`."""

    verify_op = tti_checks.local_gather

    src: Operand
    indices: Operand
    offsets: VariadicOperand
    axis: I32
    result: Result


class LockAcquire(
    Op,
    name="tti.experimental_lock_acquire",
    traits=READ | WRITE,
    assembly="$lock (`,` $pred^)? attr-dict `:` type($lock)",
):
    """Wait until the lock is free and take it, by one thread, where `pred`."""

    verify_op = tti_checks.operands

    lock: Operand
    pred: OptionalOperand


class LockRelease(
    Op,
    name="tti.experimental_lock_release",
    traits=READ | WRITE,
    assembly="$lock (`,` $pred^)? attr-dict `:` type($lock)",
):
    """The lock is free again, where `pred`."""

    verify_op = tti_checks.operands

    lock: Operand
    pred: OptionalOperand


# -- global memory: clocks ----------------------------------------------------------------------------------------


class GSanInit(Op, name="tti.experimental_gsan_init", traits=READ | WRITE, assembly="attr-dict"):
    """This block's clock starts."""


class GSanKernelExit(Op, name="tti.experimental_gsan_kernel_exit", traits=READ | WRITE, assembly="attr-dict"):
    """This block's clock ends, and those that come after the launch may see it."""


class GSanGridDependencyWait(
    Op, name="tti.experimental_gsan_grid_dependency_wait", traits=READ | WRITE, assembly="attr-dict"
):
    """This block has seen what the launches before it have done."""


class GSanClusterBarrierInit(
    Op,
    name="tti.experimental_gsan_cluster_barrier_init",
    traits=READ | WRITE,
    assembly="$scratch " + _SCRATCH,
):
    """Prepare `scratch` for the clocks of the CTAs of a cluster."""

    verify_op = tti_checks.operands

    scratch: Operand


class GSanClusterBarrierSync(
    Op,
    name="tti.experimental_gsan_cluster_barrier_sync",
    traits=READ | WRITE,
    assembly="$scratch " + _SCRATCH,
):
    """The CTAs of the cluster have seen each other's accesses."""

    verify_op = tti_checks.operands

    scratch: Operand


class GSanMBarrierTableInit(
    Op,
    name="tti.experimental_gsan_mbarrier_table_init",
    traits=READ | WRITE,
    assembly="$scratch `,` $capacity " + _SCRATCH,
):
    """Prepare `scratch` for `capacity` barriers."""

    verify_op = tti_checks.operands

    scratch: Operand
    capacity: I32


class GSanMBarrierInit(
    Op,
    name="tti.experimental_gsan_mbarrier_init",
    traits=READ | WRITE,
    assembly="$scratch `,` $barrier `,` $expectedCount " + _BARRIER,
):
    """A phase of `barrier` ends with `expectedCount` arrivals."""

    verify_op = tti_checks.operands

    scratch: Operand
    barrier: Operand
    expectedCount: I32


class GSanMBarrierArrive(
    Op,
    name="tti.experimental_gsan_mbarrier_arrive",
    traits=READ | WRITE,
    assembly="$scratch `,` $barrier `,` $pred `,` $count " + _BARRIER,
):
    """Arrive at `barrier` `count` times where `pred`; with `publishClock`, the wait acquires the writes of this CTA.

    `multicast` and its masks select the CTAs of the barriers.
    """

    verify_op = tti_checks.operands

    scratch: Operand
    barrier: Operand
    pred: Operand
    count: I32
    multicastMasks: I32Array
    multicast: Bool
    sourceBroadcastMask: I32
    publishClock: Bool = True


class GSanMBarrierWait(
    Op,
    name="tti.experimental_gsan_mbarrier_wait",
    traits=READ | WRITE,
    assembly="$scratch `,` $barrier `,` $phase `,` $pred " + _BARRIER,
):
    """This block has seen what those did that arrived in `phase` of `barrier`, where `pred`."""

    verify_op = tti_checks.operands

    scratch: Operand
    barrier: Operand
    phase: Operand
    pred: Operand


# -- global memory: accesses --------------------------------------------------------------------------------------


class GSanTensorDescAccess(
    Op,
    name="tti.experimental_gsan_tensordesc_access",
    traits=READ | WRITE,
    assembly="$desc `[` $coords `]` `,` $isStore (`,` $pred^)? attr-dict `:` qualified(type($desc))",
):
    """The block of `desc` at `coords` is read, or written, where `pred`."""

    verify_op = tti_checks.operands

    desc: Operand
    coords: VariadicOperand
    pred: OptionalOperand
    isStore: Bool


class GSanIndexedTensorDescAccess(
    Op,
    name="tti.experimental_gsan_indexed_tensordesc_access",
    traits=READ | WRITE,
    assembly="$desc `[` $indices `,` $offset `]` `,` $isStore (`,` $pred^)? attr-dict"
    " `:` qualified(type($desc)) `,` type($indices)",
):
    """The rows `indices` of `desc` are read, or written, from column `offset` on, where `pred`."""

    verify_op = tti_checks.operands

    desc: Operand
    indices: Operand
    offset: Operand
    pred: OptionalOperand
    isStore: Bool


class GSanAtomicTensorDescAccess(
    Op,
    name="tti.experimental_gsan_atomic_tensordesc_access",
    traits=READ | WRITE,
    assembly="$desc `[` $coords `]` `,` $sem `,` $scope attr-dict `:` qualified(type($desc))",
):
    """The block of `desc` at `coords` is changed, each element in one step."""

    verify_op = tti_checks.operands

    desc: Operand
    coords: VariadicOperand
    sem: SemField
    scope: ScopeField


class GSanTensorDescInfo(
    Op,
    name="tti.experimental_gsan_tensordesc_info",
    traits=PURE,
    assembly="$desc attr-dict `:` qualified(type($desc)) `->` type(results)",
):
    """parts = address, sizes and strides of what `desc` describes, which older texts take apart."""

    verify_op = tti_checks.operands

    desc: Operand
    parts: VariadicResult


class GSanTensorAccess(
    Op,
    name="tti.experimental_gsan_tensor_access",
    traits=READ | WRITE,
    assembly="$ptr `,` $isStore (`,` $mask^)? attr-dict `:` type($ptr)",
):
    """*ptr is read, or written, where `mask`."""

    verify_op = tti_checks.access

    ptr: Operand
    mask: OptionalOperand
    isStore: Bool


class GSanAtomicLoad(
    Op,
    name="tti.experimental_gsan_atomic_load",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)",
):
    """result = *ptr where `mask`, in one step."""

    verify_op = tti_checks.access

    ptr: Operand
    mask: OptionalOperand
    sem: SemField
    scope: ScopeField
    result: Result


class GSanAtomicStore(
    Op,
    name="tti.experimental_gsan_atomic_store",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)",
):
    """*ptr = value where `mask`, atomic."""

    verify_op = tti_checks.access

    ptr: Operand
    value: Operand
    mask: OptionalOperand
    sem: SemField
    scope: ScopeField


class GSanAtomicPoll(
    Op,
    name="tti.experimental_gsan_atomic_poll",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $matched attr-dict `:` qualified(type($ptr))",
):
    """*ptr has been read until it was what somebody waited for, where `matched`."""

    verify_op = tti_checks.access

    ptr: Operand
    matched: Operand
    sem: SemField
    scope: ScopeField


class GSanAtomicRMW(
    Op,
    name="tti.experimental_gsan_atomic_rmw",
    traits=READ | WRITE,
    assembly="$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict"
    " `:` functional-type(operands, $result)",
):
    """result = *ptr; *ptr = op(*ptr, val), atomic, where `mask`."""

    verify_op = tti_checks.access

    atomic_rmw_op: AtomicField
    ptr: Operand
    val: Operand
    mask: OptionalOperand
    sem: SemField
    scope: ScopeField
    result: Result


class GSanAtomicCAS(
    Op,
    name="tti.experimental_gsan_atomic_cas",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)",
):
    """result = *ptr; where it equals `cmp`, *ptr = val, in one step."""

    verify_op = tti_checks.access

    ptr: Operand
    cmp: Operand
    val: Operand
    sem: SemField
    scope: ScopeField
    result: Result


# -- floating point -----------------------------------------------------------------------------------------------


class DotI8(
    Op,
    name="tti.dot_i8",
    traits=PURE,
    assembly="$a `,` $b `,` $c `,` `aSigned` `=` $aSigned `,` `bSigned` `=` $bSigned attr-dict"
    " `:` type($a) `*` type($b) `->` type($d)",
):
    """d = a * b + c, of bytes with or without sign, added up as i32, wrapping."""

    verify_op = tti_checks.dot_i8

    a: Operand
    b: Operand
    c: Operand
    aSigned: Bool
    bSigned: Bool
    d: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The type of the accumulator."""
        return [operands[2].type]


class FPSanEmbed(
    Op,
    name="tti.experimental_fpsan_embed",
    traits=PURE,
    assembly="$val attr-dict `:` functional-type(operands, $result)",
):
    """result = the element of the ring that stands for the float `val`."""

    verify_op = tti_checks.embed

    val: Operand
    result: Result


class FPSanUnembed(
    Op,
    name="tti.experimental_fpsan_unembed",
    traits=PURE,
    assembly="$val attr-dict `:` functional-type(operands, $result)",
):
    """result = the float that the element `val` of the ring stands for."""

    verify_op = tti_checks.embed

    val: Operand
    result: Result
