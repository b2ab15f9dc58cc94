"""The operations of the tt dialect that make tiles and change their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import I32 as I32Field
from ..ir import (
    PURE,
    REARRANGES,
    REMATERIALIZABLE,
    REPEATS,
    Attribute,
    Flag,
    I32Array,
    Op,
    Operand,
    Result,
    TensorType,
    Type,
    Value,
    element_type,
    i32,
)
from . import tt_checks

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = [
    "MakeRange",
    "Splat",
    "Unsplat",
    "ExpandDims",
    "Broadcast",
    "Reshape",
    "Cat",
    "Join",
    "Split",
    "Trans",
    "Gather",
]

_TO = "$src attr-dict `:` type($src) `->` type($result)"


class MakeRange(Op, name="tt.make_range", traits=PURE | REMATERIALIZABLE, assembly="attr-dict `:` type($result)"):
    """result = [start, start + 1, …, end - 1]"""

    verify_op = tt_checks.make_range

    start: I32Field
    end: I32Field
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """A tensor of i32."""
        n = attributes["end"].value - attributes["start"].value  # type: ignore[attr-defined]
        return [TensorType((n,), i32)]


class Splat(Op, name="tt.splat", traits=PURE | REPEATS | REARRANGES | REMATERIALIZABLE, assembly=_TO):
    """result[i…] = src, a scalar."""

    verify_op = tt_checks.splat

    src: Operand
    result: Result


class Unsplat(Op, name="tt.unsplat", traits=PURE, assembly="$src attr-dict `:` type($src)"):
    """result = the only element of `src`."""

    verify_op = tt_checks.unsplat

    src: Operand
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The element type."""
        return [element_type(operands[0].type)]


class ExpandDims(Op, name="tt.expand_dims", traits=PURE | REPEATS | REARRANGES | REMATERIALIZABLE, assembly=_TO):
    """result = `src` with a dimension of size 1 inserted at `axis`."""

    verify_op = tt_checks.expand_dims

    src: Operand
    axis: I32Field
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The shape with a 1 at `axis`."""
        ty = operands[0].type
        assert isinstance(ty, TensorType)
        axis = attributes["axis"].value  # type: ignore[attr-defined]
        return [TensorType((*ty.shape[:axis], 1, *ty.shape[axis:]), ty.element)]


class Broadcast(Op, name="tt.broadcast", traits=PURE | REPEATS | REARRANGES | REMATERIALIZABLE, assembly=_TO):
    """result = `src` with its dimensions of size 1 repeated."""

    verify_op = tt_checks.broadcast

    src: Operand
    result: Result


class Reshape(
    Op,
    name="tt.reshape",
    traits=PURE | REARRANGES,
    assembly="$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict"
    " `:` type($src) `->` type($result)",
):
    """result = the elements of `src` in row-major order in another shape (in any order with `allow_reorder`)."""

    verify_op = tt_checks.reshape

    src: Operand
    allow_reorder: Flag = False
    efficient_layout: Flag = False
    result: Result


class Cat(Op, name="tt.cat", traits=PURE, assembly="$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"):
    """result = lhs followed by rhs along dimension 0."""

    verify_op = tt_checks.cat

    lhs: Operand
    rhs: Operand
    result: Result


class Join(
    Op, name="tt.join", traits=PURE | REARRANGES, assembly="$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
):
    """result[…, 0] = lhs, result[…, 1] = rhs."""

    verify_op = tt_checks.join

    lhs: Operand
    rhs: Operand
    result: Result


class Split(Op, name="tt.split", traits=PURE | REARRANGES, assembly="$src attr-dict `:` type($src) `->` type($outLHS)"):
    """outLHS = src[…, 0], outRHS = src[…, 1]."""

    verify_op = tt_checks.split

    src: Operand
    outLHS: Result
    outRHS: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The shape without its last dimension, or the element type for rank 1."""
        ty = operands[0].type
        assert isinstance(ty, TensorType)
        half = TensorType(ty.shape[:-1], ty.element)
        return [half, half]

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Split:
        """Both results have the type that is written once; with a layout it does not follow from the operand's."""
        src = parser.operand()
        attributes = parser.attr_dict()
        parser.expect(":")
        parser.typed([src], [parser.type()])
        parser.expect("->")
        half = parser.type()
        return cls.create([src], [half, half], attributes)


class Trans(Op, name="tt.trans", traits=PURE | REARRANGES, assembly=_TO):
    """result = `src` with dimension k of the result being dimension order[k] of `src`."""

    verify_op = tt_checks.trans

    src: Operand
    order: I32Array
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The permuted shape."""
        ty = operands[0].type
        assert isinstance(ty, TensorType)
        order = attributes["order"].values  # type: ignore[attr-defined]
        return [TensorType(tuple(ty.shape[k] for k in order), ty.element)]


class Gather(
    Op,
    name="tt.gather",
    traits=PURE,
    assembly="$src `[` $indices `]` attr-dict `:` functional-type(operands, $result)",
):
    """result[i…] = src[i… with the coordinate at `axis` replaced by indices[i…]]"""

    verify_op = tt_checks.gather

    src: Operand
    indices: Operand
    axis: I32Field
    efficient_layout: Flag = False
    result: Result
