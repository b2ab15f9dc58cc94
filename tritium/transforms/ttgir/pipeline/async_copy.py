"""Lower pipelined loads to asynchronous copies into circular buffers, waits, and local loads.

    %x = tt.load %p {stage 0}                     %buffers = ttg.local_alloc : () -> !ttg.memdesc<2x…>
    use(%x) {stage 2}                             scf.for … iter_args(%insert = -1, %extract = -1) {
                                                    %i = (%insert + 1) mod 2
                                                    %e = (%extract + 1) mod 2
                                             =>     %t = ttg.async_copy_global_to_local %p, %buffers[%i]    {stage 0}
                                                    %g = ttg.async_commit_group tokens %t                   {stage 0}
                                                    %w = ttg.async_wait %g {num = 0}                        {stage 2}
                                                    %x = ttg.local_load %buffers[%e] token %w               {stage 2}
                                                    use(%x)
                                                    scf.yield %i, %e
                                                  }
                                                  ttg.async_wait {num = 0}

A load needs as many buffers as there are stages between it and its first use, or the last operation that reads the
buffer directly; one more if that comes after the load in the kernel, since the next copy is issued before the buffer is
read; and one more for WGMMAs, which read their buffers while the next iteration runs. The index is counted separately
in the stage of the copy and in that of the read, which is cheaper than carrying it between stages.

A tensor that is only copied to shared memory is used there: the buffer replaces the `ttg.local_alloc`. TMA loads signal
mbarriers (`tma_loads`). The copy writes zeros where the mask is false; other values are selected after the read. The
number of groups that may be pending at a wait is computed when the loop has its final form (`copy_waits`).
"""

from __future__ import annotations

from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....analysis.dataflow import reachable
from ....dialects import arith, tt, ttg, ttng
from ....dialects.constraints import bit_width
from ....dialects.ttg_context import num_ctas, num_warps, threads_per_warp
from ....dialects.ttg_defaults import default_blocked
from ....dialects.ttg_memory import SwizzledShared
from ....ir import Builder, CountedLoop, Operation, PlainLoad, TensorType, Value, ViewLike, is_descriptor_load, remark
from ....support.dataclasses import dataclass
from ..loops import body_of, top_level_users
from ..memory.memdesc import read_buffer, single_buffer
from .buffers import (
    ASYNC_BYTES,
    allocate,
    constant_i32,
    copied_bytes,
    direct_buffers,
    is_pipelinable,
    is_plain_zero,
    loaded_bits,
    loaded_elements,
    shared_layout,
    stages_to_last_read,
)
from .schedule import Schedule
from .staged_builder import StagedBuilder, first_use

__all__ = ["AsyncLoad", "Ring", "add_counters", "lower_async_copy", "lower_loads"]


@dataclass(eq=False)
class AsyncLoad:
    """A load lowered to a copy into one of `copies` buffers of layout `layout`.

    `contiguity`: contiguous elements per thread in one copy. `barrier`: the mbarrier that a TMA load signals, in the
    stage of the load, and `wait` the operation that waits for it.
    """

    op: Any
    copies: int
    layout: Any
    contiguity: int = 1
    buffers: Any = None
    barrier: Any = None
    wait: Any = None

    @property
    def is_tma(self) -> bool:
        """Whether it is a TMA load."""
        return is_descriptor_load(self.op)


@dataclass(eq=False)
class Ring:
    """The counters of all loads with the same number of buffers: the indices written and read, and the phase."""

    with_phase: bool = False
    insert: Any = None
    extract: Any = None
    phase: Any = None


def lower_loads(
    loop: CountedLoop, schedule: Schedule, facts: AxisInfoAnalysis
) -> tuple[Any, list[AsyncLoad], dict[int, Ring]]:
    """Prepare a loop with counters for its pipelined loads; returns it, the loads, and the counters by number of
    buffers.

    Only scalar loads are changed, to loads of tensors with one element.
    """
    loads = [
        load for op in list(body_of(loop)) if is_pipelinable(op) and (load := _async_load(loop, op, schedule, facts))
    ]
    if not loads:
        return loop, [], {}
    rings: dict[int, Ring] = {}
    for load in loads:
        if not isinstance(load.op.result.type, TensorType):
            _to_tensor(load.op, loop, schedule)
        load.buffers = allocate(loop, load.op.result.type, load.layout, load.copies)
        ring = rings.setdefault(load.copies, Ring())
        ring.with_phase |= load.is_tma
    return add_counters(loop, rings), loads, rings


# -- buffers ---------------------------------------------------------------------------------------------------------


def _async_load(loop: CountedLoop, op: Any, schedule: Schedule, facts: AxisInfoAnalysis) -> AsyncLoad | None:
    """How to lower a load; None where it is not pipelined."""
    distance = _stages_to_use(loop, op, schedule)
    if distance == 0:
        return None
    load = AsyncLoad(op, distance, _layout(op))
    if load.layout is None:
        return None
    if not load.is_tma and not _is_wide_enough(load, facts):
        if distance > 1:
            remark(op, "this load is too narrow for an asynchronous copy: the result is kept in registers")
        return None
    if isinstance(op, PlainLoad):
        load.contiguity = loaded_elements(facts, op)
    last = stages_to_last_read(loop, op, load.layout, schedule, schedule[op])
    load.copies = max(distance, last) + _is_read_by_wgmma(op, load.layout)
    return load


def _layout(op: Any) -> Any:
    if isinstance(op.result.type, TensorType):
        return shared_layout(op)
    blocks = num_ctas(op).bit_length() - 1
    return SwizzledShared(1, 1, 1, (0,), ((0,),) * blocks)


def _is_wide_enough(load: AsyncLoad, facts: AxisInfoAnalysis) -> bool:
    ty = load.op.result.type
    if not isinstance(ty, TensorType):
        return bit_width(ty) >= 8 * ASYNC_BYTES
    return loaded_bits(facts, load.op) >= 8 * ASYNC_BYTES and copied_bytes(ty, load.layout) >= ASYNC_BYTES


def _stages_to_use(loop: CountedLoop, op: Operation, schedule: Schedule) -> int:
    """The number of stages from a load to its first use."""
    if op not in schedule:
        return 0
    own = schedule[op]
    users = top_level_users(loop, op.results)
    allocated = [r for user in users if user.__class__ is ttg.LocalAlloc for r in user.results]
    users = list(dict.fromkeys([*users, *top_level_users(loop, allocated)]))
    users = [user for user in users if user in schedule]
    if not users:
        return 0
    first = min(schedule[user].stage + (own.cluster < schedule[user].cluster) for user in users)
    waits = [schedule[user].stage for user in users if user.__class__ is ttng.WaitBarrier]
    return max([first, *waits]) - own.stage


def _is_read_by_wgmma(op: Any, layout: Any) -> bool:
    """Whether WGMMAs read the buffer directly, into the next iteration."""
    buffers = direct_buffers(op, layout)
    names = reachable(buffers, lambda v: [r for user in v.users if isinstance(user, ViewLike) for r in user.results])
    return any(user.__class__ is ttng.WarpGroupDot for v in names for user in v.users)


# -- scalar loads ----------------------------------------------------------------------------------------------------


def _to_tensor(load: Any, loop: CountedLoop, schedule: Schedule) -> None:
    """Replace a scalar load by one of a tensor with one element."""
    b = StagedBuilder(schedule, load, schedule[load])
    layout = default_blocked((1,), num_warps(load) or 1, threads_per_warp(load), num_ctas(load))
    place = schedule[first_use(loop, [load], schedule)]
    for i, value in enumerate(list(load.operands)):
        load.set_operand(i, b.add(tt.Splat(value, result=TensorType((1,), value.type, layout))))
    result = load.result
    users = list(result.users)
    result.type = TensorType((1,), result.type, layout)
    after = StagedBuilder(schedule, load.next, place)
    single = after.add(tt.Unsplat(result))
    single.hint = result.hint
    result.replace_uses_where(single, lambda user: user in users)


# -- counters -------------------------------------------------------------------------------------------------------


def add_counters(loop: CountedLoop, rings: dict[int, Ring]) -> Any:
    """Add the counters of each ring to a loop; they are not scheduled yet."""
    before = Builder(loop.parent, loop, loop.loc)
    minus_one, zero, one = (constant_i32(before, n) for n in (-1, 0, 1))
    sizes = {copies: constant_i32(before, copies) for copies in rings}
    starts: list[Value] = []
    for ring in rings.values():
        starts += [minus_one, minus_one, zero] if ring.with_phase else [minus_one, minus_one]
    first = len(loop.init_args)
    loop = loop.replace_with_additional_iter_args(starts)
    carried = iter(loop.body.args[1 + first :])
    nexts: list[Value] = []
    for copies, ring in rings.items():
        b = Builder(loop.body, loop.body.first, loop.loc)
        ring.insert, _ = _next(b, next(carried), sizes[copies], zero, one)
        ring.extract, wraps = _next(b, next(carried), sizes[copies], zero, one)
        nexts += [ring.insert, ring.extract]
        if ring.with_phase:
            phase = next(carried)
            turned = b.add(arith.XOrI(phase, one))
            ring.phase = b.add(arith.Select(wraps, turned, phase))
            nexts.append(ring.phase)
    last = loop.terminator
    last.set_operands([*last.operands[:first], *nexts])
    return loop


def _next(b: Builder, counter: Value, size: Value, zero: Value, one: Value) -> tuple[Value, Value]:
    """The index after `counter`, which wraps around to zero; and whether it did."""
    more = b.add(arith.AddI(counter, one))
    wraps = b.add(arith.CmpI(arith.CmpIPredicate.sge, more, size))
    return b.add(arith.Select(wraps, zero, more)), wraps


# -- copies and reads -----------------------------------------------------------------------------------------------


def lower_async_copy(loop: CountedLoop, load: AsyncLoad, ring: Ring, schedule: Schedule) -> None:
    """Replace a load by a `cp.async` copy."""
    op = load.op
    place = schedule[first_use(loop, [op], schedule)]
    is_zero = op.fallback is None or is_plain_zero(op.fallback)
    b = StagedBuilder(schedule, op, schedule[op])
    target = single_buffer(b, load.buffers, ring.insert)
    copy = ttg.AsyncCopyGlobalToLocal(
        op.pointer,
        target,
        op.access_mask,
        op.fallback if is_zero else None,
        cachePolicy=op.cache_policy,
        isVolatile=op.volatile,
        contiguity=load.contiguity,
    )
    group = b.add(ttg.AsyncCommitGroup([b.add(copy)]))
    b.place = place
    done = b.add(ttg.AsyncWait([group], num=0))
    source = single_buffer(b, load.buffers, ring.extract)
    if is_zero:
        for gone in read_buffer(b, op.result, source, done):
            schedule.places.pop(gone, None)
    elif op.result.users:
        loaded = b.add(ttg.LocalLoad(source, done, result=op.result.type))
        op.result.replace_all_uses_with(b.add(arith.Select(op.access_mask, loaded, op.fallback)))
    schedule.places.pop(op)
    op.erase()
