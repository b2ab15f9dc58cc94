"""A dialect that only tests define: a counted loop, a conditional and a loop that ends by a condition.

No pass, analysis, printer or evaluator names these ops. What is known of them is what their classes declare by the
interfaces of `tritium.ir.interfaces`. The operands of the loop are in another order than those of `scf.for`, and one
of them is used for nothing, so that a pass that counts operands goes wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritium.conversion.tt_to_ttc import lowering as tiles
from tritium.conversion.ttg_to_llvm.context import FunctionContext
from tritium.conversion.ttg_to_llvm.context import lowers as lowers_on_gpu
from tritium.dialects import scf
from tritium.ir import (
    RECURSIVE_EFFECTS,
    RETURN_LIKE,
    SINGLE_BLOCK,
    TERMINATOR,
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
    Value,
    VariadicOperand,
    VariadicResult,
)

__all__ = ["Again", "If", "Loop", "OpaqueIf", "OpaqueLoop", "Repeat", "Yield", "from_scf", "to_scf"]


class Yield(Op, name="region.yield", traits=TERMINATOR | RETURN_LIKE):
    """Pass `values` on."""

    values: VariadicOperand


class Again(Op, name="region.again", traits=TERMINATOR | RETURN_LIKE):
    """Run the region of the `region.repeat` around once more with `values` if `condition`, else end with them."""

    condition: Operand
    values: VariadicOperand


class Loop(CountedLoop, name="region.loop", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """for (i = lb; i < ub; i += step) results = body(i, init_args...); `unused` is not used."""

    init_start = 4
    yield_class = Yield

    step: Operand
    unused: Operand
    ub: Operand
    lb: Operand
    init_args: VariadicOperand
    body_region: Body
    unsignedCmp: Flag = None
    results_: VariadicResult

    @classmethod
    def arrange_operands(cls, lb: Value, ub: Value, step: Value, init_args: Sequence[Value]) -> list[Value]:
        """Step, something else, upper bound, lower bound, initial values."""
        return [step, ub, ub, lb, *init_args]


class If(IfLike, name="region.if", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """results = condition ? then() : else()."""

    yield_class = Yield

    condition: Operand
    then_region: Body
    else_region: Body
    results_: VariadicResult


class Repeat(LoopLike, name="region.repeat", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """do { values = region(values) } while (condition), at least once."""

    inits_: VariadicOperand
    region: Body
    results_: VariadicResult

    @property
    def inits(self) -> list[Value]:
        """All operands."""
        return self.operands

    @property
    def iter_args(self) -> list[Value]:
        """The arguments of the region."""
        return list(self.regions[0].blocks[0].args)

    @property
    def yielded(self) -> list[Value]:
        """What `region.again` passes on."""
        last = self.regions[0].blocks[0].last
        return [] if last is None else last.operands[1:]

    def always_runs(self, region: Region) -> bool:
        """The region does."""
        return True

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into the region; from its end into it again and to the results."""
        region = self.regions[0]
        if source is self:
            return [RegionEdge(self, 0, region, region.blocks[0].args)]
        return [RegionEdge(source, 1, region, region.blocks[0].args), RegionEdge(source, 1, None, self.results)]

    def feasible_edges(self, source: Operation, known: Known) -> list[RegionEdge]:
        """Only one edge where the condition is a constant."""
        edges = self.edges_from(source)
        condition = known(source.operands[0]) if source is not self else None
        return [edges[0 if condition.value else 1]] if isinstance(condition, IntegerAttr) else edges


class OpaqueLoop(Op, name="region.opaque_loop", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """`region.loop` without the interface."""

    operands_: VariadicOperand
    body_region: Body
    results_: VariadicResult


class OpaqueIf(Op, name="region.opaque_if", traits=RECURSIVE_EFFECTS | SINGLE_BLOCK):
    """`region.if` without the interface."""

    condition: Operand
    then_region: Body
    else_region: Body
    results_: VariadicResult


# -- lowering: loops and conditionals are lowered by their interfaces, what ends their blocks is registered here ------


@lowers_on_gpu(Yield)
def _nothing(e: FunctionContext, op: Yield) -> None:
    """The loop or conditional around writes what is passed on."""


tiles.LOWERINGS[Yield] = lambda lowering, op: tiles.LOWERINGS[scf.Yield](lowering, op)


# -- the same program with other ops ----------------------------------------------------------------------------------


def from_scf(module: Operation, *, opaque: bool = False) -> None:
    """Put ops of this dialect in the place of `scf.for` and `scf.if`; `opaque`: those without interfaces."""
    loop, branch = (OpaqueLoop, OpaqueIf) if opaque else (Loop, If)
    for op in list(module.walk_post()):
        if isinstance(op, scf.For):
            _replace(op, loop, Loop.arrange_operands(op.lb, op.ub, op.step, op.init_args), Yield)
        elif isinstance(op, scf.If):
            _replace(op, branch, list(op.operands), Yield)


def to_scf(module: Operation) -> None:
    """Undo `from_scf`."""
    for op in list(module.walk_post()):
        if isinstance(op, Loop):
            _replace(op, scf.For, [op.lb, op.ub, op.step, *op.init_args], scf.Yield)
        elif isinstance(op, If):
            _replace(op, scf.If, list(op.operands), scf.Yield)


def _replace(op: Operation, cls: Any, operands: list[Value], yields: Any) -> None:
    for region in op.regions:
        for block in region.blocks:
            last: Any = block.last
            end = yields.create(list(last.operands), [], loc=last.loc)
            last.erase()
            block.append(end)
    regions, op.regions = op.regions, []
    new = cls.create(operands, [r.type for r in op.results], dict(op.attributes), regions, loc=op.loc)
    assert op.parent is not None
    op.parent.insert_before(new, op)
    for result, old in zip(new.results, op.results):
        result.hint = old.hint
    op.replace_with(new.results)
