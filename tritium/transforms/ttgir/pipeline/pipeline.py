"""pipeline: Expand scheduled loops into prologue and steady state, and lower pipelined loads to asynchronous copies.

    scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %p0) {
      %a = tt.load %p {loop.stage = 0, loop.cluster = 2}
      %r = tt.dot %a, …, %acc {loop.stage = 2, loop.cluster = 0}
      …
    } {tt.scheduled_max_stage = 2}

    %buffers = ttg.local_alloc : () -> !ttg.memdesc<2x…>
    ttg.async_copy_global_to_local %p0, %buffers[0] mask (0 < %n); ttg.async_commit_group       iteration 0
    ttg.async_copy_global_to_local %p1, %buffers[1] mask (1 < %n); ttg.async_commit_group       iteration 1
    scf.for %i = %c0 to %n step %c1 iter_args(…) {
      ttg.async_wait {num = 1}
      %a = ttg.local_load %buffers[%extract]
      %r = tt.dot %a, …, %acc
      ttg.async_copy_global_to_local %p, %buffers[%insert] mask (%i < %n - 2)                   iteration %i + 2
      ttg.async_commit_group
    }
    ttg.async_wait {num = 0}

Loads are lowered to copies, waits and local loads within the loop (`async_copy`, `tma_loads`); the loop is expanded
(`expander`); WGMMAs and TMA stores are kept in flight across iterations (the passes `async-dots` and `tma-stores`); and
the pending counts of waits are set (`copy_waits`). A loop with an invalid schedule keeps its order, in which each copy
is waited for in its own iteration.
"""

from __future__ import annotations

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import ttg
from ....ir import Builder, CountedLoop, Operation, count, functions_of, may_change, pass_on
from ....ir.passes import has_any
from ....support.dataclasses import dataclass
from ....support.lazy import LazyModule
from ..async_wait.copy_waits import update_waits
from ..loops import loops_of
from .async_copy import lower_async_copy, lower_loads
from .descriptor_buffers import buffer_descriptors
from .dot_chains import is_ahead
from .expander import expand
from .schedule import MAX_STAGE, Schedule, drop_attributes
from .tma_loads import lower_tma_loads

__all__ = ["PipelineOptions", "pipeline"]

_async_dots = LazyModule("..async_wait.async_dots", __package__)
_tma_stores = LazyModule("..tma.tma_stores", __package__)


@dataclass(frozen=True)
class PipelineOptions:
    """`num_stages`: the number of stages of loops that do not state it."""

    num_stages: int = 3


@pass_on("module", statistics={"loops pipelined": "loops with overlapping iterations"})
def pipeline(module: Operation, options: PipelineOptions = PipelineOptions()) -> bool:
    """Expand the loops that have a schedule."""
    pipelined = 0
    for func in functions_of(module):
        loops = [loop for loop in loops_of(func) if MAX_STAGE in loop.attributes and may_change("pipeline", loop)]
        facts = AxisInfoAnalysis(func) if loops else None
        for loop in loops:
            pipelined += facts is not None and _pipeline(loop, facts)
    drop_attributes(module.walk())
    in_flight = has_any("ttng.warp_group_dot")(module) and _async_dots.async_dots(module)
    if has_any("tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter")(module):
        in_flight |= _tma_stores.tma_stores(module, _tma_stores.TMAStoreOptions(options.num_stages))
    if pipelined:
        update_waits(module)
    count("loops pipelined", pipelined)
    return pipelined > 0 or in_flight


def _pipeline(loop: CountedLoop, facts: AxisInfoAnalysis) -> bool:
    schedule = Schedule.read(loop)
    assert schedule is not None
    loop, loads, rings = lower_loads(loop, schedule, facts)
    lower_tma_loads(loop, [load for load in loads if load.is_tma], rings, schedule)
    by_threads = [load for load in loads if not load.is_tma]
    for load in by_threads:
        lower_async_copy(loop, load, rings[load.copies], schedule)
    if by_threads:  # until then, copies of iterations past the end write zeros
        Builder(loop.parent, loop.next, loop.loc).insert(ttg.AsyncWait([], num=0))
    loop = buffer_descriptors(loop, schedule)
    schedule.schedule_dependencies(loop)
    return expand(loop, schedule, peel_last=is_ahead(loop, schedule)) is not None
