"""Assignments: plain, unpacking, annotated, augmented, walrus."""

from __future__ import annotations

import ast
from typing import Any

from ..errors import LanguageError
from .builtins import items_of
from .core import Visitor, handles
from .scope import Poisoned
from .subscripts import assign_element, update_element
from .values import NUMBERS, constexpr, has_handles, set_hints, tensor, tl_tuple, type_text, with_items

__all__ = ["bind_target"]


def _runtime(visitor: Visitor, value: Any) -> Any:
    """The value that a plain assignment stores: constants that are numbers become run-time values, as in Triton."""
    if value.__class__ is tensor:
        return value
    if value.__class__ is constexpr:
        if isinstance(value.value, NUMBERS):
            return visitor.semantic.to_tensor(value)
        return value if isinstance(value.value, str) else value.value
    if isinstance(value, tl_tuple):
        return with_items(value, [_runtime(visitor, v) for v in value.values])
    return value


def _stored(visitor: Visitor, target: ast.Name, value: Any) -> Any:
    """The value that a plain assignment to `target` stores: a name declared constexpr keeps compile-time values."""
    return value if target.id in visitor.declared else _runtime(visitor, value)


def bind_target(
    visitor: Visitor, target: ast.AST, value: Any, plain: bool = False, node: ast.AST | None = None
) -> None:
    """Bind the names of an assignment target to `value`, unpacking tuples; `plain` assignment makes run-time values.

    `node` is the statement of an assignment to one name.
    """
    if isinstance(target, ast.Name):
        value = _stored(visitor, target, value) if plain else value
        set_hints(value, target.id)
        visitor.bind(target.id, value, node or target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(visitor, target, value, plain)
    elif isinstance(target, ast.Subscript):
        assign_element(visitor, target, value)
    elif isinstance(target, ast.Attribute):
        raise visitor.unsupported(target, "assignment to an attribute", "values are immutable: make a new one")
    else:
        raise visitor.unsupported(target)


def _unpack(visitor: Visitor, target: ast.Tuple | ast.List, value: Any, plain: bool) -> None:
    if value.__class__ is tensor:
        raise LanguageError(
            f"TypeError: a value of type {type_text(value)} cannot be unpacked", "use tl.split for pairs"
        )
    items = items_of(value)
    names = target.elts
    star = next((i for i, n in enumerate(names) if isinstance(n, ast.Starred)), None)
    if star is None:
        if len(items) != len(names):
            raise LanguageError(f"ValueError: {len(items)} values cannot be unpacked into {len(names)} names")
    else:
        after = len(names) - star - 1
        if len(items) < star + after:
            raise LanguageError(f"ValueError: {len(items)} values are too few for {len(names)} names")
        items = [*items[:star], tl_tuple(items[star : len(items) - after]), *items[len(items) - after :]]
    for name, item in zip(names, items):
        bind_target(visitor, name.value if isinstance(name, ast.Starred) else name, item, plain)


def _named_visit(visitor: Visitor, target: ast.Name, node: ast.AST) -> Any:
    """Compile an expression whose operations are named after the variable it is assigned to."""
    builder = visitor.builder
    before, builder.name = builder.name, target.id
    try:
        return _stored(visitor, target, visitor.visit(node))
    finally:
        builder.name = before


@handles(ast.Assign)
def _assign(visitor: Visitor, node: ast.Assign) -> None:
    target = node.targets[0]
    if isinstance(target, ast.Name) and len(node.targets) == 1:
        value = _named_visit(visitor, target, node.value)
    else:
        value = visitor.visit(node.value)
    for target in node.targets:
        bind_target(visitor, target, value, True, node)


@handles(ast.AnnAssign)
def _annotated(visitor: Visitor, node: ast.AnnAssign) -> None:
    if node.value is None:
        _declare(visitor, node)
        return
    if not (isinstance(node.target, ast.Name) and _names_constexpr(visitor, node.annotation)):
        _assign(visitor, ast.copy_location(ast.Assign([node.target], node.value), node))
        return
    name = node.target.id
    known = visitor.env.get(name)
    if known is not None and known.__class__ is not Poisoned and visitor.constexpr_nodes.get(name) is not node:
        raise LanguageError(
            f"ValueError: {name} is already defined. constexpr cannot be reassigned.", "use another name"
        )
    value = visitor.visit(node.value)
    visitor.constexpr_nodes[name] = node
    # the annotation of a run-time value has no effect, as in Triton: published kernels have such annotations. A use
    # that needs a constant raises an error
    kept = isinstance(value, (constexpr, tl_tuple)) or value is None or has_handles(value)
    visitor.bind(name, value if kept else constexpr(value), node)


def _declare(visitor: Visitor, node: ast.AnnAssign) -> None:
    """`x: tl.constexpr`: assignments to x keep compile-time values as they are. Other declarations have no effect."""
    if isinstance(node.target, ast.Name) and _names_constexpr(visitor, node.annotation):
        visitor.declared.add(node.target.id)


def _names_constexpr(visitor: Visitor, annotation: ast.AST) -> bool:
    """True for `tl.constexpr` under any name; other annotations are ignored and not looked up."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.split(".")[-1] == "constexpr"
    if isinstance(annotation, ast.Attribute):
        return annotation.attr == "constexpr"
    if not isinstance(annotation, ast.Name):
        return False
    try:
        return visitor.callee.lookup(annotation.id) is constexpr
    except KeyError:
        return False


@handles(ast.AugAssign)
def _augmented(visitor: Visitor, node: ast.AugAssign) -> None:
    if isinstance(node.target, ast.Subscript):
        update_element(visitor, node)
        return
    if not isinstance(node.target, ast.Name):
        bind_target(visitor, node.target, None)
    plain = getattr(node, "tritium_plain", None)
    if plain is None:
        assert isinstance(node.target, ast.Name)
        lhs = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(lhs, node.op, node.value), node)
        plain = node.tritium_plain = ast.copy_location(ast.Assign([node.target], value), node)  # type: ignore[attr-defined]
    _assign(visitor, plain)


@handles(ast.NamedExpr)
def _walrus(visitor: Visitor, node: ast.NamedExpr) -> Any:
    value = _named_visit(visitor, node.target, node.value)
    bind_target(visitor, node.target, value, node=node)
    return value
