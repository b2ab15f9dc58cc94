"""Warps that do different things at the same time.

The warps that come to a `ttg.warp_specialize` run its `default` region, which may use values from outside and yields
the results. Each `partition` is run by further warps, `num_warps` of them, which see of the outside what is captured,
as their arguments, and end in `ttg.warp_return`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir import (
    ISOLATED,
    PURE,
    RECURSIVE_EFFECTS,
    RETURN_LIKE,
    TERMINATOR,
    Attribute,
    Block,
    Body,
    DenseArrayAttr,
    I32Array,
    Op,
    Operation,
    OptionalI32Array,
    Region,
    RegionBranch,
    RegionEdge,
    VariadicOperand,
    VariadicRegion,
    VariadicResult,
    i32,
)
from ..ir.parameters import power_of_two
from . import ttg_checks
from .constraints import listed
from .ttg_context import num_warps

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["WarpReturn", "WarpSpecialize", "WarpSpecializePartitions", "WarpYield"]


class WarpSpecialize(RegionBranch, name="ttg.warp_specialize", traits=RECURSIVE_EFFECTS):
    """Run `defaultRegion` and, on additional warps concurrently, the partitions; all synchronize at the end.

    The results are what the default region yields. Partition i has `partitionNumWarps[i]` warps, the first of which
    has the number `warpGroupStartIds[i]`. `partitionOpHolder` holds one `ttg.warp_specialize.partitions`, which takes
    what the partitions see of the outside and holds their regions.
    """

    partitionNumWarps: I32Array
    warpGroupStartIds: OptionalI32Array = None
    requestedRegisters: OptionalI32Array = None
    actualRegisters: OptionalI32Array = None
    defaultRegion: Body
    partitionOpHolder: Body
    defaultPassthrough: VariadicResult

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into both regions, which run at the same time; the default region yields the results."""
        if source is self:
            return [RegionEdge(self, 0, region, ()) for region in self.regions]
        return [RegionEdge(source, 0, None, self.results)] if source.parent_region is self.regions[0] else []

    def always_runs(self, region: Region) -> bool:
        """Both regions do."""
        return True

    @property
    def partitions(self) -> WarpSpecializePartitions:
        """The operation that holds the partitions' regions."""
        found = self.regions[1].blocks[0].first
        if not isinstance(found, WarpSpecializePartitions):
            raise ValueError(f"{self.name} has no partitions")
        return found

    def verify_op(self) -> list[str]:
        """Partitions of powers of two of warps, in no other such operation, in a kernel of whole warp groups."""
        holder = self.regions[1].blocks
        first = holder[0].first if holder else None
        if len(holder) != 1 or not isinstance(first, WarpSpecializePartitions) or first.next is not None:
            return ["the second region must hold one ttg.warp_specialize.partitions and nothing else"]
        out = []
        counts = self.partitionNumWarps
        if len(first.regions) != len(counts):
            out.append(f"{len(first.regions)} partitions, but partitionNumWarps has {len(counts)} entries")
        out += [f"partition {i} has {n} warps, no power of two" for i, n in enumerate(counts) if not power_of_two(n)]
        starts = self.warpGroupStartIds
        if starts is not None and len(starts) != len(counts):
            out.append(f"{len(starts)} entries of warpGroupStartIds for {len(counts)} partitions")
        parent = self.parent_op
        while parent is not None and not isinstance(parent, WarpSpecialize):
            parent = parent.parent_op
        if parent is not None:
            out.append("is in another ttg.warp_specialize")
        warps = num_warps(self)
        if warps is not None and warps % 4:
            out.append(f"needs a kernel whose number of warps is a multiple of 4, not {warps}")
        return out

    def print_assembly(self, printer: Printer) -> None:
        """`ttg.warp_specialize(%a) attributes {…}`, then `default {…}` and each `partition0(…) num_warps(4) {…}`."""
        inner = self.partitions
        printer.write(f"ttg.warp_specialize({printer.values(inner.operands)})")
        printer.write(printer.attr_dict(self.attributes, ("partitionNumWarps",), keyword="attributes "))
        printer.write(f"{printer.indent}default ")
        printer.region(self.regions[0], entry_label=False)
        for i, (region, warps) in enumerate(zip(inner.regions, self.partitionNumWarps)):
            arguments = printer.arguments(region.blocks[0].args)
            printer.write(f"{printer.indent}partition{i}({arguments}) num_warps({warps}) ")
            printer.region(region, entry_label=False)
        printer.write(f" : {printer.functional_type(inner.operands, self.results)}")

    @classmethod
    def parse_assembly(cls, parser: Parser) -> WarpSpecialize:
        """The same, read."""
        parser.expect("(")
        captures = parser.operands()
        parser.expect(")")
        attributes: dict[str, Attribute] = parser.attr_dict("attributes")
        parser.expect("default")
        default = parser.region()
        regions: list[Region] = []
        warps: list[int] = []
        while parser.accept(f"partition{len(regions)}"):
            arguments = parser.arguments()
            parser.expect("num_warps")
            parser.expect("(")
            warps.append(parser.integer())
            parser.expect(")")
            regions.append(parser.region(arguments, isolated=True))
        parser.expect(":")
        inputs, results = parser.functional_type()
        parser.typed(captures, inputs)
        holder = Block()
        holder.append(WarpSpecializePartitions.create(captures, [], {}, regions))
        attributes["partitionNumWarps"] = DenseArrayAttr(tuple(warps), i32)
        return cls.create([], results, attributes, [default, Region(holder)])


class WarpSpecializePartitions(
    RegionBranch, name="ttg.warp_specialize.partitions", traits=ISOLATED | RECURSIVE_EFFECTS | TERMINATOR
):
    """The partitions of the parent `ttg.warp_specialize`, with arguments `explicitCaptures`."""

    explicitCaptures: VariadicOperand
    partitionRegions: VariadicRegion

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into each partition, with what is captured."""
        if source is not self:
            return []
        return [RegionEdge(self, 0, region, region.blocks[0].args) for region in self.regions]

    def always_runs(self, region: Region) -> bool:
        """Each partition does."""
        return True

    def verify_op(self) -> list[str]:
        """Each region takes what is captured."""
        types = [v.type for v in self.operands]
        out = list(ttg_checks.inside("ttg.warp_specialize")(self))
        for i, region in enumerate(self.regions):
            if not region.blocks:
                out.append(f"partition {i} is empty")
            elif [a.type for a in region.blocks[0].args] != types:
                out.append(f"partition {i} takes {listed(region.blocks[0].args)}, captured are {listed(types)}")
        return out


class WarpYield(
    Op,
    name="ttg.warp_yield",
    traits=PURE | TERMINATOR | RETURN_LIKE,
    assembly="($values^)? attr-dict (`:` type($values)^)?",
):
    """End the default region; `values` are the results of the parent `ttg.warp_specialize`."""

    values: VariadicOperand

    def verify_op(self) -> list[str]:
        """Values of the types of the results."""
        out = list(ttg_checks.inside("ttg.warp_specialize")(self))
        parent = self.parent_op
        if not out and parent is not None and [v.type for v in self.operands] != [r.type for r in parent.results]:
            out.append(f"yields {listed(self.operands)}, the results are {listed(parent.results)}")
        return out


class WarpReturn(Op, name="ttg.warp_return", traits=PURE | TERMINATOR | RETURN_LIKE, assembly="attr-dict"):
    """End a partition."""

    verify_op = ttg_checks.inside("ttg.warp_specialize.partitions")
