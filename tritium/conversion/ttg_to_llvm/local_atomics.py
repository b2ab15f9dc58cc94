"""ttg.local_atomic_scatter_rmw: elements of a buffer, selected by index, change in one step each.

LLVM's own atomic instructions on shared memory are used, ordered with nothing but themselves, for the threads of the
CTA; what the hardware lacks LLVM makes a loop of compare and swap. Of several threads that hold the same element one
executes the instruction and broadcasts the old value to the others where it is used.
"""

from __future__ import annotations

from typing import Any

from ...dialects import ttg
from ...dialects.tt_types import AtomicOp
from ...dialects.ttg_maps import linear_layout_of
from ...support import UnsupportedOperation
from ..llvm.branches import op_where
from .context import FunctionContext, lowers
from .replicated_results import bind_replicated
from .shared_access import owner
from .shared_memory import stored_addresses
from .types import bit_width, llvm_type, registers_of

__all__: list[str] = []

_NAMES = {
    AtomicOp._and: "and",
    AtomicOp._or: "or",
    AtomicOp.xor: "xor",
    AtomicOp.add: "add",
    AtomicOp.fadd: "fadd",
    AtomicOp.max: "max",
    AtomicOp.min: "min",
    AtomicOp.umax: "umax",
    AtomicOp.umin: "umin",
    AtomicOp.exch: "xchg",
}


@lowers(ttg.LocalAtomicScatterRmw)
def _local_atomic(e: FunctionContext, op: ttg.LocalAtomicScatterRmw) -> None:
    ty: Any = op.values.type
    if bit_width(ty) < 16:
        raise UnsupportedOperation(op, f"on elements of {bit_width(ty)} bits is not supported on {e.target.name}")
    idle = linear_layout_of(ty).redundant()
    addresses, remote = stored_addresses(e, op, op.dst, ty)
    owns = owner(e, idle["lane"], idle["warp"], idle.get("block", 0) if remote else 0)
    masks = None if op.mask is None else e(op.mask)
    out: dict[int, str] = {}
    for r, (at, value) in enumerate(zip(addresses, e(op.values), strict=True)):
        if r & idle["register"]:
            continue  # a copy
        condition = owns
        if masks is not None and masks[r] != "true":
            condition = masks[r] if owns is None else e.op(f"and i1 {owns}, {masks[r]}")
        if remote:
            out[r] = _cluster_atomic(e, op, at, value, condition)
            continue
        line = f"atomicrmw {_NAMES[op.atomic_rmw_op]} ptr addrspace(3) {at}, {llvm_type(ty)} {value}"
        out[r] = op_where(e, condition, f'{line} syncscope("{e.target.cta_scope()}") monotonic', llvm_type(ty))
    if op.result.users:
        bind_replicated(e, op, out, owns)
    else:
        e.bind(op.result, [out[r & ~idle["register"]] for r in range(registers_of(ty))])


_CLUSTER = {
    "add": "add.u",
    "and": "and.b",
    "or": "or.b",
    "xor": "xor.b",
    "max": "max.s",
    "min": "min.s",
    "umax": "max.u",
    "umin": "min.u",
    "xchg": "exch.b",
}
"""Operations of `atom.shared::cluster` on integers, by LLVM's names."""


def _cluster_atomic(
    e: FunctionContext, op: ttg.LocalAtomicScatterRmw, at: str, value: str, condition: str | None
) -> str:
    """The old value of an element of another CTA's memory, where a condition holds."""
    ty, bits, name = llvm_type(op.values.type), bit_width(op.values.type), _NAMES[op.atomic_rmw_op]
    if bits not in (32, 64) or (name == "fadd") != (ty == "float") or (name not in _CLUSTER and name != "fadd"):
        raise UnsupportedOperation(op, f"({name}) on elements of {ty} in the memory of other CTAs is not supported")
    what = "add.f32" if name == "fadd" else f"{_CLUSTER[name]}{bits}"
    letter = "f" if ty == "float" else "l" if bits == 64 else "r"
    guard = "" if condition is None else "@$3 "
    operands = [("i32", at), (ty, value), *([] if condition is None else [("i1", condition)])]
    constraints = f"={letter},r,{letter}{'' if condition is None else ',b'},~{{memory}}"
    return e.asm(f"{guard}atom.shared::cluster.cluster.relaxed.{what} $0, [$1], $2;", constraints, operands, ty)
