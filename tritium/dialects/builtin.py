"""The builtin dialect: the module, and the temporary casts of conversions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..ir import (
    ISOLATED,
    NO_TERMINATOR,
    PURE,
    RECURSIVE_EFFECTS,
    SINGLE_BLOCK,
    SYMBOL_TABLE,
    Attribute,
    Block,
    Body,
    Op,
    Operation,
    OptionalStr,
    Region,
    StringAttr,
    SymbolRefAttr,
    VariadicOperand,
    VariadicResult,
)

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["Module", "UnrealizedConversionCast"]


def _without_bindings(module: Module) -> Any:
    raise AttributeError(
        "a module has the accessors of Triton's bindings once tritium.compiler.module_views is imported"
    )


class Module(
    Op,
    name="builtin.module",
    traits=ISOLATED | SYMBOL_TABLE | NO_TERMINATOR | SINGLE_BLOCK | RECURSIVE_EFFECTS,
):
    """The unit of compilation: a list of functions and module attributes."""

    __slots__ = ("context",)  # what a caller of Triton's bindings assigned

    body_region: Body
    sym_name: OptionalStr = None
    context: Any

    #: What has the accessors of Triton's bindings (`get_int_attr`, `str_nodebug`, …) for a module, which
    #: `__getattr__` asks; `compiler.module_views` sets it.
    bindings = staticmethod(_without_bindings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.bindings(self), name)

    def walk(self, function: Callable[[Any], Any] | None = None) -> Iterator[Operation]:
        """As `Operation.walk`; with a function as in Triton's bindings, which call it with each operation's view."""
        if function is None:
            return super().walk()
        self.bindings(self).walk(function)
        return iter(())

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
        attributes: dict[str, Attribute] = {}
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
    """outputs = inputs, reinterpreted as other types."""

    inputs: VariadicOperand
    outputs: VariadicResult
