"""Which products stay in flight, when they are waited for, and what has then been read.

A `wgmma` that is only issued takes no time of the warps that issued it; groups of them finish in order. What may be
left in flight is decided for the body of a loop, from front to back, with a list of what flies:

    %d = scf.for %k … iter_args(%c = %zero) {
                                                     flies: this product, of the iteration before
      %p = ttng.warp_group_dot %a, %b, %c            rule *sum*: adding to what is in flight needs no wait
                                                     flies: before, now
      warp_group_dot_wait %p {pendings = 1}          rule *turn*: at most one iteration of each product flies
                                                     flies: now. `a` and `b` of the iteration before are free
      scf.yield %p
    }

1. *sum*: a product may take the result of one in flight as its accumulator.
2. *use*: any other operation that takes a result in flight, also one whose regions do, waits for it in front of itself,
   and so for all that was issued before it: `pendings` is the number of those issued since.
3. *turn*: behind a product, the same one of the iteration before is waited for.
4. *end*: nothing flies across the end of an inner loop, or of the loop itself: its results are waited for.

5. *registers*: a product may read its first operand from registers. Where the loop carries that operand, the one of
   the next iteration must not be written before the product has read this one: it is waited for in front of the
   operation that begins to make the new one, from values that are handed on by the wait.

6. *buffers*: only a product flies whose operands are in rings or in buffers from outside the loop. What the body itself
   writes into a buffer would be written again by the next iteration.

For attention this gives what one would write by hand: Q·K is issued while P·V of the iteration before still runs;
the softmax takes Q·K, so it waits for both; P·V is issued, and the iteration ends.

What flies at the front of a body is what flies at its end; it is found by starting with nothing and going round until
nothing changes. A body without a second slot in its rings cannot leave anything in flight over its end: the slot would
be needed for the next iteration before it is free.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from ....dialects import scf, ttng
from ....dialects.ttg_memory import element_bits
from ....ir import Block, BlockArgument, Operation, TensorType, Value
from ....support.namedtuples import NamedTuple
from ...regions import is_inside
from .circular_buffers import VIEWS

__all__ = ["GROUNDED", "Flight", "Flights", "Wait", "flights_of", "is_used_from", "values_of"]


class Flight(NamedTuple):
    """A product of this iteration or of the one before."""

    dot: Any
    before: bool


class Wait(NamedTuple):
    """Wait until at most `pendings` products fly; `done` are those which do not any more, `flying` those which do.

    `kept` are further values that must not be used before, though they are there (rule *registers*).
    """

    pendings: int
    done: tuple[Flight, ...]
    flying: tuple[Flight, ...]
    kept: tuple[Value, ...] = ()


class Flights(NamedTuple):
    """Of a body: waits in front of operations and behind them, who flies behind each, the products of its end."""

    ahead: dict[Operation, Wait]
    behind: dict[Operation, Wait]
    air: dict[Operation, tuple[Flight, ...]]
    carried: tuple[Any, ...]


GROUNDED = Flights({}, {}, {}, ())
"""Of a body in which every product is waited for where it is issued."""


def flights_of(body: Block, rings: Container[Operation], over_the_end: bool) -> Flights:
    """What flies in the body of a loop; with `over_the_end` also from one iteration to the next.

    `circular_buffers` has the operations that stand for buffers of rings.
    """
    carried: tuple[Any, ...] = ()
    stays: set[Operation] = {op for op in body if op.__class__ is ttng.WarpGroupDot and not _may_fly(op, body, rings)}
    while True:
        found = _round(body, carried, stays, over_the_end)
        if found.carried == carried:
            return found
        carried = found.carried


def values_of(flight: Flight) -> list[Value]:
    """The values of a body that hold a product's result while it flies."""
    dot = flight.dot
    if not flight.before:
        return [dot.results[0]]
    body = dot.parent
    return [body.args[1 + i] for i, v in enumerate(body.last.operands) if v is dot.results[0]]


def is_summed(op: Any, value: Value) -> bool:
    """Rule *sum*: whether an operation takes a value as accumulator only."""
    return op.__class__ is ttng.WarpGroupDot and op.a is not value and op.b is not value


def _may_fly(dot: Any, body: Block, rings: Container[Operation]) -> bool:
    """Rule *buffers*."""
    for value in dot.operands[:2]:
        maker = value.defining_op
        while maker is not None and maker.__class__ in VIEWS:
            maker = maker.operands[0].defining_op
        is_register = isinstance(value.type, TensorType)
        if not is_register and maker is not None and maker.parent is body and maker not in rings:
            return False
    return True


def _round(body: Block, carried: tuple[Any, ...], stays: set[Operation], over_the_end: bool) -> Flights:
    ahead: dict[Operation, Wait] = {}
    behind: dict[Operation, Wait] = {}
    air: dict[Operation, tuple[Flight, ...]] = {}
    flying = [Flight(dot, True) for dot in carried]

    def land(count: int) -> Wait:
        done, flying[:] = tuple(flying[:count]), flying[count:]
        return Wait(len(flying), done, tuple(flying))

    renewed = _renewed(body)
    for op in body:
        needed = _needed(op, flying, over_the_end)
        again = [i + 1 for i, flight in enumerate(flying) if flight.dot in renewed.get(op, ())]
        if again:
            ahead[op] = land(max(needed, *again))._replace(kept=_tensors(op))
        elif needed:
            ahead[op] = land(needed)
        if op.__class__ is ttng.WarpGroupDot and op not in stays:
            flying.append(Flight(op, False))
            if Flight(op, True) in flying:
                behind[op] = land(flying.index(Flight(op, True)) + 1)
        air[op] = tuple(flying)
    return Flights(ahead, behind, air, tuple(flight.dot for flight in flying))


def _renewed(body: Block) -> dict[Operation, list[Any]]:
    """Rule *registers*: the operations that begin to make a carried first operand anew, and the products it is for."""
    found: dict[Operation, list[Any]] = {}
    for dot in body:
        if dot.__class__ is not ttng.WarpGroupDot or not _is_carried(dot.operands[0], body):
            continue
        value: Any = body.last.operands[dot.operands[0].index - 1]  # type: ignore[union-attr, attr-defined]
        maker = value.defining_op
        while maker is not None and maker.parent is body and len(maker.operands) == 1 and _narrows(maker.operands[0]):
            maker = maker.operands[0].defining_op
        where: Any = maker if maker is not None and maker.parent is body else body.last
        found.setdefault(where, []).append(dot)
    return found


def _is_carried(value: Any, body: Block) -> bool:
    return isinstance(value, BlockArgument) and value.owner is body and isinstance(value.type, TensorType)


def _narrows(value: Any) -> bool:
    """Whether an operation makes what it makes from halves of registers that something before it has written."""
    ty = value.type
    op = value.defining_op
    return isinstance(ty, TensorType) and element_bits(ty.element) < 32 and op is not None and len(op.operands) == 1


def _tensors(op: Operation) -> tuple[Value, ...]:
    return tuple(v for v in op.operands if isinstance(v.type, TensorType))


def _needed(op: Any, flying: list[Flight], over_the_end: bool) -> int:
    """How many of those in flight must have finished before an operation."""
    if op is op.parent.last:
        return 0 if over_the_end and flying and values_of(Flight(flying[-1].dot, True)) else len(flying)
    if op.__class__ is scf.For or any(inner.__class__ is ttng.WarpGroupDot for inner in _inside(op)):
        return len(flying)
    return max((i + 1 for i, flight in enumerate(flying) if any(_uses(op, v) for v in values_of(flight))), default=0)


def _inside(op: Any) -> list[Operation]:
    return [inner for region in op.regions for block in region.blocks for outer in block for inner in outer.walk()]


def _uses(op: Any, value: Value) -> bool:
    for user in value.users:
        if user is op and not is_summed(op, value):
            return True
        if user is not op and op.regions and any(is_inside(user, region) for region in op.regions):
            return True
    return False


def is_used_from(value: Value, op: Operation, itself: bool) -> bool:
    """Whether something behind `op` in its block uses a value, or (with `itself`) `op` does."""
    block = op.parent
    for user in value.users:
        around: Any = user
        while around is not None and around.parent is not block:
            around = around.parent_op
        if around is not None and ((itself and around is op) or op.is_before(around)):
            return True
    return False
