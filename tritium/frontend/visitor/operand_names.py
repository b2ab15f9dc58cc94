"""The operands of an error as the kernel names them: the source text of each, and where names were assigned."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Protocol

from ...support.lazy import LazyModule
from ..errors import LanguageError, Note
from ..semantics.errors import OperandError
from .scope import Binding
from .values import is_value

__all__ = ["named"]

_inspect = LazyModule("inspect")

MAX_NAME = 40  # characters; longer expressions are named by their role


class CompiledFunction(Protocol):
    """The part of the visitor of a function that is used here."""

    bound: dict[str, Binding]

    def visit(self, node: ast.AST, /) -> object:
        """The value of an expression."""


def named(function: CompiledFunction, node: ast.AST, error: OperandError) -> LanguageError:
    """`error`, raised while `node` was compiled, with the operands named and a note where each name was assigned."""
    found = _expressions(function, node)
    if "lhs" in error.operands and "lhs" not in found and len(found) == 2:  # a function of two blocks
        found = dict(zip(("lhs", "rhs"), found.values()))
    expressions = {role: found[role] for role in error.operands if role in found}
    code = {role: ast.unparse(expression) for role, expression in expressions.items()}
    message, hint = error.worded({role: text for role, text in code.items() if len(text) <= MAX_NAME})
    if error.suggestion is not None:
        _, hint = error.worded({role: _operand(expressions[role]) for role in expressions})
        unknown = any(f"{{{role}}}" in error.suggestion for role in error.operands if role not in expressions)
        hint = None if unknown and "`" in error.suggestion else hint  # code in backquotes must compile
    notes: list[Note] = []
    for role, expression in expressions.items():
        binding = function.bound.get(expression.id) if isinstance(expression, ast.Name) else None
        if binding is not None and error.operands[role]:
            notes.append((f"{ast.unparse(expression)} {error.operands[role]}", binding.node))
    at = expressions.get(error.at) if error.at is not None else None
    return LanguageError(message, hint, error.node or at, notes)


def _operand(expression: ast.expr) -> str:
    """The source text of an expression, in parentheses where an index or an operator after it needs them."""
    text = ast.unparse(expression)
    simple = isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant))
    return text if simple else f"({text})"


def _expressions(function: CompiledFunction, node: ast.AST) -> Mapping[str, ast.expr]:
    """The operands of an operator, or the arguments of a call by parameter."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
        return {"base": target.value, "index": target.slice, "value": node.value}
    if isinstance(node, ast.Assign):
        node = node.value
    if isinstance(node, ast.Subscript):
        return {"base": node.value, "index": node.slice}
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and not node.iter.keywords:
        bounds = node.iter.args
        return dict(zip(("start", "end", "step"), bounds)) if len(bounds) > 1 else {"end": bounds[0]}
    if isinstance(node, ast.BinOp):
        return {"lhs": node.left, "rhs": node.right}
    if isinstance(node, ast.Compare) and len(node.comparators) == 1:
        return {"lhs": node.left, "rhs": node.comparators[0]}
    return _arguments(function, node) if isinstance(node, ast.Call) else {}


def _arguments(function: CompiledFunction, node: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call of a named function or method, by parameter; `self` is the object of a method."""
    if any(isinstance(arg, ast.Starred) for arg in node.args) or not _is_path(node.func):
        return {}
    fn = function.visit(node.func)
    try:
        names = [name for name in _inspect.signature(fn).parameters if not name.startswith("_")]
    except (TypeError, ValueError):
        return {}
    found: dict[str, ast.expr] = dict(zip(names, node.args))
    if isinstance(node.func, ast.Attribute) and is_value(function.visit(node.func.value)):
        found["self"] = node.func.value
    found.update((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg is not None)
    return found


def _is_path(node: ast.expr) -> bool:
    """True for a name, or attributes of one: evaluating it again emits no operations."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
