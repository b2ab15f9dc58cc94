"""Operations of the arith dialect that few programs hold: they are known once a text names one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import ELEMENTWISE, PURE, SAME_TYPE, Attribute, Op, Operand, Result, Type, Value, i1, with_element
from .arith_flags import OptionalFastMathField, RoundingField
from .constraints import GOOD, all_integers, bit_width, floats, is_float, listed

__all__ = ["ConvertF", "FlushDenormals", "ScalingExtF", "ScalingTruncF", "SubUIExtended"]

_ROUNDING = "($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict "


def _same_width(op: Any) -> Sequence[str]:
    """Between different float types of one width."""
    a, b = op.operands[0].type, op.results[0].type
    if is_float[a] and is_float[b] and bit_width(a) == bit_width(b) and a is not b:
        return GOOD
    return (f"converts between different floats of one width, not {a} to {b}",)


def _scaled(op: Any) -> Sequence[str]:
    """Floats, scales as floats, and floats as a result: wider for an extension, narrower for a truncation."""
    a, scale, b = (*(v.type for v in op.operands), op.results[0].type)
    if not (is_float[a] and is_float[scale] and is_float[b]):
        return (f"works on floats, not {listed([a, scale])} to {b}",)
    more = 1 if isinstance(op, ScalingExtF) else -1
    if (bit_width(b) - bit_width(a)) * more <= 0:
        return (f"the result must have {'more' if more > 0 else 'fewer'} bits than the operand: {a} to {b}",)
    return GOOD


class SubUIExtended(
    Op,
    name="arith.subui_extended",
    traits=PURE | ELEMENTWISE,
    assembly="$lhs `,` $rhs attr-dict `:` type($diff) `,` type($borrow)",
):
    """diff = lhs - rhs; borrow = lhs < rhs, unsigned."""

    verify_op = all_integers

    lhs: Operand
    rhs: Operand
    diff: Result
    borrow: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The operand type, and i1 in its shape."""
        return [operands[0].type, with_element(operands[0].type, i1)]


class ConvertF(
    Op,
    name="arith.convertf",
    traits=PURE | ELEMENTWISE,
    assembly="$in_ " + _ROUNDING + "`:` type($in_) `to` type($out)",
):
    """out = in rounded to another float type of the same width."""

    verify_op = _same_width

    in_: Operand
    roundingmode: RoundingField = None
    fastmath: OptionalFastMathField = None
    out: Result


class FlushDenormals(
    Op,
    name="arith.flush_denormals",
    traits=PURE | ELEMENTWISE | SAME_TYPE,
    assembly="$operand attr-dict `:` type($operand)",
):
    """result = operand, with denormals replaced by zero of the same sign."""

    verify_op = floats

    operand: Operand
    result: Result


class ScalingExtF(
    Op,
    name="arith.scaling_extf",
    traits=PURE | ELEMENTWISE,
    assembly="$in_ `,` $scale (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `,` type($scale) `to` type($out)",
):
    """out = in * 2 ** e, e the exponent of scale, in a wider type."""

    verify_op = _scaled

    in_: Operand
    scale: Operand
    fastmath: OptionalFastMathField = None
    out: Result


class ScalingTruncF(
    Op,
    name="arith.scaling_truncf",
    traits=PURE | ELEMENTWISE,
    assembly="$in_ `,` $scale " + _ROUNDING + "`:` type($in_) `,` type($scale) `to` type($out)",
):
    """out = in / 2 ** e, e the exponent of scale, rounded to a narrower type."""

    verify_op = _scaled

    in_: Operand
    scale: Operand
    roundingmode: RoundingField = None
    fastmath: OptionalFastMathField = None
    out: Result
