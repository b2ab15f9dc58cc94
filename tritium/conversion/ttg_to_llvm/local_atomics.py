"""ttg.local_atomic_scatter_rmw: elements of a buffer, selected by index, change in one step each.

LLVM's own atomic instructions on shared memory are used, ordered with nothing but themselves, for the threads of the
block; what the hardware lacks LLVM makes a loop of compare and swap. Of several threads that hold the same element one
acts; where the old value is wanted there, too, it would have to be handed on, which is not supported.
"""

from __future__ import annotations

from typing import Any

from ...dialects import ttg
from ...dialects.tt_types import AtomicOp
from ...dialects.ttg_maps import linear_layout_of
from ...support import UnsupportedOperation
from ..llvm.branches import op_where
from .context import FunctionContext, lowers
from .shared_access import owner
from .shared_memory import element_addresses
from .types import bit_width, llvm_type

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
    if op.result.users and (idle["lane"] or idle["warp"]):
        raise UnsupportedOperation(op, "whose result several threads hold is not supported")
    owns = owner(e, idle["lane"], idle["warp"])
    masks = None if op.mask is None else e(op.mask)
    out: dict[int, str] = {}
    for r, (at, value) in enumerate(zip(element_addresses(e, op, op.dst, ty), e(op.values), strict=True)):
        if r & idle["register"]:
            out[r] = out[r & ~idle["register"]]
            continue
        condition = owns
        if masks is not None and masks[r] != "true":
            condition = masks[r] if owns is None else e.op(f"and i1 {owns}, {masks[r]}")
        line = f"atomicrmw {_NAMES[op.atomic_rmw_op]} ptr addrspace(3) {at}, {llvm_type(ty)} {value}"
        out[r] = op_where(e, condition, f'{line} syncscope("{e.target.cta_scope()}") monotonic', llvm_type(ty))
    e.bind(op.result, [out[r] for r in range(len(out))])
