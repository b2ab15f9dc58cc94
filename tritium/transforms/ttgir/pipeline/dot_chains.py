"""Loops with two products of which the second needs the first, as in attention: the first is begun an iteration ahead.

    %s = warp_group_dot %q, %k                          stage 2, in front of all
    %p = softmax(%s)                                    stage 2
    %o = warp_group_dot %p, %v, (%acc * %alpha)         stage 3, where it was 2

    kernel:  %s' = %q * %k (i + 1)                      both products are begun …
             %o  = %p * %v, %acc * %alpha (i)
             %p' = softmax(%s')                         … and the tensor cores are at the second while this is computed

Otherwise they would have nothing to do but for other warps. It is said by a latency of 1 of what makes the left operand
of the second product from the result of the first: the second stands a stage behind. For this the first must begin
before the second does, in the kernel, which is against the rule that what is old is done before new work is begun; it
gets a cluster of its own at the front.

The kernel keeps one result of the first product, the sum of the second, and its left operand, all at once; where that
is too much for the registers of a thread, the loop stays as it is. So does one that is known to run a few times at
most, as on the diagonal or behind the last whole block: most of it would be in front of the kernel and behind it. The
technique is FlashAttention-3's ("Fast and Accurate Attention with Asynchrony and Low-precision", 2024, section 3.2).
"""

from __future__ import annotations

from math import prod
from typing import Any

from ....analysis.trips import most_trips
from ....dialects import arith, ttg, ttng
from ....dialects.ttg_context import num_warps, threads_per_warp
from ....dialects.ttg_switches import is_on
from ....ir import Operation, TensorType, Value, is_pure
from ....support.namedtuples import NamedTuple
from ..loops import body_of, definition
from .schedule import Schedule

__all__ = ["Chain", "chain_of", "is_ahead", "stage_first_dot_early", "issue_independent_dots_first"]

_REGISTERS = range(112, 200)
"""Registers of a thread that tensors of the chain may take. At most: 255, less what exponentials, sums of rows,
addresses and descriptors took in FlashAttention's shapes. At least: what leaves no room for another block on the
multiprocessor. Blocks that share one keep its tensor cores busy by turns; there this order cost 15 % (attention of
64 x 64 with 64 columns and four warps on an H200: 383 TFLOP/s without, 325 with it; November 2026)."""

_READY_REGISTERS = range(112, 176)
"""The same for all results of a loop whose products that are ready begin first: with more, gradients of attention keep
some in memory."""

_WARPS = 8
"""Warps of a block from which on a loop is changed."""

_FEW_TRIPS = 3
"""Iterations up to which a loop stays as it is. With one, there is no softmax that a product could run beside; with a
few, as on the diagonal, it is a softmax or two, for twice as many instructions."""


class Chain(NamedTuple):
    """The two products of a loop, and the operation that makes the second one's left operand."""

    first: Any
    second: Any
    lhs_producer: Operation


def chain_of(loop: Any) -> Chain | None:
    """The products of a loop of which the first could be begun an iteration ahead; None where there are none such."""
    dots = [op for op in body_of(loop) if op.__class__ is ttng.WarpGroupDot]
    if len(dots) != 2 or loop.unsignedCmp or not _is_wanted(loop) or _has_few_trips(loop):
        return None
    first, second = dots
    lhs_producer = _computed_by(second.a)
    if lhs_producer is None or not isinstance(second.a.type, TensorType) or not _hangs_on(second.a, first.d, loop):
        return None
    if any(_hangs_on(v, first.d, loop) for v in second.b.defining_op.operands if second.b.defining_op is not None):
        return None
    if set(second.d.users) != {loop.body.last} or _registers(first, second) not in _REGISTERS:
        return None
    return Chain(first, second, lhs_producer)


def _is_wanted(loop: Any) -> bool:
    """Whether blocks have many warps, and may do this."""
    return (num_warps(loop) or 4) >= _WARPS and is_on(loop, "products-ahead") and is_on(loop, "wgmma-in-flight")


def _has_few_trips(loop: Any) -> bool:
    most = most_trips(loop)
    return most is not None and most <= _FEW_TRIPS


def stage_first_dot_early(loop: Any, schedule: Schedule) -> None:
    """Order a schedule in which the second product is a stage behind the first.

    The first begins before the second. Small tensors that the second's sum is scaled by are made with the softmax, so
    that only they are carried, and not what they are computed from.
    """
    chain = chain_of(loop)
    if chain is None or not is_ahead(loop, schedule):
        return
    last, softmax = schedule[chain.second].stage, schedule[chain.lhs_producer]
    schedule.insert(chain.first, last - 1, schedule.new_cluster(0))
    rows = prod(chain.second.d.type.shape[:-1])
    for op in body_of(loop):
        if op in schedule and schedule[op].stage == last and is_pure(op) and _is_small(op, rows):
            if all(_is_there(v, loop, schedule, last) for v in op.operands):
                schedule.insert(op, *softmax)


def issue_independent_dots_first(loop: Any, schedule: Schedule) -> None:
    """Begin products that need no other of their iteration before those that do.

    %s = %k * %q                          %s = %k * %q
    %p = exp2(%s)                         %t = %v * %u
    %x = %p * %u + %x0             =>     %p = exp2(%s)                     while %t is computed
    %t = %v * %u                          %x = %p * %u + %x0
    %y = (%p * %t) * %q + %y0             %y = (%p * %t) * %q + %y0         first factors while %x is computed
    """
    dots = [op for op in body_of(loop) if op.__class__ is ttng.WarpGroupDot and op in schedule]
    if len(dots) < 3 or not _is_wanted(loop):
        return
    results = [dot.d for dot in dots]
    ready = [dot for dot in dots if not any(_hangs_on(v, r, loop) for v in dot.operands for r in results)]
    threads = (num_warps(loop) or 4) * threads_per_warp(loop)
    kept = sum(prod(v.type.shape) * v.type.element.width // 32 for v in results) // threads
    if len(ready) < 2 or ready[0] is not dots[0] or kept not in _READY_REGISTERS:
        return
    front, stage = schedule.new_cluster(0), schedule[dots[0]].stage
    if all(schedule[dot].stage == stage for dot in ready):
        for dot in ready:
            schedule.insert(dot, stage, front)


def _is_small(op: Operation, rows: int) -> bool:
    return all(isinstance(r.type, TensorType) and prod(r.type.shape) <= rows for r in op.results)


def _is_there(value: Value, loop: Any, schedule: Schedule, last: int) -> bool:
    """Whether a value is made before stage `last`, in this iteration or the one before."""
    found, _ = definition(loop, value)
    return found is None or found.owner not in schedule or schedule[found.owner].stage < last


def is_ahead(loop: Any, stages: Any) -> bool:
    """Whether the products of a loop are in stages one behind the other; `stages` has the places of operations."""
    chain = chain_of(loop)
    if chain is None or chain.first not in stages or chain.second not in stages:
        return False
    return stages[chain.second].stage == stages[chain.first].stage + 1  # type: ignore[no-any-return]


def _computed_by(operand: Any) -> Any:
    """The operation that computes a left operand, before it was rounded and brought into its layout."""
    op = operand.defining_op
    while op.__class__ in (ttg.ConvertLayout, arith.TruncF):
        op = op.operands[0].defining_op
    return op


def _hangs_on(value: Value, source: Value, loop: Any) -> bool:
    """Whether a value is computed from `source` in the same iteration, without effects on the way."""
    seen: set[Value] = set()
    work = [value]
    while work:
        v = work.pop()
        if v is source:
            return True
        op = v.defining_op
        if v in seen or op is None or op.parent is not loop.body or not is_pure(op):
            continue
        seen.add(v)
        work += op.operands
    return False


def _registers(first: Any, second: Any) -> int:
    """Registers of a thread for both results and the left operand of the second product."""
    threads = (num_warps(first) or 4) * threads_per_warp(first)
    return (
        sum(
            prod(v.type.shape) * v.type.element.width // 32
            for v in (first.d, second.d, _computed_by(second.a).results[0])
        )
        // threads
    )
