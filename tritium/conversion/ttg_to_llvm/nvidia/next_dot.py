"""Compute the descriptors of a WGMMA before the waits that precede it.

    ttng.wait_barrier %full, %phase
    %s = ttng.warp_group_dot_wait %acc {pendings = 0}     the tensor cores are idle from here on
    %a = ttg.memdesc_index %left[%i]                      address and descriptor: about 20 dependent instructions
    %d = ttng.warp_group_dot %a, %b, %s

ptxas moves nothing above the first wait, which is a spin loop, and little above the second. What leads to the
descriptors is lowered before the first of the waits, while the previous WGMMA is in flight, and once more where it
stands: LLVM merges the two. Only scalars and views of buffers are moved: no tensors, whose registers would live longer.
"""

from __future__ import annotations

from ....dialects import ttng
from ....dialects.ttg_memory import MemDescType
from ....ir import PURE, Operation, TensorType, Value
from ....support.lazy import LazyModule
from ..context import LOWERINGS, FunctionContext

__all__ = ["prepare_next_dot"]

_descriptors = LazyModule(".wgmma_descriptors", __package__)
_WAITS = (ttng.WaitBarrier, ttng.WarpGroupDotWait)


def prepare_next_dot(e: FunctionContext, op: Operation) -> list[str]:
    """The descriptors of the dot that follows the wait `op`, if all WGMMAs are waited for before it.

    They must be operands of the wait: instructions are sunk to the first use of their result.
    """
    dot = _next_dot(op)
    found = []
    for index, value in enumerate((dot.a, dot.b) if dot is not None else ()):
        if isinstance(value.type, MemDescType) and _lower(e, value, op):
            descriptor = _descriptors.prepare(e, dot, index)
            if descriptor is not None:
                found.append(descriptor)
    return found


def _next_dot(op: Operation) -> ttng.WarpGroupDot | None:
    following: Operation | None = op
    drained = False
    while following is not None and _is_passed(following):
        drained |= isinstance(following, ttng.WarpGroupDotWait) and not following.pendings
        following = following.next
    return following if drained and isinstance(following, ttng.WarpGroupDot) else None


def _is_passed(op: Operation) -> bool:
    if isinstance(op, _WAITS):
        return True
    scalars = not any(isinstance(result.type, TensorType) for result in op.results)
    return bool(op.traits & PURE) and not op.regions and scalars


def _lower(e: FunctionContext, value: Value, wait: Operation) -> bool:
    """Lower what leads to a value from `wait` on; False where that is not possible."""
    if value in e.names:
        return True
    op = value.defining_op
    if op is None or op.parent is not wait.parent or isinstance(op, _WAITS):
        return False
    if not _is_passed(op) or not all(_lower(e, operand, wait) for operand in op.operands):
        return False
    lower = LOWERINGS.find(type(op))
    if lower is None:
        return False
    lower(e, op)
    return True
