"""Axis info: contiguity, divisibility and constancy of integers and addresses along each axis of a tensor.

For each axis, with the indices of the other axes fixed:

- contiguity c: the axis divides into aligned groups of c elements, each element of which is one more than the previous
  one (an address: one pointee further);
- divisibility d: the first element of each such group is a multiple of d (an address: in bytes);
- constancy k: the axis divides into aligned groups of k equal elements.

All three are powers of two. With contiguity 1 every element is a group, so every element is a multiple of d. A scalar
has one axis of one element. In addition, a value may be a known constant, and known to be nonnegative:

    %0 = tt.make_range {start = 0, end = 64}         contiguity 64, divisibility 2^62, constancy 1
    %1 = arith.divsi %0, 16                          contiguity 1, divisibility 1, constancy 16
    %2 = arith.muli %1, 32                           contiguity 1, divisibility 32, constancy 16
    %3 = arith.remsi %0, 16                          contiguity 16, divisibility 16, constancy 1
    %4 = arith.addi %2, %3                           contiguity 16, divisibility 16, constancy 1

Three assumptions are not checked: index arithmetic does not overflow, hints such as `tt.divisibility` are true (both as
in Triton's analysis of the same name), and operands of signed divisions are nonnegative, since signed division rounds
toward zero, which changes the groups of negative values. The last is assumed of kernel arguments, loaded values and
values computed from them, but not after a subtraction or the addition of a negative constant: `x - 8` may be negative
(Triton assumes it there, too).

A sparse forward dataflow analysis, optimistic around loops (`dataflow`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd
from typing import Any

from ..dialects import arith, tt, ub
from ..ir import (
    OPS,
    ArrayAttr,
    BlockArgument,
    CountedLoop,
    DenseArrayAttr,
    DenseElementsAttr,
    IntegerAttr,
    Operation,
    Value,
)
from ..support.lazy import LazyModule
from .axis_facts import ANY_DIVISOR, AxisInfo, power_of, unknown
from .axis_rules import RULES
from .dataflow import SparseForward

__all__ = ["ANY_DIVISOR", "AxisInfo", "AxisInfoAnalysis"]

_amdg = LazyModule(".axis_rules_amdg", __package__)

_HINTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")
_NO_HINTS = [None, None, None]


class AxisInfoAnalysis(SparseForward[AxisInfo]):
    """Axis info of all integers and pointers of a function. `of(value)` of an unreachable value is unknown."""

    def __init__(self, func: Operation) -> None:
        super().__init__()
        if "amdg.extract_slice" in OPS:
            RULES.update(_amdg.AMDG_RULES)
        self.func = func
        given = func.attributes.get("arg_attrs") if isinstance(func, tt.Func) else None
        self.hints = given.elements if isinstance(given, ArrayAttr) else ()
        self.solve(func)

    def of(self, value: Value) -> AxisInfo:
        """The axis info of a value."""
        found = self.states.get(value)
        return unknown(value.type) if found is None else found

    def known(self, operands: Iterable[Value]) -> list[AxisInfo] | None:
        """The axis info of operands; None while one of them is not computed."""
        states = self.states
        out = [states.get(v) for v in operands]
        return None if None in out else out  # type: ignore[return-value]

    # -- the lattice --------------------------------------------------------------------------------------------------

    def merge(self, first: AxisInfo, second: AxisInfo) -> AxisInfo:
        """What holds in both states."""
        return first.join(second)

    def entry(self, argument: Value) -> AxisInfo:
        """Hints for arguments of functions, unknown for others."""
        info = unknown(argument.type)
        if self.hints and isinstance(argument, BlockArgument) and argument.owner.parent_op is self.func:
            return _hinted(info, self.hints[argument.index]) if argument.index < len(self.hints) else info
        return info

    def region_argument(self, branch: Operation, argument: Value) -> AxisInfo | None:
        """An induction variable is the lower bound plus a multiple of the step."""
        if not isinstance(branch, CountedLoop):
            return unknown(argument.type)
        bounds = self.known((branch.lb, branch.step))
        if bounds is None:
            return None
        low, step = bounds
        rises = low.nonnegative and step.nonnegative and not branch.unsignedCmp
        divisibility = [gcd(low.element_divisor(), step.element_divisor())]
        return AxisInfo([1], divisibility, [1], None, rises, low.shifted or step.shifted)

    # -- operations ---------------------------------------------------------------------------------------------------

    def enters(self, op: Operation) -> bool:
        """Axis info is not used in combine regions."""
        return op.__class__ not in RULES

    def transfer(self, op: Operation) -> None:
        """Apply the operation's rule; without one, results have their hints only."""
        special = _SPECIAL.get(op.__class__)
        if special is not None:
            special(self, op)
        elif op.__class__ in RULES:
            self._by_rule(op, self.known(op.operands))
            for result in op.results[1:]:
                self.set_result(result, unknown(result.type))
        else:
            for result in op.results:
                self.set_result(result, _hinted(unknown(result.type), op.attributes))

    def _by_rule(self, op: Operation, known: list[AxisInfo] | None) -> None:
        if known is not None:
            self.set_result(op.results[0], _hinted(RULES[op.__class__](op, *known), op.attributes))

    def _poison(self, op: Any) -> None:
        """Poison stays at bottom: merged with another value it may be taken to be that value."""

    def _select(self, op: Any) -> None:
        """A selection of poison or x may be taken to be x. (Other operations make poison of poison.)"""
        condition, *sides = [self.states.get(v) for v in op.operands]
        if condition is not None and None in sides:
            self.set_result(op.results[0], sides[0] or sides[1])
        else:
            self._by_rule(op, self.known(op.operands))

    def _load(self, op: Any) -> None:
        """The values of masked elements may be poison."""
        known = [self.states.get(v) for v in op.operands]
        self._by_rule(op, [k for k in known if k is not None] if known[0] is not None else None)


_SPECIAL: dict[type, Callable[[AxisInfoAnalysis, Any], None]] = {
    ub.Poison: AxisInfoAnalysis._poison,
    arith.Select: AxisInfoAnalysis._select,
    tt.Load: AxisInfoAnalysis._load,
}


def _hint(attribute: Any, rank: int) -> tuple[int, ...] | None:
    """The values of a hint, one for each axis; None if there is none, or if the rank differs."""
    if isinstance(attribute, IntegerAttr):
        return (attribute.value,) * rank
    values = attribute.values if isinstance(attribute, (DenseArrayAttr, DenseElementsAttr)) else ()
    if isinstance(attribute, DenseElementsAttr) and attribute.is_splat:
        values = values * rank
    return tuple(values) if len(values) == rank else None


def _hinted(info: AxisInfo, attributes: Any) -> AxisInfo:
    """Axis info refined by the hints in `attributes`."""
    if not attributes:
        return info
    hints = [attributes.get(name) for name in _HINTS]
    if hints == _NO_HINTS:
        return info
    given = [_hint(attribute, info.rank) for attribute in hints]
    if not any(given):
        return info
    parts: list[Sequence[int]] = []
    for known, said in zip((info.contiguity, info.divisibility, info.constancy), given):
        parts.append(known if said is None else [max(k, power_of(s)) for k, s in zip(known, said)])
    contiguity, divisibility, constancy = parts
    return AxisInfo(contiguity, divisibility, constancy, info.constant, info.nonnegative, info.shifted)
