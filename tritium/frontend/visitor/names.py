"""What a piece of syntax assigns and whether it returns: found once per node, kept on the node."""

from __future__ import annotations

import ast

__all__ = ["always_returns", "assigned_names", "find_return", "read_outside_loops", "spoken"]

_COMPOUND = (ast.If, ast.For, ast.While, ast.With)  # asked about themselves: what they assign is found once
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def assigned_names(node: ast.AST) -> tuple[str, ...]:
    """Names that the statements and expressions inside `node` may assign, in the order of the text.

    The variables of comprehensions and the bodies of nested functions do not count.
    """
    found: tuple[str, ...] | None = getattr(node, "tritium_assigned", None)
    if found is None:
        names: dict[str, None] = {}
        _collect(node, names)
        found = node.tritium_assigned = tuple(names)  # type: ignore[attr-defined]
    return found


def read_outside_loops(function: ast.AST) -> frozenset[str]:
    """Names that `function` reads elsewhere than in loops which have them as their variable and do not assign them."""
    found: frozenset[str] | None = getattr(function, "tritium_read_outside", None)
    if found is None:
        names: set[str] = set()
        _reads(function, frozenset(), names)
        found = function.tritium_read_outside = frozenset(names)  # type: ignore[attr-defined]
    return found


def _reads(node: ast.AST, bound: frozenset[str], names: set[str]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in bound:
            names.add(node.id)
        return
    inside = bound
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        if not any(node.target.id in assigned_names(statement) for statement in node.body):
            inside = bound | {node.target.id}
    body = node.body if isinstance(node, ast.For) else ()
    for child in ast.iter_child_nodes(node):
        _reads(child, inside if child in body else bound, names)


def _collect(node: ast.AST, names: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            names[node.id] = None
        return
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return  # a declaration
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        names[node.value.id] = None  # x[i] = v makes a new value of x
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.comprehension, *_SCOPES)):
            continue
        if isinstance(child, _COMPOUND):
            names.update(dict.fromkeys(assigned_names(child)))
        else:
            _collect(child, names)


def find_return(node: ast.AST) -> ast.Return | None:
    """The first `return` inside `node`, nested functions left out; None without one."""
    try:
        return node.tritium_return  # type: ignore[attr-defined,no-any-return]
    except AttributeError:
        pass
    found = node if isinstance(node, ast.Return) else None
    if found is None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt) and not isinstance(child, _SCOPES):
                found = find_return(child)
                if found is not None:
                    break
    node.tritium_return = found  # type: ignore[attr-defined]
    return found


def always_returns(suite: list[ast.stmt]) -> bool:
    """True when the text alone shows that control never reaches the end of `suite`."""
    if not suite:
        return False
    last = suite[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.Return)


def spoken(name: str) -> str:
    """How errors call a local name: those that are no Python names hold what a loop returns (see `jumps`)."""
    return name if name.isidentifier() else "what is returned"
