"""Where the consumer of a ring waits for its WGMMAs, and which of them have then read their buffers.

What may stay in flight is decided for the body of a loop, from front to back (`async_wait.in_flight`):

    %d = scf.for %k … iter_args(%c = %zero) {
                                                     in flight: this WGMMA, of the previous iteration
      %p = ttng.warp_group_dot %a, %b, %c            rule *accumulator*: extending what is in flight needs no wait
                                                     in flight: previous, this one
      warp_group_dot_wait %p {pendings = 1}          rule *one iteration*: at most one iteration of each
                                                     in flight: this one. `a` and `b` of the previous one are free
      scf.yield %p
    }

1. *accumulator*: a WGMMA may take the result of one in flight as its accumulator.
2. *use*: any other operation that uses a result in flight, also in its regions, waits for it first, and so for all that
   was issued before it.
3. *one iteration*: after a WGMMA, the same one of the previous iteration is waited for.
4. *end*: nothing is in flight across the end of an inner loop, or after the loop itself: its results are waited for.
5. *registers*: a WGMMA may read its left operand from registers. Where the loop carries that operand, the next one must
   not be written before the WGMMA has read this one: it is waited for before the operation that begins to compute the
   new one, from values that go through the wait.
6. *buffers*: only a WGMMA stays in flight whose operands are in rings or in buffers from outside the loop. What the
   body itself writes into a buffer would be written again by the next iteration.

For attention this gives what one would write by hand: Q·K is issued while P·V of the previous iteration still runs;
the softmax uses Q·K, so it waits for both; P·V is issued, and the iteration ends.

What is in flight at the front of a body is what is in flight at its end: a fixed point that starts with nothing. A body
whose rings have one slot cannot leave anything in flight over its end: the slot would be needed for the next iteration
before it is free.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from ....dialects import ttng
from ....dialects.ttg_memory import element_bits
from ....ir import Block, CountedLoop, Operation, TensorType, Value, ViewLike
from ....ir.dominance import ancestor_in
from ...regions import is_inside
from ..async_wait.in_flight import InFlight, IssueOrder, accumulates, wgmmas_of
from ..async_wait.lhs_registers import is_carried_lhs

__all__ = ["NO_ASYNC", "ConsumerWaits", "Wait", "consumer_waits", "is_used_from"]


class Wait(NamedTuple):
    """Wait until at most `pendings` WGMMAs are in flight: `done` no longer are, `remaining` still are.

    `kept` are further values that must not be used before, though they are available (rule *registers*).
    """

    pendings: int
    done: tuple[InFlight, ...]
    remaining: tuple[InFlight, ...]
    kept: tuple[Value, ...] = ()


class ConsumerWaits(NamedTuple):
    """Of a body: waits before and after operations, what is in flight after each, the WGMMAs in flight at its end.

    `asynchronous` are the WGMMAs that are not waited for where they are issued.
    """

    before: dict[Operation, Wait]
    after: dict[Operation, Wait]
    in_flight_after: dict[Operation, tuple[InFlight, ...]]
    carried: tuple[Any, ...]
    asynchronous: tuple[Any, ...]


NO_ASYNC = ConsumerWaits({}, {}, {}, (), ())
"""Of a body in which each WGMMA is waited for where it is issued."""


def consumer_waits(body: Block, rings: Container[Operation], across_iterations: bool) -> ConsumerWaits:
    """The waits in the body of a loop; `across_iterations` also keeps WGMMAs in flight into the next one.

    `rings` has the operations that stand for buffers of rings.
    """
    order = IssueOrder(body, (dot for dot in wgmmas_of(body) if _may_stay_in_flight(dot, body, rings)))
    entering = 0
    while True:
        found = _iteration(body, order, entering, across_iterations)
        if len(found.carried) == entering:
            return found
        entering = len(found.carried)


def _may_stay_in_flight(dot: Any, body: Block, rings: Container[Operation]) -> bool:
    """Rule *buffers*."""
    for value in dot.operands[:2]:
        maker = value.defining_op
        while isinstance(maker, ViewLike):
            maker = maker.view_source.defining_op
        is_register = isinstance(value.type, TensorType)
        if not is_register and maker is not None and maker.parent is body and maker not in rings:
            return False
    return True


def _iteration(body: Block, order: IssueOrder, entering: int, across_iterations: bool) -> ConsumerWaits:
    """The waits of an iteration at the front of which the `entering` youngest WGMMAs are in flight."""
    before: dict[Operation, Wait] = {}
    after: dict[Operation, Wait] = {}
    in_flight_after: dict[Operation, tuple[InFlight, ...]] = {}
    flying = order.youngest(0, entering)

    def retire(count: int) -> Wait:
        done, flying[:] = tuple(flying[:count]), flying[count:]
        return Wait(len(flying), done, tuple(flying))

    redefined = _redefined(body)
    for position, op in enumerate(body):
        needed = _needed(op, flying, across_iterations)
        again = [i + 1 for i, wgmma in enumerate(flying) if wgmma.dot in redefined.get(op, ())]
        if again:
            before[op] = retire(max(needed, *again))._replace(kept=_tensors(op))
        elif needed:
            before[op] = retire(needed)
        if op in order.dots:
            flying = order.youngest(position + 1, len(flying) + 1)
            if InFlight(op, True) in flying:
                after[op] = retire(flying.index(InFlight(op, True)) + 1)
        in_flight_after[op] = tuple(flying)
    return ConsumerWaits(before, after, in_flight_after, tuple(wgmma.dot for wgmma in flying), tuple(order.dots))


def _redefined(body: Block) -> dict[Operation, list[Any]]:
    """Rule *registers*: the operations that begin to compute the next left operand, and the WGMMAs it is for.

    Conversions of elements under 32 bits write into parts of registers that the operation before them has written.
    """
    found: dict[Operation, list[Any]] = {}
    for dot in wgmmas_of(body):
        if not is_carried_lhs(dot, body):
            continue
        last: Any = body.last
        maker = last.operands[dot.a.index - 1].defining_op
        while maker is not None and maker.parent is body and len(maker.operands) == 1 and _narrows(maker.operands[0]):
            maker = maker.operands[0].defining_op
        where: Any = maker if maker is not None and maker.parent is body else last
        found.setdefault(where, []).append(dot)
    return found


def _narrows(value: Any) -> bool:
    """Whether an operation computes from halves of registers that something before it has written."""
    ty = value.type
    op = value.defining_op
    return isinstance(ty, TensorType) and element_bits(ty.element) < 32 and op is not None and len(op.operands) == 1


def _tensors(op: Operation) -> tuple[Value, ...]:
    return tuple(v for v in op.operands if isinstance(v.type, TensorType))


def _needed(op: Any, flying: list[InFlight], across_iterations: bool) -> int:
    """How many of those in flight must have completed before an operation."""
    if op is op.parent.last:
        return 0 if across_iterations and flying and flying[-1]._replace(previous=True).values() else len(flying)
    if isinstance(op, CountedLoop) or any(inner.__class__ is ttng.WarpGroupDot for inner in _inside(op)):
        return len(flying)
    return max((i + 1 for i, wgmma in enumerate(flying) if any(_uses(op, v) for v in wgmma.values())), default=0)


def _inside(op: Any) -> list[Operation]:
    return [inner for region in op.regions for block in region.blocks for outer in block for inner in outer.walk()]


def _uses(op: Any, value: Value) -> bool:
    for user in value.users:
        if user is op and not accumulates(op, value):
            return True
        if user is not op and op.regions and any(is_inside(user, region) for region in op.regions):
            return True
    return False


def is_used_from(value: Value, op: Operation, itself: bool) -> bool:
    """Whether something after `op` in its block uses a value, or (with `itself`) `op` does."""
    block = op.parent
    assert block is not None
    for user in value.users:
        around = ancestor_in(block, user)
        if around is not None and ((itself and around is op) or op.is_before(around)):
            return True
    return False
