"""Lower pipelined descriptor loads to TMA loads that signal mbarriers.

    %x = tt.descriptor_load %d[%i, %j] {stage 0}     %bars = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, …>
    use(%x) {stage 2}                                ttng.init_barrier %bars[0], 1; ttng.init_barrier %bars[1], 1
                                                     scf.for … {
                                                =>     ttng.barrier_expect %bars[%insert], 8192, %true       {stage 0}
                                                       ttng.async_tma_copy_global_to_local %d[%i, %j]
                                                           %buffers[%insert], %bars[%insert], %true          {stage 0}
                                                       ttng.wait_barrier %bars[%extract], %phase             {stage 2}
                                                       %x = ttg.local_load %buffers[%extract]                {stage 2}
                                                       use(%x)
                                                     }
                                                     ttng.inval_barrier %bars[0]; …

There is an mbarrier for each buffer. Its phase completes when the expected bytes have arrived; phases alternate between
0 and 1, so the parity to wait for flips when the buffer index wraps around.

Consecutive loads with no use in between, in one stage and with the same number of buffers, share an mbarrier, which
expects the bytes of all of them at the first.
"""

from __future__ import annotations

from ....dialects import ttg, ttng
from ....ir import Builder, CountedLoop, Operation, Value
from ....ir.dominance import ancestor_in
from ..memory.memdesc import read_buffer, single_buffer
from ..tma.copies import barrier_type, buffer_type, expected_bytes, start_load, true
from .async_copy import AsyncLoad, Ring
from .buffers import constant_i32, needs_registers
from .schedule import Schedule
from .staged_builder import StagedBuilder, first_use

__all__ = ["lower_tma_loads"]


def lower_tma_loads(loop: CountedLoop, loads: list[AsyncLoad], rings: dict[int, Ring], schedule: Schedule) -> None:
    """Replace loads by TMA loads, with an mbarrier for each group that is waited for together."""
    for group in _groups(loads, schedule):
        ring = rings[group[0].copies]
        wait = _wait_together(loop, group, ring, schedule)
        for load in group:
            _copy(load, ring, wait, schedule)


# -- sharing of mbarriers -------------------------------------------------------------------------------------------


def _groups(loads: list[AsyncLoad], schedule: Schedule) -> list[list[AsyncLoad]]:
    """Consecutive loads that can share a wait."""
    by_op = {load.op: load for load in loads}
    grouped: set[Operation] = set()
    groups = []
    for load in loads:
        if load.op in grouped:
            continue
        group = [load]
        users = _users(load)
        op = load.op.next
        while op is not None and op not in users and op not in grouped:
            other = by_op.get(op)
            if other is not None:
                if other.copies != load.copies:
                    break
                if schedule[op] == schedule[load.op]:
                    group.append(other)
                    users |= _users(other)
            op = op.next
        grouped.update(member.op for member in group)
        groups.append(group)
    return groups


def _users(load: AsyncLoad) -> set[Operation]:
    """The operations of the load's block that use its result; of an allocation replaced by the buffer, the users of
    that."""
    values = [load.op.result]
    if not needs_registers(load.op):
        (alloc,) = load.op.result.users
        if alloc.parent is load.op.parent:
            values = list(alloc.results)
    found = (ancestor_in(load.op.parent, user) for value in values for user in value.users)
    return {user for user in found if user is not None}


# -- mbarriers, copies, waits ---------------------------------------------------------------------------------------


def _wait_together(loop: CountedLoop, group: list[AsyncLoad], ring: Ring, schedule: Schedule) -> Operation:
    """Emit the mbarriers of a group: the expected bytes before the first load, and a wait after the last."""
    first, last = group[0].op, group[-1].op
    barriers = _barriers(loop, group[0].copies)
    size = sum(expected_bytes(buffer_type(load.op.desc, load.op.result.type)) for load in group)
    b = StagedBuilder(schedule, first, schedule[first])
    barrier = single_buffer(b, barriers, ring.insert)
    b.insert(ttng.BarrierExpect(barrier, true(b), size))
    for load in group:
        load.barrier = barrier
    after = StagedBuilder(schedule, last.next, schedule[first_use(loop, [load.op for load in group], schedule)])
    waited = single_buffer(after, barriers, ring.extract)
    return after.insert(ttng.WaitBarrier(waited, ring.phase, None, []))


def _barriers(loop: CountedLoop, copies: int) -> Value:
    """Initialize `copies` mbarriers before a loop, and invalidate them after it."""
    before, after = Builder(loop.parent, loop, loop.loc), Builder(loop.parent, loop.next, loop.loc)
    barriers: Value = before.add(ttg.LocalAlloc(result=barrier_type(loop, copies)))
    for i in range(copies):
        before.insert(ttng.InitBarrier(single_buffer(before, barriers, constant_i32(before, i)), 1))
        after.insert(ttng.InvalBarrier(single_buffer(after, barriers, constant_i32(after, i))))
    after.insert(ttg.LocalDealloc(barriers))
    return barriers


def _copy(load: AsyncLoad, ring: Ring, wait: Operation, schedule: Schedule) -> None:
    op = load.op
    place = schedule[wait]
    b = StagedBuilder(schedule, op, schedule[op])
    start_load(b, op, single_buffer(b, load.buffers, ring.insert), load.barrier, true(b))
    after = StagedBuilder(schedule, wait.next, place)
    for gone in read_buffer(after, op.result, single_buffer(after, load.buffers, ring.extract)):
        schedule.places.pop(gone, None)
    schedule.places.pop(op)
    op.erase()
