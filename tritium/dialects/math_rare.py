"""Operations of the math dialect that few programs hold: they are known once a text names one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import ELEMENTWISE, PURE, SAME_TYPE, Attribute, Op, Operand, Result, Type, Value, i1, with_element
from .arith_flags import FastMathField
from .constraints import GOOD, floats, integers, is_float, is_integer, same_shapes

__all__ = ["ClampF", "FPowI", "IPowI", "IsFinite", "IsInf", "IsNaN", "IsNormal", "SinCos"]

_MATH = PURE | ELEMENTWISE | SAME_TYPE
_ASKS = "$operand attr-dict `:` type($operand)"


def _float_and_integer(op: Any) -> Sequence[str]:
    """A float and an integer; the result is like the float."""
    a, b = (v.type for v in op.operands)
    good = is_float[a] and is_integer[b] and same_shapes(a, b) and op.results[0].type is a
    return GOOD if good else (f"raises a float to a whole power, not {a} to {b} giving {op.results[0].type}",)


def _asks(op: Any) -> Sequence[str]:
    """A float; the result is i1 in its shape."""
    a, b = op.operands[0].type, op.results[0].type
    return GOOD if is_float[a] and b is with_element(a, i1) else (f"asks floats for an i1, not {a} for {b}",)


class _Asks:
    """Mixin: the result is an i1 for each element."""

    __slots__ = ()
    verify_op = _asks

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i1 in the operand's shape."""
        return [with_element(operands[0].type, i1)]


class ClampF(
    Op,
    name="math.clampf",
    traits=_MATH,
    assembly="$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """result = max(min(value, max), min)."""

    verify_op = floats

    value: Operand
    min: Operand
    max: Operand
    fastmath: FastMathField = None
    result: Result


class FPowI(
    Op,
    name="math.fpowi",
    traits=PURE | ELEMENTWISE,
    assembly="$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs) `,` type($rhs)",
):
    """result = lhs ** rhs, the power a signed integer."""

    verify_op = _float_and_integer

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class IPowI(Op, name="math.ipowi", traits=_MATH, assembly="$lhs `,` $rhs attr-dict `:` type($result)"):
    """result = lhs ** rhs of signed integers, wrapping; 0 to a negative power is undefined."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class IsFinite(_Asks, Op, name="math.isfinite", traits=PURE | ELEMENTWISE, assembly=_ASKS):
    """result = operand is neither infinite nor NaN."""

    operand: Operand
    result: Result


class IsInf(_Asks, Op, name="math.isinf", traits=PURE | ELEMENTWISE, assembly=_ASKS):
    """result = operand is infinite."""

    operand: Operand
    result: Result


class IsNaN(_Asks, Op, name="math.isnan", traits=PURE | ELEMENTWISE, assembly=_ASKS):
    """result = operand is NaN."""

    operand: Operand
    result: Result


class IsNormal(_Asks, Op, name="math.isnormal", traits=PURE | ELEMENTWISE, assembly=_ASKS):
    """result = operand is neither zero, denormal, infinite nor NaN."""

    operand: Operand
    result: Result


class SinCos(
    Op,
    name="math.sincos",
    traits=_MATH,
    assembly="$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($sin)",
):
    """sin, cos = the sine and the cosine of operand."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    sin: Result
    cos: Result
