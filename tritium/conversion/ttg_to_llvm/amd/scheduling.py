"""Priorities of waves, and barriers without fences."""

from __future__ import annotations

from ....dialects import amdg, rocdl
from ..context import FunctionContext
from .lowerings import amd_lowers

__all__: list[str] = []


@amd_lowers(rocdl.SetPrio)
def _set_priority(e: FunctionContext, op: rocdl.SetPrio) -> None:
    """s_setprio"""
    e.call_void("llvm.amdgcn.s.setprio", ("i16", str(op.priority)), attributes=" #1")


@amd_lowers(rocdl.SBarrier)
def _s_barrier(e: FunctionContext, op: rocdl.SBarrier) -> None:
    """s_barrier without fences"""
    e.call_void("llvm.amdgcn.s.barrier", attributes=" #1")


@amd_lowers(rocdl.WorkitemIdX)
def _workitem_id(e: FunctionContext, op: rocdl.WorkitemIdX) -> None:
    """The work item's ID."""
    e.bind(op.res, [e.thread])


@amd_lowers(amdg.CondBarrier)
def _cond_barrier(e: FunctionContext, op: amdg.CondBarrier) -> None:
    """s_barrier in a branch of whole waves, without fences."""
    wanted = e.target.uniform(e, e.op(f"zext i1 {e(op.pred)[0]} to i32"))
    wait, done = e.fresh_label("waits"), e.fresh_label("passes")
    e.stmt(f"br i1 {e.op(f'icmp ne i32 {wanted}, 0')}, label %{wait}, label %{done}")
    e.label(wait)
    e.call_void("llvm.amdgcn.s.barrier", attributes=" #1")
    e.stmt(f"br label %{done}")
    e.label(done)
