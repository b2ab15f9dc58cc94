"""The cf dialect: branches between blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    TERMINATOR,
    Block,
    Branch,
    Op,
    Operand,
    OptionalI32Array,
    Str,
    Successor,
    Value,
    VariadicOperand,
    i1,
)
from .constraints import condition

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["Assert", "Br", "CondBr", "parse_successor", "print_successor"]


def print_successor(printer: Printer, block: Block, operands: list[Value]) -> str:
    """`^bb1(%a, %b : i32, f32)`"""
    if not operands:
        return printer.blocks[block]
    return f"{printer.blocks[block]}({printer.values(operands)} : {printer.types_of(operands)})"


def parse_successor(parser: Parser) -> tuple[Block, list[Value]]:
    block = parser.successor()
    operands: list[Value] = []
    if parser.accept("("):
        operands = parser.operands()
        parser.expect(":")
        parser.typed(operands, parser.types())
        parser.expect(")")
    return block, operands


class Br(Branch, name="cf.br", traits=TERMINATOR):
    """Branch to `dest` with arguments `dest_operands`."""

    dest_operands: VariadicOperand
    dest: Successor

    def successor_operands(self) -> list[list[Value]]:
        """The operands passed to each successor."""
        return [self.operands]

    def print_assembly(self, printer: Printer) -> None:
        """`cf.br ^bb1(%a : i32)`"""
        target = print_successor(printer, self.dest, self.operands)
        printer.write(f"cf.br {target}{printer.attr_dict(self.attributes)}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Br:
        """The same, read."""
        dest, operands = parse_successor(parser)
        return cls(operands, dest, attributes=parser.attr_dict())


class CondBr(Branch, name="cf.cond_br", traits=TERMINATOR):
    """Branch to `true_dest` with `true_operands` if `condition`, else to `false_dest` with `false_operands`.

    `branch_weights` tell how often either is expected.
    """

    verify_op = condition

    condition: Operand
    true_operands: VariadicOperand
    false_operands: VariadicOperand
    true_dest: Successor
    false_dest: Successor
    branch_weights: OptionalI32Array = None

    def successor_operands(self) -> list[list[Value]]:
        """The operands passed to each successor."""
        return [self.true_operands, self.false_operands]

    def print_assembly(self, printer: Printer) -> None:
        """`cf.cond_br %c, ^bb1(%a : i32), ^bb2`"""
        yes = print_successor(printer, self.true_dest, self.true_operands)
        no = print_successor(printer, self.false_dest, self.false_operands)
        extra = printer.attr_dict(self.attributes, ("operandSegmentSizes", "branch_weights"))
        weights = self.branch_weights
        given = "" if weights is None else f" weights([{', '.join(map(str, weights))}])"
        printer.write(f"cf.cond_br {printer.names[self.condition]}{given}, {yes}, {no}{extra}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> CondBr:
        """The same, read."""
        condition = parser.operand()
        parser.typed([condition], [i1])
        weights = None
        if parser.accept("weights"):
            parser.expect("(")
            weights = parser.integers()
            parser.expect(")")
        parser.expect(",")
        yes, yes_operands = parse_successor(parser)
        parser.expect(",")
        no, no_operands = parse_successor(parser)
        return cls(condition, yes_operands, no_operands, yes, no, weights, attributes=parser.attr_dict())


class Assert(Op, name="cf.assert", assembly="$arg `,` $msg attr-dict"):
    """Abort the program with `msg` unless `arg`."""

    verify_op = condition

    arg: Operand
    msg: Str
