"""Rules of `scf.while`: the before region computes (condition, forwarded values), the after region the next inits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...dialects import scf
from ...ir import CHANGED, Operation, Rule, Touched, Value, i1, rule
from ..regions import defined_in, splice
from .constants import constant, splat_of

__all__ = ["WHILE_RULES"]


@rule(scf.While)
def while_never(op: Any) -> Any:
    """while false { a } = the before region, once"""
    before = op.before_block
    if splat_of(before.last.condition) != 0:
        return None
    moved, values = splice(before, op, list(op.inits))
    return Touched(values[1:], moved)


@rule(scf.While)
def while_forwarded(op: Any) -> Any:
    """a forwarded value from outside is that value; one forwarded twice is forwarded once; a dead one is removed"""
    forwarded = op.before_block.last.args
    first: dict[Value, int] = {}
    outside: dict[int, Value] = {}
    twins: dict[int, int] = {}
    unused: list[int] = []
    for i, (value, arg, result) in enumerate(zip(forwarded, op.after_block.args, op.results)):
        if not defined_in(value, op):
            outside[i] = value
        elif not arg.users and not result.users:
            unused.append(i)
        elif value in first:
            twins[i] = first[value]
        else:
            first[value] = i
    if not outside and not twins and not unused:
        return None
    args = op.after_block.args
    for i, value in outside.items():
        args[i].replace_all_uses_with(value)
    for i, twin in twins.items():
        args[i].replace_all_uses_with(args[twin])
    gone = [*outside, *twins, *unused]
    makers = [d for i in gone if (d := forwarded[i].defining_op) is not None]
    new, spread = _rebuild(op, [], gone)
    values = [outside.get(i, spread[twins.get(i, i)]) for i in range(len(spread))]
    return _replaced(op, new, [op.results[i] if v is None else v for i, v in enumerate(values)], makers)


@rule(scf.While)
def while_carried(op: Any) -> Any:
    """a carried value that never changes is its initial value; one that the before region does not use is removed"""
    before, nexts = op.before_block, op.after_block.last.operands
    forwarded = dict(zip(op.after_block.args, before.last.args))
    dropped: dict[int, Value | None] = {}
    for i, (init, arg, following) in enumerate(zip(op.inits, before.args, nexts)):
        if following is init or forwarded.get(following) is arg:
            dropped[i] = init
        elif not arg.users:
            dropped[i] = None
    if not dropped:
        return None
    makers = [d for i in dropped if (d := nexts[i].defining_op) is not None]
    for i, value in dropped.items():
        if value is not None:
            before.args[i].replace_all_uses_with(value)
    new, spread = _rebuild(op, dropped, [])
    return _replaced(op, new, spread, makers)


@rule(scf.While)
def while_condition_forwarded(op: Any) -> Any:
    """the condition, if forwarded, is true in the body and false after the loop"""
    last = op.before_block.last
    found = [i for i, v in enumerate(last.args) if v is last.condition]
    found = [i for i in found if op.after_block.args[i].users or op.results[i].users]
    if not found:
        return None
    touched: list[Operation] = []
    for i in found:
        arg, result = op.after_block.args[i], op.results[i]
        for value, number, block, anchor in ((arg, 1, op.after_block, None), (result, 0, op.parent, op)):
            if value.users:
                touched += value.users
                known = constant(number, i1)
                maker: Any = known.defining_op
                block.prepend(maker) if anchor is None else block.insert_before(maker, anchor)
                value.replace_all_uses_with(known)
                touched.append(maker)
    return Touched(CHANGED, touched)


def _rebuild(op: Any, inits: Iterable[int], forwarded: Iterable[int]) -> tuple[Any, list[Any]]:
    """A loop, not inserted yet, with the carried and forwarded values of these indices only.

    The second result has one value for each result of `op`: of the new loop, or None where it was removed.
    """
    inits, forwarded = set(inits), set(forwarded)
    before, after = op.before_block, op.after_block
    condition, after_last = before.last, after.last
    condition.set_operands([condition.condition, *(v for i, v in enumerate(condition.args) if i not in forwarded)])
    after_last.set_operands([v for i, v in enumerate(after_last.operands) if i not in inits])
    for block, gone in ((before, inits), (after, forwarded)):
        for i in sorted(gone, reverse=True):
            block.erase_argument(i)
    operands = [v for i, v in enumerate(op.operands) if i not in inits]
    types = [r.type for i, r in enumerate(op.results) if i not in forwarded]
    regions, op.regions = op.regions, []
    new = scf.While.create(operands, types, dict(op.attributes), regions, loc=op.loc)
    results = iter(new.results)
    spread: list[Any] = [None if i in forwarded else next(results) for i in range(len(op.results))]
    for value, old in zip(spread, op.results):
        if value is not None:
            value.hint = old.hint
    return new, spread


def _replaced(op: Any, new: Any, values: list[Any], touched: Iterable[Operation]) -> Touched:
    op.parent.insert_before(new, op)
    return Touched(values, [new, *new.before_block, *touched])


WHILE_RULES: list[Rule] = [while_never, while_forwarded, while_carried, while_condition_forwarded]
