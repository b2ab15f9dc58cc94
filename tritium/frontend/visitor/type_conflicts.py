"""Errors of names and results that have two types: in a loop, after an `if`, at two returns.

Each points at the assignment or return that gives the second type, with a note at the first, and suggests code that
gives one type to both.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence

from ..callee import SourceFunction
from ..errors import LanguageError
from ..semantics.errors import dtype_spelling
from .core import Visitor
from .names import display_name, parameter_of
from .scope import Binding
from .values import dtype, tensor, type_text, unwrap

__all__ = ["branches", "loop_carried", "not_carried", "returns", "ternary"]

MAX_SUGGESTION = 80  # characters; longer code is not repeated in a hint


# -- loops --------------------------------------------------------------------------------------------------------


def loop_carried(visitor: Visitor, name: str, before: object, after: object, start: Binding | None) -> LanguageError:
    """The error of a name whose type at the end of a loop body is not that before the loop."""
    shown, old, new = display_name(name), type_text(before), type_text(after)
    change = visitor.bound.get(name)
    first = _first(visitor, name, start)
    options = [
        (f"start {shown} with type {new}", None if first is None else _converted(visitor, first, before, after)),
        (f"keep type {old}", None if change is None else _converted(visitor, change.typed, after, before)),
    ]
    return LanguageError(
        f"Loop-carried variable {shown} has initial type {old} but is re-assigned to {new} in loop! "
        "Please make sure that the type stays consistent.",
        _hint(options) or f"use another name for the value of type {new}",
        None if change is None or change is start else change.typed,
        [] if first is None else [(f"{shown} has type {old} before the loop", first)],
    )


def not_carried(visitor: Visitor, name: str, value: object, start: Binding | None) -> LanguageError:
    """The error of a name that a loop changes, and whose value before it has no run-time type (None, a string)."""
    shown, old = display_name(name), type_text(value)
    change = visitor.bound.get(name)
    after = visitor.env.get(name)
    first = _first(visitor, name, start)
    options = []
    if first is not None and isinstance(after, tensor) and not after.dtype.is_ptr():
        zero = ast.parse(_constant(0, after.type) or "0", mode="eval").body
        options.append((f"start {shown} with a value of type {type_text(after)}", _with_value(first, zero)))
    return LanguageError(
        f"Loop-carried variable {shown} is {old} before the loop and changes inside it",
        _hint(options) or f"start {shown} with a value of the type that it has in the loop",
        None if change is None or change is start else change.typed,
        [] if first is None else [(f"{shown} is {old} before the loop", first)],
    )


def _first(visitor: Visitor, name: str, binding: Binding | None) -> ast.AST | None:
    """The assignment that gave a name its value before a loop, or its parameter."""
    if binding is not None:
        return binding.node
    return parameter_of(visitor.callee.parse(), name)


# -- branches -----------------------------------------------------------------------------------------------------


def branches(
    visitor: Visitor,
    node: ast.If,
    name: str,
    values: Sequence[object],
    sides: Sequence[Binding | None],
    before: Binding | None,
) -> LanguageError:
    """The error of a name with values of two types after an `if`.

    `values` and `sides` are those of the then and the else block, `before` the assignment before the `if`.
    """
    shown = display_name(name)
    at = 0 if sides[1] is before else 1  # the error is where the second of the two types comes from
    there, first = sides[at], _first_typed(visitor, name, sides[1 - at])
    value, other = values[at], values[1 - at]
    if _is_generated(node):
        message = f"Mismatched type for {shown}: {type_text(other)} before this assignment, {type_text(value)} after it"
    else:
        then, otherwise = map(type_text, values)
        message = f"Mismatched type for {shown} between then block ({then}) and else block ({otherwise})"
    options = [
        (f"give {shown} type {type_text(value)}", None if first is None else _converted(visitor, first, other, value)),
        (
            f"give it type {type_text(other)}",
            None if there is None else _converted(visitor, there.typed, value, other),
        ),
    ]
    return LanguageError(
        message,
        _hint(options) or f"use two names for values of type {type_text(other)} and {type_text(value)}",
        None if there is None else there.typed,
        [] if first is None else [(f"{shown} has type {type_text(other)} here", first)],
    )


def _first_typed(visitor: Visitor, name: str, binding: Binding | None) -> ast.AST | None:
    return _first(visitor, name, None) if binding is None else binding.typed


def _is_generated(node: ast.If) -> bool:
    """True for an `if` that `frontend.desugar` makes for an early exit."""
    test = node.test
    return not test.__class__.__module__.startswith("ast") or (
        isinstance(test, ast.Name) and not test.id.isidentifier()
    )


def ternary(node: ast.IfExp, then: object, other: object) -> LanguageError:
    """The error of a conditional expression whose values have two types."""
    hint = "give both values one type"
    if all(isinstance(unwrap(value), SourceFunction) for value in (then, other)):
        hint = "a run-time condition cannot select a function: call each in a branch of an `if`"
    if all(isinstance(value, tensor) and not value.dtype.is_ptr() for value in (then, other)):
        where = f"tl.where({', '.join(map(ast.unparse, (node.test, node.body, node.orelse)))})"
        hint = f"use `{where}`, which promotes them to one type" if len(where) <= MAX_SUGGESTION else "use tl.where"
    return LanguageError(
        f"Ternary expression with dynamic condition has inconsistent types {type_text(then)} and {type_text(other)}",
        hint,
        node,
    )


# -- returns ------------------------------------------------------------------------------------------------------


def returns(visitor: Visitor, values: Sequence[object], nodes: Sequence[ast.AST | None]) -> LanguageError:
    """The error of a function that returns values of two types, or a value on some paths only.

    `nodes` are the returns of the two values, None where the function ends without one.
    """
    message = f"Return type mismatch: {type_text(values[0])} on one path, {type_text(values[1])} on another"
    if None in nodes:
        at = 0 if nodes[1] is None else 1
        hint = f"return a value of type {type_text(values[at])} at the end of the function too"
        return LanguageError(message, hint, nodes[at])
    first, second = nodes
    assert first is not None and second is not None
    options = [
        (f"return {type_text(values[1])}", _converted(visitor, first, values[0], values[1])),
        (f"return {type_text(values[0])}", _converted(visitor, second, values[1], values[0])),
    ]
    return LanguageError(
        message,
        _hint(options) or "return values of one type on every path",
        second,
        [(f"{type_text(values[0])} is returned here", first)],
    )


# -- suggestions --------------------------------------------------------------------------------------------------


def _hint(options: Iterable[tuple[str, str | None]]) -> str | None:
    found = [f"{what}: `{code}`" for what, code in options if code is not None and len(code) <= MAX_SUGGESTION]
    return ", or ".join(found) or None


def _converted(visitor: Visitor, node: ast.AST, value: object, like: object) -> str | None:
    """The assignment or return `node` of `value`, rewritten so that its value has the type of `like`.

    None where no such code is certain to compile.
    """
    expression = getattr(node, "value", None)
    if not (isinstance(value, tensor) and isinstance(like, tensor) and isinstance(expression, ast.expr)):
        return None
    have, want = value.type, like.type
    if value.dtype.is_ptr() or like.dtype.is_ptr():
        return None
    if isinstance(expression, ast.Constant):
        text = _constant(expression.value, want)
        return None if text is None else _with_value(node, ast.parse(text, mode="eval").body)
    if _shape(have) != _shape(want) or not _is_run_time(visitor, expression):
        return None
    cast = ast.Call(ast.Attribute(expression, "to"), [ast.parse(dtype_spelling(like.dtype), mode="eval").body], [])
    return _with_value(node, _with_dtype(expression, value.dtype, like.dtype) or cast)


def _with_value(node: ast.AST, value: ast.expr) -> str | None:
    """The text of an assignment to one name, or of a return, with another value."""
    if isinstance(node, ast.Assign) and (len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name)):
        return None
    if not isinstance(node, (ast.Assign, ast.Return)):
        return None
    new = copy.copy(node)
    new.value = value
    return ast.unparse(ast.fix_missing_locations(new))


def _constant(number: object, want: dtype) -> str | None:
    """An expression of type `want` for a number in the source."""
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        return None
    if isinstance(number, float) and not want.scalar.is_floating():
        return None
    if want.is_block():
        dtype = f"dtype={dtype_spelling(want.scalar)}"
        return f"tl.full({list(want.shape)}, {number}, {dtype})" if number else f"tl.zeros({list(want.shape)}, {dtype})"
    if want.scalar.name == "fp32":
        return repr(float(number))
    return repr(number) if want.scalar.name == "int32" and isinstance(number, int) else None


def _with_dtype(expression: ast.expr, old: dtype, new: dtype) -> ast.expr | None:
    """A call that names the dtype `old`, such as tl.zeros(shape, tl.float16), with `new` in its place."""
    if not isinstance(expression, ast.Call):
        return None
    name = dtype_spelling(old).removeprefix("tl.")
    found = [n for n in ast.walk(expression) if isinstance(n, ast.Attribute) and n.attr == name]
    if len(found) != 1:
        return None
    changed = copy.deepcopy(expression)
    for node in ast.walk(changed):
        if isinstance(node, ast.Attribute) and node.attr == name:
            node.attr = dtype_spelling(new).removeprefix("tl.")
    return changed


def _is_run_time(visitor: Visitor, expression: ast.expr) -> bool:
    """True where `.to` of the expression is that of a tensor: it reads a run-time value."""
    names = (n.id for n in ast.walk(expression) if isinstance(n, ast.Name))
    return any(visitor.env.get(name).__class__ is tensor for name in names) or isinstance(expression, ast.Call)


def _shape(ty: dtype) -> tuple[int, ...]:
    return tuple(ty.shape) if ty.is_block() else ()
