"""The arith dialect: integer and floating-point arithmetic on scalars, tensors and vectors."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

from ..ir import (
    COMMUTATIVE,
    CONSTANT,
    ELEMENTWISE,
    MATERIALIZERS,
    PURE,
    REMATERIALIZABLE,
    SAME_TYPE,
    TRAPS,
    AnyAttr,
    Attribute,
    DenseElementsAttr,
    Flag,
    FloatAttr,
    IntegerAttr,
    Op,
    Operand,
    Result,
    ShapedType,
    Type,
    Value,
    element_type,
    enum_field,
    i1,
    i64,
    index,
    scalar_attr,
    with_element,
)
from .arith_casts import (
    Bitcast,
    ExtF,
    ExtSI,
    ExtUI,
    FPToSI,
    FPToUI,
    IndexCast,
    IndexCastUI,
    SIToFP,
    TruncF,
    TruncI,
    UIToFP,
)
from .arith_flags import FastMathField, OverflowField, RoundingMode
from .arith_floats import (
    AddF,
    DivF,
    MaximumF,
    MaxNumF,
    MinimumF,
    MinNumF,
    MulF,
    NegF,
    RemF,
    SubF,
)
from .constraints import all_integers, compare, integers, listed

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer
    from ..support import Location

__all__ = [
    "AddF",
    "AddI",
    "AddUIExtended",
    "AndI",
    "Bitcast",
    "CeilDivSI",
    "CeilDivUI",
    "CmpF",
    "CmpFPredicate",
    "CmpI",
    "CmpIPredicate",
    "Constant",
    "DivF",
    "DivSI",
    "DivUI",
    "ExtF",
    "ExtSI",
    "ExtUI",
    "FPToSI",
    "FPToUI",
    "FloorDivSI",
    "IndexCast",
    "IndexCastUI",
    "MaxNumF",
    "MaxSI",
    "MaxUI",
    "MaximumF",
    "MinNumF",
    "MinSI",
    "MinUI",
    "MinimumF",
    "MulF",
    "MulI",
    "MulSIExtended",
    "MulUIExtended",
    "NegF",
    "OrI",
    "RemF",
    "RemSI",
    "RemUI",
    "RoundingMode",
    "SIToFP",
    "Select",
    "ShLI",
    "ShRSI",
    "ShRUI",
    "SubF",
    "SubI",
    "TruncF",
    "TruncI",
    "UIToFP",
    "XOrI",
    "is_zero",
]

_BINARY = PURE | ELEMENTWISE | SAME_TYPE
_CAST = PURE | ELEMENTWISE
_OVERFLOW = "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
_EXACT = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
_PLAIN = "$lhs `,` $rhs attr-dict `:` type($result)"


class CmpIPredicate(enum.IntEnum):
    """Predicates of integer comparisons, with MLIR's values."""

    eq = 0
    ne = 1
    slt = 2
    sle = 3
    sgt = 4
    sge = 5
    ult = 6
    ule = 7
    ugt = 8
    uge = 9


class CmpFPredicate(enum.IntEnum):
    """Predicates of float comparisons, with MLIR's values: o* is false, u* is true if either operand is NaN."""

    false = 0
    oeq = 1
    ogt = 2
    oge = 3
    olt = 4
    ole = 5
    one = 6
    ord = 7
    ueq = 8
    ugt = 9
    uge = 10
    ult = 11
    ule = 12
    une = 13
    uno = 14
    true = 15


CmpIField = Annotated[CmpIPredicate, enum_field(CmpIPredicate, i64)]
CmpFField = Annotated[CmpFPredicate, enum_field(CmpFPredicate, i64)]
NUMBERS = (IntegerAttr, FloatAttr, DenseElementsAttr)
"""The attributes that `arith.constant` may have for its value."""


class Constant(Op, name="arith.constant", traits=PURE | CONSTANT | REMATERIALIZABLE):
    """result = value: an integer, float or dense-elements attribute."""

    value: AnyAttr
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The type of the attribute."""
        return [attributes["value"].type]  # type: ignore[attr-defined]

    @classmethod
    def of(cls, value: float, ty: Type) -> Constant:
        """The number `value` in every element of `ty`."""
        if isinstance(ty, ShapedType):
            return cls(DenseElementsAttr((value,), ty))
        return cls(scalar_attr(value, ty))

    def result_name(self) -> str:
        """`c1_i32`, `true`, `cst`"""
        value = self.attributes.get("value")
        if isinstance(value, IntegerAttr):
            if value.type is i1:
                return "true" if value.value else "false"
            return f"c{value.value}" if value.type is index else f"c{value.value}_{value.type}"
        return "cst"

    @classmethod
    def materialize(cls, value: Attribute, ty: Type, loc: Location) -> Constant | None:
        """The constant `value`, if it is a number or a tensor of numbers."""
        return cls.create([], [ty], {"value": value}, loc=loc) if isinstance(value, NUMBERS) else None

    def print_assembly(self, printer: Printer) -> None:
        """`arith.constant 1 : i32`"""
        extra = printer.attr_dict(self.attributes, ("value",))
        printer.write(f"arith.constant{extra} {printer.attribute(self.attributes['value'])}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Constant:
        """The same, read."""
        attributes = parser.attr_dict()
        value = attributes["value"] = parser.attribute()
        ty = getattr(value, "type", None)
        if not isinstance(value, NUMBERS):
            raise parser.error(f"{value} is no constant: a number or dense<...> with a type is needed")
        return cls.create([], [ty], attributes)  # type: ignore[list-item]

    def verify_op(self) -> list[str]:
        """The result has the type of the attribute."""
        ty = getattr(self.attributes["value"], "type", None)
        if ty is self.results[0].type:
            return []
        return [f"the value {self.attributes['value']} is no {self.results[0].type}"]

    def splat_value(self) -> int | float | None:
        """The number in every element, or None when elements differ."""
        value = self.value
        if isinstance(value, (IntegerAttr, FloatAttr)):
            return value.value
        if isinstance(value, DenseElementsAttr) and value.is_splat:
            return value.values[0]
        return None


MATERIALIZERS["arith"] = Constant.materialize


class AddI(Op, name="arith.addi", traits=_BINARY | COMMUTATIVE | REMATERIALIZABLE, assembly=_OVERFLOW):
    """result = lhs + rhs, two's complement, wrapping."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    result: Result


class SubI(Op, name="arith.subi", traits=_BINARY | REMATERIALIZABLE, assembly=_OVERFLOW):
    """result = lhs - rhs, wrapping."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    result: Result


class MulI(Op, name="arith.muli", traits=_BINARY | COMMUTATIVE | REMATERIALIZABLE, assembly=_OVERFLOW):
    """result = lhs * rhs, low half, wrapping."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    result: Result


class DivSI(Op, name="arith.divsi", traits=_BINARY | TRAPS, assembly=_EXACT):
    """result = lhs / rhs, signed, rounded towards zero; division by zero is undefined."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    isExact: Flag = False
    result: Result


class DivUI(Op, name="arith.divui", traits=_BINARY | TRAPS, assembly=_EXACT):
    """result = lhs / rhs, unsigned; division by zero is undefined."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    isExact: Flag = False
    result: Result


class CeilDivSI(Op, name="arith.ceildivsi", traits=_BINARY | TRAPS, assembly=_PLAIN):
    """result = ceil(lhs / rhs), signed."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class CeilDivUI(Op, name="arith.ceildivui", traits=_BINARY | TRAPS, assembly=_PLAIN):
    """result = ceil(lhs / rhs), unsigned."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class FloorDivSI(Op, name="arith.floordivsi", traits=_BINARY | TRAPS, assembly=_PLAIN):
    """result = floor(lhs / rhs), signed."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class RemSI(Op, name="arith.remsi", traits=_BINARY | TRAPS, assembly=_PLAIN):
    """result = lhs - (lhs / rhs) * rhs with the signed division that rounds towards zero."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class RemUI(Op, name="arith.remui", traits=_BINARY | TRAPS, assembly=_PLAIN):
    """result = lhs mod rhs, unsigned."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class AndI(Op, name="arith.andi", traits=_BINARY | COMMUTATIVE | REMATERIALIZABLE, assembly=_PLAIN):
    """result = lhs & rhs."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class OrI(Op, name="arith.ori", traits=_BINARY | COMMUTATIVE, assembly=_PLAIN):
    """result = lhs | rhs."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class XOrI(Op, name="arith.xori", traits=_BINARY | COMMUTATIVE, assembly=_PLAIN):
    """result = lhs ^ rhs."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class ShLI(Op, name="arith.shli", traits=_BINARY, assembly=_OVERFLOW):
    """result = lhs << rhs; poison when rhs >= width."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    result: Result


class ShRSI(Op, name="arith.shrsi", traits=_BINARY, assembly=_EXACT):
    """result = lhs >> rhs, sign bits shifted in; poison when rhs >= width."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    isExact: Flag = False
    result: Result


class ShRUI(Op, name="arith.shrui", traits=_BINARY, assembly=_EXACT):
    """result = lhs >> rhs, zeros shifted in; poison when rhs >= width."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    isExact: Flag = False
    result: Result


class MaxSI(Op, name="arith.maxsi", traits=_BINARY | COMMUTATIVE, assembly=_PLAIN):
    """result = max(lhs, rhs), signed."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class MaxUI(Op, name="arith.maxui", traits=_BINARY | COMMUTATIVE, assembly=_PLAIN):
    """result = max(lhs, rhs), unsigned."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class MinSI(Op, name="arith.minsi", traits=_BINARY | COMMUTATIVE, assembly=_PLAIN):
    """result = min(lhs, rhs), signed."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


class MinUI(Op, name="arith.minui", traits=_BINARY | COMMUTATIVE, assembly=_PLAIN):
    """result = min(lhs, rhs), unsigned."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    result: Result


def _bool_like(operands: list[Value]) -> list[Type]:
    return [with_element(operands[0].type, i1)]


class CmpI(
    Op,
    name="arith.cmpi",
    traits=_CAST | REMATERIALIZABLE,
    assembly="$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)",
):
    """result = lhs <predicate> rhs, per element."""

    verify_op = compare

    predicate: CmpIField
    lhs: Operand
    rhs: Operand
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i1 in the shape of the operands."""
        return _bool_like(operands)


class CmpF(
    Op,
    name="arith.cmpf",
    traits=_CAST,
    assembly="$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)",
):
    """result = lhs <predicate> rhs, per element."""

    verify_op = compare

    predicate: CmpFField
    lhs: Operand
    rhs: Operand
    fastmath: FastMathField = None
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """i1 in the shape of the operands."""
        return _bool_like(operands)


class Select(Op, name="arith.select", traits=_CAST):
    """result = condition ? true_value : false_value; a scalar condition selects a whole tensor."""

    scalar_operands = (0,)

    condition: Operand
    true_value: Operand
    false_value: Operand
    result: Result

    def verify_op(self) -> list[str]:
        """An i1 condition, and values and result of one type."""
        c, a, b = (v.type for v in self.operands)
        out = [] if element_type(c) is i1 else [f"the condition must be i1, not {c}"]
        if not (a is b is self.results[0].type):
            out.append(f"values and result must have one type, not {listed([a, b, self.results[0]])}")
        return out

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The type of the values."""
        return [operands[1].type]

    def print_assembly(self, printer: Printer) -> None:
        """`arith.select %c, %a, %b : f32`, or with the type of a shaped condition first."""
        c = self.operands[0].type
        first = "" if c is i1 else f"{printer.types[c]}, "
        values, extra = printer.values(self.operands), printer.attr_dict(self.attributes)
        printer.write(f"arith.select {values}{extra} : {first}{printer.types[self.results[0].type]}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Select:
        """The same, read."""
        operands = parser.operands(3)
        attributes = parser.attr_dict()
        parser.expect(":")
        types = parser.types()
        if len(types) > 2:
            raise parser.error("arith.select has the type of its condition, then that of its values")
        condition, ty = types if len(types) == 2 else (i1, types[0])
        parser.typed(operands, [condition, ty, ty])
        return cls.create(operands, [ty], attributes)


class AddUIExtended(
    Op,
    name="arith.addui_extended",
    traits=PURE | ELEMENTWISE | COMMUTATIVE,
    assembly="$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)",
):
    """sum = lhs + rhs; overflow = the carry."""

    verify_op = all_integers

    lhs: Operand
    rhs: Operand
    sum: Result
    overflow: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The operand type, and i1 in its shape."""
        return [operands[0].type, with_element(operands[0].type, i1)]


class MulSIExtended(
    Op,
    name="arith.mulsi_extended",
    traits=PURE | ELEMENTWISE | SAME_TYPE | COMMUTATIVE,
    assembly="$lhs `,` $rhs attr-dict `:` type($lhs)",
):
    """low, high = the halves of lhs * rhs, signed."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    low: Result
    high: Result


class MulUIExtended(
    Op,
    name="arith.mului_extended",
    traits=PURE | ELEMENTWISE | SAME_TYPE | COMMUTATIVE,
    assembly="$lhs `,` $rhs attr-dict `:` type($lhs)",
):
    """low, high = the halves of lhs * rhs, unsigned."""

    verify_op = integers

    lhs: Operand
    rhs: Operand
    low: Result
    high: Result


def is_zero(value: Value) -> bool:
    """Whether a value is a constant whose elements all are 0 (of floats, of either sign)."""
    op = value.defining_op
    return isinstance(op, Constant) and op.splat_value() == 0
