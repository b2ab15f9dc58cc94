"""Chained dots for AMD's matrix instructions: a dot whose result flows into an operand of another, as in attention.

Paths stay in the region of the dot; a value that a loop carries to the next iteration continues at its argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ....ir import LoopLike, Operation, Value, is_tensor_dot

__all__ = ["feeds_lhs", "is_fed_by_dot"]


def feeds_lhs(dot: Operation) -> bool:
    """Whether another dot of the region has operand a computed from the result of `dot`."""
    reached = _forward([dot.results[0]], dot)
    if any(_is_other(op, dot) and op.operands[0].defining_op in reached for op in reached):
        return True
    carried = _carried_to(dot, [dot, *reached])
    return any(_reads_lhs(argument, dot) for argument in carried)


def _reads_lhs(argument: Value, dot: Operation) -> bool:
    reached = _forward([argument], dot)
    return any(
        _is_other(op, dot) and (op.operands[0] is argument or op.operands[0].defining_op in reached) for op in reached
    )


def is_fed_by_dot(dot: Operation) -> bool:
    """Whether operand a of `dot` is computed from the result of another dot of the region."""
    makers = _backward([dot.operands[0]], dot)
    first = dot.operands[0].defining_op
    if any(op is not first and is_tensor_dot(op) for op in makers):
        return True
    loop = dot.parent_op
    if not isinstance(loop, LoopLike):
        return False
    seen = {dot.operands[0], *(v for op in makers for v in op.operands)}
    following = [y for argument, y in zip(loop.iter_args, loop.yielded) if argument in seen]
    return any(_is_other(op, dot) for op in _backward(following, dot))


def _is_other(op: Operation, dot: Operation) -> bool:
    return is_tensor_dot(op) and op is not dot


def _carried_to(dot: Operation, makers: Iterable[Operation]) -> list[Value]:
    """The arguments of the loop around `dot` that hold results of `makers` in the next iteration."""
    loop = dot.parent_op
    if not isinstance(loop, LoopLike):
        return []
    results = {r for op in makers for r in op.results}
    return [argument for argument, y in zip(loop.iter_args, loop.yielded) if y in results]


def _closure(start: Iterable[Operation], follow: Callable[[Operation], Iterable[Operation]]) -> dict[Operation, None]:
    seen: dict[Operation, None] = {}
    left = list(start)
    while left:
        op = left.pop()
        if op not in seen:
            seen[op] = None
            left += follow(op)
    return seen


def _forward(values: Iterable[Value], dot: Operation) -> dict[Operation, None]:
    """The operations in the region of `dot` that values flow into."""

    def users(values: Iterable[Value]) -> list[Operation]:
        return [op for v in values for op in v.users if op.parent is not None and _same_region(op, dot)]

    return _closure(users(values), lambda op: users(op.results))


def _backward(values: Iterable[Value], dot: Operation) -> dict[Operation, None]:
    """The operations in the region of `dot` that values are computed by."""

    def makers(values: Iterable[Value]) -> list[Operation]:
        return [op for v in values if (op := v.defining_op) is not None and _same_region(op, dot)]

    return _closure(makers(values), lambda op: makers(op.operands))


def _same_region(op: Operation, dot: Operation) -> bool:
    return op.parent is not None and dot.parent is not None and op.parent.parent is dot.parent.parent
