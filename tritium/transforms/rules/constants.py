"""Queries and constructors of constants, with exact arithmetic of the machine's number types."""

from __future__ import annotations

from typing import Any

from ...dialects import arith
from ...ir import (
    Attribute,
    DenseElementsAttr,
    FloatType,
    IndexType,
    IntegerType,
    ShapedType,
    Type,
    Value,
    element_type,
    i1,
    round_float,
    scalar_attr,
)

__all__ = [
    "FOLDABLE_FLOATS",
    "constant",
    "constant_attr",
    "integer_width",
    "is_one",
    "is_ones",
    "is_zero",
    "ones",
    "signed",
    "splat_of",
    "unsigned",
]

FOLDABLE_FLOATS = ("f16", "bf16", "f32", "f64")
"""The float types whose arithmetic rules may evaluate.

A sum, difference, product, quotient or root computed in double and then rounded equals the one rounded directly, for
every type with at most 24 bits of significand (Figueroa, "When is double rounding innocuous?", 1995: 53 >= 2 * 24 + 2).
"""


def splat_of(value: Value) -> Any:
    """The value in every element of a constant, or None; integers are signed, except i1: 0 or 1."""
    op = value.defining_op
    if op.__class__ is not arith.Constant:
        return None
    number = op.splat_value()  # type: ignore[union-attr]
    if number.__class__ is float:  # the literal, 0.1 say: its value is the nearest of its type
        return round_float(number, element_type(value.type))  # type: ignore[arg-type]
    return number


def is_zero(value: Value) -> bool:
    """True for the integer constant 0."""
    return _is(value, 0)


def is_one(value: Value) -> bool:
    """True for the integer constant 1 (of more than one bit, or true)."""
    return _is(value, 1)


def is_ones(value: Value) -> bool:
    """True for the integer constant with all bits set."""
    return _is(value, ones(element_type(value.type)))


def _is(value: Value, number: int) -> bool:
    found = splat_of(value)
    return found is not None and found == number and isinstance(found, int)


def ones(element: Type) -> int:
    """All bits set, as constants of type `element` spell it."""
    return 1 if element is i1 else -1


def integer_width(ty: Type) -> int:
    """Bits of an integer or index type, or of the elements of a tensor of them."""
    element = element_type(ty)
    assert isinstance(element, (IntegerType, IndexType)), f"{ty} is not an integer type"
    return element.width


def signed(number: int, width: int) -> int:
    """The low `width` bits as a two's complement number."""
    number &= (1 << width) - 1
    return number - (1 << width) if number >> (width - 1) else number


def unsigned(number: int, width: int) -> int:
    """The low `width` bits as an unsigned number."""
    return number & ((1 << width) - 1)


def constant_attr(number: float, ty: Type) -> Attribute:
    """`number` in every element of `ty`; integers wrap, floats are rounded to nearest even."""
    element = element_type(ty)
    if isinstance(element, FloatType):
        number = round_float(float(number), element)
    elif isinstance(element, IndexType):
        number = signed(int(number), element.width)
    if isinstance(ty, ShapedType):
        return DenseElementsAttr((number,), ty)
    return scalar_attr(number, element)


def constant(number: float, ty: Type) -> Value:
    """The result of a new `arith.constant` that is not inserted yet."""
    return arith.Constant.create([], [ty], {"value": constant_attr(number, ty)}).results[0]
