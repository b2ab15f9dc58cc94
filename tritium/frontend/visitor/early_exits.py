"""Compile the statements that `frontend.desugar` lowers early exits to."""

from __future__ import annotations

import ast
from typing import Any

from ...dialects import ub
from ...ir import Block
from ...support.lazy import LazyModule
from ..desugar import (
    ClearFlags,
    EarlyExitFor,
    Holds,
    IterationIndex,
    KeepResult,
    PrepareResult,
    ReturningIf,
    SetFlag,
    counted_loop,
)
from ..errors import LanguageError
from ..language import core
from .assign import bind_target
from .branches import branch_block, emit_if, merge, same_type, static_condition
from .core import Outcome, Visitor, handles
from .values import (
    constexpr,
    flatten,
    has_handles,
    is_value,
    materialize,
    rebuild,
    same_static,
    types_of,
    unwrap,
)

__all__: list[str] = []

_loops = LazyModule(".loops", __package__)
_ranges = LazyModule(".ranges", __package__)
_types = LazyModule(".type_conflicts", __package__)

MAX_SHARED = 64  # run-time ifs per module that compile the statements after them in both branches


# -- flags --------------------------------------------------------------------------------------------------------


@handles(SetFlag)
def _set_flag(visitor: Visitor, node: SetFlag) -> None:
    visitor.env[node.target.id] = constexpr(node.value)


@handles(ClearFlags)
def _clear_flags(visitor: Visitor, node: ClearFlags) -> None:
    for name in node.names:
        visitor.env.pop(name, None)


@handles(Holds)
def _holds(visitor: Visitor, node: Holds) -> Any:
    value = visitor.visit(node.test)
    value = value.condition if isinstance(value, core.condition) else value
    known, condition = static_condition(visitor, node.test, value)
    return constexpr(known) if condition is None else condition


# -- loops --------------------------------------------------------------------------------------------------------


@handles(EarlyExitFor)
def _early_exit_for(visitor: Visitor, node: EarlyExitFor) -> None:
    iterator = _loops.iterator_of(visitor, node.iter)
    if not isinstance(iterator, core.range):
        _unroll(visitor, node, _loops.unrolled_items(iterator))
        return
    _ranges.loop_attributes(iterator)  # the hints have no effect on a while, but wrong ones are errors
    bounds = _ranges.bounds_of(visitor, iterator)
    _ranges.bind_counters(visitor, node.live.removeprefix("live"), bounds)
    if isinstance(node.target, ast.Name) and node.target.id not in visitor.env and _loops.is_read_after(visitor, node):
        visitor.env[node.target.id] = bounds.first
    visitor.run(counted_loop(node))


def _unroll(visitor: Visitor, node: EarlyExitFor, items: list[Any]) -> None:
    """Iterations of an unrolled loop: each runs if none before has left the loop."""
    live = ast.copy_location(ast.Name(node.live, ast.Load()), node)
    guarded = [ast.copy_location(ast.If(live, node.body, []), node)]
    visitor.env[node.live] = constexpr(True)
    for item in items:
        if unwrap(visitor.env[node.live]) is False:
            break
        bind_target(visitor, node.target, item)
        visitor.run(guarded)


@handles(IterationIndex)
def _iteration_index(visitor: Visitor, node: IterationIndex) -> Any:
    first, step, k = (visitor.lookup(part.id) for part in (node.first, node.step, node.k))
    sem = visitor.semantic
    return sem.add(first, sem.mul(sem.cast(k, first.dtype), step, False), False)


# -- return -------------------------------------------------------------------------------------------------------


class _Seen(BaseException):
    """Raised at the first `return` of a trial compile, `node`; `value` has its type."""

    def __init__(self, value: object, node: ast.AST) -> None:
        self.value = value
        self.node = node


_UNKNOWN = object()


@handles(KeepResult)
def _keep_result(visitor: Visitor, node: KeepResult) -> None:
    value = visitor.visit(node.value)
    if visitor.env.get(node.target.id) is _UNKNOWN:
        raise _Seen(materialize(value, visitor.semantic), node)
    visitor.bind(node.target.id, value, node)


@handles(PrepareResult)
def _prepare_result(visitor: Visitor, node: PrepareResult) -> None:
    """Find the type of the result by a trial compile of the loop, then bind an undefined value of that type."""
    found, at = _first_result(visitor, node)
    if has_handles(found):
        undefined = [visitor.builder.add(ub.Poison(result=h.type)) for h in flatten(found)]
        found = rebuild(found, undefined)
    visitor.bind(node.target.id, found, at)


def _first_result(visitor: Visitor, node: PrepareResult) -> tuple[Any, ast.AST]:
    """What the first `return` in a loop returns, and where it is."""
    unit = visitor.unit.trial()
    env = {name: value for name, value in visitor.env.items() if is_value(value) and has_handles(value)}
    block = Block([t for value in env.values() for t in types_of(flatten(value))])
    copied = {**visitor.env, **unit.parameters(env, block), node.target.id: _UNKNOWN}
    inner = Visitor(unit, visitor.callee, copied)
    unit.builder.at_end(block)
    try:
        inner.run(node.body)
    except _Seen as seen:
        return seen.value, seen.node
    return None, node


@handles(ReturningIf)
def _returning_if(visitor: Visitor, node: ReturningIf) -> Outcome | None:
    """An `if` in whose branches the function ends: what they return merges into the results of an `scf.if`."""
    known, condition = static_condition(visitor, node.test, visitor.visit(node.test))
    if known is not None:
        return visitor.run(node.body if known else node.orelse)
    if node.shares:
        visitor.unit.shared += 1
        if visitor.unit.shared > MAX_SHARED:
            raise LanguageError("too many ifs that return on some of their paths only", "return from fewer places")
    builder, before, bound = visitor.builder, visitor.env, visitor.bound
    place, loc = (builder.block, builder.before), builder.loc
    blocks, values, nodes = [], [], []
    for suite in (node.body, node.orelse):
        visitor.env, visitor.bound = dict(before), dict(bound)
        blocks.append(branch_block(visitor, loc))
        outcome = visitor.run(suite)
        values.append(None if outcome is None else outcome.value)
        nodes.append(None if outcome is None else outcome.node)
    a, b = values
    if not (not has_handles(a) and not has_handles(b) and same_static(a, b)):
        a, b = merge(visitor, a, b, blocks)
        if not same_type(a, b):
            raise _types.returns(visitor, (a, b), nodes)
    builder.block, builder.before = place
    builder.loc = loc
    results = emit_if(visitor, condition, blocks, [a] if has_handles(a) else [], [b] if has_handles(b) else [])
    return Outcome(results[0] if results else a, nodes[0] or nodes[1])
