"""Atomic operations on global memory: LLVM's atomics with AMDGPU's synchronization scopes.

    tt.atomic_rmw fadd, relaxed, gpu, %p, %v     atomicrmw fadd ptr addrspace(1) %p, %v syncscope("agent") monotonic

Each element is touched by one of the threads that hold it. LLVM selects `global_atomic_*`, with or without result, and
expands what has no instruction (8 and 16 bits, minima of unusual types) to loops that compare and swap.

**Order.** A program is all of its threads. Before an operation that releases, every thread has a release fence of the
operation's scope and then all meet at a barrier: its own writes, and by the barrier those of the other waves, are
visible to who acquires. After one that acquires, all meet, and every thread has an acquire fence. The atomics between
are relaxed (LLVM's user guide for AMDGPU targets, section "Memory Model").
"""

from __future__ import annotations

from typing import TypeAlias

from ....dialects import amdg, tt
from ....dialects.tt_types import AtomicOp, MemSemantic, MemSyncScope, PointerType
from ....ir import FloatType, Type, Value, element_type
from ....support import UnsupportedOperation
from ..context import FunctionContext
from ..memory import first_holder, vector_groups
from ..packing import parts_of, vector_of
from ..polling import poll
from ..replicated_results import bind_replicated
from ..types import bit_width, byte_width, llvm_type
from ..warp import bits_of, from_bits
from .lowerings import amd_lowers
from .memory import EMPTY, Written, store_where, where

__all__ = ["SCOPES", "after_atomic", "atomic_name", "before_atomic", "holders", "update_at"]

SCOPES = {
    MemSyncScope.cta: ' syncscope("workgroup")',
    MemSyncScope.gpu: ' syncscope("agent")',
    MemSyncScope.sys: "",
}
_RELEASES = (MemSemantic.release, MemSemantic.acq_rel)
_ACQUIRES = (MemSemantic.acquire, MemSemantic.acq_rel)
_NAMES = {AtomicOp.exch: "xchg"}
_FLOAT_HINTS = f", !amdgpu.no.fine.grained.memory !{EMPTY}, !amdgpu.ignore.denormal.mode !{EMPTY}"


_Loaded: TypeAlias = "amdg.BufferAtomicRMW | tt.AtomicRMW | tt.AtomicCAS | tt.AtomicLoad | tt.AtomicPoll"


def _element(op: tt.AtomicRMW | tt.AtomicCAS | tt.AtomicLoad | tt.AtomicPoll | tt.AtomicStore) -> Type:
    """The type of the elements; they are in global memory."""
    pointer = element_type(op.ptr.type)
    if not isinstance(pointer, PointerType) or pointer.address_space != 1:
        raise UnsupportedOperation(op, f"through {op.ptr.type} is not supported on AMD GPUs")
    return pointer.pointee


def before_atomic(e: FunctionContext, sem: MemSemantic, scope: MemSyncScope) -> None:
    """Order what precedes an atomic that releases."""
    if sem in _RELEASES:
        e.stmt(f"fence{SCOPES[scope]} release")
        e.barrier()


def _acquire(e: FunctionContext, sem: MemSemantic, scope: MemSyncScope, met: bool) -> None:
    """`met`: all threads have been at a barrier since the operation."""
    if sem in _ACQUIRES:
        if not met:
            e.barrier()
        e.stmt(f"fence{SCOPES[scope]} acquire")


def holders(e: FunctionContext, at: Value, mask: Value | None) -> tuple[str | None, list[str | None]]:
    """Whether this thread is the one among copies, and for each register of `at` whether it does anything."""
    holder = first_holder(e, at.type)
    masks = e(mask) if mask is not None else ["true"] * len(e(at))
    known: dict[str, str | None] = {"true": holder}
    for m in masks:
        if m not in known:
            known[m] = m if holder is None else e.op(f"and i1 {holder}, {m}")
    return holder, [known[m] for m in masks]


def after_atomic(e: FunctionContext, op: _Loaded, values: dict[int, str], holder: str | None) -> None:
    """Bind the result, and order what follows."""
    _acquire(e, op.sem, op.scope, bool(op.result.users) and bind_replicated(e, op, values, holder))


def atomic_name(op: tt.AtomicRMW | amdg.BufferAtomicRMW, ty: Type) -> str:
    """LLVM's name of the operation. Raises UnsupportedOperation for elements that it does not have."""
    name = _NAMES.get(op.atomic_rmw_op, op.atomic_rmw_op.name.strip("_"))
    if bit_width(ty) < 8 or ((name == "fadd") is not isinstance(ty, FloatType) and name != "xchg"):
        raise UnsupportedOperation(op, f"({name}) on {ty} is not supported on AMD GPUs")
    return name


def update_at(
    e: FunctionContext,
    op: tt.AtomicRMW | amdg.BufferAtomicRMW,
    address: str,
    ty: Type,
    parts: list[str],
    mask: str | None,
) -> list[str]:
    """Update the adjacent elements at `address` by one instruction, where `mask`; the elements before."""
    name = atomic_name(op, ty)
    vector, whole = vector_of(e, llvm_type(ty), parts)
    line = f"atomicrmw {name} ptr addrspace(1) {address}, {vector} {whole}{SCOPES[op.scope]} monotonic"
    hints = _FLOAT_HINTS if name == "fadd" else ""
    old = where(e, mask, vector, "zeroinitializer", Written(e, f"{line}{hints}"))
    return parts_of(e, vector, old, len(parts))


@amd_lowers(tt.AtomicRMW)
def _rmw(e: FunctionContext, op: tt.AtomicRMW) -> None:
    ty = _element(op)
    name = atomic_name(op, ty)
    holder, conditions = holders(e, op.ptr, op.mask)
    addresses, sources = e(op.ptr), e(op.val)
    values: dict[int, str] = {}
    before_atomic(e, op.sem, op.scope)
    most = 4 if name == "fadd" and bit_width(ty) == 16 else byte_width(ty)  # global_atomic_pk_add_f16 adds two
    for group in vector_groups(e, op.ptr, op.mask, most):
        first = group[0]
        parts = [sources[r] for r in group]
        values.update(zip(group, update_at(e, op, addresses[first], ty, parts, conditions[first])))
    after_atomic(e, op, values, holder)


@amd_lowers(tt.AtomicCAS)
def _cas(e: FunctionContext, op: tt.AtomicCAS) -> None:
    ty = _element(op)
    if bit_width(ty) < 8:
        raise UnsupportedOperation(op, f"on {ty} is not supported on AMD GPUs")
    holder, conditions = holders(e, op.ptr, None)
    addresses, compared, sources, values = e(op.ptr), e(op.cmp), e(op.val), {}
    before_atomic(e, op.sem, op.scope)
    word = f"i{bit_width(ty)}"
    for (r,) in vector_groups(e, op.ptr, None, byte_width(ty)):
        wanted, new = (bits_of(e, ty, column[r]) for column in (compared, sources))
        line = f"cmpxchg ptr addrspace(1) {addresses[r]}, {word} {wanted}, {word} {new}{SCOPES[op.scope]}"
        values[r] = from_bits(e, ty, where(e, conditions[r], word, "0", _Swap(e, f"{line} monotonic monotonic", word)))
    after_atomic(e, op, values, holder)


class _Swap:
    """Writes a cmpxchg and gives the value that was there."""

    def __init__(self, e: FunctionContext, line: str, word: str) -> None:
        self.e, self.line, self.word = e, line, word

    def __call__(self) -> str:
        return self.e.op(f"extractvalue {{ {self.word}, i1 }} {self.e.op(self.line)}, 0")


@amd_lowers(tt.AtomicLoad)
def _load(e: FunctionContext, op: tt.AtomicLoad) -> None:
    ty = _element(op)
    holder, conditions = holders(e, op.ptr, op.mask)
    addresses, values, word = e(op.ptr), {}, f"i{max(8, bit_width(ty))}"
    for (r,) in vector_groups(e, op.ptr, op.mask, byte_width(ty)):
        line = (
            f"load atomic {word}, ptr addrspace(1) {addresses[r]}{SCOPES[op.scope]} monotonic, align {byte_width(ty)}"
        )
        found = where(e, conditions[r], word, "0", Written(e, line))
        values[r] = from_bits(e, ty, found if bit_width(ty) >= 8 else e.op(f"trunc {word} {found} to i{bit_width(ty)}"))
    after_atomic(e, op, values, holder)


@amd_lowers(tt.AtomicStore)
def _store(e: FunctionContext, op: tt.AtomicStore) -> None:
    ty = _element(op)
    _, conditions = holders(e, op.ptr, op.mask)
    addresses, sources, word = e(op.ptr), e(op.value), f"i{max(8, bit_width(ty))}"
    before_atomic(e, op.sem, op.scope)
    for (r,) in vector_groups(e, op.ptr, op.mask, byte_width(ty)):
        bits = bits_of(e, ty, sources[r])
        bits = bits if bit_width(ty) >= 8 else e.op(f"zext i{bit_width(ty)} {bits} to {word}")
        place = f"ptr addrspace(1) {addresses[r]}{SCOPES[op.scope]} monotonic, align {byte_width(ty)}"
        store_where(e, conditions[r], f"store atomic {word} {bits}, {place}")


@amd_lowers(tt.AtomicPoll)
def _poll(e: FunctionContext, op: tt.AtomicPoll) -> None:
    """Poll each element until it is as expected or the timeout expires; elements are polled in order."""
    ty = _element(op)
    holder, conditions = holders(e, op.ptr, None)
    addresses, wanted, values = e(op.ptr), e(op.expected), {}
    end = None
    if op.timeout is not None:
        width, ticks = bit_width(op.timeout.type), e.scalar(op.timeout)
        wide = ticks if width == 64 else e.op(f"zext i{width} {ticks} to i64")
        rounded = e.op(f"add i64 {wide}, {TICK - 1}")
        end = e.op(f"add i64 {_ticks(e)}, {e.op(f'udiv i64 {rounded}, {TICK}')}")
    for (r,) in vector_groups(e, op.ptr, None, byte_width(ty)):
        values[r] = _wait(e, op, (addresses[r], wanted[r]), conditions[r], end)
    after_atomic(e, op, values, holder)


TICK = 10
"""Nanoseconds of the constant clock, which runs at 100 MHz (MI300 ISA, S_MEMREALTIME; RDNA3 ISA, section 16.5)."""


def _ticks(e: FunctionContext) -> str:
    return e.call("i64", "llvm.readsteadycounter")


def _wait(e: FunctionContext, op: tt.AtomicPoll, place: tuple[str, str], condition: str | None, end: str | None) -> str:
    """Whether the value was seen: the condition of the loop that reads it. False for threads that do not read."""
    ty = _element(op)

    def is_seen() -> str:
        word = f"i{bit_width(ty)}"
        line = f"load atomic {word}, ptr addrspace(1) {place[0]}{SCOPES[op.scope]} monotonic, align {byte_width(ty)}"
        return e.op(f"icmp eq {word} {e.op(line)}, {bits_of(e, ty, place[1])}")

    return poll(e, is_seen, _ticks, condition, end)
