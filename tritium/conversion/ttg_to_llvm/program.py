"""Program ids, scratch memory, dependent launches, and predicates of pipeline stages."""

from __future__ import annotations

from typing import Any

from ...dialects import nvvm, tt, ttg, ub
from ...hardware.nvidia_features import DEPENDENT_LAUNCH
from ...ir import IntegerAttr
from ...support import InternalError
from .context import FunctionContext, lowers
from .target_info import require
from .types import llvm_type

__all__ = ["GLOBAL_SCRATCH", "OFFSET", "global_scratch"]

OFFSET = "ttg.global_scratch_memory_offset"
GLOBAL_SCRATCH = "%global_scratch"


@lowers(tt.GetProgramId)
def _program_id(e: FunctionContext, op: tt.GetProgramId) -> None:
    e.bind(op.result, [e.target.program_id(e, op.axis)])


@lowers(tt.GetNumPrograms)
def _num_programs(e: FunctionContext, op: tt.GetNumPrograms) -> None:
    e.bind(op.result, [e.target.num_programs(e, op.axis)])


def global_scratch(e: FunctionContext, op: Any, anew: bool = False) -> str:
    """The address of what allocate-global-scratch gave to `op`: of the program's part, which a callee is handed.

    `anew`: not in the registers that other addresses of it are in.
    """
    offset = op.attributes.get(OFFSET)
    if not isinstance(offset, IntegerAttr):
        raise InternalError(f"{op.name} has no global memory: allocate-global-scratch has not run")
    base = GLOBAL_SCRATCH
    if e.is_kernel:
        number = "0"
        for axis in (2, 1, 0):
            if number != "0":
                number = e.op(f"mul i32 {number}, {e.target.num_programs(e, axis, anew)}")
            place = e.target.program_id(e, axis, anew)
            number = place if number == "0" else e.op(f"add i32 {number}, {place}")
        at = e.op(f"mul i64 {e.op(f'zext i32 {number} to i64')}, {e.module.global_scratch}")
        base = e.op(f"getelementptr i8, ptr addrspace(1) {base}, i64 {at}")
    return e.op(f"getelementptr i8, ptr addrspace(1) {base}, i64 {offset.value}")


@lowers(ttg.GlobalScratchAlloc)
def _scratch(e: FunctionContext, op: ttg.GlobalScratchAlloc) -> None:
    e.bind(op.results[0], [global_scratch(e, op)])


@lowers(ttg.WarpId)
def _warp_id(e: FunctionContext, op: ttg.WarpId) -> None:
    """Read from lane 0, so that the compiler knows it to be the same in all of them."""
    if op.omitUniformHint:
        e.bind(op.result, [e.warp])
        return
    e.bind(op.result, [e.target.uniform(e, e.warp)])


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
    require(e, op, DEPENDENT_LAUNCH)
    e.asm(f"griddepcontrol.{action};", "~{memory}", [])


@lowers(ub.Unreachable)
def _unreachable(e: FunctionContext, op: ub.Unreachable) -> None:
    e.stmt("unreachable")


@lowers(ttg.PredicateStage)
def _predicate_stage(e: FunctionContext, op: ttg.PredicateStage) -> None:
    """iv < ub - (maxStage - stage) * step"""
    ty = llvm_type(op.iv.type)
    distance = e.op(f"mul {ty} {e.scalar(op.step)}, {op.maxStage - op.stage}")
    end = e.op(f"sub {ty} {e.scalar(op.ub)}, {distance}")
    e.bind(op.result, [e.op(f"icmp slt {ty} {e.scalar(op.iv)}, {end}")])
