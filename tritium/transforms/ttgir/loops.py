"""Queries about one loop: operands, users across iterations, and the definition of a value.

scf.for %i … iter_args(%a = %x) {        definition of %a: the operation that defines %b, at distance 1
  %b = f(%a)                             definition of %b: that operation, at distance 0
  scf.if %c { g(%b) }                    top-level users of %b: the `scf.if`, and f through %a
  scf.yield %b
}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...ir import BlockArgument, CountedLoop, IntegerAttr, LoopLike, Operation, OpResult, Value, ViewLike, i32
from ...ir.dominance import ancestor_in

__all__ = [
    "NUM_STAGES",
    "WARP_SPECIALIZE",
    "body_of",
    "definition",
    "has_distant_values",
    "innermost_of",
    "is_outer",
    "loops_of",
    "needed_by",
    "number_of",
    "set_number",
    "stages_of",
    "top_level_users",
]

NUM_STAGES = "tt.num_stages"
WARP_SPECIALIZE = "tt.warp_specialize"


def number_of(op: Operation, name: str) -> int | None:
    """The integer attribute `name`, or None."""
    attr = op.attributes.get(name)
    return attr.value if isinstance(attr, IntegerAttr) else None


def set_number(op: Operation, name: str, value: int) -> None:
    """Set the attribute `name` to an i32."""
    op.attributes[name] = IntegerAttr(value, i32)


def stages_of(loop: Operation, default: int) -> int:
    """The number of pipeline stages of a loop: its own, or the default of the kernel."""
    said = number_of(loop, NUM_STAGES)
    return default if said is None else said


def loops_of(module: Operation) -> list[Any]:
    """All counted loops in post-order."""
    return [op for op in module.walk_post() if isinstance(op, CountedLoop)]


def body_of(loop: CountedLoop) -> Iterator[Any]:
    """The operations of a loop's body without its terminator."""
    last = loop.terminator
    return (op for op in loop.body if op is not last)


def needed_by(op: Operation) -> Iterator[Value]:
    """The operands of an operation and of all operations nested in it."""
    yield from op.operands
    if op.regions:
        for inner in op.walk():
            if inner is not op:
                yield from inner.operands


def has_distant_values(loop: CountedLoop) -> bool:
    """Whether a value is carried over more than one iteration."""
    return any(not isinstance(v, OpResult) for v in loop.yielded)


def innermost_of(loop: CountedLoop) -> bool:
    """Whether no loop is nested directly in the body."""
    return not is_outer(loop)


def is_outer(loop: CountedLoop) -> bool:
    """Whether a loop is nested directly in the body."""
    return any(isinstance(op, LoopLike) for op in loop.body)


def definition(loop: CountedLoop, value: Value) -> tuple[OpResult | None, int]:
    """The result that defines a value of the loop, and its distance in iterations; None if it comes from outside."""
    distance = 0
    seen = set()
    while isinstance(value, BlockArgument):
        if value.owner is not loop.body or value.index == 0 or value in seen:
            return None, 0
        seen.add(value)
        distance += 1
        value = loop.yielded[value.index - 1]
    assert isinstance(value, OpResult)
    return value, distance


def top_level_users(
    loop: CountedLoop, values: Iterable[Value], wanted: Callable[[Operation], bool] | None = None
) -> list[Operation]:
    """The operations of the loop body that use one of `values`, in this or the next iteration, or that contain such a
    use.

    Uses by views of memory count as uses by the users of the view. With `wanted`, only uses by such operations count.
    """
    found: dict[Operation, None] = {}
    seen: set[Value] = set()
    work = list(values)
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        for user, i in value.uses:
            if user is loop.terminator:
                work.append(loop.body.args[1 + i])
            elif isinstance(user, ViewLike):
                work += user.results
            elif wanted is None or wanted(user):
                top = ancestor_in(loop.body, user)
                if top is not None:
                    found[top] = None
    return list(found)
