"""Where a thread is in the grid, and what programs of a grid wait for."""

from __future__ import annotations

from typing import Any

from ...dialects import nvvm, tt, ttg, ub
from ...support import UnsupportedOperation
from .context import FunctionContext, lowers

__all__ = ["program_id"]

_AXES = "xyz"


def program_id(e: FunctionContext, axis: int) -> str:
    """The position of this program along an axis: blocks of a cluster are one program; clusters lie along x."""
    register = "clusterid" if e.module.num_ctas > 1 else "ctaid"
    return _special(e, f"{register}.{_AXES[axis]}")


@lowers(tt.GetProgramId)
def _program_id(e: FunctionContext, op: tt.GetProgramId) -> None:
    e.bind(op.result, [program_id(e, op.axis)])


@lowers(tt.GetNumPrograms)
def _num_programs(e: FunctionContext, op: tt.GetNumPrograms) -> None:
    register = "nclusterid" if e.module.num_ctas > 1 else "nctaid"
    e.bind(op.result, [_special(e, f"{register}.{_AXES[op.axis]}")])


def _special(e: FunctionContext, register: str) -> str:
    return e.call("i32", f"llvm.nvvm.read.ptx.sreg.{register}")


@lowers(ttg.WarpId)
def _warp_id(e: FunctionContext, op: ttg.WarpId) -> None:
    """Read from lane 0, so that the compiler knows it to be the same in all of them."""
    if op.omitUniformHint:
        e.bind(op.result, [e.warp])
        return
    operands = ("i32", "-1"), ("i32", e.warp), ("i32", "0"), ("i32", "31")
    e.bind(op.result, [e.call("i32", "llvm.nvvm.shfl.sync.idx.i32", *operands, attributes=" #1")])


@lowers(nvvm.Barrier)
def _named_barrier(e: FunctionContext, op: nvvm.Barrier) -> None:
    if op.barrierId is None and op.numberOfThreads is None:
        e.barrier()
        return
    operands = [("i32", "0" if op.barrierId is None else e.scalar(op.barrierId))]
    if op.numberOfThreads is not None:
        operands.append(("i32", e.scalar(op.numberOfThreads)))
    places = ", ".join(f"${i}" for i in range(len(operands)))
    e.asm(f"bar.sync {places};", ",".join(["r"] * len(operands)) + ",~{memory}", operands)


@lowers(tt.GridDependencyWait)
def _wait(e: FunctionContext, op: tt.GridDependencyWait) -> None:
    _dependent(e, op, "wait")


@lowers(tt.GridDependencyLaunchDependents)
def _launch(e: FunctionContext, op: tt.GridDependencyLaunchDependents) -> None:
    _dependent(e, op, "launch_dependents")


def _dependent(e: FunctionContext, op: Any, action: str) -> None:
    if e.module.capability < 90:
        raise UnsupportedOperation(op, f"needs sm_90; this is compiled for sm_{e.module.capability}")
    e.asm(f"griddepcontrol.{action};", "~{memory}", [])


@lowers(ub.Unreachable)
def _unreachable(e: FunctionContext, op: ub.Unreachable) -> None:
    e.stmt("unreachable")
