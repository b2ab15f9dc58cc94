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
from .shared_memory import element_addresses
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
    owns = owner(e, idle["lane"], idle["warp"])
    masks = None if op.mask is None else e(op.mask)
    out: dict[int, str] = {}
    for r, (at, value) in enumerate(zip(element_addresses(e, op, op.dst, ty), e(op.values), strict=True)):
        if r & idle["register"]:
            continue  # a copy
        condition = owns
        if masks is not None and masks[r] != "true":
            condition = masks[r] if owns is None else e.op(f"and i1 {owns}, {masks[r]}")
        line = f"atomicrmw {_NAMES[op.atomic_rmw_op]} ptr addrspace(3) {at}, {llvm_type(ty)} {value}"
        out[r] = op_where(e, condition, f'{line} syncscope("{e.target.cta_scope()}") monotonic', llvm_type(ty))
    if op.result.users:
        bind_replicated(e, op, out, owns)
    else:
        e.bind(op.result, [out[r & ~idle["register"]] for r in range(registers_of(ty))])
