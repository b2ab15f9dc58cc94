"""Slices of tensors, scaled conversions, and points that the scheduler moves nothing across."""

from __future__ import annotations

from ....dialects import amdg, rocdl
from ....ir import TensorType
from ....layout import LinearLayout
from ....support import UnsupportedOperation
from ..context import FunctionContext
from ..instruction_order import SCHEDULING_BARRIER
from .lowerings import amd_lowers

__all__: list[str] = []


@amd_lowers(rocdl.SchedBarrier)
def _sched_barrier(e: FunctionContext, op: rocdl.SchedBarrier) -> None:
    """llvm.amdgcn.sched.barrier"""
    assert isinstance(op.mask, rocdl.SchedGroupMask)
    e.call_void(SCHEDULING_BARRIER, ("i32", str(op.mask.value)), attributes=" #1")


def _part(whole: LinearLayout, part: LinearLayout, offsets: list[int]) -> list[int] | None:
    """For each register of `part`, the one of `whole` with the element `offsets` further in the same thread.

    None where some element is in another thread there.
    """
    moving = [0] * len(offsets)  # by dimension, the bits of coordinates that depend on the thread
    for name in ("lane", "warp", "block"):
        mine, theirs = (layout.bases.get(name, []) for layout in (part, whole))
        if [v for v in mine if any(v)] != [v for v in theirs if any(v)]:
            return None
        for vector in mine:
            moving = [bits | step for bits, step in zip(moving, vector)]
    where: dict[tuple[int, ...], int] = {}
    for register in range(whole.ins["register"]):
        where.setdefault(tuple(whole.apply(register=register).values()), register)
    found = []
    for register in range(part.ins["register"]):
        at = tuple(c + o for c, o in zip(part.apply(register=register).values(), offsets))
        if at not in where or any(c & bits for c, bits in zip(at, moving)):
            return None
        found.append(where[at])
    return found


@amd_lowers(amdg.ExtractSlice)
def _extract_slice(e: FunctionContext, op: amdg.ExtractSlice) -> None:
    registers = _part(e.layout(op.source), e.layout(op.result), list(op.static_offsets))
    if registers is None:
        ty = op.result.type
        assert isinstance(ty, TensorType)
        raise UnsupportedOperation(
            op,
            f"has elements in other threads: a slice of {list(ty.shape)} at {list(op.static_offsets)} must consist of"
            f" whole tiles of {ty.encoding}",
        )
    parts = e(op.source)
    e.bind(op.result, [parts[r] for r in registers])
