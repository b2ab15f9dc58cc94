"""Subscripts of tensors: `x[…]`, and assignment to it, which binds the name `x` to a new tensor.

Tensors are values: other names of the old one keep it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ...support.lazy import LazyModule
from ..errors import LanguageError
from .operators import BINARY, operate
from .values import set_hints, tensor, tl_tuple, type_text

if TYPE_CHECKING:
    from .core import Visitor

__all__ = ["assign_element", "indices", "update_element"]

_kinds = LazyModule("..semantics.subscripts", __package__)

_TOTAL = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
"""Operators that never trap."""


def indices(visitor: Visitor, node: ast.AST) -> list[Any]:
    """The subscripts of a block as a Python list of slices, None, `...` and values."""
    elements = node.elts if isinstance(node, ast.Tuple) else [node]
    return [_index(visitor, element) for element in elements]


def _index(visitor: Visitor, node: ast.AST) -> Any:
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        return ...
    found = visitor.visit(node)
    if not isinstance(node, ast.Slice) or found.start.__class__ is not tensor:
        return found
    length = _length(node)
    if length is None or node.step is not None:
        raise LanguageError(
            "ValueError: unsupported tensor index: a slice with a run-time start needs a constant length",
            "write x[s : s + N] with a constant N, or make the bounds tl.constexpr",
        )
    return _kinds.Moving(found.start, visitor.visit(length))


def _length(node: ast.Slice) -> ast.expr | None:
    """N of `s : s + N`, `s : N + s` and `i * N : (i + 1) * N`; None for others."""
    low, high = node.lower, node.upper
    assert low is not None
    if not isinstance(high, ast.BinOp):
        return None
    for one, other in ((high.left, high.right), (high.right, high.left)):
        if isinstance(high.op, ast.Add) and _same(one, low):
            return other
        if isinstance(high.op, ast.Mult) and isinstance(low, ast.BinOp) and isinstance(low.op, ast.Mult):
            for i, n in ((low.left, low.right), (low.right, low.left)):
                if _same(n, other) and _same(one, ast.BinOp(i, ast.Add(), ast.Constant(1))):
                    return n
    return None


def _same(a: ast.AST, b: ast.AST) -> bool:
    return ast.dump(a) == ast.dump(b)


def _container(visitor: Visitor, target: ast.Subscript) -> Any:
    """The tensor whose element is assigned."""
    if not isinstance(target.value, ast.Name):
        raise visitor.unsupported(
            target,
            "assignment to an element of this",
            "elements are assigned to by the name of their block: x[i, j] = v, not x[i][j] = v",
        )
    value = visitor.lookup(target.value.id)
    if value.__class__ is not tensor:
        raise visitor.unsupported(
            target,
            f"assignment to an element of a {'tuple' if isinstance(value, tl_tuple) else type_text(value)}",
            "only blocks can be changed by elements; make a new tuple",
        )
    return value


def assign_element(visitor: Visitor, target: ast.Subscript, value: Any) -> None:
    """x[…] = value"""
    x = _container(visitor, target)
    _bind(visitor, target, visitor.semantic.replaced(x, indices(visitor, target.slice), value))


def update_element(visitor: Visitor, node: ast.AugAssign) -> None:
    """x[…] op= value; the subscripts are computed once."""
    target, semantic = node.target, visitor.semantic
    assert isinstance(target, ast.Subscript)
    x = _container(visitor, target)
    where = indices(visitor, target.slice)
    value = visitor.visit(node.value)
    entry = BINARY.get(node.op.__class__)
    if entry is None:
        raise visitor.unsupported(node, "the operator @", "use tl.dot")
    if isinstance(node.op, _TOTAL) and not semantic.sanitize_overflow:
        new = semantic.updated(x, where, value, lambda a, b: operate(visitor, entry, a, b))
    else:
        new = semantic.replaced(x, where, operate(visitor, entry, semantic.index(x, where), value))
    _bind(visitor, target, new)


def _bind(visitor: Visitor, target: ast.Subscript, value: Any) -> None:
    assert isinstance(target.value, ast.Name)
    set_hints(value, target.value.id)
    visitor.bind(target.value.id, value, target)
