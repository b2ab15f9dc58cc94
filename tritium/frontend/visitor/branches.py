"""Branches: `if` statements, conditional expressions, returns.

A condition known at compile time picks a branch; the other is never compiled. A run-time condition makes an
`scf.if`. Names that either branch assigns merge into its results. `return` is the last statement of a function here
(`frontend.desugar`); an `if` that returns on some of its paths is compiled by `early_exits`.
"""

from __future__ import annotations

import ast
from typing import Any

from ...dialects import scf
from ...ir import Block, Region
from ...support.lazy import LazyModule
from ..errors import LanguageError
from ..tensor import unwrap_literal
from .core import Outcome, Visitor, handles
from .names import assigned_names
from .operators import truth
from .scope import Binding, Poisoned
from .values import (
    NUMBERS,
    constexpr,
    flatten,
    has_handles,
    is_value,
    materialize,
    rebuild,
    same_static,
    tl_tuple,
    types_of,
)

__all__ = ["branch_block", "emit_if", "merge", "same_type", "static_condition"]

_types = LazyModule(".type_conflicts", __package__)

_MISSING = object()


def static_condition(visitor: Visitor, test: ast.AST, value: Any) -> tuple[bool | None, Any]:
    """(truth, None) of a compile-time condition, (None, i1 tensor) of a run-time one; errors are at `test`.

    A scalar that is a literal counts as compile-time: `if CAUSAL` after `BLOCK, CAUSAL = OPTIONS` compiles one branch.
    """
    value = unwrap_literal(value)
    if has_handles(value) and not isinstance(value, tl_tuple):
        try:
            return None, visitor.semantic.to_condition(value)
        except LanguageError as error:
            raise visitor.wrapped(test, error) from None
    return truth(value), None


def branch_block(visitor: Visitor, loc: Any) -> Block:
    """A fresh block, with the builder at its end."""
    block = Block()
    visitor.builder.at_end(block)
    visitor.builder.loc = loc
    return block


# -- if -----------------------------------------------------------------------------------------------------------


@handles(ast.If)
def _if(visitor: Visitor, node: ast.If) -> Outcome | None:
    known, condition = static_condition(visitor, node.test, visitor.visit(node.test))
    if known is not None:
        return visitor.run(node.body if known else node.orelse)
    _plain_if(visitor, node, condition)
    return None


def _plain_if(visitor: Visitor, node: ast.If, condition: Any) -> None:
    builder, before, bound = visitor.builder, visitor.env, visitor.bound
    place = builder.block, builder.before
    loc = builder.loc
    envs, bindings, blocks = [], [], []
    for suite in (node.body, node.orelse):
        visitor.env, visitor.bound = dict(before), dict(bound)
        blocks.append(branch_block(visitor, loc))
        visitor.run(suite)
        envs.append(visitor.env)
        bindings.append(visitor.bound)
    visitor.env, visitor.bound = before, {**bindings[1], **bindings[0]}
    then_env, else_env = envs
    merged: list[tuple[str, Any, Any]] = []
    for name in assigned_names(node):
        a, b = then_env.get(name, _MISSING), else_env.get(name, _MISSING)
        if a is b:
            if a is not _MISSING:
                before[name] = a
        elif a is _MISSING or b is _MISSING:
            before[name] = _half_defined(name, a is not _MISSING, bindings)
        elif a.__class__ is Poisoned or b.__class__ is Poisoned:
            before[name] = a if a.__class__ is Poisoned else b
        elif not has_handles(a) and not has_handles(b) and same_static(a, b):
            before[name] = a
        else:
            a, b = merge(visitor, a, b, blocks)
            if same_type(a, b):
                merged.append((name, a, b))
                continue
            problem = _types.branches(
                visitor, node, name, (a, b), [side.get(name) for side in bindings], bound.get(name)
            )
            if before.get(name, _MISSING) is not _MISSING:
                raise problem
            before[name] = Poisoned.of(problem)  # an error only where the name is read
    builder.block, builder.before = place
    builder.loc = loc
    results = emit_if(visitor, condition, blocks, [a for _, a, _ in merged], [b for _, _, b in merged])
    for (name, _, _), value in zip(merged, results):
        for handle in flatten(value):
            handle.hint = ""  # results of an if are numbered; a later assignment does not name them
        before[name] = value


def _half_defined(name: str, in_then: bool, bindings: list[dict[str, Binding]]) -> Poisoned:
    branch = "if" if in_then else "else"
    binding = bindings[not in_then].get(name)
    return Poisoned(
        f"NameError: {name} is not defined here: it is assigned in the {branch} branch only",
        f"assign {name} before the `if`, or in both branches",
        [] if binding is None else [(f"{name} is assigned here", binding.node)],
    )


def merge(visitor: Visitor, a: Any, b: Any, blocks: list[Block]) -> tuple[Any, Any]:
    """Two values as run-time values where they can be, made at the ends of the two blocks."""
    builder = visitor.builder
    sides = []
    for value, block in zip((a, b), blocks):
        if _needs_making(value):
            builder.at_end(block)
            value = materialize(value, visitor.semantic)
        sides.append(value)
    return sides[0], sides[1]


def same_type(a: Any, b: Any) -> bool:
    """True for two run-time values of one type, which can merge into the result of an `scf.if`."""
    return is_value(a) and is_value(b) and bool(a.type == b.type)


def _needs_making(value: Any) -> bool:
    return isinstance(value, tl_tuple) or (isinstance(value, constexpr) and isinstance(value.value, NUMBERS))


def emit_if(visitor: Visitor, condition: Any, blocks: list[Block], then: list[Any], other: list[Any]) -> list[Any]:
    """Insert the `scf.if`; its results as values of the types of `then`."""
    builder = visitor.builder
    loc = builder.loc
    yields = []
    for block, values in zip(blocks, (then, other)):
        handles_ = [h for v in values for h in flatten(v)]
        block.append(scf.Yield(handles_, loc=loc))
        yields.append(handles_)
    regions = [Region(blocks[0])]
    bare = not yields[0] and blocks[1].first is blocks[1].last
    regions.append(Region() if bare else Region(blocks[1]))
    op = builder.insert(scf.If(condition.handle, *regions, results_=types_of(yields[0]), loc=loc))
    results, at = [], 0
    for value in then:
        n = len(flatten(value))
        results.append(rebuild(value, list(op.results[at : at + n])))
        at += n
    return results


@handles(ast.IfExp)
def _conditional(visitor: Visitor, node: ast.IfExp) -> Any:
    known, condition = static_condition(visitor, node.test, visitor.visit(node.test))
    if known is not None:
        return visitor.visit(node.body if known else node.orelse)
    builder = visitor.builder
    place, loc = (builder.block, builder.before), builder.loc
    blocks, values = [], []
    for part in (node.body, node.orelse):
        blocks.append(branch_block(visitor, loc))
        values.append(visitor.visit(part))
    a, b = values
    if not (not has_handles(a) and not has_handles(b) and same_static(a, b)):
        a, b = merge(visitor, a, b, blocks)
        if not same_type(a, b):
            raise _types.ternary(node, a, b)
    builder.block, builder.before = place
    builder.loc = loc
    if has_handles(a):
        return emit_if(visitor, condition, blocks, [a], [b])[0]
    emit_if(visitor, condition, blocks, [], [])  # the branches may have side effects
    return a


# -- return -------------------------------------------------------------------------------------------------------


@handles(ast.Return)
def _return(visitor: Visitor, node: ast.Return) -> Outcome:
    return Outcome(None if node.value is None else visitor.visit(node.value), node)  # constants stay constants
