"""Definite assignment: can a function read a name before it assigns it? Until then the name is the global one.

A name is definitely assigned after statements that assign it on every path: in both branches of an `if`, but not in the
body of a loop, which may have no iterations. Statements that are not analysed count as reads if they mention the name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["reads_before_assignment"]


def reads_before_assignment(body: Sequence[ast.stmt], name: str) -> bool:
    """Is there a path through `body` on which `name` is read before it is assigned?

    >>> reads_before_assignment(ast.parse("if c:\\n  x = 1\\ny = x").body, "x")
    True
    >>> reads_before_assignment(ast.parse("x = 1\\nfor i in r:\\n  x += i").body, "x")
    False
    >>> reads_before_assignment(ast.parse("for i in r:\\n  break\\nelse:\\n  x = 1\\ny = x").body, "x")
    True
    """
    try:
        _suite(body, name)
    except _Read:
        return True
    return False


class _Read(Exception):
    """The name is read on a path on which it is not assigned."""


def _suite(statements: Sequence[ast.stmt], name: str) -> bool:
    """Is the name assigned after these statements, on every path to their end? Raises `_Read` if it is read before."""
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            _expressions(statement, name)
            return True  # no path continues
        kinds = statement.__class__.__mro__  # lowered statements are subclasses of those of Python
        if next((_STATEMENTS[kind] for kind in kinds if kind in _STATEMENTS), _other)(statement, name):
            return True
    return False


def _expressions(node: Any, name: str) -> None:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load):
            raise _Read


def _binds(target: ast.AST, name: str) -> bool:
    """Does assigning to `target` assign the name? Other names in it are reads."""
    _expressions(target, name)
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_binds(part, name) for part in target.elts)
    if isinstance(target, ast.Starred):
        return _binds(target.value, name)
    return isinstance(target, ast.Name) and target.id == name


def _assign(node: Any, name: str) -> bool:
    if node.value is None:  # an annotation without a value
        return False
    _expressions(node.value, name)
    return any(_binds(target, name) for target in getattr(node, "targets", None) or [node.target])


def _augmented(node: Any, name: str) -> bool:
    _expressions(node, name)
    if isinstance(node.target, ast.Name) and node.target.id == name:
        raise _Read
    return False


def _if(node: Any, name: str) -> bool:
    _expressions(node.test, name)
    return all([_suite(node.body, name), _suite(node.orelse, name)])


def _for(node: Any, name: str) -> bool:
    _expressions(node.iter, name)
    if not _binds(node.target, name):
        _suite(node.body, name)
    return _else(node, name)


def _while(node: Any, name: str) -> bool:
    _expressions(node.test, name)
    _suite(node.body, name)
    return _else(node, name)


def _else(node: Any, name: str) -> bool:
    """`else` of a loop, which does not run after a `break`."""
    return _suite(node.orelse, name) and not any(isinstance(part, ast.Break) for part in ast.walk(node))


def _other(node: Any, name: str) -> bool:
    _expressions(node, name)
    for part in ast.walk(node):
        if isinstance(part, ast.AugAssign):
            _augmented(part, name)
    return False


_STATEMENTS: dict[type, Callable[[Any, str], bool]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _assign,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
}
