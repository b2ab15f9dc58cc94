"""Simple statements and `with`: expressions, assertions, `pass`."""

from __future__ import annotations

import ast
from typing import Any

from ..errors import LanguageError
from ..language import core
from .assign import bind_target
from .core import Outcome, Visitor, handles
from .values import constexpr, type_text

__all__: list[str] = []


@handles(ast.Expr)
def _expression(visitor: Visitor, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):  # a docstring, or a comment written as a string
        return
    visitor.unused = node.value
    visitor.visit(node.value)


@handles(ast.Pass)
def _pass(visitor: Visitor, node: ast.Pass) -> None:
    return


@handles(ast.Assert)
def _assert(visitor: Visitor, node: ast.Assert) -> None:
    test = visitor.visit(node.test)
    message = constexpr("") if node.msg is None else visitor.visit(node.msg)
    core.device_assert(test, message, _semantic=visitor.semantic)


@handles(ast.With)
def _with(visitor: Visitor, node: ast.With) -> Outcome | None:
    """Context managers; they may emit operations on entry and exit."""
    entered: list[Any] = []
    for item in node.items:
        manager = visitor.visit(item.context_expr)
        if not hasattr(manager, "__enter__"):
            raise LanguageError(f"TypeError: a value of type {type_text(manager)} cannot be used in a `with` statement")
        value = manager.__enter__()
        entered.append(manager)
        if item.optional_vars is not None:
            bind_target(visitor, item.optional_vars, value)
    outcome = visitor.run(node.body)
    for manager in reversed(entered):
        manager.__exit__(None, None, None)
    return outcome
