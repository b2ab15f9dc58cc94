"""hoist-waits: Hoist waits for asynchronous copies above the wait for the previous WGMMA.

    %s = ttng.warp_group_dot %q, %k, %zero {isAsync}       %s = ttng.warp_group_dot %q, %k, %zero {isAsync}
    %t = ttng.warp_group_dot_wait %s                       ttng.wait_barrier %full
    %p = exp2(%t …)                                   =>   %t = ttng.warp_group_dot_wait %s
    ttng.wait_barrier %full                                %p = exp2(%t …)
    %o = ttng.warp_group_dot %p, %v, %acc {isAsync}        %o = ttng.warp_group_dot %p, %v, %acc {isAsync}

ptxas moves no instruction across a wait, which is a spin loop. Before the second dot it separates scaling and rounding
from the exponentials, which occupy the SFU only one cycle in eight. The copy was issued together with the one that the
first dot reads, and has completed by then.

This pays where the loop is limited by CUDA cores: where the second dot's result is no larger than the first's, whose
elements the threads post-process. With larger results (attention with a head dimension of 128) it cost 1 to 3 %. Waits
do not move over operations with side effects.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ....dialects import ttng
from ....dialects.ttg_switches import is_on
from ....ir import PURE, Block, Operation, TensorType, Value, count, functions_of, may_change, pass_on
from .in_flight import is_async_wgmma

__all__ = ["hoist_waits"]


@pass_on("module", statistics={"waits": "waits that were hoisted"})
def hoist_waits(module: Operation) -> bool:
    """Hoist waits for copies to where a dot is in flight."""
    if not is_on(module, "hoist-waits"):
        return False
    moved = 0
    for func in functions_of(module):
        blocks = {op.parent: None for op in func.walk() if is_async_wgmma(op)}
        moved += sum(_hoist_in(block) for block in blocks if block is not None)
    count("waits", moved)
    return moved > 0


def _hoist_in(block: Block) -> int:
    """Hoist the waits of a block, and return their number."""
    moved = 0
    dot: Any = None
    place: Operation | None = None  # waits may be moved after this; None where no dot precedes
    for op in list(block):
        if is_async_wgmma(op):
            dot = place = op
        elif place is not None and op.__class__ is ttng.WaitBarrier:
            place = _moved_after(place, op) if _pays(dot, op) and may_change("hoist-waits", op) else None
            moved += place is not None
        elif not (op.traits & PURE or op.__class__ is ttng.WarpGroupDotWait):
            place = None
    return moved


def _pays(dot: Any, wait: Any) -> bool:
    """Whether the dot after a wait has no larger result than the one before it."""
    op = wait.next
    while op is not None and not is_async_wgmma(op):
        op = op.next
    return op is not None and prod(op.d.type.shape) <= prod(dot.d.type.shape)


def _moved_after(place: Operation, wait: Any) -> Operation | None:
    """Move a wait and its address computation after `place`; the wait, or None if it depends on anything else."""
    needed: set[Value] = set(wait.operands)
    addresses: list[Operation] = []
    op = wait.prev
    while op is not place:
        if not needed.isdisjoint(op.results):
            if any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
                return None
            addresses.append(op)
            needed.update(op.operands)
        op = op.prev
    for op in (*reversed(addresses), wait):
        if place.next is not op:
            op.move_after(place)
        place = op
    return wait  # type: ignore[no-any-return]
