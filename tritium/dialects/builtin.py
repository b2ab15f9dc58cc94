"""The builtin dialect: the module, and the cast that conversions leave behind for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    ISOLATED,
    NO_TERMINATOR,
    PURE,
    RECURSIVE_EFFECTS,
    SINGLE_BLOCK,
    SYMBOL_TABLE,
    Block,
    Body,
    Op,
    Region,
    Str,
    StringAttr,
    SymbolRefAttr,
    VariadicOperand,
    VariadicResult,
)

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["Module", "UnrealizedConversionCast"]


class Module(
    Op,
    name="builtin.module",
    traits=ISOLATED | SYMBOL_TABLE | NO_TERMINATOR | SINGLE_BLOCK | RECURSIVE_EFFECTS,
):
    """The unit of compilation: a list of functions and module attributes."""

    body_region: Body
    sym_name: Str = None

    @property
    def body(self) -> Block:
        """The block that holds the functions."""
        return self.regions[0].blocks[0]

    @classmethod
    def empty(cls) -> Module:
        """A module with an empty body."""
        return cls(Region(Block()))

    def print_assembly(self, printer: Printer) -> None:
        """`module @name attributes {…} { … }`"""
        name = f" {SymbolRefAttr(self.sym_name)}" if self.sym_name is not None else ""
        printer.write(f"module{name}{printer.attr_dict(self.attributes, ('sym_name',), keyword='attributes ')} ")
        printer.region(self.regions[0])

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Module:
        """The same, read."""
        attributes = {}
        if parser.peek("@"):
            attributes["sym_name"] = StringAttr(parser.symbol_name())
        attributes.update(parser.attr_dict("attributes"))
        return cls.create([], [], attributes, [parser.region(isolated=True)])


class UnrealizedConversionCast(
    Op,
    name="builtin.unrealized_conversion_cast",
    traits=PURE,
    assembly="($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict",
):
    """outputs = inputs, seen as other types."""

    inputs: VariadicOperand
    outputs: VariadicResult
