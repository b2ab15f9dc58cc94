"""Names that syntax nodes assign and read, and early exits: computed once per node, cached on the node."""

from __future__ import annotations

import ast

from ...support.lazy import LazyModule

__all__ = [
    "assigned_names",
    "assignment_of",
    "display_name",
    "exits_early",
    "parameter_of",
    "read_outside_loops",
    "statements_after",
    "statements_of",
]

_desugar = LazyModule("..desugar", __package__)

_COMPOUND = (ast.If, ast.For, ast.While, ast.With)  # cached by themselves
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def assigned_names(node: ast.AST) -> tuple[str, ...]:
    """Names that the statements and expressions inside `node` may assign, in source order.

    The variables of comprehensions and the bodies of nested functions do not count.
    """
    found: tuple[str, ...] | None = getattr(node, "tritium_assigned", None)
    if found is None:
        names: dict[str, None] = {}
        _collect(node, names)
        found = node.tritium_assigned = tuple(names)  # type: ignore[attr-defined]
    return found


def assignment_of(function: ast.AST, name: str) -> ast.AST | None:
    """The first statement of `function` that assigns `name`, in source order; None without one."""
    if name not in assigned_names(function):
        return None
    simple = (n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)))
    found = (node for node in simple if name in assigned_names(node))
    return min(found, key=lambda node: (node.lineno, node.col_offset), default=None)


def parameter_of(function: ast.FunctionDef, name: str) -> ast.arg | None:
    """The parameter `name` in the definition of a function."""
    return next((n for n in ast.walk(function.args) if isinstance(n, ast.arg) and n.arg == name), None)


def read_outside_loops(function: ast.AST) -> frozenset[str]:
    """Names that `function` reads, except reads of a loop variable in a loop body that does not assign it."""
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


def statements_of(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function as they are compiled: with its early exits lowered, see `frontend.desugar`."""
    found: list[ast.stmt] | None = getattr(function, "tritium_statements", None)
    if found is None:
        found = _desugar.structured(function) if exits_early(function.body) else function.body
        function.tritium_statements = found  # type: ignore[attr-defined]
    return found


def exits_early(suite: list[ast.stmt]) -> bool:
    """Has a function of these statements a `break`, `continue`, `else` of a loop, or a `return` before its end?"""
    last = suite[-1]
    return any(map(_exits, suite[:-1] if isinstance(last, ast.Return) else suite))


def _exits(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
        return True
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        return True
    children = (c for c in ast.iter_child_nodes(node) if isinstance(c, ast.stmt))
    return not isinstance(node, _SCOPES) and any(map(_exits, children))


def statements_after(node: ast.stmt, suite: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that can run after `node`, which is somewhere in `suite`, up to the end of `suite`."""
    return _after(node, suite, set()) or []


def _after(node: ast.stmt, suite: list[ast.stmt], seen: set[ast.stmt]) -> list[ast.stmt] | None:
    """None where `node` is not in `suite`. Statements that several branches share are searched once."""
    for number, statement in enumerate(suite):
        if statement is node:
            return suite[number + 1 :]
        if statement in seen:
            continue
        seen.add(statement)
        for field in ("body", "orelse"):
            found = _after(node, getattr(statement, field, []), seen)
            if found is not None:
                return [*found, *suite[number + 1 :]]
    return None


def display_name(name: str) -> str:
    """A local name in error messages: one that is no Python name holds the result of a loop (see `desugar`)."""
    return name if name.isidentifier() else "what is returned"
