"""What is known of the integers and addresses in a tensor along each of its axes: the facts that vector access needs.

For each axis, with the indices of the other axes held still:

- contiguity c: the axis falls into aligned groups of c elements, and within a group each is one more than the one
  before (an address: one pointee further);
- divisibility d: the first element of each such group is a multiple of d (an address: in bytes);
- constancy k: the axis falls into aligned groups of k elements that are equal.

All three are powers of two. With contiguity 1 every element starts its own group, so every element is a multiple of d.
A scalar has one axis of one element. Beyond that, a value may be one known constant, and it may be known not to be
negative:

    %0 = tt.make_range {start = 0, end = 64}         contiguity 64, divisibility 2^62, constancy 1
    %1 = arith.divsi %0, 16                          contiguity 1, divisibility 1, constancy 16
    %2 = arith.muli %1, 32                           contiguity 1, divisibility 32, constancy 16
    %3 = arith.remsi %0, 16                          contiguity 16, divisibility 16, constancy 1
    %4 = arith.addi %2, %3                           contiguity 16, divisibility 16, constancy 1

Three things are assumed that a program might break: additions and products of indices do not overflow, hints such as
`tt.divisibility` say the truth (both as in Triton's analysis of the same name), and what is divided with a sign, as
well as what it is divided by, is not negative. The last matters since signed division rounds towards zero, where the
groups of negative numbers would be other ones. It is assumed of kernel arguments, numbers from memory and what is
computed of them, but not where a number was taken off or a negative one added: `x - 8` may well be negative (Triton
assumes it there too).

Facts are found by going through a function until nothing changes, loops from the best assumption downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import gcd
from typing import Any

from ..dialects import arith, cf, scf, tt, ttg, ub
from ..ir import ArrayAttr, DenseArrayAttr, DenseElementsAttr, IntegerAttr, Operation, Value
from .axis_facts import ANY_DIVISOR, AxisInfo, power_of, unknown
from .axis_rules import RULES

__all__ = ["ANY_DIVISOR", "AxisInfo", "AxisInfoAnalysis"]

_HINTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")
_NO_HINTS = [None, None, None]


class AxisInfoAnalysis:
    """The facts about all integers and pointers of a function. `of(value)` asks; a value never computed is unknown."""

    def __init__(self, func: Operation) -> None:
        self.infos: dict[Value, AxisInfo] = {}
        self.flowed = False  # whether a branch has changed what is known of a block's arguments
        for region in func.regions:
            for block in region.blocks[:1]:
                given = func.attributes.get("arg_attrs") if isinstance(func, tt.Func) else None
                hints = given.elements if isinstance(given, ArrayAttr) else ()
                for i, argument in enumerate(block.args):
                    self.infos[argument] = _hinted(unknown(argument.type), hints[i] if i < len(hints) else None)
        for region in func.regions:
            self._region(region)

    def of(self, value: Value) -> AxisInfo:
        """The facts about a value."""
        found = self.infos.get(value)
        return unknown(value.type) if found is None else found

    def known(self, operands: Iterable[Value]) -> list[AxisInfo] | None:
        """The facts about operands; None while one of them is not computed."""
        out = [self.infos.get(v) for v in operands]
        return None if None in out else out  # type: ignore[return-value]

    # -- going through a function ---------------------------------------------------------------------------------

    # In the order of the program, and again only what comes after a change: a loop whose body gives what it takes less
    # than was known of it, and blocks that branch backwards.

    def _set(self, value: Value, info: AxisInfo | None) -> None:
        if info is not None:
            self.infos[value] = info

    def _join(self, value: Value, info: AxisInfo | None) -> bool:
        """Only what both say is known of a value then; whether that is another thing than before."""
        old = self.infos.get(value)
        if info is None or info is old:
            return False
        new = info if old is None else old.join(info)
        if new == old:
            return False
        self.infos[value] = new
        return True

    def _join_all(self, values: Iterable[Value], sources: Iterable[Value]) -> bool:
        changed = False
        for value, source in zip(values, sources):
            changed |= self._join(value, self.infos.get(source))
        return changed

    def _region(self, region: Any) -> None:
        if len(region.blocks) == 1:
            for op in region.blocks[0]:
                self._operation(op)
            return
        outer, self.flowed = self.flowed, True
        while self.flowed:
            self.flowed = False
            for block in region.blocks:
                for op in block:
                    self._operation(op)
        self.flowed = outer

    def _operation(self, op: Operation) -> None:
        flow = _FLOW.get(op.__class__)
        if flow is not None:
            flow(self, op)
            return
        if op.__class__ in RULES:
            self._by_rule(op, self.known(op.operands))
            for result in op.results[1:]:
                self._set(result, unknown(result.type))
            return
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    self._set(argument, unknown(argument.type))
            self._region(region)
        for result in op.results:
            self._set(result, _hinted(unknown(result.type), op.attributes))

    def _by_rule(self, op: Operation, known: list[AxisInfo] | None) -> None:
        if known is not None:
            self._set(op.results[0], _hinted(RULES[op.__class__](op, *known), op.attributes))

    def _for(self, op: Any) -> None:
        body = op.body
        bounds = self.known([op.operands[0], op.step])
        if bounds is not None:
            low, step = bounds
            rises = low.nonnegative and step.nonnegative and not op.unsignedCmp
            divisibility = [gcd(low.element_divisor(), step.element_divisor())]
            self._join(body.args[0], AxisInfo([1], divisibility, [1], None, rises, low.shifted or step.shifted))
        self._join_all(body.args[1:], op.init_args)
        self._region(op.regions[0])
        while self._join_all(body.args[1:], body.last.operands):
            self._region(op.regions[0])
        self._join_all(op.results, op.init_args)
        self._join_all(op.results, body.last.operands)

    def _if(self, op: Any) -> None:
        for region in op.regions:
            self._region(region)
            for block in region.blocks:
                self._join_all(op.results, block.last.operands)

    def _while(self, op: Any) -> None:
        before, after = op.before_block, op.after_block
        self._join_all(before.args, op.inits)
        flowed = True
        while flowed:
            self._region(op.regions[0])
            self._join_all(after.args, before.last.args)
            self._join_all(op.results, before.last.args)
            self._region(op.regions[1])
            flowed = self._join_all(before.args, after.last.operands)

    def _partitions(self, op: Any) -> None:
        for region in op.regions:
            self._join_all(region.blocks[0].args, op.operands)
            self._region(region)

    def _specialize(self, op: Any) -> None:
        for region in op.regions:
            self._region(region)
        for block in op.regions[0].blocks:
            if isinstance(block.last, ttg.WarpYield):
                self._join_all(op.results, block.last.operands)

    def _poison(self, op: Any) -> None:
        """Nothing is said: whatever holds of what it is joined with holds of both."""

    def _select(self, op: Any) -> None:
        """Poison or something else is that, so what is known of it holds. (Other operations make poison of poison.)"""
        condition, *sides = [self.infos.get(v) for v in op.operands]
        if condition is not None and None in sides:
            self._set(op.results[0], sides[0] or sides[1])
        else:
            self._by_rule(op, self.known(op.operands))

    def _load(self, op: Any) -> None:
        """What stands in for masked elements may be poison."""
        known = [self.infos.get(v) for v in op.operands]
        self._by_rule(op, [k for k in known if k is not None] if known[0] is not None else None)

    def _branch(self, op: Any) -> None:
        self.flowed |= self._join_all(op.dest.args, op.dest_operands)

    def _conditional_branch(self, op: Any) -> None:
        self.flowed |= self._join_all(op.true_dest.args, op.true_operands)
        self.flowed |= self._join_all(op.false_dest.args, op.false_operands)


_FLOW: dict[type, Callable[[AxisInfoAnalysis, Any], None]] = {
    scf.For: AxisInfoAnalysis._for,
    scf.If: AxisInfoAnalysis._if,
    scf.While: AxisInfoAnalysis._while,
    ttg.WarpSpecialize: AxisInfoAnalysis._specialize,
    ttg.WarpSpecializePartitions: AxisInfoAnalysis._partitions,
    ub.Poison: AxisInfoAnalysis._poison,
    arith.Select: AxisInfoAnalysis._select,
    tt.Load: AxisInfoAnalysis._load,
    cf.Br: AxisInfoAnalysis._branch,
    cf.CondBr: AxisInfoAnalysis._conditional_branch,
}


def _hint(attribute: Any, rank: int) -> tuple[int, ...] | None:
    """The numbers of a hint, one for each axis; None where there is none, or for another number of axes."""
    if isinstance(attribute, IntegerAttr):
        return (attribute.value,) * rank
    values = attribute.values if isinstance(attribute, (DenseArrayAttr, DenseElementsAttr)) else ()
    if isinstance(attribute, DenseElementsAttr) and attribute.is_splat:
        values = values * rank
    return tuple(values) if len(values) == rank else None


def _hinted(info: AxisInfo, attributes: Any) -> AxisInfo:
    """The facts, made stronger by what the program says of them."""
    if not attributes:
        return info
    hints = [attributes.get(name) for name in _HINTS]
    if hints == _NO_HINTS:
        return info
    given = [_hint(attribute, info.rank) for attribute in hints]
    if not any(given):
        return info
    parts = []
    for known, said in zip((info.contiguity, info.divisibility, info.constancy), given):
        parts.append(known if said is None else [max(k, power_of(s)) for k, s in zip(known, said)])
    return AxisInfo(*parts, info.constant, info.nonnegative, info.shifted)
