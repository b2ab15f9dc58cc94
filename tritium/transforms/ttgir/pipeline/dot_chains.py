"""Schedule the first of two chained dots an iteration ahead, as in attention.

    %s = warp_group_dot %q, %k                          stage 2, first of all
    %p = softmax(%s)                                    stage 2
    %o = warp_group_dot %p, %v, (%acc * %alpha)         stage 3, where it was 2

    kernel:  %s' = %q * %k (i + 1)                      both dots are issued …
             %o  = %p * %v, %acc * %alpha (i)
             %p' = softmax(%s')                         … and the second overlaps with this

Otherwise the tensor cores idle during the softmax, except for other warps. A latency of 1 on the operation that
computes the left operand of the second dot from the result of the first puts the second dot a stage later. The first
dot must then be issued before the second in the kernel, against the rule that earlier iterations come first; it gets a
cluster of its own at the front.

The kernel keeps a result of the first dot, the accumulator of the second, and its left operand live at once; where that
exceeds the registers of a thread, the loop is not changed. Neither is a loop with a small known trip count, such as the
diagonal or the remainder: most of it would be prologue and epilogue. The technique is FlashAttention-3's ("Fast and
Accurate Attention with Asynchrony and Low-precision", 2024, section 3.2).
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ....analysis.dataflow import reachable
from ....analysis.trips import max_trip_count
from ....dialects import arith, ttg, ttng
from ....dialects.ttg_context import num_warps, threads_per_warp
from ....dialects.ttg_switches import is_on
from ....ir import CountedLoop, Operation, TensorType, Value, is_pure
from ..loops import body_of, definition
from .schedule import Schedule

__all__ = ["Chain", "chain_of", "is_ahead", "stage_first_dot_early", "issue_independent_dots_first"]

_REGISTERS = range(112, 200)
"""Registers per thread for tensors of the chain. Upper bound: 255, less what exponentials, row sums, addresses and
descriptors took in FlashAttention's shapes. Lower bound: no second CTA fits on the SM. CTAs that share an SM alternate
on its tensor cores; there this order cost 15 % (attention of 64 x 64 with 64 columns and four warps on an H200: 383
TFLOP/s without, 325 with it; November 2026)."""

_INDEPENDENT_REGISTERS = range(112, 176)
"""The same for all dot results of a loop that issues independent dots first: with more, attention gradients spill."""

_MIN_WARPS = 8
"""Minimum number of warps per CTA."""

_MAX_SHORT_TRIP_COUNT = 3
"""Maximum trip count for which a loop is not changed. With one iteration, no softmax could overlap with a dot; with a
few, as on the diagonal, it is a softmax or two, for twice as many instructions."""


class Chain(NamedTuple):
    """The two dots of a loop, and the operation that computes the left operand of the second."""

    first: Any
    second: Any
    lhs_producer: Operation


def chain_of(loop: CountedLoop) -> Chain | None:
    """The dots of a loop of which the first could be issued an iteration ahead, or None."""
    dots = [op for op in body_of(loop) if op.__class__ is ttng.WarpGroupDot]
    if len(dots) != 2 or loop.unsignedCmp or not _is_enabled(loop) or _has_few_trips(loop):
        return None
    first, second = dots
    lhs_producer = _computed_by(second.a)
    if lhs_producer is None or not isinstance(second.a.type, TensorType) or not _depends_on(second.a, first.d, loop):
        return None
    if any(_depends_on(v, first.d, loop) for v in second.b.defining_op.operands if second.b.defining_op is not None):
        return None
    if set(second.d.users) != {loop.terminator} or _registers(first, second) not in _REGISTERS:
        return None
    return Chain(first, second, lhs_producer)


def _is_enabled(loop: CountedLoop) -> bool:
    """Whether CTAs have enough warps, and the option allows it."""
    return (num_warps(loop) or 4) >= _MIN_WARPS and is_on(loop, "first-dot-early") and is_on(loop, "wgmma-in-flight")


def _has_few_trips(loop: CountedLoop) -> bool:
    most = max_trip_count(loop)
    return most is not None and most <= _MAX_SHORT_TRIP_COUNT


def stage_first_dot_early(loop: CountedLoop, schedule: Schedule) -> None:
    """Order a schedule in which the second dot is a stage after the first.

    The first dot is issued before the second. Small tensors that scale the second dot's accumulator are computed with
    the softmax, so that they are carried instead of their operands.
    """
    chain = chain_of(loop)
    if chain is None or not is_ahead(loop, schedule):
        return
    last, softmax = schedule[chain.second].stage, schedule[chain.lhs_producer]
    schedule.insert(chain.first, last - 1, schedule.new_cluster(0))
    rows = prod(chain.second.d.type.shape[:-1])
    for op in body_of(loop):
        if op in schedule and schedule[op].stage == last and is_pure(op) and _is_small(op, rows):
            if all(_is_available(v, loop, schedule, last) for v in op.operands):
                schedule.insert(op, *softmax)


def issue_independent_dots_first(loop: CountedLoop, schedule: Schedule) -> None:
    """Issue dots that depend on no other dot of their iteration before those that do.

    %s = %k * %q                          %s = %k * %q
    %p = exp2(%s)                         %t = %v * %u
    %x = %p * %u + %x0             =>     %p = exp2(%s)                     overlaps with %t
    %t = %v * %u                          %x = %p * %u + %x0
    %y = (%p * %t) * %q + %y0             %y = (%p * %t) * %q + %y0         operands overlap with %x
    """
    dots = [op for op in body_of(loop) if op.__class__ is ttng.WarpGroupDot and op in schedule]
    if len(dots) < 3 or not _is_enabled(loop):
        return
    results = [dot.d for dot in dots]
    ready = [dot for dot in dots if not any(_depends_on(v, r, loop) for v in dot.operands for r in results)]
    threads = (num_warps(loop) or 4) * threads_per_warp(loop)
    kept = sum(prod(v.type.shape) * v.type.element.width // 32 for v in results) // threads
    if len(ready) < 2 or ready[0] is not dots[0] or kept not in _INDEPENDENT_REGISTERS:
        return
    front, stage = schedule.new_cluster(0), schedule[dots[0]].stage
    if all(schedule[dot].stage == stage for dot in ready):
        for dot in ready:
            schedule.insert(dot, stage, front)


def _is_small(op: Operation, rows: int) -> bool:
    return all(isinstance(r.type, TensorType) and prod(r.type.shape) <= rows for r in op.results)


def _is_available(value: Value, loop: CountedLoop, schedule: Schedule, last: int) -> bool:
    """Whether a value is defined before stage `last`, in this iteration or the previous one."""
    found, _ = definition(loop, value)
    return found is None or found.owner not in schedule or schedule[found.owner].stage < last


def is_ahead(loop: CountedLoop, stages: Any) -> bool:
    """Whether the dots of a loop are in consecutive stages; `stages` maps operations to places."""
    chain = chain_of(loop)
    if chain is None or chain.first not in stages or chain.second not in stages:
        return False
    return stages[chain.second].stage == stages[chain.first].stage + 1  # type: ignore[no-any-return]


def _computed_by(operand: Any) -> Any:
    """The operation that computes a left operand, before its rounding and layout conversion."""
    op = operand.defining_op
    while op.__class__ in (ttg.ConvertLayout, arith.TruncF):
        op = op.operands[0].defining_op
    return op


def _depends_on(value: Value, source: Value, loop: CountedLoop) -> bool:
    """Whether a value depends on `source` in the same iteration, without side effects in between."""

    def operands(v: Value) -> list[Value]:
        op = v.defining_op
        return op.operands if op is not None and op.parent is loop.body and is_pure(op) else []

    return source in reachable([value], operands)


def _registers(first: Any, second: Any) -> int:
    """Registers per thread for both results and the left operand of the second dot."""
    threads = (num_warps(first) or 4) * threads_per_warp(first)
    return (
        sum(
            prod(v.type.shape) * v.type.element.width // 32
            for v in (first.d, second.d, _computed_by(second.a).results[0])
        )
        // threads
    )
