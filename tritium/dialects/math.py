"""The math dialect: functions of one, two or three numbers, per element."""

from __future__ import annotations

from ..ir import ELEMENTWISE, PURE, SAME_TYPE, Op, Operand, Result
from .arith_flags import FastMathField
from .constraints import floats, integers

__all__ = [
    "AbsF",
    "AbsI",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atan2",
    "Atanh",
    "Cbrt",
    "Ceil",
    "CopySign",
    "Cos",
    "Cosh",
    "Ctlz",
    "Ctpop",
    "Cttz",
    "Erf",
    "Erfc",
    "Exp",
    "Exp2",
    "ExpM1",
    "Floor",
    "Fma",
    "Log",
    "Log1p",
    "Log2",
    "Log10",
    "PowF",
    "Round",
    "RoundEven",
    "Rsqrt",
    "Sin",
    "Sinh",
    "Sqrt",
    "Tan",
    "Tanh",
    "Trunc",
]

_MATH = PURE | ELEMENTWISE | SAME_TYPE
_FAST = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
_UNARY_FAST = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
_UNARY = "$operand attr-dict `:` type($result)"


class Exp(Op, name="math.exp", traits=_MATH, assembly=_UNARY_FAST):
    """result = e ** x."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Exp2(Op, name="math.exp2", traits=_MATH, assembly=_UNARY_FAST):
    """result = 2 ** x."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class ExpM1(Op, name="math.expm1", traits=_MATH, assembly=_UNARY_FAST):
    """result = e ** x - 1."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Log(Op, name="math.log", traits=_MATH, assembly=_UNARY_FAST):
    """result = ln(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Log2(Op, name="math.log2", traits=_MATH, assembly=_UNARY_FAST):
    """result = log2(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Log10(Op, name="math.log10", traits=_MATH, assembly=_UNARY_FAST):
    """result = log10(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Log1p(Op, name="math.log1p", traits=_MATH, assembly=_UNARY_FAST):
    """result = ln(1 + x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Sin(Op, name="math.sin", traits=_MATH, assembly=_UNARY_FAST):
    """result = sin(x), x in radians."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Cos(Op, name="math.cos", traits=_MATH, assembly=_UNARY_FAST):
    """result = cos(x), x in radians."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Tan(Op, name="math.tan", traits=_MATH, assembly=_UNARY_FAST):
    """result = tan(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Asin(Op, name="math.asin", traits=_MATH, assembly=_UNARY_FAST):
    """result = arcsin(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Acos(Op, name="math.acos", traits=_MATH, assembly=_UNARY_FAST):
    """result = arccos(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Atan(Op, name="math.atan", traits=_MATH, assembly=_UNARY_FAST):
    """result = arctan(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Sinh(Op, name="math.sinh", traits=_MATH, assembly=_UNARY_FAST):
    """result = sinh(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Cosh(Op, name="math.cosh", traits=_MATH, assembly=_UNARY_FAST):
    """result = cosh(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Tanh(Op, name="math.tanh", traits=_MATH, assembly=_UNARY_FAST):
    """result = tanh(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Asinh(Op, name="math.asinh", traits=_MATH, assembly=_UNARY_FAST):
    """result = arsinh(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Acosh(Op, name="math.acosh", traits=_MATH, assembly=_UNARY_FAST):
    """result = arcosh(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Atanh(Op, name="math.atanh", traits=_MATH, assembly=_UNARY_FAST):
    """result = artanh(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Sqrt(Op, name="math.sqrt", traits=_MATH, assembly=_UNARY_FAST):
    """result = the square root, correctly rounded."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Rsqrt(Op, name="math.rsqrt", traits=_MATH, assembly=_UNARY_FAST):
    """result = 1 / sqrt(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Cbrt(Op, name="math.cbrt", traits=_MATH, assembly=_UNARY_FAST):
    """result = the cube root."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Erf(Op, name="math.erf", traits=_MATH, assembly=_UNARY_FAST):
    """result = the error function."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Erfc(Op, name="math.erfc", traits=_MATH, assembly=_UNARY_FAST):
    """result = 1 - erf(x)."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class AbsF(Op, name="math.absf", traits=_MATH, assembly=_UNARY_FAST):
    """result = |x|: the sign bit cleared."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Ceil(Op, name="math.ceil", traits=_MATH, assembly=_UNARY_FAST):
    """result = x rounded up."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Floor(Op, name="math.floor", traits=_MATH, assembly=_UNARY_FAST):
    """result = x rounded down."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Trunc(Op, name="math.trunc", traits=_MATH, assembly=_UNARY_FAST):
    """result = x rounded towards zero."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Round(Op, name="math.round", traits=_MATH, assembly=_UNARY_FAST):
    """result = x rounded to nearest, halves away from zero."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class RoundEven(Op, name="math.roundeven", traits=_MATH, assembly=_UNARY_FAST):
    """result = x rounded to nearest, halves to even."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result


class Atan2(Op, name="math.atan2", traits=_MATH, assembly=_FAST):
    """result = the angle of the point (rhs, lhs)."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class PowF(Op, name="math.powf", traits=_MATH, assembly=_FAST):
    """result = lhs ** rhs."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class CopySign(Op, name="math.copysign", traits=_MATH, assembly=_FAST):
    """result = |lhs| with the sign of rhs."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class AbsI(Op, name="math.absi", traits=_MATH, assembly=_UNARY):
    """result = |x|, wrapping: the minimum integer is unchanged."""

    verify_op = integers

    operand: Operand
    result: Result


class Ctpop(Op, name="math.ctpop", traits=_MATH, assembly=_UNARY):
    """result = the number of one bits."""

    verify_op = integers

    operand: Operand
    result: Result


class Ctlz(Op, name="math.ctlz", traits=_MATH, assembly=_UNARY):
    """result = the number of leading zero bits."""

    verify_op = integers

    operand: Operand
    result: Result


class Cttz(Op, name="math.cttz", traits=_MATH, assembly=_UNARY):
    """result = the number of trailing zero bits."""

    verify_op = integers

    operand: Operand
    result: Result


class Fma(
    Op,
    name="math.fma",
    traits=_MATH,
    assembly="$a `,` $b `,` $c (`fastmath` `` $fastmath^)? attr-dict `:` type($result)",
):
    """result = a * b + c, rounded once."""

    verify_op = floats

    a: Operand
    b: Operand
    c: Operand
    fastmath: FastMathField = None
    result: Result
