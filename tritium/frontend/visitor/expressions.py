"""Expressions without operators: constants, names, attributes, subscripts, tuples, strings, comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..callee import SourceFunction
from ..errors import LanguageError, UnsupportedUse
from ..language import core
from .assign import bind_target
from .builtins import items_of
from .core import Visitor, handles
from .operators import truth
from .subscripts import indices
from .suggestions import no_attribute
from .values import constexpr, dtype, has_handles, tensor, tl_tuple, type_text, unwrap, unwrap_deep, wrap

_CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}
"""The conversions of f-strings: none, !s, !r, !a."""


@handles(ast.Constant)
def _constant(visitor: Visitor, node: ast.Constant) -> Any:
    value = node.value
    if value is None:
        return None
    if isinstance(value, (bool, int, float, str)):
        return constexpr(value)
    if value is Ellipsis:
        raise visitor.unsupported(node, "`...`", "write the dimensions out")
    raise visitor.unsupported(node, f"a constant of type {type(value).__name__}")


@handles(ast.Name)
def _name(visitor: Visitor, node: ast.Name) -> Any:
    return visitor.lookup(node.id, node)


@handles(ast.Tuple, ast.List)
def _tuple(visitor: Visitor, node: ast.Tuple | ast.List) -> Any:
    items: list[Any] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            items += items_of(visitor.visit(element.value))
        else:
            items.append(visitor.visit(element))
    return tl_tuple(items)


@handles(ast.Slice)
def _slice(visitor: Visitor, node: ast.Slice) -> slice:
    return slice(
        *(None if part is None else unwrap(visitor.visit(part)) for part in (node.lower, node.upper, node.step))
    )


@handles(ast.Attribute)
def _attribute(visitor: Visitor, node: ast.Attribute) -> Any:
    owner = visitor.visit(node.value)
    name = node.attr
    if owner.__class__ is tensor and name == "T":
        return core.trans(owner, _semantic=visitor.semantic)
    if owner.__class__ is constexpr:
        if name == "value":
            return owner
        if not hasattr(constexpr, name):
            owner = owner.value
    if name == "value" and (owner is None or isinstance(owner, (dtype, SourceFunction))):
        return owner  # compile-time values that are not wrapped in constexpr
    try:
        found = getattr(owner, name)
    except AttributeError:
        raise no_attribute(owner, name) from None
    return wrap(found)


@handles(ast.Subscript)
def _subscript(visitor: Visitor, node: ast.Subscript) -> Any:
    owner = visitor.visit(node.value)
    if owner.__class__ is tensor:
        return owner.__getitem__(indices(visitor, node.slice), _semantic=visitor.semantic)
    index = visitor.visit(node.slice)
    if isinstance(owner, tl_tuple):
        return _element(owner, index)
    if has_handles(owner):
        return visitor.unit.apply(visitor, owner.__getitem__, [index], {})
    owner = unwrap(owner)
    if has_handles(index):
        raise LanguageError("TypeError: an index into a compile-time sequence must be known at compile time")
    return wrap(owner[unwrap_deep(index) if not isinstance(index, slice) else index])


def _element(owner: Any, index: Any) -> Any:
    if isinstance(index, slice):
        return tl_tuple(list(owner.values)[index])
    if has_handles(index):
        raise LanguageError(
            "TypeError: the index of a tuple must be known at compile time",
            "loop with tl.static_range, or annotate the index as tl.constexpr",
        )
    i = unwrap(index)
    if not isinstance(i, int):
        raise LanguageError(f"TypeError: the index of a tuple must be an integer, not {type_text(index)}")
    if not -len(owner.values) <= i < len(owner.values):
        raise LanguageError(f"IndexError: index {i} is out of range for a tuple of {len(owner.values)}")
    return owner.values[i]


@handles(ast.JoinedStr)
def _f_string(visitor: Visitor, node: ast.JoinedStr) -> Any:
    parts: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = visitor.visit(part.value)
        if has_handles(value):
            raise UnsupportedUse(
                "Cannot evaluate f-string containing non-constexpr conversion values,"
                f" found value of type {type_text(value)}",
                f'print run-time values as arguments: `tl.device_print("text", {ast.unparse(part.value)})`',
            )
        value = unwrap_deep(value)
        value = _CONVERSIONS[part.conversion](value)
        spec = "" if part.format_spec is None else unwrap(visitor.visit(part.format_spec))
        parts.append(format(value, spec))
    return constexpr("".join(parts))


@handles(ast.ListComp)
def _comprehension(visitor: Visitor, node: ast.ListComp) -> Any:
    """A list comprehension over compile-time sequences, as a tuple."""
    names = visitor.env
    visitor.env = dict(names)
    try:
        return tl_tuple(_generate(visitor, node, 0))
    finally:
        visitor.env = names


def _generate(visitor: Visitor, node: ast.ListComp, depth: int) -> list[Any]:
    if depth == len(node.generators):
        return [visitor.visit(node.elt)]
    generator = node.generators[depth]
    results: list[Any] = []
    for item in items_of(visitor.visit(generator.iter)):
        bind_target(visitor, generator.target, item)
        conditions = [visitor.visit(c) for c in generator.ifs]
        if any(map(has_handles, conditions)):
            raise LanguageError("TypeError: the condition of a comprehension must be known at compile time")
        if all(map(truth, conditions)):
            results += _generate(visitor, node, depth + 1)
    return results


@handles(ast.Starred)
def _starred(visitor: Visitor, node: ast.Starred) -> Any:
    raise visitor.unsupported(node, "`*` here")
