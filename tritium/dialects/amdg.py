"""The amdg dialect: memory, synchronization and scheduling of AMD GPUs.

Buffer operations access memory by one base address and 32-bit offsets, so that the hardware can check bounds. From
gfx1250 the tensor data mover (TDM) moves blocks between global and shared memory by descriptor, and barriers in shared
memory say when it has finished. `cachePolicy` of an access is a hint, `#tt.cache_policy`; `contiguity` tells how many
elements may be accessed by one instruction where that cannot be proved from the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    FORMER_NAMES,
    I32,
    PURE,
    READ,
    WRITE,
    Access,
    AnyAttr,
    Attribute,
    Completion,
    I64Array,
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
    i32,
)
from ..ir.assembly import custom_syntax
from ..ir.parameters import DialectAttribute
from . import amdg_checks
from .amdg_tdm import (
    AsyncTDMCopyGlobalToLocal,
    AsyncTDMCopyLocalToGlobal,
    AsyncTDMFusedCopyGlobalToLocal,
    AsyncTDMGather,
    AsyncTDMIntrinsicWait,
    AsyncTDMScatter,
    AsyncTDMWait,
    TDMPrefetch,
    TokenResult,
    UpdateTensorDescriptor,
)
from .tt_types import AtomicField, ScopeField, SemField

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = [
    "ArriveBarrier",
    "AsyncCopyLocalToGlobal",
    "AsyncCopyMbarrierArrive",
    "AsyncTDMCopyGlobalToLocal",
    "AsyncTDMCopyLocalToGlobal",
    "AsyncTDMFusedCopyGlobalToLocal",
    "AsyncTDMGather",
    "AsyncTDMIntrinsicWait",
    "AsyncTDMScatter",
    "AsyncTDMWait",
    "AsyncWait",
    "BufferAtomicCAS",
    "BufferAtomicRMW",
    "BufferLoad",
    "BufferLoadToLocal",
    "BufferStore",
    "ClusterBarrierArrive",
    "ClusterBarrierWait",
    "Concat",
    "CondBarrier",
    "ExtractSlice",
    "InThreadTranspose",
    "InitBarrier",
    "LocalLoadPackedTransposed",
    "MemoryCounterWait",
    "ScaledDowncastFp4",
    "ScaledDowncastFp8",
    "ScaledUpcastFp4",
    "ScaledUpcastFp8",
    "SetFP8Clamping",
    "TDMPrefetch",
    "UpdateTensorDescriptor",
    "WaitBarrier",
]


class SetFP8Clamping(DialectAttribute, name="amdg.amdgcn.set.fp8.clamping"):
    """Asks that conversions to 8-bit floats clamp what is too large."""


# -- syntax -------------------------------------------------------------------------------------------------------


def _write_address(printer: Printer, ty: Type) -> str:
    return f"{printer.types[ty]} ->"


def _read_address(parser: Parser) -> tuple[Type | None]:
    """`!tt.ptr<f32> ->`; an older text has the type of the values alone."""
    start = parser.pos
    ty = parser.type()
    if parser.accept("->"):
        return (ty,)
    parser.skip_to(start)
    return (None,)


def _read_base(parser: Parser) -> tuple[Type]:
    """`!tt.ptr<f32>`, in an older text `<f32>`."""
    return (parser.stripped_type("!tt.ptr"),)


custom_syntax("BufferAddress", _write_address, _read_address)
custom_syntax("BufferBase", lambda printer, ty: printer.types[ty], _read_base)


# -- values in registers ------------------------------------------------------------------------------------------


class ExtractSlice(
    Op,
    name="amdg.extract_slice",
    traits=PURE,
    assembly="$source $static_offsets attr-dict `:` type($source) `to` type($result)",
):
    """result = the part of `source` that begins at `static_offsets`; each thread keeps registers that it has."""

    verify_op = amdg_checks.extract_slice

    source: Operand
    static_offsets: I64Array
    result: Result


class Concat(Op, name="amdg.concat", traits=PURE, assembly="$sources attr-dict `:` type($sources) `->` type($result)"):
    """result = `sources`, tensors of one type, put together in a grid, the last dimension of the grid first."""

    verify_op = amdg_checks.concat

    sources: VariadicOperand
    result: Result


class InThreadTranspose(
    Op, name="amdg.in_thread_transpose", traits=PURE, assembly="$src attr-dict `:` type($src) `->` type($result)"
):
    """result = src in a layout in which each thread holds the same elements, with its last two dimensions swapped."""

    verify_op = amdg_checks.transposed_in_threads

    src: Operand
    result: Result


class ScaledUpcastFp4(
    Op,
    name="amdg.scaled_upcast_fp4",
    traits=PURE,
    assembly="$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)",
):
    """output = input * scale, from 4-bit floats, two in each byte along `axis`, the lower half first."""

    verify_op = amdg_checks.scaled_upcast_fp4

    input: Operand
    scale: Operand
    axis: I32
    output: Result


class ScaledUpcastFp8(
    Op,
    name="amdg.scaled_upcast_fp8",
    traits=PURE,
    assembly="$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)",
):
    """output = input * scale, from 8-bit floats."""

    verify_op = amdg_checks.scaled

    input: Operand
    scale: Operand
    output: Result


class ScaledDowncastFp4(
    Op,
    name="amdg.scaled_downcast_fp4",
    traits=PURE,
    assembly="$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)",
):
    """output = input / scale as 4-bit floats, two in each byte along `axis`; one scale a group along it."""

    verify_op = amdg_checks.scaled

    input: Operand
    scale: Operand
    axis: I32
    output: Result


class ScaledDowncastFp8(
    Op,
    name="amdg.scaled_downcast_fp8",
    traits=PURE,
    assembly="$input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)",
):
    """output = input / scale as 8-bit floats; one scale a group along `axis`."""

    verify_op = amdg_checks.scaled

    input: Operand
    scale: Operand
    axis: I32
    output: Result


# -- buffer operations --------------------------------------------------------------------------------------------


class BufferLoad(
    MemoryAccess,
    Op,
    name="amdg.buffer_load",
    traits=READ,
    assembly="$ptr `[` $offsets `]` (`,` $mask^)? (`,` $other^)? former<CachePolicy>($cachePolicy)"
    " (`stride` `=` $stride^)? attr-dict `:` custom<BufferAddress>(type($ptr)) type($result)",
):
    """result = ptr[offsets] where `mask`, `other` elsewhere.

    `stride` is the distance of rows in bytes, a hint to the cache.
    """

    verify_op = amdg_checks.buffer
    accesses = (Access("ptr", READ, Memory.GLOBAL),)
    vectorized = True

    ptr: Operand
    offsets: Operand
    stride: OptionalOperand
    mask: OptionalOperand
    other: OptionalOperand
    cachePolicy: AnyAttr = None
    contiguity: I32 = 1
    result: Result


class BufferLoadToLocal(
    MemoryAccess,
    TokenResult,
    Op,
    name="amdg.buffer_load_to_local",
    traits=READ | WRITE,
    assembly="$ptr `[` $offsets `]` (`mask` `=` $mask^)? (`other` `=` $other^)? (`stride` `=` $stride^)?"
    " former<CachePolicy>($cachePolicy) `into` $dest attr-dict `:` custom<BufferBase>(type($ptr)) `[` type($offsets)"
    " `]` type($other) `->` stripped(`!ttg.memdesc`, $dest)",
):
    """dest = ptr[offsets] where `mask`, `other` elsewhere, asynchronously; `token` is for a wait."""

    verify_op = amdg_checks.buffer_to_local
    accesses = (Access("ptr", READ, Memory.GLOBAL), Access("dest", WRITE, Memory.SHARED))
    completes = Completion.COPY_GROUP

    dest: Operand
    ptr: Operand
    offsets: Operand
    mask: OptionalOperand
    other: OptionalOperand
    stride: OptionalOperand
    cachePolicy: AnyAttr = None
    contiguity: I32 = 1
    token: Result


class BufferAtomicRMW(
    MemoryAccess,
    Op,
    name="amdg.buffer_atomic_rmw",
    traits=READ | WRITE,
    assembly="$atomic_rmw_op `,` $sem `,` $scope `,` $value `,` $ptr `[` $offsets `]` (`,` $mask^)?"
    " (`stride` `=` $stride^)? attr-dict `:` custom<BufferAddress>(type($ptr)) type($result)",
):
    """result = ptr[offsets]; ptr[offsets] = op(that, value) in one step, where `mask`."""

    verify_op = amdg_checks.buffer
    accesses = (Access("ptr", READ | WRITE, Memory.GLOBAL),)
    vectorized = True
    atomic = True

    atomic_rmw_op: AtomicField
    ptr: Operand
    offsets: Operand
    value: Operand
    stride: OptionalOperand
    mask: OptionalOperand
    sem: SemField
    scope: ScopeField
    result: Result


class BufferAtomicCAS(
    MemoryAccess,
    Op,
    name="amdg.buffer_atomic_cas",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $cmp `,` $val `,` $ptr `[` $offsets `]` (`stride` `=` $stride^)? attr-dict"
    " `:` custom<BufferAddress>(type($ptr)) type($result)",
):
    """result = ptr[offsets]; where it equals `cmp`, ptr[offsets] = val, in one step."""

    verify_op = amdg_checks.buffer
    accesses = (Access("ptr", READ | WRITE, Memory.GLOBAL),)
    vectorized = True
    atomic = True

    ptr: Operand
    offsets: Operand
    cmp: Operand
    val: Operand
    stride: OptionalOperand
    sem: SemField
    scope: ScopeField
    result: Result


class BufferStore(
    MemoryAccess,
    Op,
    name="amdg.buffer_store",
    traits=WRITE,
    assembly="$value `,` $ptr `[` $offsets `]` (`,` $mask^)? former<CachePolicy>($cachePolicy)"
    " (`stride` `=` $stride^)? attr-dict `:` custom<BufferAddress>(type($ptr)) type($value)",
):
    """ptr[offsets] = value where `mask`."""

    verify_op = amdg_checks.buffer
    accesses = (Access("ptr", WRITE, Memory.GLOBAL),)
    vectorized = True

    value: Operand
    ptr: Operand
    offsets: Operand
    stride: OptionalOperand
    mask: OptionalOperand
    cachePolicy: AnyAttr = None
    contiguity: I32 = 1


# -- shared memory ------------------------------------------------------------------------------------------------


class LocalLoadPackedTransposed(
    MemoryAccess,
    Op,
    name="amdg.local_load_packed_transposed",
    traits=READ,
    assembly="$src (`token` $token^)? attr-dict `:` qualified(type($src)) `->` type($result)",
):
    """result = src, whose bytes of two 4-bit elements each are packed along the other dimension on the way."""

    verify_op = amdg_checks.packed_load
    accesses = (Access("src", READ, Memory.SHARED), Access("token", READ, Memory.SHARED))

    src: Operand
    token: OptionalOperand
    result: Result


FORMER_NAMES["amdg.local_load_packed_tranposed"] = LocalLoadPackedTransposed.name


class AsyncCopyLocalToGlobal(
    MemoryAccess,
    TokenResult,
    Op,
    name="amdg.async_copy_local_to_global",
    traits=READ | WRITE,
    assembly="$src `,` $dst (`mask` $mask^)? former<CachePolicy>($cachePolicy) attr-dict"
    " `:` qualified(type($src)) `->` type($dst)",
):
    """*dst = src where `mask`, asynchronously; `token` is for a wait."""

    verify_op = amdg_checks.copy_to_global
    accesses = (Access("src", READ, Memory.SHARED), Access("dst", WRITE, Memory.GLOBAL))
    completes = Completion.COPY_GROUP

    src: Operand
    dst: Operand
    mask: OptionalOperand
    cachePolicy: AnyAttr = None
    contiguity: I32 = 1
    token: Result


class AsyncWait(TokenResult, Op, name="amdg.async_wait", traits=READ | WRITE, assembly="($asyncToken^)? attr-dict"):
    """Wait until at most `num_inst` asynchronous instructions have not finished."""

    verify_op = amdg_checks.tokens

    asyncToken: VariadicOperand
    num_inst: I32
    retToken: Result


class MemoryCounterWait(
    Op,
    name="amdg.memory_counter_wait",
    traits=READ | WRITE,
    assembly="oilist(`load` `(` $load `)` | `store` `(` $store `)` | `ds` `(` $ds `)`) attr-dict",
):
    """Wait until at most so many loads, stores and accesses of shared memory have not finished."""

    load: OptionalI32 = None
    store: OptionalI32 = None
    ds: OptionalI32 = None


# -- barriers -----------------------------------------------------------------------------------------------------


class CondBarrier(Op, name="amdg.cond_barrier", traits=READ | WRITE, assembly="$pred attr-dict"):
    """Wait at the barrier of the block where `pred` (i1); the other threads must come to one of their own later."""

    verify_op = amdg_checks.predicate

    pred: Operand


class InitBarrier(
    Op,
    name="amdg.init_barrier",
    traits=WRITE,
    assembly="$alloc `,` $count attr-dict `:` qualified(type($alloc))",
):
    """alloc = a barrier whose phase ends with `count` arrivals."""

    verify_op = amdg_checks.barrier

    alloc: Operand
    count: I32


class WaitBarrier(
    Op,
    name="amdg.wait_barrier",
    traits=READ | WRITE,
    assembly="$alloc `,` $phase attr-dict `:` qualified(type($alloc))",
):
    """Wait until the phase with parity `phase` of the barrier has ended."""

    verify_op = amdg_checks.barrier

    alloc: Operand
    phase: Operand


class ArriveBarrier(
    Op,
    name="amdg.arrive_barrier",
    traits=READ | WRITE,
    assembly="$alloc `,` $count attr-dict `:` qualified(type($alloc)) `->` type($result)",
):
    """`count` arrivals at the barrier; result = the parity of its phase before."""

    verify_op = amdg_checks.barrier

    alloc: Operand
    count: I32
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i32"""
        return [i32]


class AsyncCopyMbarrierArrive(
    Op,
    name="amdg.async_copy_mbarrier_arrive",
    traits=READ | WRITE,
    assembly="$barrier attr-dict `:` qualified(type($barrier))",
):
    """An arrival at the barrier once all asynchronous loads to shared memory issued so far have finished."""

    verify_op = amdg_checks.barrier

    barrier: Operand


class ClusterBarrierArrive(Op, name="amdg.cluster_barrier_arrive", traits=READ | WRITE, assembly="attr-dict"):
    """Tell the other blocks of the cluster that this one is here."""

    verify_op = amdg_checks.in_cluster


class ClusterBarrierWait(Op, name="amdg.cluster_barrier_wait", traits=READ | WRITE, assembly="attr-dict"):
    """Wait until all blocks of the cluster have arrived."""

    verify_op = amdg_checks.in_cluster
