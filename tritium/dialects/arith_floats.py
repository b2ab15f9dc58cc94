"""The arith operations on floating-point numbers."""

from __future__ import annotations

from ..ir import COMMUTATIVE, ELEMENTWISE, PURE, SAME_TYPE, Op, Operand, Result
from .arith_flags import FastMathField, RoundingField
from .constraints import floats

__all__ = [
    "AddF",
    "SubF",
    "MulF",
    "DivF",
    "RemF",
    "MaximumF",
    "MinimumF",
    "MaxNumF",
    "MinNumF",
    "NegF",
]

_BINARY = PURE | ELEMENTWISE | SAME_TYPE
_FAST = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
_ROUNDED = "$lhs `,` $rhs ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
_UNARY_FAST = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"


class AddF(Op, name="arith.addf", traits=_BINARY | COMMUTATIVE, assembly=_ROUNDED):
    """result = lhs + rhs."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    roundingmode: RoundingField = None
    result: Result


class SubF(Op, name="arith.subf", traits=_BINARY, assembly=_ROUNDED):
    """result = lhs - rhs."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    roundingmode: RoundingField = None
    result: Result


class MulF(Op, name="arith.mulf", traits=_BINARY | COMMUTATIVE, assembly=_ROUNDED):
    """result = lhs * rhs."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    roundingmode: RoundingField = None
    result: Result


class DivF(Op, name="arith.divf", traits=_BINARY, assembly=_ROUNDED):
    """result = lhs / rhs, correctly rounded."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    roundingmode: RoundingField = None
    result: Result


class RemF(Op, name="arith.remf", traits=_BINARY, assembly=_FAST):
    """result = fmod(lhs, rhs): the sign is that of lhs."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class MaximumF(Op, name="arith.maximumf", traits=_BINARY | COMMUTATIVE, assembly=_FAST):
    """result = max(lhs, rhs); NaN if either is NaN; +0 > -0."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class MinimumF(Op, name="arith.minimumf", traits=_BINARY | COMMUTATIVE, assembly=_FAST):
    """result = min(lhs, rhs); NaN if either is NaN; -0 < +0."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class MaxNumF(Op, name="arith.maxnumf", traits=_BINARY | COMMUTATIVE, assembly=_FAST):
    """result = max(lhs, rhs); if one operand is NaN, the other."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class MinNumF(Op, name="arith.minnumf", traits=_BINARY | COMMUTATIVE, assembly=_FAST):
    """result = min(lhs, rhs); if one operand is NaN, the other."""

    verify_op = floats

    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result


class NegF(Op, name="arith.negf", traits=_BINARY, assembly=_UNARY_FAST):
    """result = -operand: the sign bit flipped."""

    verify_op = floats

    operand: Operand
    fastmath: FastMathField = None
    result: Result
