"""Conditions for warp specialization in a cluster of CTAs.

The CTAs synchronize at the start and the end of the specialized part, with all of their warps. In between, and before,
no operation may synchronize the cluster: the producer warps do not arrive. So the loop must be the only one, at the top
level of the kernel, and no elements may move between CTAs before it or in it.
"""

from __future__ import annotations

from typing import Any

from ....dialects import tt, ttg
from ....dialects.ttg_maps import linear_layout_of
from ....ir import READ, WRITE, Operation, TensorType, is_unbounded_loop, memory_effects
from .partition import Refused, marked_loops

__all__ = ["check_cluster"]

_SEVERAL = frozenset(("tt.scan", "tt.histogram", "tt.gather", "tt.atomic_rmw", "tt.atomic_cas", "tt.call", "tt.dot"))
"""Operations that may synchronize with other CTAs of the cluster, or contain some that do."""


def check_cluster(func: Any, loop: Operation) -> None:
    """Raise Refused where the loop cannot be specialized in a cluster."""
    blocks = marked_loops(func)
    if len(blocks) > 1 or loop.parent is not func.regions[0].blocks[0] or func.sym_visibility == "private":
        raise Refused(loop, "in a cluster of CTAs it must be the only one, at the top level of its kernel")
    last = blocks[loop.parent][-1]
    for op in func.walk():
        if op.parent is loop.parent and last.is_before(op):
            break
        if crosses_blocks(op):
            raise Refused(op, "the cluster synchronizes here, and producer warps would not arrive")


def crosses_blocks(op: Any) -> bool:
    """Whether an operation may move elements between the CTAs of a cluster, or synchronize them."""
    if isinstance(op, ttg.ConvertLayout):
        return _blocks(op.src.type) != _blocks(op.result.type)
    if isinstance(op, tt.Reduce):
        return any(basis[op.axis] for v in op.operands for basis in _blocks(v.type))
    if op.name in _SEVERAL:
        return True
    return is_unbounded_loop(op) and bool(memory_effects(op) & (READ | WRITE))


def _blocks(ty: Any) -> Any:
    return linear_layout_of(ty).bases.get("block", []) if isinstance(ty, TensorType) else []
