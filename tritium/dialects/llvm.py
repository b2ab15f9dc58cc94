"""The llvm dialect: what an optimizer may assume, and what tiles have become when each thread is written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    WRITE,
    AnyAttr,
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    I32Array,
    Op,
    Operand,
    StringAttr,
    Value,
    VariadicOperand,
    i32,
    quote,
)
from . import llvm_loops
from .constraints import condition

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["Assume", "llvm_loops"]


class Assume(Op, name="llvm.intr.assume", traits=WRITE):
    """Undefined unless `cond` (i1) holds; written so that it keeps its place among branches.

    Bundles of further operands, named by `op_bundle_tags`, say more of what may be assumed, of pointers for example.
    """

    cond: Operand
    op_bundle_operands: VariadicOperand
    op_bundle_sizes: I32Array
    op_bundle_tags: AnyAttr = None

    @classmethod
    def of(cls, cond: Value) -> Assume:
        """The assumption without bundles."""
        return cls(cond, [], ())

    def verify_op(self) -> list[str]:
        """An i1, and a tag for each bundle."""
        out = list(condition(self))
        sizes, tags = self.op_bundle_sizes, self.op_bundle_tags
        if sum(sizes) != len(self.op_bundle_operands) or len(sizes) != (0 if tags is None else len(tags.elements)):
            out.append(f"bundles of {list(sizes)} operands for {len(self.op_bundle_operands)} operands and {tags}")
        return out

    def print_assembly(self, printer: Printer) -> None:
        """`llvm.intr.assume %c ["align"(%p, %n : !tt.ptr<f32>, i32)] : i1`"""
        text, at, values = f"llvm.intr.assume {printer.names[self.cond]}", 0, self.op_bundle_operands
        bundles = []
        for size, tag in zip(self.op_bundle_sizes, self.op_bundle_tags.elements if self.op_bundle_tags else ()):
            part = values[at : at + size]
            types = f" : {printer.types_of(part)}" if part else ""
            bundles.append(f"{quote(tag.value)}({printer.values(part)}{types})")
            at += size
        if self.op_bundle_tags is not None:
            text += f" [{', '.join(bundles)}]"
        printer.write(f"{text} : {printer.types[self.cond.type]}")
        printer.write(printer.attr_dict(self.attributes, ("op_bundle_sizes", "op_bundle_tags")))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Assume:
        """The same, read."""
        cond = parser.operand()
        tags: list[Attribute] = []
        groups: list[list[Value]] = []
        bundled = parser.accept("[")
        if bundled:
            parser.comma_list(lambda: _parse_bundle(parser, tags, groups), "]")
        before = parser.attr_dict()  # where it once stood
        parser.expect(":")
        parser.typed([cond], [parser.type()])
        values = [v for group in groups for v in group]
        sizes = DenseArrayAttr(tuple(map(len, groups)), i32)
        tags_attr = ArrayAttr(tuple(tags)) if bundled else None
        return cls(cond, values, sizes, tags_attr, attributes=before | parser.attr_dict())


def _parse_bundle(parser: Parser, tags: list[Attribute], groups: list[list[Value]]) -> None:
    """`"align"(%p, %n : !tt.ptr<f32>, i32)`"""
    tags.append(StringAttr(parser.string()))
    parser.expect("(")
    values = parser.operands()
    if values:
        parser.expect(":")
        parser.typed(values, parser.types())
    groups.append(values)
    parser.expect(")")
