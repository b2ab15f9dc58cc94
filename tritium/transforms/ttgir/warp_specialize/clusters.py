"""Loops of kernels whose programs are clusters of blocks: when their loads can have a warp of their own.

The blocks meet where the specialized part begins, with all of their warps, and where it has ended. In between, and
before, nothing may wait for the cluster: the warps that load do not come. So the loop stands at the top of the kernel,
alone, and neither in front of it nor in it do elements move between blocks.
"""

from __future__ import annotations

from typing import Any

from ....dialects import scf, tt, ttg
from ....dialects.ttg_maps import linear_layout_of
from ....ir import READ, WRITE, Operation, TensorType, memory_effects
from .partition import Refused, marked_loops

__all__ = ["check_cluster"]

_SEVERAL = frozenset(("tt.scan", "tt.histogram", "tt.gather", "tt.atomic_rmw", "tt.atomic_cas", "tt.call", "tt.dot"))
"""Operations that may wait for other blocks of the cluster, or hide what does."""


def check_cluster(func: Any, loop: Operation) -> None:
    """Raise Refused where the loop cannot be specialized in a cluster."""
    blocks = marked_loops(func)
    if len(blocks) > 1 or loop.parent is not func.regions[0].blocks[0] or func.sym_visibility == "private":
        raise Refused(loop, "in a cluster of blocks it must be the only one, at the top of its kernel")
    last = blocks[loop.parent][-1]
    for op in func.walk():
        if op.parent is loop.parent and last.is_before(op):
            break
        if crosses_blocks(op):
            raise Refused(op, "blocks of a cluster wait for each other here, and a warp that loads would not come")


def crosses_blocks(op: Any) -> bool:
    """Whether an operation may move elements between the blocks of a cluster, or wait for these."""
    if isinstance(op, ttg.ConvertLayout):
        return _blocks(op.src.type) != _blocks(op.result.type)
    if isinstance(op, tt.Reduce):
        return any(basis[op.axis] for v in op.operands for basis in _blocks(v.type))
    if op.name in _SEVERAL:
        return True
    return isinstance(op, scf.While) and bool(memory_effects(op) & (READ | WRITE))


def _blocks(ty: Any) -> Any:
    return linear_layout_of(ty).bases.get("block", []) if isinstance(ty, TensorType) else []
