"""Loops: `for` over ranges (run-time and unrolled), over tuples, and `while`.

A loop carries the names that its body may assign and that have a run-time value before it, which is known before the
body is compiled. A compile-time value that the body does not change stays one; if the body changes it, the body is
compiled again with that name carried.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from ...dialects import arith, scf
from ...dialects.llvm_loops import LICM_OFF
from ...ir import Attribute, Block, Operation, Region, Value
from ...support import Location, NameLoc
from ...support.lazy import LazyModule
from ..definite_assignment import reads_before_assignment
from ..errors import LanguageError
from ..language import core
from .assign import bind_target
from .branches import static_condition
from .builtins import items_of
from .core import Visitor, handles
from .names import assigned_names, read_outside_loops, statements_after, statements_of
from .ranges import Bounds, bounds_of, last_value, loop_attributes
from .scope import Binding, Poisoned
from .values import (
    constexpr,
    flatten,
    has_handles,
    is_value,
    materialize,
    rebuild,
    same_static,
    set_hints,
    tensor,
    type_text,
    types_of,
    unwrap,
)

__all__ = ["is_read_after", "iterator_of", "unrolled_items"]

_types = LazyModule(".type_conflicts", __package__)

MAX_UNROLL = 1 << 14  # iterations of an unrolled loop; more would take minutes to compile


class Carried:
    """The loop-carried values: names, initial values, and the block arguments they become inside."""

    def __init__(self, visitor: Visitor, names: list[str]) -> None:
        self.names = names
        self.initial = [materialize(visitor.env[n], visitor.semantic) for n in names]
        self.bound = visitor.bound  # of the names before the loop
        self.handles = [h for v in self.initial for h in flatten(v)]

    def enter(self, visitor: Visitor, block: Block) -> None:
        """Give `block` an argument for each handle and bind the names to them."""
        visitor.bound = dict(visitor.bound)
        loc = visitor.builder.loc
        for name, value in zip(self.names, self.initial):
            handles, at = flatten(value), len(block.args)
            n, place = len(handles), NameLoc(name, loc)
            for handle in handles:
                block.add_argument(handle.type, place)
            new = rebuild(value, list(block.args[at : at + n]))
            set_hints(new, name)
            visitor.env[name] = new

    def place(self, loc: Location) -> Location:
        """The location of the loop, named after the last of its results."""
        return NameLoc(self.names[-1], loc) if self.names else loc

    def leave(self, visitor: Visitor) -> list[Value]:
        """The IR values of the names at the end of the body. Raises LanguageError where a type has changed."""
        out: list[Value] = []
        for name, before in zip(self.names, self.initial):
            after = materialize(visitor.env[name], visitor.semantic) if name in visitor.env else None
            if after.__class__ is Poisoned:
                raise after.read(name)
            if after is None or not is_value(after) or before.type != after.type:
                raise _types.loop_carried(visitor, name, before, after, self.bound.get(name))
            out += flatten(after)
        return out

    def name_results(self, op: Operation) -> None:
        """Name several results of a loop by one name, that of the last."""
        if len(op.results) > 1:
            for result in op.results:
                result.hint = ""
            op.results[0].hint = self.names[-1]

    def bind(self, visitor: Visitor, results: list[Any]) -> None:
        """Bind the names to the results of the loop."""
        at = 0
        for name, value in zip(self.names, self.initial):
            n = len(flatten(value))
            new = rebuild(value, results[at : at + n])
            set_hints(new, name)
            visitor.env[name] = new
            at += n


def _candidates(visitor: Visitor, node: ast.stmt, forced: set[str], exclude: list[str]) -> list[str]:
    """The names that a loop carries, in the order in which they were first assigned."""
    names = []
    assigned = frozenset(assigned_names(node))
    for name, value in visitor.env.items():
        if name not in assigned or name in exclude or value.__class__ is Poisoned:
            continue
        if has_handles(value) or name in forced:
            names.append(name)
    return names


def _changed_constants(visitor: Visitor, node: ast.stmt, before: dict[str, Any], carried: list[str]) -> set[str]:
    """Names whose compile-time value the body has changed, which must be carried."""
    changed = set()
    for name in assigned_names(node):
        if name in carried or name not in before or before[name].__class__ is Poisoned:
            continue
        after = visitor.env.get(name)
        if after is before[name] or (not has_handles(after) and same_static(after, before[name])):
            continue
        changed.add(name)
    return changed


def _check_carried(
    visitor: Visitor, names: Iterable[str], before: Mapping[str, object], bound: Mapping[str, Binding]
) -> None:
    """Raise for names that a loop changes and whose values before it are of no run-time type."""
    for name in names:
        value = before[name]
        if value is None or not is_value(value) or isinstance(unwrap(value), str):
            raise _types.not_carried(visitor, name, value, bound.get(name))


def _forget_new(visitor: Visitor, before: dict[str, Any], targets: list[str]) -> None:
    """Restore the names before the loop; reading a name first assigned inside it is an error that says so."""
    for name in [*visitor.env, *targets]:
        if name not in before:
            kind = "the loop variable" if name in targets else "assigned inside a loop only"
            before[name] = Poisoned(
                f"NameError: {name} is not defined here: it is {kind}",
                f"assign {name} before the loop"
                if name not in targets
                else "copy it to a variable set before the loop",
            )
    visitor.env = before


# -- for ----------------------------------------------------------------------------------------------------------


@handles(ast.For)
def _for(visitor: Visitor, node: ast.For) -> None:
    iterator = iterator_of(visitor, node.iter)
    if isinstance(iterator, core.range):
        _range_loop(visitor, node, iterator)
        return
    for item in unrolled_items(iterator):
        bind_target(visitor, node.target, item)
        visitor.run(node.body)


def iterator_of(visitor: Visitor, node: ast.expr) -> Any:
    """The iterable of a `for`: a range object, or a compile-time sequence."""
    if isinstance(node, ast.Call):
        fn = unwrap(visitor.visit(node.func))
        if fn is builtins.range:
            fn = core.range
        if isinstance(fn, type) and issubclass(fn, (core.range, core.static_range)):
            args, kwargs = visitor.unit.arguments(visitor, node)
            return fn(*args, **{**kwargs, "_semantic": visitor.semantic})
    value = visitor.visit(node)
    if value.__class__ is tensor:
        raise LanguageError(
            f"TypeError: a value of type {type_text(value)} cannot be iterated",
            "Only `range` and `static_range` iterators are currently supported: loop over indices",
        )
    return value


def _static_int(value: Any) -> int:
    value = unwrap(value)
    if not isinstance(value, int):
        raise LanguageError(
            f"TypeError: tl.static_range needs bounds known at compile time, got {type_text(value)}",
            "use range or tl.range",
        )
    return value


def unrolled_items(iterator: Any) -> list[Any]:
    """The values of the variable of an unrolled loop: the elements of a static range or of a tuple."""
    if isinstance(iterator, core.static_range):
        start, stop, step = (_static_int(part) for part in (iterator.start, iterator.end, iterator.step))
        numbers = builtins.range(start, stop, step)
        if numbers[MAX_UNROLL:]:  # before the list is made, which may not fit in memory
            raise _endless(f"more than {MAX_UNROLL:,}")
        return [constexpr(i) for i in numbers]
    items = items_of(iterator)
    if len(items) > MAX_UNROLL:
        raise _endless(f"{len(items):,}")
    return items


def _endless(steps: str) -> LanguageError:
    return LanguageError(f"a static loop of {steps} iterations is too long to unroll", "use range or tl.range")


def _range_loop(visitor: Visitor, node: ast.For, iterator: Any) -> None:
    if not isinstance(node.target, ast.Name):
        raise LanguageError("TypeError: the variable of a range loop must be a plain name")
    bounds = bounds_of(visitor, iterator)
    builder, before, bound = visitor.builder, visitor.env, visitor.bound
    place, loc = (builder.block, builder.before), builder.loc
    forced: set[str] = set()
    while True:
        builder.block, builder.before = place
        visitor.env, visitor.bound = dict(before), bound
        carried = Carried(visitor, _candidates(visitor, node, forced, [node.target.id]))
        block = _loop_body(visitor, node, bounds, carried)
        changed = _changed_constants(visitor, node, before, [*carried.names, node.target.id])
        if not changed:
            break
        _check_carried(visitor, changed, before, bound)
        block.erase()
        forced |= changed
    yields = carried.leave(visitor)
    _forget_new(visitor, before, [node.target.id])
    builder.block, builder.before = place
    builder.loc = loc
    lb, ub, step, _ = bounds
    inits, constant = _drop_unchanged(block, carried.handles, yields)
    block.append(scf.Yield(yields, loc=loc))
    visitor.semantic.transfer_hints(block.args[1:], inits)
    attributes = loop_attributes(iterator)
    op = scf.For(lb.handle, ub.handle, step.handle, inits, Region(block), attributes=attributes, loc=carried.place(loc))
    results = iter(builder.insert(op).results)
    carried.name_results(op)
    carried.bind(visitor, [next(results) if v is None else v for v in constant])
    if is_read_after(visitor, node):
        visitor.env[node.target.id] = _variable_after(visitor, node, bounds)


def is_read_after(visitor: Visitor, node: ast.For) -> bool:
    """Can the variable of a loop be read after it, or (with a value before) in a later iteration of an outer loop?"""
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    function = visitor.callee.parse()
    if name not in read_outside_loops(function):
        return False
    before = visitor.env.get(name)
    fresh = before is None or before.__class__ is Poisoned
    return not fresh or reads_before_assignment(statements_after(node, statements_of(function)), name)


def _variable_after(visitor: Visitor, node: ast.For, bounds: Bounds) -> Any:
    """The variable of a loop after it, as in Python: its last value, or its value before if there is no iteration.

    Without a value before, a loop without iterations leaves the first value of its range, which is unspecified.
    """
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    if any(name in assigned_names(statement) for statement in node.body):
        hint = "copy it to a variable set before the loop"
        return Poisoned(f"NameError: {name} is not defined here: it is the loop variable, which the loop assigns", hint)
    before = visitor.env.get(name)
    before = None if before.__class__ is Poisoned else before
    if before is not None:
        before = materialize(before, visitor.semantic)
        if not is_value(before) or before.type != bounds[0].type:
            what = f"{type_text(before)} before the loop and {bounds[0].type} inside it"
            return Poisoned(f"NameError: {name} is not defined here: it is {what}", "use two different names")
    last = last_value(visitor, bounds, before)
    set_hints(last, name)
    return last


def _loop_body(visitor: Visitor, node: ast.For, bounds: Bounds, carried: Carried) -> Block:
    builder = visitor.builder
    lb, ub, _, down = bounds
    block = Block()
    assert isinstance(node.target, ast.Name)
    index = block.add_argument(lb.handle.type, NameLoc(node.target.id, builder.loc))
    index.hint = node.target.id
    carried.enter(visitor, block)
    builder.at_end(block)
    value: Value = index
    if down:  # the loop counts up from the lower bound; the variable runs the other way
        value = builder.add(arith.AddI(builder.add(arith.SubI(ub.handle, index)), lb.handle))
        value.hint = node.target.id
    visitor.env[node.target.id] = tensor(value, lb.type)
    visitor.run(node.body)
    return block


def _drop_unchanged(block: Block, inits: list[Value], yields: list[Value]) -> tuple[list[Value], list[Value | None]]:
    """Remove loop-carried values that the body yields unchanged.

    `yields` is shortened in place. Returned are the initial values that stay, and for each former one the value it
    keeps, or None where the loop computes it.
    """
    kept: list[Value] = []
    constant: list[Value | None] = [None] * len(inits)
    for i in builtins.range(len(inits) - 1, -1, -1):
        arg = block.args[1 + i]
        if yields[i] is not arg:
            kept.append(inits[i])
            continue
        arg.replace_all_uses_with(inits[i])
        del yields[i]
        yields[:] = [inits[i] if v is arg else v for v in yields]
        block.erase_argument(1 + i)
        constant[i] = inits[i]
    kept.reverse()
    return kept, constant


# -- while --------------------------------------------------------------------------------------------------------


@handles(ast.While)
def _while(visitor: Visitor, node: ast.While) -> None:
    builder, before, bound = visitor.builder, visitor.env, visitor.bound
    place, loc = (builder.block, builder.before), builder.loc
    forced: set[str] = set()
    while True:
        builder.block, builder.before = place
        visitor.env, visitor.bound = dict(before), bound
        carried = Carried(visitor, _candidates(visitor, node, forced, []))
        head, tail = Block(), Block()
        carried.enter(visitor, head)
        builder.at_end(head)
        known, condition, attributes = _loop_condition(visitor, node)
        if known is False:
            head.erase()
            builder.block, builder.before, visitor.env = *place, before
            return
        carried.leave(visitor)
        fresh = [n for n in assigned_names(node.test) if n not in carried.names and has_handles(visitor.env.get(n))]
        inner = Carried(visitor, [*carried.names, *fresh])  # the values that the condition passes to the body
        inner.enter(visitor, tail)
        builder.at_end(tail)
        visitor.run(node.body)
        changed = _changed_constants(visitor, node, before, carried.names)
        if not changed:
            break
        _check_carried(visitor, changed, before, bound)
        tail.erase()
        head.erase()
        forced |= changed
    if known:
        raise LanguageError(
            "the condition of this loop is always true: it never ends", "leave it by `break` or `return`"
        )
    yields = carried.leave(visitor)
    _forget_new(visitor, before, [])
    head.append(scf.Condition(condition.handle, inner.handles, loc=loc))
    tail.append(scf.Yield(yields, loc=loc))
    builder.block, builder.before = place
    builder.loc = loc
    results = types_of(inner.handles)
    place_of_loop = carried.place(loc)
    op = scf.While(
        carried.handles, Region(head), Region(tail), results_=results, attributes=attributes, loc=place_of_loop
    )
    builder.insert(op)
    inner.name_results(op)
    inner.bind(visitor, list(op.results))


def _loop_condition(visitor: Visitor, node: ast.While) -> tuple[bool | None, Any, dict[str, Attribute]]:
    value = visitor.visit(node.test)
    attributes: dict[str, Attribute] = {}
    if isinstance(value, core.condition):
        if unwrap(value.disable_licm):
            attributes["llvm.loop_annotation"] = LICM_OFF
        value = value.condition
    known, condition = static_condition(visitor, node.test, value)
    return known, condition, attributes
