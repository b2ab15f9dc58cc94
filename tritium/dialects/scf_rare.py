"""Operations of the scf dialect that few programs hold: they are known once a text names one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    RECURSIVE_EFFECTS,
    SINGLE_BLOCK,
    Attribute,
    Body,
    DenseArrayAttr,
    Flag,
    I64Array,
    IntegerAttr,
    Known,
    Operand,
    Operation,
    Region,
    RegionBranch,
    RegionEdge,
    Type,
    Value,
    VariadicRegion,
    VariadicResult,
    i64,
    index,
)
from .scf import Yield, block_yields

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["ExecuteRegion", "IndexSwitch"]


class ExecuteRegion(RegionBranch, name="scf.execute_region", traits=RECURSIVE_EFFECTS):
    """results = the values yielded by the region, which is executed once and may have several blocks.

    With `no_inline` it stays a region.
    """

    yield_class = Yield

    body_region: Body
    no_inline: Flag = False
    results_: VariadicResult

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into the region, and from its yields to the results."""
        if source is self:
            return [RegionEdge(self, 0, self.regions[0], ())]
        return [RegionEdge(source, 0, None, self.results)]

    def always_runs(self, region: Region) -> bool:
        """The only region does."""
        return True

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """None: types are given."""
        return []

    def verify_op(self) -> list[str]:
        """A region without arguments; what it yields has the types of the results."""
        blocks = self.regions[0].blocks
        if not blocks:
            return ["the region is empty"]
        out = ["the region has arguments"] if blocks[0].args else []
        types = [r.type for r in self.results]
        for block in blocks:
            if isinstance(block.last, Yield):
                out += block_yields(block, types, "the region")
        return out

    def print_assembly(self, printer: Printer) -> None:
        """`scf.execute_region -> f32 no_inline { … }`"""
        text = "scf.execute_region"
        if self.results:
            types = printer.types_of(self.results)
            text += f" -> {types}" if len(self.results) == 1 else f" -> ({types})"
        printer.write(text + (" no_inline " if self.no_inline else " "))
        printer.region(self.regions[0], entry_label=False)
        printer.write(printer.attr_dict(self.attributes, ("no_inline",)))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> ExecuteRegion:
        """The same, read."""
        types = parser.result_types() if parser.accept("->") else []
        no_inline = parser.accept("no_inline")
        region = parser.region()
        return cls(region, no_inline, results_=types, attributes=parser.attr_dict())


class IndexSwitch(RegionBranch, name="scf.index_switch", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """results = the values yielded by the region of the case equal to `arg`, or by the default region, the first."""

    yield_class = Yield

    arg: Operand
    cases: I64Array
    default_region: Body
    case_regions: VariadicRegion
    results_: VariadicResult

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into one of the regions, and from its yield to the results."""
        if source is self:
            return [RegionEdge(self, 1, region, ()) for region in self.regions]
        return [RegionEdge(source, 0, None, self.results)]

    def feasible_edges(self, source: Operation, known: Known) -> list[RegionEdge]:
        """Only one edge where `arg` is a constant."""
        edges = self.edges_from(source)
        arg = known(self.arg) if source is self else None
        if not isinstance(arg, IntegerAttr):
            return edges
        cases = list(self.cases)
        return [edges[cases.index(arg.value) + 1 if arg.value in cases else 0]]

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """None: types are given."""
        return []

    def verify_op(self) -> list[str]:
        """An index; a region for each of different cases; all yield values of the results' types."""
        out = [] if self.arg.type is index else [f"switches on an index, not on {self.arg.type}"]
        if len(set(self.cases)) != len(self.cases) or len(self.regions) != len(self.cases) + 1:
            out.append(f"{len(self.regions) - 1} regions for the cases {list(self.cases)}")
        types = [r.type for r in self.results]
        for region in self.regions:
            out += block_yields(region.blocks[0], types, "a case") if region.blocks else ["a region is empty"]
        return out

    def print_assembly(self, printer: Printer) -> None:
        """`scf.index_switch %i -> i32`, a line `case 2 { … }` for each case and `default { … }`."""
        text = f"scf.index_switch {printer.names[self.arg]}{printer.attr_dict(self.attributes, ('cases',))}"
        if self.results:
            types = printer.types_of(self.results)
            text += f" -> {types}" if len(self.results) == 1 else f" -> ({types})"
        printer.write(text + " ")
        words = [f"case {n} " for n in self.cases] + ["default "]
        for word, region in zip(words, [*self.regions[1:], self.regions[0]]):
            printer.write(printer.indent + word)
            printer.region(region, entry_label=False, terminators=bool(self.results))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> IndexSwitch:
        """The same, read."""
        arg = parser.operand()
        parser.typed([arg], [index])
        attributes = parser.attr_dict()
        types = parser.result_types() if parser.accept("->") else []
        cases: list[int] = []
        regions: list[Region] = []
        while parser.accept("case"):
            cases.append(parser.integer())
            regions.append(parser.region(terminator=Yield))
        parser.expect("default")
        regions.insert(0, parser.region(terminator=Yield))
        return cls.create([arg], types, {**attributes, "cases": DenseArrayAttr(tuple(cases), i64)}, regions)
