"""pipeline: iterations of loops overlap as their schedule says, and loads that begin early go through shared memory.

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

Loads become copies, waits and reads, still in their loop (`async_copy`, `tma_loads`); the loop is taken apart
(`expander`); products of warp groups and stores by descriptors go on while the next iteration begins (the passes
`async-dots` and `tma-stores`); and waits are told how many copies may be on their way (`copy_waits`). A loop whose
schedule cannot be done keeps its order, in which each copy is waited for in the iteration that began it.
"""

from __future__ import annotations

from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import ttg
from ....ir import Builder, Operation, count, functions_of, may_change, pass_on
from ....ir.passes import has_any
from ....support.dataclasses import dataclass
from ....support.lazy import LazyModule
from ..async_wait.copy_waits import update_waits
from ..loops import loops_of
from .async_copy import copy_ahead, lower_loads
from .descriptor_buffers import buffer_descriptors
from .dot_chains import is_ahead
from .expander import expand
from .schedule import MAX_STAGE, Schedule, drop_attributes
from .tma_loads import copy_by_engine

__all__ = ["PipelineOptions", "pipeline"]

_async_dots = LazyModule("..async_wait.async_dots", __package__)
_tma_stores = LazyModule("..tma.tma_stores", __package__)


@dataclass(frozen=True)
class PipelineOptions:
    """`num_stages`: iterations that overlap in loops which do not say."""

    num_stages: int = 3


@pass_on("module", statistics={"loops pipelined": "loops whose iterations overlap"})
def pipeline(module: Operation, options: PipelineOptions = PipelineOptions()) -> bool:
    """Overlap the iterations of loops that have a schedule."""
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


def _pipeline(loop: Any, facts: AxisInfoAnalysis) -> bool:
    schedule = Schedule.read(loop)
    assert schedule is not None
    loop, loads, rings = lower_loads(loop, schedule, facts)
    copy_by_engine(loop, [load for load in loads if load.by_engine], rings, schedule)
    by_threads = [load for load in loads if not load.by_engine]
    for load in by_threads:
        copy_ahead(loop, load, rings[load.copies], schedule)
    if by_threads:  # copies for iterations that there are none of write zeros, until then
        Builder(loop.parent, loop.next, loop.loc).insert(ttg.AsyncWait([], num=0))
    loop = buffer_descriptors(loop, schedule)
    schedule.schedule_dependencies(loop)
    return expand(loop, schedule, peel_last=is_ahead(loop, schedule)) is not None
