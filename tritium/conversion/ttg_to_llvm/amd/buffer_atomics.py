"""Buffer atomics: updates of global memory through a resource, whose bounds check drops what is masked off.

    %o = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32 %v, ptr addrspace(8) %r, i32 %offset, i32 0, i32 0)

Order and results are those of `atomics`. Elements that no buffer instruction updates (two-byte floats one by one, and
on RDNA 3 those and f64) are updated by address, as `tt.atomic_rmw` does it.
"""

from __future__ import annotations

from ....dialects import amdg
from ....dialects.tt_types import AtomicOp, MemSyncScope
from ....ir import Type, element_type
from ..context import FunctionContext
from ..packing import parts_of, vector_of
from ..types import bit_width, byte_width, llvm_type
from .atomics import after_atomic, atomic_name, before_atomic, holders, update_at
from .buffer import address, buffer_groups, resource
from .lowerings import amd_lowers

__all__: list[str] = []

_INTRINSICS = {
    AtomicOp.add: "add",
    AtomicOp._and: "and",
    AtomicOp._or: "or",
    AtomicOp.xor: "xor",
    AtomicOp.max: "smax",
    AtomicOp.min: "smin",
    AtomicOp.umax: "umax",
    AtomicOp.umin: "umin",
    AtomicOp.exch: "swap",
}
_SYSTEM = 16
"""The bit sc1 of the cache policy: the scope is the system (MI300 ISA, section 9.1.10)."""


def _intrinsic(e: FunctionContext, op: amdg.BufferAtomicRMW, ty: Type, count: int) -> str | None:
    """The name of the instruction's intrinsic for `count` adjacent elements, and the suffix of its type; None: none."""
    name, is_rdna = _INTRINSICS.get(op.atomic_rmw_op), e.module.warp_size == 32
    if name is not None:
        return f"{name}.i{bit_width(ty)}" if count == 1 else None
    kinds = {("f32", 1): "f32"} if is_rdna else {("f32", 1): "f32", ("f64", 1): "f64", ("f16", 2): "v2f16"}
    suffix = kinds.get((str(ty), count))
    return None if suffix is None else f"fadd.{suffix}"


@amd_lowers(amdg.BufferAtomicRMW)
def _buffer_atomic(e: FunctionContext, op: amdg.BufferAtomicRMW) -> None:
    ty = element_type(op.result.type)
    size, name = byte_width(ty), atomic_name(op, ty)
    holder, conditions = holders(e, op.offsets, op.mask)
    offsets, sources = e(op.offsets), e(op.value)
    values: dict[int, str] = {}
    most = 4 if name == "fadd" and size == 2 else size
    before_atomic(e, op.sem, op.scope)
    buffer = None
    for group in buffer_groups(e, op.ptr, op.offsets, op.mask, size, most):
        at, mask = offsets[group[0]], conditions[group[0]]
        parts = [sources[r] for r in group]
        intrinsic = _intrinsic(e, op, ty, len(group))
        if intrinsic is None:
            found = update_at(e, op, _pointer(e, op, at, ty), ty, parts, mask)
        else:
            buffer = buffer or resource(e, op.ptr)
            found = _update(e, op, intrinsic, buffer, address(e, at, size, mask), ty, parts)
        values.update(zip(group, found))
    after_atomic(e, op, values, holder)


def _pointer(e: FunctionContext, op: amdg.BufferAtomicRMW, offset: str, ty: Type) -> str:
    """The address of the element at an offset, which counts as unsigned bytes of the resource."""
    wide = e.op(f"zext i32 {offset} to i64")
    return e.op(f"getelementptr {llvm_type(ty)}, ptr addrspace(1) {e.scalar(op.ptr)}, i64 {wide}")


def _update(
    e: FunctionContext, op: amdg.BufferAtomicRMW, intrinsic: str, buffer: str, at: str, ty: Type, parts: list[str]
) -> list[str]:
    """Update adjacent elements by one buffer instruction; the elements before."""
    bits, text = bit_width(ty), llvm_type(ty)
    vector, whole = vector_of(e, text, parts)
    if len(parts) == 1 and f".i{bits}" in intrinsic and text != f"i{bits}":
        vector, whole = f"i{bits}", e.op(f"bitcast {text} {whole} to i{bits}")
    policy = _SYSTEM if op.scope is MemSyncScope.sys and e.module.warp_size == 64 else 0
    operands = [(vector, whole), ("ptr addrspace(8)", buffer), ("i32", at), ("i32", "0"), ("i32", str(policy))]
    old = e.call(vector, f"llvm.amdgcn.raw.ptr.buffer.atomic.{intrinsic}", *operands)
    if len(parts) > 1:
        return parts_of(e, vector, old, len(parts))
    return [old if vector == text else e.op(f"bitcast {vector} {old} to {text}")]
