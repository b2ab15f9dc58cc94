"""Interfaces of operations with regions: what passes ask about control flow without knowing the operation's class.

    RegionBranch        control enters regions, passes between them and leaves; values flow along these edges
      IfLike            a condition chooses one of two blocks, each of which runs at most once
      LoopLike          regions may run several times; values are carried from iteration to iteration
        CountedLoop     one block, one induction variable: for (i = lb; i < ub; i += step)

An operation implements an interface by deriving from it; passes test with `isinstance`. Every edge says which operands
of its source become which values at its target:

    %r = scf.for %i = %lb to %ub step %s iter_args(%a = %x) {       for:    (%x) -> body (%a)      (%x) -> results (%r)
      scf.yield %y                                                  yield:  (%y) -> body (%a)      (%y) -> results (%r)
    }

An argument that is on no edge, such as %i, is defined by the operation itself. Operands on no edge (bounds, conditions)
decide where control goes. `successor_values` and `predecessor_operands` follow one value along the edges of region
branches and of branches between blocks alike. MLIR has the same: RegionBranchOpInterface, LoopLikeOpInterface,
BranchOpInterface.

The regions of `tt.reduce`, `tt.scan` and `tt.map_elementwise` are functions of elements: no operand is forwarded to
their arguments, and these operations are no region branches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from ..support import UNKNOWN, InternalError, Location
from .attributes import IntegerAttr
from .definition import Op
from .folding import constant_of
from .interning import Attribute
from .operation import Block, BlockArgument, Operation, OpResult, Region, Value
from .types import IntegerType, Type

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Branch",
    "CountedLoop",
    "IfLike",
    "Known",
    "LoopLike",
    "RegionBranch",
    "RegionEdge",
    "constant_trip_count",
    "enclosing_loop",
    "ends_region",
    "is_unbounded_loop",
    "forwarded_pairs",
    "predecessor_operands",
    "region_branch_of",
    "successor_values",
]

Use = tuple[Operation, int]
"""One operand: the operation and the operand's index."""

Known = Callable[[Value], "Attribute | None"]
"""The constant that a value is known to be, or None."""


class RegionEdge:
    """Control may pass from `source` to `target`: operands of `source` from index `start` on become `inputs`.

    `source` is the region branch itself or a terminator in one of its regions; `target` is one of its regions, or None
    where the operation ends: then `inputs` are its results.
    """

    __slots__ = ("inputs", "source", "start", "target")

    def __init__(self, source: Operation, start: int, target: Region | None, inputs: Sequence[Value]) -> None:
        self.source = source
        self.start = start
        self.target = target
        self.inputs = inputs

    @property
    def operands(self) -> list[Value]:
        """The operands that are forwarded, one for each of `inputs`."""
        return self.source.operands[self.start : self.start + len(self.inputs)]

    def __iter__(self) -> Iterator[tuple[Value, Value]]:
        """Pairs of a forwarded operand and the value it becomes."""
        return zip(self.operands, self.inputs, strict=True)

    def __repr__(self) -> str:
        target = "results" if self.target is None else "region"
        return f"<edge from {self.source.name} to {target}, {len(self.inputs)} values>"


class RegionBranch(Op):
    """An operation that passes control, with values, to its regions, between them, and on to its results.

    Implementations define `edges_from`; the other methods follow from it and may be overridden where speed matters.
    """

    yield_class: ClassVar[type[Op]]
    """The class of the terminators that pass their operands on unconditionally."""

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """The edges that start at `source`: this operation, or a terminator in one of its regions."""
        raise NotImplementedError

    def feasible_edges(self, source: Operation, known: Known) -> list[RegionEdge]:
        """The edges from `source` that control may take, given operands that are `known` constants."""
        return self.edges_from(source)

    def region_terminators(self, region: Region) -> Iterator[Operation]:
        """The operations that end `region`, without branches between its blocks."""
        for block in region.blocks:
            last = block.last
            if last is not None and not last.successors:
                yield last

    def edges(self) -> Iterator[RegionEdge]:
        """All edges: those from the operation first, then those from the terminators in the order of the regions."""
        yield from self.edges_from(self)
        for region in self.regions:
            for terminator in self.region_terminators(region):
                yield from self.edges_from(terminator)

    def edges_to(self, target: Region | None) -> list[RegionEdge]:
        """The edges that end at a region, or at the results (None)."""
        return [edge for edge in self.edges() if edge.target is target]

    def control_operands(self, source: Operation) -> list[Value]:
        """The operands of `source` that are not forwarded along any edge: they decide where control goes."""
        forwarded: set[int] = set()
        for edge in self.edges_from(source):
            forwarded.update(range(edge.start, edge.start + len(edge.inputs)))
        return [v for i, v in enumerate(source.operands) if i not in forwarded]

    def successor_values(self, source: Operation, i: int) -> list[Value]:
        """The region arguments and results that operand `i` of `source` becomes; empty for a control operand."""
        return [
            edge.inputs[i - edge.start]
            for edge in self.edges_from(source)
            if edge.start <= i < edge.start + len(edge.inputs)
        ]

    def predecessor_operands(self, value: OpResult | BlockArgument) -> list[Use] | None:
        """The operands that become `value`, a result or an entry argument of a region; None if none does."""
        target = None if isinstance(value, OpResult) else value.owner.parent
        found = [
            (edge.source, edge.start + j)
            for edge in self.edges()
            if edge.target is target
            for j, v in enumerate(edge.inputs)
            if v is value
        ]
        return found or None

    def forwarded_pairs(self) -> Iterator[tuple[Value, Value]]:
        """All pairs of an operand and a region argument or result that it may become."""
        for edge in self.edges():
            yield from edge

    def is_repetitive(self, region: Region) -> bool:
        """Whether `region` may run more than once each time this operation runs."""
        return False

    def always_runs(self, region: Region) -> bool:
        """Whether `region` runs at least once each time this operation runs."""
        return False

    def make_yield(self, values: Sequence[Value], loc: Location = UNKNOWN) -> Operation:
        """A terminator, in no block yet, that passes `values` on from a region of this operation."""
        made: Operation = self.yield_class.create(list(values), [], loc=loc)
        return made


class IfLike(RegionBranch):
    """Runs one of two blocks, depending on `condition` (i1); each ends in a yield of the results.

    Blocks have no arguments. Without results the second region may be empty: nothing is done there.
    """

    if TYPE_CHECKING:
        condition: Value

    @classmethod
    def build(cls, condition: Value, result_types: Sequence[Type], with_else: bool = True) -> Self:
        """A conditional with empty blocks, in no block yet."""
        regions = [Region(Block()), Region(Block()) if with_else else Region()]
        made: Self = cls.create([condition], list(result_types), {}, regions)
        return made

    @property
    def then_block(self) -> Block:
        """The block run when the condition holds."""
        return self.regions[0].blocks[0]

    @property
    def else_block(self) -> Block | None:
        """The block run otherwise, if there is one."""
        return self.regions[1].blocks[0] if self.regions[1].blocks else None

    condition_index = 0
    """The index of the operand that is the condition."""

    def set_condition(self, condition: Value) -> None:
        """Replace the condition."""
        self.set_operand(self.condition_index, condition)

    def add_else(self) -> Block:
        """Give an operation without results the block that does nothing where the condition does not hold."""
        block = self.regions[1].append(Block())
        block.append(self.make_yield([], self.loc))
        return block

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """From the condition into a block, or past an empty region; from a yield to the results."""
        if source is not self:
            return [RegionEdge(source, 0, None, self.results)]
        return [RegionEdge(self, 0, region if region.blocks else None, ()) for region in self.regions]

    def feasible_edges(self, source: Operation, known: Known) -> list[RegionEdge]:
        """Only one edge where the condition is a constant."""
        edges = self.edges_from(source)
        condition = known(self.condition) if source is self else None
        return [edges[0 if condition.value else 1]] if isinstance(condition, IntegerAttr) else edges

    def predecessor_operands(self, value: OpResult | BlockArgument) -> list[Use] | None:
        """What the blocks yield for a result."""
        if not isinstance(value, OpResult):
            return None
        return [(last, value.index) for region in self.regions for last in self.region_terminators(region)]

    def without_results(self, dropped: Collection[int]) -> tuple[Self, list[Value | None]]:
        """The operation, in no block yet, with the regions of this one and without the results at these indices.

        Also, for each result of this operation, that of the new one (None where it is dropped).
        """
        for region in self.regions:
            for last in self.region_terminators(region):
                last.set_operands([v for i, v in enumerate(last.operands) if i not in dropped])
        types = [r.type for i, r in enumerate(self.results) if i not in dropped]
        regions, self.regions = self.regions, []
        made: Self = type(self).create(list(self.operands), types, dict(self.attributes), regions, loc=self.loc)
        return made, _kept_results(self, made, dropped)


class LoopLike(RegionBranch):
    """An operation whose regions may run several times, with values carried from one iteration to the next.

    Carried value k is `inits[k]` at first and `iter_args[k]` inside; `yielded[k]` is its value in the next iteration.
    """

    @property
    def inits(self) -> list[Value]:
        """The initial values of what is carried."""
        raise NotImplementedError

    @property
    def iter_args(self) -> list[Value]:
        """The carried values inside, arguments of the region that is entered first."""
        raise NotImplementedError

    @property
    def yielded(self) -> list[Value]:
        """The carried values of the next iteration."""
        raise NotImplementedError

    @property
    def induction_variable(self) -> Value | None:
        """The induction variable, if there is exactly one."""
        return None

    @property
    def hoist_point(self) -> Operation:
        """Where operations that leave the loop are inserted: before this operation."""
        return self

    def trip_count(self, known: Known = constant_of) -> int | None:
        """The number of iterations, if it is constant."""
        return None

    def is_repetitive(self, region: Region) -> bool:
        """Whether `region` may run more than once each time the loop is entered."""
        return True

    def always_runs(self, region: Region) -> bool:
        """Whether `region` runs at least once each time the loop is entered."""
        return bool(self.trip_count())

    def is_defined_outside(self, value: Value) -> bool:
        """Whether `value` is defined outside the loop, hence the same in all iterations."""
        block = value.block
        return block is None or not self.is_ancestor_of(block.parent_op)


class CountedLoop(LoopLike):
    """for (i = lb; i < ub; i += step) with a body of one block, whose arguments are (i, iter_args...).

    `step` is positive; the comparison is signed unless `unsignedCmp`. The body ends in a yield of the next iter_args;
    the results are the last ones. The order of the operands is the operation's own: `lb`, `ub`, `step` and `init_args`
    name them, and `init_start` is the index of the first initial value, after which no operand of another kind comes.
    """

    if TYPE_CHECKING:
        lb: Value
        ub: Value
        step: Value
        init_args: list[Value]
        unsignedCmp: bool

    init_start: ClassVar[int]

    @classmethod
    def arrange_operands(cls, lb: Value, ub: Value, step: Value, init_args: Sequence[Value]) -> list[Value]:
        """The operands of a loop in the order of this class."""
        raise NotImplementedError

    @classmethod
    def build(cls, lb: Value, ub: Value, step: Value, init_args: Sequence[Value]) -> Self:
        """A loop, in no block yet, whose body block has its arguments and no operation yet."""
        types = [v.type for v in init_args]
        operands = cls.arrange_operands(lb, ub, step, init_args)
        made: Self = cls.create(operands, types, {}, [Region(Block([lb.type, *types]))])
        return made

    @property
    def body(self) -> Block:
        """The body block."""
        return self.regions[0].blocks[0]

    @property
    def terminator(self) -> Operation:
        """The yield at the end of the body."""
        last = self.body.last
        if last is None:
            raise InternalError(f"the body of {self.name} has no terminator")
        return last

    @property
    def induction_variable(self) -> Value:
        """i."""
        return self.body.args[0]

    @property
    def bounds(self) -> list[Value]:
        """Lower bound, upper bound and step."""
        return [self.lb, self.ub, self.step]

    @property
    def inits(self) -> list[Value]:
        """The initial values."""
        return self.init_args

    @property
    def iter_args(self) -> list[Value]:
        """The loop-carried values inside the body."""
        return list(self.body.args[1:])

    @property
    def yielded(self) -> list[Value]:
        """The operands of the yield."""
        return self.terminator.operands

    def trip_count(self, known: Known = constant_of) -> int | None:
        """The number of iterations where the bounds are constants (or, for 0, the same value)."""
        if self.lb is self.ub:
            return 0
        return None if self.unsignedCmp else constant_trip_count(known(self.lb), known(self.ub), known(self.step))

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        """Into the body, and on to the results, both with the carried values."""
        start = self.init_start if source is self else 0
        region = self.regions[0]
        return [
            RegionEdge(source, start, region, region.blocks[0].args[1:]),
            RegionEdge(source, start, None, self.results),
        ]

    def feasible_edges(self, source: Operation, known: Known) -> list[RegionEdge]:
        """No iteration, one, or at least one where the bounds are constants."""
        body, results = self.edges_from(source)
        trips = self.trip_count(known)
        if source is self:
            return [body, results] if trips is None else [body] if trips else [results]
        return [results] if trips == 1 else [body, results]

    def successor_values(self, source: Operation, i: int) -> list[Value]:
        """The argument of the body and the result that a carried value becomes."""
        k = i - self.init_start if source is self else i
        return [self.body.args[k + 1], self.results[k]] if k >= 0 else []

    def predecessor_operands(self, value: OpResult | BlockArgument) -> list[Use] | None:
        """The initial and the next value; None for the induction variable."""
        k = value.index if isinstance(value, OpResult) else value.index - 1
        return [(self, self.init_start + k), (self.terminator, k)] if k >= 0 else None

    # -- rebuilding ---------------------------------------------------------------------------------------------------

    def with_operands(self, lb: Value, ub: Value, step: Value, init_args: Sequence[Value]) -> Self:
        """A loop, in no block yet, of the same class with other operands, which takes over the body and attributes."""
        regions, self.regions = self.regions, []
        operands = self.arrange_operands(lb, ub, step, init_args)
        types = [v.type for v in init_args]
        made: Self = type(self).create(operands, types, dict(self.attributes), regions, loc=self.loc)
        return made

    def clone_without_body(self, lb: Value, ub: Value, step: Value, init_args: Sequence[Value]) -> Self:
        """A loop, in no block yet, of the same class, attributes and location with other operands and no operation."""
        made = self.build(lb, ub, step, init_args)
        made.attributes.update(self.attributes)
        made.loc = self.loc
        return made

    def replace_with_additional_iter_args(self, inits: Sequence[Value]) -> Self:
        """Carry more values, which keep their initial values until the yield is changed; this loop is erased.

        The results of this loop are the first results of the new one.
        """
        body, terminator = self.body, self.terminator
        fresh = [body.add_argument(v.type) for v in inits]
        terminator.set_operands([*terminator.operands, *fresh])
        new = self.with_operands(self.lb, self.ub, self.step, [*self.init_args, *inits])
        assert self.parent is not None
        self.parent.insert_before(new, self)
        for result, old in zip(new.results, self.results):
            result.hint = old.hint
        self.replace_with(new.results[: len(self.results)])
        return new

    def without_iter_args(self, replaced: Mapping[int, Value]) -> tuple[Self, list[Value | None]]:
        """The loop, in no block yet, without the carried values at the indices in `replaced`.

        In the body, which the new loop takes over, each dropped argument is replaced by its value in `replaced`. Also,
        for each result of this loop, that of the new one (None where it is dropped).
        """
        body, terminator = self.body, self.terminator
        for k, value in replaced.items():
            body.args[k + 1].replace_all_uses_with(value)
        terminator.set_operands([v for k, v in enumerate(terminator.operands) if k not in replaced])
        for k in sorted(replaced, reverse=True):
            body.erase_argument(k + 1)
        kept = [v for k, v in enumerate(self.init_args) if k not in replaced]
        new = self.with_operands(self.lb, self.ub, self.step, kept)
        return new, _kept_results(self, new, replaced)


def _kept_results(old: Operation, new: Operation, dropped: Collection[int]) -> list[Value | None]:
    """For each result of `old` the one of `new`, with its name; None for those at the indices in `dropped`."""
    left = iter(new.results)
    found: list[Value | None] = []
    for i, result in enumerate(old.results):
        kept = None if i in dropped else next(left)
        if kept is not None:
            kept.hint = result.hint
        found.append(kept)
    return found


class Branch(Op):
    """A terminator that passes control, with values, to other blocks of its region."""

    def successor_operands(self) -> list[list[Value]]:
        """The operands passed to each successor: the last ones of the operation, in the order of the successors."""
        raise NotImplementedError

    def successor_values(self, i: int) -> list[Value]:
        """The block arguments that operand `i` becomes; empty for a control operand."""
        passed = self.successor_operands()
        first = len(self.operands) - sum(map(len, passed))
        for block, values in zip(self.successors, passed):
            if first <= i < first + len(values):
                return [block.args[i - first]]
            first += len(values)
        return []

    def forwarded_pairs(self) -> Iterator[tuple[Value, Value]]:
        """All pairs of an operand and a block argument that it may become."""
        for operands, block in zip(self.successor_operands(), self.successors, strict=True):
            yield from zip(operands, block.args, strict=True)


# -- asked of any operation or value ----------------------------------------------------------------------------------


def region_branch_of(terminator: Operation) -> RegionBranch | None:
    """The region branch that `terminator` passes its operands to, if it ends one of its regions."""
    block = terminator.parent
    if block is None or block.last is not terminator or terminator.successors:
        return None
    parent = block.parent_op
    return parent if isinstance(parent, RegionBranch) else None


def ends_region(op: Operation) -> bool:
    """Whether `op` is the terminator of a region of a region branch."""
    return region_branch_of(op) is not None


def forwarded_pairs(op: Operation) -> Iterable[tuple[Value, Value]]:
    """All pairs of an operand and a value that it may become along the edges of a branch or region branch."""
    return op.forwarded_pairs() if isinstance(op, (RegionBranch, Branch)) else ()


def successor_values(op: Operation, i: int) -> list[Value] | None:
    """The values that operand `i` of `op` becomes along an edge of control flow; None where `op` is no such source.

    The list is empty for operands that decide where control goes.
    """
    if isinstance(op, RegionBranch):
        return op.successor_values(op, i)
    if isinstance(op, Branch):
        return op.successor_values(i)
    branch = region_branch_of(op)
    return None if branch is None else branch.successor_values(op, i)


def predecessor_operands(value: Value) -> list[Use] | None:
    """The operands that become `value` along edges of control flow; None where it is defined in another way."""
    if isinstance(value, OpResult):
        owner = value.owner
        return owner.predecessor_operands(value) if isinstance(owner, RegionBranch) else None
    assert isinstance(value, BlockArgument)
    block = value.owner
    region = block.parent
    if region is None:
        return None
    if block is not region.blocks[0]:
        return _from_branches(region, block, value.index)
    parent = region.parent
    return parent.predecessor_operands(value) if isinstance(parent, RegionBranch) else None


def _from_branches(region: Region, target: Block, index: int) -> list[Use] | None:
    """The operands of branches in `region` that become argument `index` of the block `target`."""
    found: list[Use] = []
    for block in region.blocks:
        last = block.last
        if last is None or target not in last.successors:
            continue
        if not isinstance(last, Branch):
            return None
        passed = last.successor_operands()
        start = len(last.operands) - sum(map(len, passed))
        for successor, values in zip(last.successors, passed):
            if successor is target:
                found.append((last, start + index))
            start += len(values)
    return found


def enclosing_loop(op: Operation) -> LoopLike | None:
    """The innermost loop around `op`."""
    around = op.parent_op
    while around is not None and not isinstance(around, LoopLike):
        around = around.parent_op
    return around


def is_unbounded_loop(op: Operation) -> bool:
    """Whether `op` is a loop whose number of iterations has no bound that is known when it is entered."""
    return isinstance(op, LoopLike) and not isinstance(op, CountedLoop)


def constant_trip_count(lb: Attribute | None, ub: Attribute | None, step: Attribute | None) -> int | None:
    """The number of iterations of a loop with these bounds, compared as signed integers; None if one is unknown."""
    if not (isinstance(lb, IntegerAttr) and isinstance(ub, IntegerAttr) and isinstance(step, IntegerAttr)):
        return None
    lower, upper, by = _signed(lb), _signed(ub), _signed(step)
    return max(0, -(-(upper - lower) // by)) if by > 0 else None


def _signed(attr: IntegerAttr) -> int:
    width = attr.type.width if isinstance(attr.type, IntegerType) else 64
    value = attr.value & ((1 << width) - 1)
    return value - (1 << width) if value >> (width - 1) else value
