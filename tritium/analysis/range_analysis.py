"""Ranges of integers in a function: what offsets, bounds and trip counts can be at most.

    %pid = tt.get_program_id x                          [0, 2**31 - 1]
    %r = tt.make_range {start = 0, end = 64}            [0, 63]
    llvm.intr.assume (%n <= 4096)                       %n in [smin, 4096] in the blocks that it dominates
    scf.for %i = 0 to 16 iter_args(%o = %r) {           %i in [0, 15], %o in [0, 63 + 15 * 64]
      %p = arith.addi %o, 64                            [64, 63 + 16 * 64]

The function is interpreted with ranges in place of integers. The body of a loop is interpreted once for each iteration,
with its arguments joined, until that changes nothing or the trip count is reached: so an offset that grows from
iteration to iteration has a bound. Where loops nested in each other have more than `MAX_ITERATIONS` together, or no
bound, arguments that change from iteration to iteration may be any integer. The trip count is the greatest one that
the ranges of the bounds allow.

Arguments, loaded values and results of operations without a rule may be any integer that the assumptions allow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..dialects import amdg, arith, llvm, tt
from ..ir import (
    REARRANGES,
    Block,
    Branch,
    CountedLoop,
    DenseElementsAttr,
    Dominance,
    IfLike,
    IndexType,
    IntegerAttr,
    IntegerType,
    Operation,
    RegionBranch,
    TensorType,
    Type,
    Value,
    constant_of,
    element_type,
    functions_of,
)
from ..ir.dominance import ancestor_in
from .integer_range import BINARY, IntegerRange, compare, full, of_signed, of_unsigned, truncated

if TYPE_CHECKING:
    from ..ir import Region

__all__ = ["MAX_ITERATIONS", "RangeAnalysis"]

MAX_ITERATIONS = 1024
"""Iterations of a loop and the loops around it that are interpreted."""

MAX_PROGRAMS = 1 << 31
"""Programs along an axis of a grid, exclusive, for grids whose size is not known."""

_ROUNDS = 3
"""Iterations of an unbounded loop after which arguments that still change may be any integer."""


class RangeAnalysis:
    """The ranges of the integers in the functions of a module.

    `max_programs`: the greatest program index along each axis, where the grid is known.
    """

    def __init__(self, root: Operation, max_programs: Mapping[int, int] | None = None) -> None:
        self.max_programs = max_programs or {}
        self.ranges: dict[Value, IntegerRange] = {}
        self.assumptions: dict[Value, list[arith.CmpI]] = {}
        self._dominance: dict[Region, Dominance] = {}
        self._around = 1  # iterations of the loops around the current operation that are interpreted one by one
        self._collect(root)
        for func in functions_of(root):
            if func.regions and func.regions[0].blocks:
                self._function(func)

    def range_of(self, value: Value) -> IntegerRange | None:
        """The range of an integer or of the elements of a tensor; None where it is neither or never computed."""
        return self.ranges.get(value)

    def compare(self, op: arith.CmpI) -> bool | None:
        """The result of a comparison where the ranges of its operands decide it."""
        x, y = (self.range_of(v) for v in (op.lhs, op.rhs))
        return None if x is None or y is None else compare(op.predicate.name, x, y)

    # -- trip counts --------------------------------------------------------------------------------------------------

    def trip_count(self, loop: CountedLoop) -> int | None:
        """The greatest trip count of one execution of a loop; None where it has no bound."""
        lb, ub, step = (self._at(v, loop.parent) for v in (loop.lb, loop.ub, loop.step))
        if loop.unsignedCmp:
            return None
        count = max(0, -(-(ub.smax - lb.smin) // max(1, step.smin)))
        return count if count < 1 << 63 else None

    def total_trip_count(self, loop: CountedLoop) -> int:
        """The trip counts of a loop and of the loops around it, multiplied; one without a bound counts as
        `MAX_ITERATIONS` + 1."""
        total, around = 1, loop.parent_op
        counts = [self.trip_count(loop)]
        while around is not None:
            if isinstance(around, CountedLoop):
                counts.append(self.trip_count(around))
            around = around.parent_op
        for count in counts:
            total *= MAX_ITERATIONS + 1 if count is None else count
        return total

    # -- assumptions --------------------------------------------------------------------------------------------------

    def _collect(self, root: Operation) -> None:
        """The comparisons that are assumed to hold, by the values that they compare with constants."""
        for op in root.walk():
            if isinstance(op, llvm.Assume) and isinstance(test := op.cond.defining_op, arith.CmpI):
                for value in test.operands:
                    if constant_of(value) is None:
                        self.assumptions.setdefault(value, []).append(test)

    def _assumed(self, value: Value, block: Block | None) -> IntegerRange | None:
        """What assumptions say of a value in a block that they dominate."""
        found: IntegerRange | None = None
        for test in self.assumptions.get(value, ()):
            bound = _bound(test, value)
            if bound is not None and block is not None and self._dominates(test.parent, block):
                found = bound if found is None else found.meet(bound)
        return of_signed(found.width, found.smin, found.smax) if found is not None and found.smin >= 0 else found

    def _dominates(self, block: Block | None, other: Block) -> bool:
        """Whether every path to `other` passes through `block`."""
        if block is None or block.parent is None:
            return False
        op = ancestor_in(block.parent, other.first) if other.parent is not block.parent else None
        inner = other if other.parent is block.parent else op.parent if op is not None else None
        if inner is None:
            return False
        dominance = self._dominance.get(block.parent)
        if dominance is None:
            dominance = self._dominance[block.parent] = Dominance(block.parent)
        return dominance.dominates(block, inner)

    # -- interpretation -----------------------------------------------------------------------------------------------

    def _at(self, value: Value, block: Block | None) -> IntegerRange:
        """The range of an operand of an operation in `block`."""
        found = self.ranges.get(value) or full(_width(value.type))
        assumed = self._assumed(value, block) if value in self.assumptions else None
        return found if assumed is None else assumed.meet(found)

    def _set(self, value: Value, found: IntegerRange | None, block: Block | None) -> None:
        """Set the range of a result or an argument; None: any integer that the assumptions in `block` allow."""
        width = _width(value.type)
        if not width:
            return
        assumed = self._assumed(value, block) if value in self.assumptions else None
        found = full(width) if found is None else found
        self.ranges[value] = found if assumed is None else assumed.meet(found)

    def _join(self, value: Value, found: IntegerRange) -> bool:
        """Widen the range of a value by another; returns whether that changes it."""
        old = self.ranges.get(value)
        new = found if old is None else old.join(found)
        self.ranges[value] = new
        return new != old

    def _unknown(self, values: Sequence[Value], block: Block | None) -> None:
        for value in values:
            self._set(value, None, block)

    def _function(self, func: Operation) -> None:
        region = func.regions[0]
        entry = region.blocks[0]
        self._unknown(entry.args, entry)
        if len(region.blocks) == 1:
            self._block(entry)
        else:
            self._graph(region)

    def _graph(self, region: Region) -> None:
        """Blocks with branches between them: in reverse postorder, until the arguments of blocks do not change."""
        order = Dominance(region).order
        for round_ in range(2 * _ROUNDS):
            changed = False
            for block in order:
                self._block(block)
                last = block.last
                if not isinstance(last, Branch):
                    continue
                for target, operands in zip(last.successors, last.successor_operands()):
                    changed |= self._enter(target, operands, block, round_ >= _ROUNDS)
            if not changed:
                return

    def _enter(self, target: Block, operands: Sequence[Value], source: Block, widen: bool) -> bool:
        """Pass operands of a branch to a block; `widen`: an argument that changes may be any integer."""
        changed = False
        for argument, value in zip(target.args, operands):
            if not (width := _width(argument.type)):
                continue
            if self._join(argument, self._at(value, source)):
                changed = True
                if widen:
                    self.ranges[argument] = full(width)
        return changed

    def _block(self, block: Block) -> None:
        for op in block:
            if op.regions:
                self._regions(op)
            elif op.results:
                rule = _binary if op.name in BINARY else _RULES.get(op.__class__)
                if rule is None and op.traits & REARRANGES:
                    rule = _forward
                if rule is not None and _width(op.results[0].type):
                    rule(self, op)
                else:
                    self._unknown(op.results, block)

    def _regions(self, op: Operation) -> None:
        if isinstance(op, CountedLoop):
            self._loop(op)
            return
        if isinstance(op, IfLike):
            self._branches(op)
            return
        for region in op.regions:
            for block in region.blocks:
                self._unknown(block.args, block)
            if len(region.blocks) > 1:
                self._graph(region)
            elif region.blocks:
                self._block(region.blocks[0])
        if isinstance(op, tt.Histogram):
            self._set(op.results[0], of_signed(32, 0, full(32).smax), op.parent)
        else:
            self._unknown(op.results, op.parent)

    def _branches(self, op: IfLike) -> None:
        """The results of an `scf.if` are those of both branches."""
        for region in op.regions:
            if region.blocks:
                self._block(region.blocks[0])
        assert isinstance(op, RegionBranch)
        for i, result in enumerate(op.results):
            if not _width(result.type):
                continue
            ends = [region.blocks[0].last for region in op.regions if region.blocks]
            found = [self._at(end.operands[i], end.parent) for end in ends if end is not None]
            joined = found[0]
            for other in found[1:]:
                joined = joined.join(other)
            self._set(result, joined, op.parent)

    def _loop(self, loop: CountedLoop) -> None:
        """Interpret a loop, see above."""
        self._induction_variable(loop)
        arguments, yielded = list(loop.iter_args), loop.yielded
        numbers = [k for k, argument in enumerate(arguments) if _width(argument.type)]
        for k in numbers:
            self.ranges[arguments[k]] = self._at(loop.inits[k], loop.parent)
        count = self.trip_count(loop)
        around = self._around
        bounded = count is not None and around * count <= MAX_ITERATIONS
        self._around = around * max(1, count or 1) if bounded else around
        done = 0
        while True:
            self._block(loop.body)
            done += 1
            if bounded and done == count:
                break
            changed = [k for k in numbers if self._join(arguments[k], self._at(yielded[k], loop.body))]
            if not changed:
                break
            if not bounded and done >= _ROUNDS:
                for k in changed:
                    self.ranges[arguments[k]] = full(_width(arguments[k].type))
        self._around = around
        for k, result in enumerate(loop.results):
            if not _width(result.type):
                continue
            initial, final = self._at(loop.inits[k], loop.parent), self._at(yielded[k], loop.body)
            self._set(result, initial.join(final), loop.parent)

    def _induction_variable(self, loop: CountedLoop) -> None:
        low, high = self._at(loop.lb, loop.parent).smin, self._at(loop.ub, loop.parent).smax - 1
        known = low <= high and not loop.unsignedCmp
        width = _width(loop.induction_variable.type)
        self._set(loop.induction_variable, of_signed(width, low, high) if known else None, loop.body)


# -- rules of operations ------------------------------------------------------------------------------------------

_Rule = Callable[[RangeAnalysis, Operation], None]


def _width(ty: Type) -> int:
    """The width of an integer type or of the elements of a tensor; 64 of an index, 0 of any other type."""
    element = element_type(ty) if isinstance(ty, TensorType) else ty
    return element.width if isinstance(element, IntegerType) else 64 if isinstance(element, IndexType) else 0


def _binary(a: RangeAnalysis, op: Operation) -> None:
    x, y = (a._at(v, op.parent) for v in op.operands)
    a._set(op.results[0], BINARY[op.name](x, y), op.parent)


def _forward(a: RangeAnalysis, op: Operation) -> None:
    """Results have the elements of the first operand."""
    for result in op.results:
        a._set(result, a._at(op.operands[0], op.parent), op.parent)


def _union(a: RangeAnalysis, op: Operation) -> None:
    x, y = (a._at(v, op.parent) for v in op.operands[-2:])
    a._set(op.results[0], x.join(y), op.parent)


def _select(a: RangeAnalysis, op: Operation) -> None:
    test = a._at(op.operands[0], op.parent).constant
    if test is None:
        _union(a, op)
    else:
        a._set(op.results[0], a._at(op.operands[1 if test else 2], op.parent), op.parent)


def _constant(a: RangeAnalysis, op: Operation) -> None:
    attr, width = op.attributes["value"], _width(op.results[0].type)
    values = [attr.value] if isinstance(attr, IntegerAttr) else []
    if isinstance(attr, DenseElementsAttr):
        values = [v for v in attr.values if isinstance(v, int)]
    found: IntegerRange | None = None
    for value in {v & ((1 << width) - 1) for v in values}:
        single = of_unsigned(width, value, value)
        found = single if found is None else found.join(single)
    a._set(op.results[0], found, op.parent)


def _extend_signed(a: RangeAnalysis, op: Operation) -> None:
    x, width = a._at(op.operands[0], op.parent), _width(op.results[0].type)
    a._set(op.results[0], of_signed(width, x.smin, x.smax), op.parent)


def _extend_unsigned(a: RangeAnalysis, op: Operation) -> None:
    x, width = a._at(op.operands[0], op.parent), _width(op.results[0].type)
    a._set(op.results[0], of_unsigned(width, x.umin, x.umax), op.parent)


def _truncate(a: RangeAnalysis, op: Operation) -> None:
    a._set(op.results[0], truncated(a._at(op.operands[0], op.parent), _width(op.results[0].type)), op.parent)


def _index_cast(a: RangeAnalysis, op: Operation) -> None:
    wider = _width(op.results[0].type) >= _width(op.operands[0].type)
    (_extend_signed if wider else _truncate)(a, op)


def _compare(a: RangeAnalysis, op: Operation) -> None:
    assert isinstance(op, arith.CmpI)
    x, y = (a._at(v, op.parent) for v in op.operands)
    known = compare(op.predicate.name, x, y)
    a._set(op.results[0], None if known is None else of_unsigned(1, int(known), int(known)), op.parent)


def _program_id(a: RangeAnalysis, op: Operation) -> None:
    assert isinstance(op, tt.GetProgramId)
    a._set(op.results[0], of_signed(32, 0, a.max_programs.get(int(op.axis), MAX_PROGRAMS - 1)), op.parent)


def _program_count(a: RangeAnalysis, op: Operation) -> None:
    a._set(op.results[0], of_unsigned(32, 0, MAX_PROGRAMS), op.parent)


def _make_range(a: RangeAnalysis, op: Operation) -> None:
    assert isinstance(op, tt.MakeRange)
    a._set(op.results[0], of_signed(32, op.start, op.end - 1), op.parent)


def _histogram(a: RangeAnalysis, op: Operation) -> None:
    width = _width(op.results[0].type)
    a._set(op.results[0], of_signed(width, 0, full(width).smax), op.parent)


_RULES: dict[type[Operation], _Rule] = {
    tt.Gather: _forward,
    amdg.ExtractSlice: _forward,
    tt.Join: _union,
    arith.Select: _select,
    arith.Constant: _constant,
    arith.ExtSI: _extend_signed,
    arith.ExtUI: _extend_unsigned,
    arith.TruncI: _truncate,
    arith.IndexCast: _index_cast,
    arith.CmpI: _compare,
    tt.GetProgramId: _program_id,
    tt.GetNumPrograms: _program_count,
    tt.MakeRange: _make_range,
    tt.Histogram: _histogram,
}


def _bound(test: arith.CmpI, value: Value) -> IntegerRange | None:
    """The range that a comparison of `value` with a constant allows."""
    on_left = test.lhs is value
    attr = constant_of(test.rhs if on_left else test.lhs)
    width = _width(value.type)
    if not isinstance(attr, IntegerAttr) or not width:
        return None
    name = test.predicate.name
    if name in ("eq", "ne"):
        number = attr.value & ((1 << width) - 1)
        return of_unsigned(width, number, number) if name == "eq" else None
    every = full(width)
    signed = name[0] == "s"
    if signed:
        number = attr.value
        counted = isinstance(value.defining_op, (tt.GetProgramId, tt.GetNumPrograms))
        low, high, make = (0 if counted else every.smin), every.smax, of_signed
    else:
        number = attr.value & every.umax
        low, high, make = 0, every.umax, of_unsigned
    strict = int(name.endswith("t"))
    if (name[1] == "g") == on_left:
        return make(width, number + strict, high)
    return make(width, low, number - strict)
