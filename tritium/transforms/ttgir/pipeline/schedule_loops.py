"""schedule-loops: Assign a stage and a cluster to each op.

    scf.for %i … iter_args(%c = %zero, %pa = %p) {                    stage  cluster
      %a = tt.load %pa {tt.latency = 2}                                 0       3
      %c2 = tt.dot %a, %b, %c                                           2       0
      %pa2 = tt.addptr %pa, %step                                       1       2
    } {tt.scheduled_max_stage = 2 : i32}

Stage s of iteration i runs beside stage s - 1 of iteration i + 1 (see `pipeline.schedule`). Operations are scheduled in
this order:

1. operations with a latency and those that depend on them: the stage is the longest latency on any path through the
   loop, less the latency left from the operation to the end. Clusters go from the last stage to the first, so that
   earlier iterations come first;
2. `scf.if`: those that others depend on at the front, the rest at the end of the loop;
3. dependences of scheduled operations in the same iteration: at the same place;
4. dependences on the previous iteration: the next stage, in a cluster before the user, so that the value is computed
   just in time; but a load is scheduled with its user;
5. all others: the last stage, after their operands.

A loop without latencies keeps its schedule if it was partitioned (`tt.warp_specialize`); stages without long-latency
operations are then removed. Loops with barriers, asserts or prints are not reordered, since their order is observable.
"""

from __future__ import annotations

from typing import Any

from ....analysis.dataflow import propagate
from ....dialects import ttg, ttng
from ....ir import DEBUG, CountedLoop, IfLike, Operation, count, is_pointer_load, is_tma_copy, may_change, pass_on
from ....ir.dominance import ancestor_in
from ..loops import (
    WARP_SPECIALIZE,
    body_of,
    has_distant_values,
    is_outer,
    loops_of,
    needed_by,
    number_of,
)
from .assign_latencies import LATENCY
from .buffers import is_pipelinable
from .dot_chains import issue_independent_dots_first, stage_first_dot_early
from .schedule import Cluster, Place, Schedule

__all__ = ["is_safe_to_pipeline", "schedule_loops"]

TAKES_TIME = (
    ttg.LocalStore,
    ttg.LocalLoad,
    ttg.AsyncCopyGlobalToLocal,
    ttng.TMEMLoad,
    ttng.TMEMStore,
    ttng.TCGen5MMA,
    ttng.TCGen5MMAScaled,
    ttng.WaitBarrier,
    ttng.ArriveBarrier,
)
"""Besides loads and TMA copies, the operations that make a stage worthwhile in a partitioned loop."""


@pass_on("module", statistics={"loops scheduled": "loops with a new schedule"})
def schedule_loops(module: Operation) -> bool:
    """Assign stages and clusters to the operations of loops with latencies."""
    latencies = {}
    for op in module.walk():
        latency = number_of(op, LATENCY)
        if latency is not None:
            latencies[op] = latency
            del op.attributes[LATENCY]
    scheduled = 0
    for loop in loops_of(module):
        if may_change("schedule-loops", loop):
            scheduled += _schedule(loop, latencies)
    count("loops scheduled", scheduled)
    return bool(latencies) or scheduled > 0


def is_safe_to_pipeline(loop: CountedLoop) -> bool:
    """Whether the iterations of a loop may overlap at all."""
    if has_distant_values(loop) or is_outer(loop):
        return False
    return not any(op.traits & DEBUG or op.__class__ is ttg.Barrier for op in loop.walk())


def _takes_time(op: Operation) -> bool:
    return isinstance(op, TAKES_TIME) or is_pipelinable(op) or is_tma_copy(op)


def _schedule(loop: CountedLoop, latencies: dict[Operation, int]) -> bool:
    schedule = _first_schedule(loop, latencies)
    if not schedule:
        return False
    after_prologue = _place_branches(loop, schedule)
    schedule.schedule_dependencies(loop)
    _place_carried(loop, schedule)
    _place_rest(loop, schedule, after_prologue)
    schedule.write(loop)
    return True


# -- 1: latencies -----------------------------------------------------------------------------------------------------


def _first_schedule(loop: CountedLoop, latencies: dict[Operation, int]) -> Schedule | None:
    if not is_safe_to_pipeline(loop):
        return None
    if any(op in latencies for op in body_of(loop)):
        return _by_latencies(loop, latencies)
    if WARP_SPECIALIZE in loop.attributes:
        return _partition(loop, latencies)
    return None


def _by_latencies(loop: CountedLoop, latencies: dict[Operation, int]) -> Schedule:
    left = _latency_to_exit(loop, latencies)
    most = max(left[op] for op in left if op in latencies)
    last = most - min(left.values())
    schedule = Schedule(last + 1)
    clusters = [schedule.new_cluster() for _ in range(last + 1)]
    for op, rest in left.items():
        schedule.insert(op, most - rest, clusters[last - (most - rest)])
    stage_first_dot_early(loop, schedule)
    issue_independent_dots_first(loop, schedule)
    epilogue = schedule.new_cluster()
    for op in _branches_for_the_end(loop, left, latencies):
        schedule.insert(op, most - left[op], epilogue)
    return schedule


def _latency_to_exit(loop: CountedLoop, latencies: dict[Operation, int]) -> dict[Operation, int]:
    """For each operation with a latency, and those that depend on one, the longest latency from it to the end."""
    waiting: set[Operation] = set()
    for op in body_of(loop):
        if op in latencies or any(v.defining_op in waiting for v in needed_by(op)):
            waiting.add(op)
    left: dict[Operation, int] = {}
    for op in reversed(list(body_of(loop))):
        if op in waiting:
            left[op] = latencies.get(op, 0) + max((left[user] for user in _users(loop, op)), default=0)
    return dict(reversed(left.items()))


def _users(loop: CountedLoop, op: Operation) -> list[Operation]:
    """The operations of the body, without the yield, that use a result or contain a use."""
    found = (ancestor_in(loop.body, user) for r in op.results for user in r.users)
    return [user for user in found if user is not None and user is not loop.terminator]


def _branches_for_the_end(
    loop: CountedLoop, waiting: dict[Operation, int], latencies: dict[Operation, int]
) -> list[Operation]:
    """The `scf.if` that can be scheduled after everything else: only other ones of these use their results."""
    movable: list[Operation] = []
    for op in reversed(waiting):
        if isinstance(op, IfLike) and op not in latencies and all(user in movable for user in _users(loop, op)):
            movable.append(op)
    return movable


def _partition(loop: CountedLoop, latencies: dict[Operation, int]) -> Schedule | None:
    """The schedule of a loop that is one partition of a larger loop."""
    schedule = Schedule.read(loop)
    if schedule is None:
        return None
    slow = [op for op in body_of(loop) if op in latencies or _takes_time(op)]
    if len({schedule[op].stage for op in slow if op in schedule}) <= 1:
        flat = Schedule(1)
        cluster = flat.new_cluster()
        for op in body_of(loop):
            flat.insert(op, 0, cluster)
        return flat
    schedule.shrink_to_fit()
    return schedule


# -- 2: branches ----------------------------------------------------------------------------------------------------


def _place_branches(loop: CountedLoop, schedule: Schedule) -> Cluster:
    """Schedule `scf.if` at the front or the end; returns the previous first cluster."""
    after_prologue = schedule.clusters[0]
    early = _branches_needed(loop, schedule)
    if early:
        prologue = schedule.new_cluster(0)
        for op, stage in early.items():
            schedule.insert_if_absent(op, stage, prologue)
    epilogue = schedule.new_cluster()
    for op in body_of(loop):
        if isinstance(op, IfLike) and op not in early:
            schedule.insert_if_absent(op, schedule.num_stages - 1, epilogue)
    return after_prologue


def _branches_needed(loop: CountedLoop, schedule: Schedule) -> dict[Operation, int]:
    """The `scf.if` that scheduled operations depend on, transitively, and the first stage that does."""
    found: dict[Operation, int] = {}
    seen: set[Operation] = set()
    for stage in range(schedule.num_stages):
        work = [op for op, place in schedule.in_order(loop) if place.stage == stage]
        while work:
            for value in needed_by(work.pop()):
                maker = value.defining_op
                if maker is None or maker.parent is not loop.body or maker in seen:
                    continue
                seen.add(maker)
                work.append(maker)
                if isinstance(maker, IfLike):
                    found[maker] = stage
    return found


# -- 4 and 5: the rest ------------------------------------------------------------------------------------------------


def _place_carried(loop: CountedLoop, schedule: Schedule) -> None:
    """Schedule dependences of scheduled operations on the previous iteration."""
    in_front: dict[Cluster, Cluster] = {}
    for op in body_of(loop):
        if op not in schedule:
            continue
        place = schedule[op]
        if place.stage == schedule.num_stages - 1:
            continue
        for value in dict.fromkeys(needed_by(op)):
            maker = _carried_from(loop, value)
            if maker is None or maker in schedule:
                continue
            if is_pointer_load(maker):
                at = place
            else:
                if place.cluster not in in_front:
                    in_front[place.cluster] = schedule.new_cluster(place.cluster.number)
                at = Place(place.stage + 1, in_front[place.cluster])
            schedule.insert(maker, *at)
            schedule.insert_dependencies(maker, at, carried=True)


def _carried_from(loop: CountedLoop, value: Any) -> Operation | None:
    """The definition of a carried value in the previous iteration."""
    if value.block is not loop.body or value.defining_op is not None or value.index == 0:
        return None
    maker: Operation | None = loop.yielded[value.index - 1].defining_op
    return maker if maker is not None and maker.parent is loop.body else None


def _place_rest(loop: CountedLoop, schedule: Schedule, after_prologue: Cluster) -> None:
    """Schedule all other operations in the last stage, in no cluster before their operands."""
    rest = {op: after_prologue for op in body_of(loop) if op not in schedule}
    last = schedule.num_stages - 1

    def visit(op: Operation) -> list[Operation]:
        cluster = rest[op] if op in rest else schedule[op].cluster
        later = [user for user in dict.fromkeys(_users(loop, op)) if user in rest and rest[user] < cluster]
        rest.update(dict.fromkeys(later, cluster))
        return later

    propagate([op for op, place in schedule.in_order(loop) if place.stage == last], visit)
    for op, cluster in rest.items():
        schedule.insert(op, last, cluster)
