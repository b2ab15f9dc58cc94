"""The scf dialect: structured control flow with regions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..ir import (
    RECURSIVE_EFFECTS,
    RETURN_LIKE,
    SINGLE_BLOCK,
    TERMINATOR,
    UNIT,
    Attribute,
    Block,
    Body,
    CountedLoop,
    Flag,
    IfLike,
    IntegerAttr,
    Known,
    LoopLike,
    Op,
    Operand,
    Operation,
    Region,
    RegionEdge,
    Type,
    Value,
    VariadicOperand,
    VariadicResult,
    i1,
    index,
    shape_of,
)
from .constraints import condition, is_integer, listed

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = ["Condition", "For", "If", "While", "Yield", "block_yields"]


class Yield(
    Op,
    name="scf.yield",
    traits=TERMINATOR | RETURN_LIKE,
    assembly="attr-dict ($results_^ `:` type($results_))?",
):
    """Yield `results_` to the parent operation."""

    results_: VariadicOperand


class Condition(
    Op,
    name="scf.condition",
    traits=TERMINATOR | RETURN_LIKE,
    assembly="`(` $condition `)` attr-dict ($args^ `:` type($args))?",
):
    """Continue with `args` in the after region if `condition`, else exit the loop with results `args`."""

    def verify_op(self) -> Sequence[str]:
        """The condition is i1."""
        return condition(self)

    condition: Operand
    args: VariadicOperand


def _assignments(printer: Printer, args: Iterable[Value], values: Iterable[Value]) -> str:
    return ", ".join(f"{printer.names[a]} = {printer.names[v]}" for a, v in zip(args, values))


def _parse_assignments(parser: Parser) -> tuple[list[str], list[Value]]:
    """`(%a = %x, %b = %y)`: the names on the left, the values on the right."""
    names: list[str] = []
    values: list[Value] = []
    parser.expect("(")
    while not parser.accept(")"):
        if names:
            parser.expect(",")
        names.append(parser.value_name())
        parser.expect("=")
        values.append(parser.operand())
    return names, values


def block_yields(block: Block, types: list[Type], what: str) -> list[str]:
    """The block ends in `scf.yield` of these types."""
    last = block.last
    if not isinstance(last, Yield):
        return [f"{what} must end in scf.yield"]
    have = [v.type for v in last.operands]
    return [] if have == types else [f"{what} yields {listed(have)}, it must yield {listed(types)}"]


class For(CountedLoop, name="scf.for", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """for (i = lb; i < ub; i += step) results = body(i, iter_args...), step > 0.

    The comparison is signed, unless `unsignedCmp`. The body block has the arguments
    (i, iter_args...) and ends in `scf.yield` of the next iter_args.
    """

    init_start = 3
    yield_class = Yield

    lb: Operand
    ub: Operand
    step: Operand
    init_args: VariadicOperand
    body_region: Body
    unsignedCmp: Flag = False
    results_: VariadicResult

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The types of the initial values."""
        return [v.type for v in operands[3:]]

    @classmethod
    def arrange_operands(cls, lb: Value, ub: Value, step: Value, init_args: Sequence[Value]) -> list[Value]:
        """Bounds, step, initial values."""
        return [lb, ub, step, *init_args]

    def verify_op(self) -> list[str]:
        """Bounds of one integer type; body arguments, yields and results like the initial values."""
        lb, ub, step = (v.type for v in self.operands[:3])
        types = [v.type for v in self.operands[3:]]
        out = []
        if not (lb is ub is step) or not is_integer[lb] or shape_of(lb):
            out.append(f"bounds and step must be of one integer type: {listed([lb, ub, step])}")
        if [r.type for r in self.results] != types:
            out.append(f"the results are {listed(self.results)}, the initial values {listed(types)}")
        if not self.regions[0].blocks:
            return [*out, "the body is empty"]
        if [a.type for a in self.body.args] != [lb, *types]:
            out.append(f"the body takes {listed(self.body.args)}, it must take {listed([lb, *types])}")
        return out + block_yields(self.body, types, "the body")

    def print_assembly(self, printer: Printer) -> None:
        """`scf.for %i = %lb to %ub step %s iter_args(%a = %x) -> (f32)  : i32 { … }`"""
        n, (lb, ub, step) = printer.names, self.operands[:3]
        args, inits = self.body.args, self.operands[3:]
        unsigned = "unsigned " if self.unsignedCmp else ""
        text = f"scf.for {unsigned}{n[args[0]]} = {n[lb]} to {n[ub]} step {n[step]}"
        if inits:
            text += f" iter_args({_assignments(printer, args[1:], inits)}) -> ({printer.types_of(inits)})"
        text += " " if args[0].type is index else f"  : {printer.types[args[0].type]} "
        printer.write(text)
        printer.region(self.regions[0], entry_label=False, terminators=bool(inits))
        printer.write(printer.attr_dict(self.attributes, ("unsignedCmp",)))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> For:
        """The same, read."""
        unsigned = {"unsignedCmp": UNIT} if parser.accept("unsigned") else {}
        names = [parser.value_name()]
        parser.expect("=")
        bounds = [parser.operand()]
        for word in ("to", "step"):
            parser.expect(word)
            bounds.append(parser.operand())
        inits: list[Value] = []
        types: list[Type] = []
        if parser.accept("iter_args"):
            more, inits = _parse_assignments(parser)
            names += more
            parser.expect("->")
            types = parser.result_types()
            parser.typed(inits, types)
        ty = parser.type() if parser.accept(":") else index
        parser.typed(bounds, [ty] * 3)
        body = parser.region(list(zip(names, [ty, *types])), terminator=Yield)
        return cls.create([*bounds, *inits], types, unsigned | parser.attr_dict(), [body])


class If(IfLike, name="scf.if", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """results = condition ? then() : else(); the else region may be empty when there are no results."""

    yield_class = Yield

    condition: Operand
    then_region: Body
    else_region: Body
    results_: VariadicResult

    def verify_op(self) -> list[str]:
        """Each branch yields values of the results' types; without results the second may be missing."""
        types = [r.type for r in self.results]
        out = list(condition(self))
        if not self.regions[0].blocks or (types and not self.regions[1].blocks):
            return [*out, "a branch is missing"]
        for region, what in zip(self.regions, ("the first branch", "the second branch")):
            if region.blocks:
                if region.blocks[0].args:
                    out.append(f"{what} has arguments")
                out += block_yields(region.blocks[0], types, what)
        return out

    def print_assembly(self, printer: Printer) -> None:
        """`scf.if %c -> (f32) { … } else { … }`"""
        text = f"scf.if {printer.names[self.operands[0]]}"
        if self.results:
            text += f" -> ({printer.types_of(self.results)})"
        printer.write(text + " ")
        for region, word in zip(self.regions, ("", " else ")):
            if region.blocks:
                printer.write(word)
                printer.region(region, entry_label=False, terminators=bool(self.results))
        printer.write(printer.attr_dict(self.attributes))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> If:
        """The same, read."""
        condition = parser.operand()
        parser.typed([condition], [i1])
        types = parser.result_types() if parser.accept("->") else []
        regions = [parser.region(terminator=Yield)]
        regions.append(parser.region(terminator=Yield) if parser.accept("else") else Region())
        return cls.create([condition], types, parser.attr_dict(), regions)


class While(LoopLike, name="scf.while", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """args = inits; while (before(args) -> condition, args') args = after(args'); results = args'."""

    yield_class = Yield

    inits: VariadicOperand
    before: Body
    after: Body
    results_: VariadicResult

    def verify_op(self) -> list[str]:
        """Inits, first arguments and yields agree; condition, second arguments and results agree."""
        if not all(region.blocks for region in self.regions):
            return ["a region is empty"]
        inits, results = [v.type for v in self.operands], [r.type for r in self.results]
        out = []
        for block, types, what in ((self.before_block, inits, "first"), (self.after_block, results, "second")):
            if [a.type for a in block.args] != types:
                out.append(f"the {what} region takes {listed(block.args)}, it must take {listed(types)}")
        last = self.before_block.last
        if not isinstance(last, Condition):
            out.append("the first region must end in scf.condition")
        elif [v.type for v in last.operands[1:]] != results:
            out.append(f"scf.condition passes {listed(last.operands[1:])}, the results are {listed(results)}")
        return out + block_yields(self.after_block, inits, "the second region")

    @property
    def before_block(self) -> Block:
        """Computes the condition; ends in `scf.condition`."""
        return self.regions[0].blocks[0]

    @property
    def after_block(self) -> Block:
        """The body; ends in `scf.yield`."""
        return self.regions[1].blocks[0]

    @property
    def iter_args(self) -> list[Value]:
        """The arguments of the first region."""
        return list(self.before_block.args)

    @property
    def yielded(self) -> list[Value]:
        """What the body yields."""
        last = self.after_block.last
        return [] if last is None else last.operands

    def always_runs(self, region: Region) -> bool:
        """The first region does."""
        return region is self.regions[0]

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into the first region, both on entry and from the body; from `scf.condition` to the body or the results."""
        before, after = self.regions
        if source is self or isinstance(source, Yield):
            return [RegionEdge(source, 0, before, before.blocks[0].args)]
        return [RegionEdge(source, 1, after, after.blocks[0].args), RegionEdge(source, 1, None, self.results)]

    def feasible_edges(self, source: Operation, known: Known) -> list[RegionEdge]:
        """Only one edge from an `scf.condition` whose condition is a constant."""
        edges = self.edges_from(source)
        condition = known(source.operands[0]) if len(edges) > 1 else None
        return [edges[0 if condition.value else 1]] if isinstance(condition, IntegerAttr) else edges

    def print_assembly(self, printer: Printer) -> None:
        """`scf.while (%a = %x) : (i32) -> i32 { … } do { ^bb0(%b: i32): … }`"""
        text = "scf.while "
        if self.operands:
            text += f"({_assignments(printer, self.before_block.args, self.operands)}) "
        printer.write(f"{text}: {printer.functional_type(self.operands, self.results)} ")
        printer.region(self.regions[0], entry_label=False)
        printer.write(" do ")
        printer.region(self.regions[1])
        printer.write(printer.attr_dict(self.attributes, keyword="attributes "))

    @classmethod
    def parse_assembly(cls, parser: Parser) -> While:
        """The same, read."""
        names, inits = _parse_assignments(parser) if parser.peek("(") else ([], [])
        parser.expect(":")
        inputs, results = parser.functional_type()
        parser.typed(inits, inputs)
        before = parser.region(list(zip(names, inputs)))
        parser.expect("do")
        after = parser.region(terminator=Yield)
        return cls.create(inits, results, parser.attr_dict("attributes"), [before, after])
