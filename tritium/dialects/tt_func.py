"""The functions of the tt dialect, and calls of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

from ..ir import (
    ISOLATED,
    RETURN_LIKE,
    SYMBOL,
    TERMINATOR,
    TYPE_FIELD,
    AnyAttr,
    ArrayAttr,
    Attribute,
    Block,
    Body,
    DictionaryAttr,
    FunctionType,
    Op,
    OptionalStr,
    Region,
    Str,
    StringAttr,
    Symbol,
    SymbolRefAttr,
    Type,
    TypeAttr,
    VariadicOperand,
    VariadicResult,
    bool_attr,
)
from . import tt_checks

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["Call", "Func", "Return"]

_SHOWN = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


def _typed_with(printer: Printer, types: Iterable[Type], dictionaries: Sequence[DictionaryAttr]) -> list[str]:
    """Types, each with its dictionary of attributes where that is not empty."""
    texts = [printer.types[ty] for ty in types]
    for i, dictionary in enumerate(dictionaries):
        if dictionary.entries:
            texts[i] += f" {printer.types[dictionary]}"
    return texts


def _parse_results(parser: Parser) -> tuple[list[Type], list[dict[str, Attribute]]]:
    """`-> f32` or `-> (f32 {a}, i32)`: types and their attributes."""
    if not parser.accept("->"):
        return [], []
    if not parser.accept("("):
        return [parser.type()], []
    types: list[Type] = []
    attributes: list[dict[str, Attribute]] = []
    while not parser.accept(")"):
        if types:
            parser.expect(",")
        types.append(parser.type())
        attributes.append(parser.attr_dict())
    return types, attributes


class Func(Op, name="tt.func", traits=ISOLATED | SYMBOL):
    """A function; kernels are public. `arg_attrs` has one dictionary per argument (tt.divisibility, …)."""

    verify_op = tt_checks.func

    body_region: Body
    sym_name: Str
    function_type: Annotated[FunctionType, TYPE_FIELD]
    sym_visibility: OptionalStr = None
    arg_attrs: AnyAttr = None
    res_attrs: AnyAttr = None

    @classmethod
    def build(cls, name: str, ty: FunctionType, visibility: str = "public", noinline: bool = False) -> Func:
        """A function whose entry block has its arguments and no operation yet."""
        return cls(Region(Block(ty.inputs)), name, ty, visibility, attributes={"noinline": bool_attr(noinline)})

    @property
    def entry(self) -> Block:
        """The first block."""
        return self.regions[0].blocks[0]

    @property
    def noinline(self) -> bool:
        """True where calls must stay calls; for Triton this is a remark on the function, no part of its definition."""
        found = self.attributes.get("noinline")
        return found is not None and bool(getattr(found, "value", True))

    @property
    def is_declaration(self) -> bool:
        """True without a body."""
        return not self.regions[0].blocks

    def print_assembly(self, printer: Printer) -> None:
        """`tt.func public @f(%x: i32 {tt.divisibility = 16 : i32}) -> f32 attributes {noinline = false} { … }`"""
        visibility = f"{self.sym_visibility} " if self.sym_visibility else ""
        arg_attrs = self.arg_attrs.elements if self.arg_attrs is not None else ()
        res_attrs = self.res_attrs.elements if self.res_attrs is not None else ()
        ty = self.function_type
        if self.is_declaration:
            args = ", ".join(_typed_with(printer, ty.inputs, arg_attrs))
        else:
            args = printer.arguments(self.entry.args, arg_attrs)
        text = f"tt.func {visibility}{SymbolRefAttr(self.sym_name)}({args})"
        if ty.results:
            results = ", ".join(_typed_with(printer, ty.results, res_attrs))
            bare = len(ty.results) == 1 and not any(d.entries for d in res_attrs)
            text += f" -> {results}" if bare else f" -> ({results})"
        printer.write(text + printer.attr_dict(self.attributes, _SHOWN, keyword="attributes "))
        if not self.is_declaration:
            printer.write(" ")
            printer.region(self.regions[0], entry_label=False)

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Func:
        """The same, read."""
        attributes: dict[str, Attribute] = {}
        if (visibility := parser.accept_any("public", "private", "nested")) is not None:
            attributes["sym_visibility"] = StringAttr(visibility)
        attributes["sym_name"] = StringAttr(parser.symbol_name())
        args = parser.arguments()
        results, res_attrs = _parse_results(parser)
        attributes["function_type"] = TypeAttr(FunctionType(tuple(a.type for a in args), tuple(results)))
        for name, dictionaries in (("arg_attrs", [a.attributes for a in args]), ("res_attrs", res_attrs)):
            if any(dictionaries):
                attributes[name] = ArrayAttr(tuple(map(DictionaryAttr, dictionaries)))
        attributes.update(parser.attr_dict("attributes"))
        named = all(a.name for a in args)
        region = parser.region(args, isolated=True) if named and parser.peek("{") else Region()
        return cls.create([], [], attributes, [region])


class Return(Op, name="tt.return", traits=TERMINATOR | RETURN_LIKE, assembly="attr-dict ($srcs^ `:` type($srcs))?"):
    """Return `srcs` from the function."""

    verify_op = tt_checks.return_op

    srcs: VariadicOperand


class Call(Op, name="tt.call", assembly="$callee `(` $args `)` attr-dict `:` functional-type($args, $results_)"):
    """results = callee(args)"""

    verify_op = tt_checks.call

    callee: Symbol
    args: VariadicOperand
    arg_attrs: AnyAttr = None
    res_attrs: AnyAttr = None
    results_: VariadicResult
