"""amd-pipeline: Expand scheduled loops, with loads that stay in registers until LDS is free.

    scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %p0) {
      %a = tt.load %p {loop.stage = 0, loop.cluster = 1}
      %x = ttg.convert_layout %a
      %r = tt.dot %x, …, %acc {loop.stage = 1, loop.cluster = 0}
    } {tt.scheduled_max_stage = 1}

    %buffer = ttg.local_alloc : () -> !ttg.memdesc<1x…>
    %a0 = tt.load %p0, 0 < %n
    ttg.local_store %a0, %buffer[0]                                                             iteration 0
    scf.for %i = %c0 to %n - 1 step %c1 iter_args(…) {
      %a = tt.load %p                                                                           iteration %i + 1
      %x = ttg.local_load %buffer[0]
      %r = tt.dot %x, …, %acc                                                                   iteration %i
      ttg.local_store %a, %buffer[0]                                                            iteration %i + 1
    }
    %x = ttg.local_load %buffer[0]; tt.dot %x, …                                                the last iteration

GPUs before gfx950 have no copies from global memory to LDS that are wide enough. So a load is issued at the beginning
of the kernel, its result is in registers while the dots of earlier iterations execute, and it is stored to LDS at the
end of the kernel, after the buffers have been read. There are as many buffers as stages between the load and its first
use, or the last operation that reads a buffer directly: one with two stages. Loads of addresses, and others that no dot
uses, stay in registers.

With `use_async_copy`, for gfx950 and later GPUs, loads that dots read through LDS are copied there without registers,
where each copy has at least 4 bytes; the buffers are one more then, since a copy is issued before the buffer of the
iteration is read:

    scf.for … {
      ttg.async_wait                                                                            iteration %i
      ttg.async_copy_global_to_local %p, %buffer[(%i + 1) % 2]; ttg.async_commit_group          iteration %i + 1
      %x = ttg.local_load %buffer[%i % 2]
      %r = tt.dot %x, …, %acc                                                                   iteration %i
    }

The schedule is that of `schedule-loops`; a loop whose schedule is invalid keeps its order. Of the last iteration the
dots are peeled.
"""

from __future__ import annotations

from math import prod

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import ttg
from ....dialects.ttg_context import target_of
from ....dialects.ttg_memory import AmdRotatingShared, SwizzledShared, element_bits
from ....hardware.amd import amd_gpu
from ....ir import CountedLoop, Operation, PlainLoad, TensorType, count, functions_of, may_change, pass_on
from ....support.dataclasses import dataclass
from ..async_wait.copy_waits import update_waits
from ..loops import body_of, loops_of, top_level_users
from ..memory.memdesc import read_buffer, single_buffer
from .async_copy import Ring, add_counters
from .buffers import (
    Swizzled,
    allocate,
    constant_i32,
    copied_bytes,
    loaded_bits,
    loaded_elements,
    operand_swizzle,
    stages_to_last_read,
)
from .expander import expand
from .schedule import MAX_STAGE, Cluster, Place, Schedule, drop_attributes
from .staged_builder import StagedBuilder, first_use

__all__ = ["amd_pipeline"]


@dataclass(frozen=True)
class PipelineOptions:
    """`use_async_copy`: copy from global memory to LDS without registers."""

    use_async_copy: bool = False


@pass_on("module", statistics={"loops pipelined": "loops with overlapping iterations"})
def amd_pipeline(module: Operation, options: PipelineOptions = PipelineOptions()) -> bool:
    """Expand the loops that have a schedule, through registers and LDS."""
    pipelined = 0
    for func in functions_of(module):
        loops = [loop for loop in loops_of(func) if MAX_STAGE in loop.attributes]
        facts = AxisInfoAnalysis(func) if loops and options.use_async_copy else None
        for loop in loops:
            if may_change("amd-pipeline", loop):
                pipelined += _pipeline(loop, facts)
    drop_attributes(module.walk())
    if pipelined and options.use_async_copy:
        update_waits(module)
    count("loops pipelined", pipelined)
    return pipelined > 0


@dataclass(eq=False)
class _StagedLoad:
    """A load whose result goes through one of `copies` buffers of LDS with this layout.

    `contiguity`: the elements of one asynchronous copy; 0 where the result goes through registers.
    """

    op: Operation
    layout: Swizzled
    copies: int
    contiguity: int = 0


def _pipeline(loop: CountedLoop, facts: AxisInfoAnalysis | None) -> bool:
    schedule = Schedule.read(loop)
    assert schedule is not None
    loads: list[Operation] = [op for op in body_of(loop) if _is_ahead(loop, op, schedule)]
    last = schedule.new_cluster()
    staged = [load for op in loads if (load := _staged(loop, op, schedule, last, facts)) is not None]
    first = schedule.new_cluster(0)
    for op in loads:
        place = Place(schedule[op].stage, first)
        schedule.insert(op, *place)
        schedule.insert_dependencies(op, place, carried=True)
    rings: dict[int, Ring] = {load.copies: Ring() for load in staged if load.copies > 1}
    if rings:
        loop = add_counters(loop, rings)
    waits = schedule.new_cluster(0) if any(load.contiguity for load in staged) else first
    for load in staged:
        if load.contiguity:
            _lower_to_copy(loop, load, rings[load.copies], schedule, waits)
        else:
            _lower(loop, load, rings.get(load.copies), schedule, last)
    schedule.schedule_dependencies(loop)
    return expand(loop, schedule, peel_last=True) is not None


def _is_ahead(loop: CountedLoop, op: Operation, schedule: Schedule) -> bool:
    """Whether an operation is a load in an earlier stage than its uses."""
    return isinstance(op, PlainLoad) and _distance(loop, op, schedule) > 0


def _distance(loop: CountedLoop, op: Operation, schedule: Schedule) -> int:
    """The number of stages from a load to its first use."""
    users = [user for user in top_level_users(loop, op.results) if user in schedule]
    if op not in schedule or not users:
        return 0
    return min(schedule[user].stage for user in users) - schedule[op].stage


def _staged(
    loop: CountedLoop, op: Operation, schedule: Schedule, last: Cluster, facts: AxisInfoAnalysis | None
) -> _StagedLoad | None:
    """How a load goes through LDS, written in the cluster `last`; None where its result stays in registers, since no
    dot reads it."""
    result = op.results[0]
    if not isinstance(result.type, TensorType):
        return None
    allocated = [user for user in result.users if isinstance(user, ttg.LocalAlloc)]
    layout = getattr(allocated[0].result.type, "encoding", None) if allocated else operand_swizzle(result)[0]
    if not isinstance(layout, (SwizzledShared, AmdRotatingShared)):
        return None
    distance = _distance(loop, op, schedule)
    if facts is not None and _has_copy(op, result.type, layout, facts):
        return _StagedLoad(op, layout, distance + 1, loaded_elements(facts, op))
    reads = stages_to_last_read(loop, op, layout, schedule, Place(schedule[op].stage, last))
    return _StagedLoad(op, layout, max(distance, reads))


def _has_copy(op: Operation, ty: TensorType, layout: Swizzled, facts: AxisInfoAnalysis) -> bool:
    """Whether a load can be copied to LDS: in a size that instructions have, and at least 4 bytes for each lane."""
    bits = element_bits(ty.element)
    contiguous = min(loaded_bits(facts, op), 8 * copied_bytes(ty, layout))
    gpu = amd_gpu(target_of(op).partition(":")[2])
    possible = any(size <= contiguous and size % bits == 0 for size in gpu.copy_bits)
    return possible and prod(ty.shape) * bits >= 32 * gpu.warp_size


def _lower(loop: CountedLoop, load: _StagedLoad, ring: Ring | None, schedule: Schedule, last: Cluster) -> None:
    """Store the result of a load to LDS in the cluster `last`, and read it from there where it is used."""
    op = load.op
    result = op.results[0]
    assert isinstance(result.type, TensorType)
    buffers = allocate(loop, result.type, load.layout, load.copies)
    use = schedule[first_use(loop, [op], schedule)]
    b = StagedBuilder(schedule, op.next, Place(schedule[op].stage, last))
    target = single_buffer(b, buffers, constant_i32(b, 0) if ring is None else ring.insert)
    store = b.insert(ttg.LocalStore(result, target))
    b.place = use
    source = single_buffer(b, buffers, constant_i32(b, 0) if ring is None else ring.extract)
    for gone in read_buffer(b, result, source):
        schedule.places.pop(gone, None)
    store.set_operands([result, target])


def _lower_to_copy(loop: CountedLoop, load: _StagedLoad, ring: Ring, schedule: Schedule, waits: Cluster) -> None:
    """Replace a load by an asynchronous copy, a wait in the cluster `waits`, and reads where it is used."""
    op = load.op
    assert isinstance(op, PlainLoad)
    result = op.results[0]
    assert isinstance(result.type, TensorType)
    buffers = allocate(loop, result.type, load.layout, load.copies)
    use = schedule[first_use(loop, [op], schedule)]
    b = StagedBuilder(schedule, op, schedule[op])
    target = single_buffer(b, buffers, ring.insert)
    copy = ttg.AsyncCopyGlobalToLocal(
        op.pointer,
        target,
        op.access_mask,
        op.fallback,
        cachePolicy=op.cache_policy,
        isVolatile=op.volatile,
        contiguity=load.contiguity,
    )
    group = b.add(ttg.AsyncCommitGroup([b.add(copy)]))
    b.place = Place(use.stage, waits)
    done = b.add(ttg.AsyncWait([group], num=0))
    b.place = use
    source = single_buffer(b, buffers, ring.extract)
    for gone in read_buffer(b, result, source, done):
        schedule.places.pop(gone, None)
    schedule.places.pop(op)
    op.erase()
