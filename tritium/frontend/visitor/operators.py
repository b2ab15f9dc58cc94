"""Operators: arithmetic, comparison, logic; Python's on constants, those of the semantics on run-time values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ..errors import LanguageError, UnsupportedUse
from .core import Visitor, handles
from .values import (
    constexpr,
    has_handles,
    is_value,
    materialize,
    tensor,
    tl_tuple,
    type_text,
    unwrap,
    unwrap_deep,
    wrap,
)

__all__ = ["BINARY", "operate", "truth"]

BINARY = {
    ast.Add: ("add", operator.add, "+"),
    ast.Sub: ("sub", operator.sub, "-"),
    ast.Mult: ("mul", operator.mul, "*"),
    ast.Div: ("truediv", operator.truediv, "/"),
    ast.FloorDiv: ("floordiv", operator.floordiv, "//"),
    ast.Mod: ("mod", operator.mod, "%"),
    ast.LShift: ("lshift", operator.lshift, "<<"),
    ast.RShift: ("rshift", operator.rshift, ">>"),
    ast.BitAnd: ("and_", operator.and_, "&"),
    ast.BitOr: ("or_", operator.or_, "|"),
    ast.BitXor: ("xor_", operator.xor, "^"),
    ast.Pow: ("pow", operator.pow, "**"),
}
COMPARE = {
    ast.Eq: ("eq", operator.eq, "=="),
    ast.NotEq: ("ne", operator.ne, "!="),
    ast.Lt: ("lt", operator.lt, "<"),
    ast.LtE: ("le", operator.le, "<="),
    ast.Gt: ("gt", operator.gt, ">"),
    ast.GtE: ("ge", operator.ge, ">="),
}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
REFLECTED = {name: f"__r{name.rstrip('_')}__" for name, _, _ in BINARY.values()}
REFLECTED |= {name: f"__{other}__" for name, other in _MIRRORED.items()}
"""The method of the right operand that is called where the left one has none, or returns NotImplemented."""
UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Any], Any], str]] = {
    ast.UAdd: ("pos", operator.pos, "+"),
    ast.USub: ("neg", operator.neg, "-"),
    ast.Invert: ("invert", operator.invert, "~"),
}


def operate(visitor: Visitor, entry: tuple[str, Any, str], lhs: Any, rhs: Any) -> Any:
    """`lhs op rhs` for any two values."""
    name, python, sign = entry
    if lhs.__class__ is tensor or rhs.__class__ is tensor:
        if _operand(lhs) and _operand(rhs):
            if name == "pow":
                return _power(visitor, lhs, rhs)
            return getattr(visitor.semantic, name)(lhs, rhs)
        method = _own_method(lhs, f"__{name.rstrip('_')}__") or _own_method(rhs, REFLECTED.get(name, ""))
        if method is not None:
            return _static(visitor, name, python, sign, lhs, rhs)
        raise _mismatch(sign, lhs, rhs)
    return _static(visitor, name, python, sign, lhs, rhs)


def _operand(x: Any) -> bool:
    return x.__class__ is tensor or (x.__class__ is constexpr and isinstance(x.value, (bool, int, float)))


def _mismatch(sign: str, lhs: Any, rhs: Any) -> LanguageError:
    hint = None
    if lhs is None or rhs is None:
        hint = "compare with None by `is None`" if sign in ("==", "!=") else "the value is None here: test it first"
    else:
        hint = next((found for x in (lhs, rhs) if (found := getattr(type(x), "operand_hint", ""))), None)
    return LanguageError(
        f"TypeError: unsupported operand type(s) for {sign}: {type_text(lhs)} and {type_text(rhs)}", hint
    )


def _static(visitor: Visitor, name: str, python: Any, sign: str, lhs: Any, rhs: Any) -> Any:
    method = _own_method(lhs, f"__{name.rstrip('_')}__")
    for own, other in ((method, rhs), (_own_method(rhs, REFLECTED.get(name, "")), lhs)):
        if own is not None:
            result = visitor.unit.apply(visitor, own, [other], {})
            if unwrap(result) is not NotImplemented:
                return result
    if method is not None:
        raise _mismatch(sign, lhs, rhs)
    a, b = unwrap(lhs), unwrap(rhs)
    if isinstance(a, tl_tuple) or isinstance(b, tl_tuple):
        if name == "add" and isinstance(a, tl_tuple) and isinstance(b, tl_tuple):
            return tl_tuple([*a.values, *b.values])
        if name == "mul" and not (isinstance(a, tl_tuple) and isinstance(b, tl_tuple)):
            items, count = (a, b) if isinstance(a, tl_tuple) else (b, a)
            return tl_tuple(list(items.values) * count)
        if has_handles(a) or has_handles(b):
            raise _mismatch(sign, lhs, rhs)
        a, b = unwrap_deep(a), unwrap_deep(b)
    try:
        result = python(a, b)
    except TypeError:
        raise _mismatch(sign, lhs, rhs) from None
    return wrap(result)


def _own_method(x: Any, name: str) -> Any:
    """An operator that a user-defined value class defines as a function of the language."""
    if not is_value(x) or isinstance(x, (constexpr, tensor, tl_tuple)):
        return None
    return getattr(x, name, None) if hasattr(type(x), name) else None


def _power(visitor: Visitor, base: Any, exponent: Any) -> Any:
    """x ** n for a small constant integer n by repeated squaring; other powers have no single definition on GPUs."""
    n = unwrap(exponent)
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 64:
        raise UnsupportedUse(
            f"TypeError: unsupported operand type(s) for **: {type_text(base)} and {type_text(exponent)}",
            "x ** n takes a constant integer 1 <= n <= 64; for others use tl.exp2(y * tl.log2(x))",
        )
    result, square, mul = None, base, visitor.semantic.mul
    while n:
        if n & 1:
            result = square if result is None else mul(result, square)
        n >>= 1
        if n:
            square = mul(square, square)
    return result


@handles(ast.BinOp)
def _binary(visitor: Visitor, node: ast.BinOp) -> Any:
    lhs = visitor.visit(node.left)
    rhs = visitor.visit(node.right)
    entry = BINARY.get(node.op.__class__)
    if entry is None:
        raise visitor.unsupported(node, "the operator @", "use tl.dot")
    if lhs.__class__ is constexpr and rhs.__class__ is constexpr:
        return wrap(entry[1](lhs.value, rhs.value))
    return operate(visitor, entry, lhs, rhs)


@handles(ast.UnaryOp)
def _unary(visitor: Visitor, node: ast.UnaryOp) -> Any:
    value = visitor.visit(node.operand)
    kind = node.op.__class__
    if kind is ast.Not:
        if value.__class__ is tensor:
            return visitor.semantic.not_(value)
        return constexpr(not truth(value))
    name, python, sign = UNARY[kind]
    if value.__class__ is tensor:
        return value if name == "pos" else getattr(visitor.semantic, name)(value)
    if value.__class__ is constexpr:
        return wrap(python(value.value))
    method = _own_method(value, f"__{name}__")
    if method is None:
        raise LanguageError(f"TypeError: unsupported operand type for unary {sign}: {type_text(value)}")
    return visitor.unit.apply(visitor, method, [], {})


# -- comparison ---------------------------------------------------------------------------------------------------


@handles(ast.Compare)
def _compare(visitor: Visitor, node: ast.Compare) -> Any:
    lhs = visitor.visit(node.left)
    result: Any = None
    for op, right in zip(node.ops, node.comparators):
        rhs = visitor.visit(right)
        one = _compare_one(visitor, op, lhs, rhs)
        lhs = rhs
        if one.__class__ is constexpr:
            if not one.value:  # the chain is false from here on
                return one
            result = one if result is None else result
        elif result is None or result.__class__ is constexpr:
            result = one
        else:
            result = visitor.semantic.logical_and(result, one)
    return result


def _compare_one(visitor: Visitor, op: ast.cmpop, lhs: Any, rhs: Any) -> Any:
    kind = op.__class__
    entry = COMPARE.get(kind)
    if entry is not None:
        if lhs.__class__ is constexpr and rhs.__class__ is constexpr:
            return wrap(entry[1](lhs.value, rhs.value))
        if (lhs is None or rhs is None) and kind in (ast.Eq, ast.NotEq):
            return constexpr((unwrap(lhs) is unwrap(rhs)) is (kind is ast.Eq))
        return operate(visitor, entry, lhs, rhs)
    if kind is ast.Is or kind is ast.IsNot:
        same = unwrap(lhs) is unwrap(rhs)
        return constexpr(same if kind is ast.Is else not same)
    return _contains(kind is ast.In, lhs, rhs)


def _contains(wanted: bool, item: Any, container: Any) -> Any:
    if has_handles(item) or has_handles(container):
        raise UnsupportedUse(
            f"TypeError: `in` needs compile-time values, got {type_text(item)} in {type_text(container)}",
            "compare with each element: (x == a) | (x == b)",
        )
    return constexpr((unwrap_deep(item) in unwrap_deep(container)) is wanted)


# -- logic --------------------------------------------------------------------------------------------------------


def truth(value: Any) -> bool:
    """The truth of a compile-time value."""
    value = unwrap(value)
    if isinstance(value, tl_tuple):
        return bool(value.values)
    return bool(value)


@handles(ast.BoolOp)
def _logic(visitor: Visitor, node: ast.BoolOp) -> Any:
    """`a and b`: a constant that decides short-circuits; run-time operands are all evaluated."""
    is_and = node.op.__class__ is ast.And
    result: Any = None
    value: Any = None
    for operand in node.values:
        value = visitor.visit(operand)
        if not has_handles(value):
            if truth(value) is not is_and:
                return value
            continue
        if result is None:
            result = value
        else:
            name = "logical_and" if is_and else "logical_or"
            method = _own_method(result, name)
            if method is None:
                result = getattr(visitor.semantic, name)(result, value)
            else:
                result = visitor.unit.apply(visitor, method, [value], {})
    if result is None:
        return value
    return materialize(result, visitor.semantic)
