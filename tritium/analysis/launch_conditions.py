"""Conditions on a launch, as text that the host evaluates on the arguments and the grid.

The text is JSON with single quotes: `nodes`, a list of expressions whose operands are earlier ones, and `conditions`,
a list of what must hold of them. `support/launch_predicate` evaluates it, each expression as an interval that contains
its values in all programs and iterations: a program id is from 0 to the grid's extent less 1, an induction variable
from the lower bound to the upper one less 1. A value that no expression describes (one from memory) is any integer.

    ["int", n]                      n
    ["arg", bits, i]                parameter i, an integer or an address
    ["program", axis]               a program id; ["programs", axis]: their number
    ["loop", low, high]             an induction variable
    ["index", n]                    0 to n - 1
    ["sum", [c, x, y, …], …]        Σ c * x * y * …, in the integers
    [name, bits, x, y]              div, rem, min or max of integers of `bits` bits, or of any size (0)
    ["either", x, y]                one of two
    ["below", x, n]                 x where it is below n
    ["any", bits]                   any integer

    ["fits", x, bits]               x fits into a signed integer
    ["least", x, n]                 x >= n
    ["multiple", x, n]              x, of arguments, is positive and a multiple of n
    ["apart", x, n, y, m]           the n bytes at each address x, and the m bytes at each y, are different ones
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ..dialects import arith, tt
from ..dialects.constraints import bit_width
from ..dialects.tt_types import PointerType
from ..ir import BlockArgument, CountedLoop, IntegerAttr, IntegerType, Value, constant_of, element_type
from .affine_addresses import AffineAddresses, Divides, Remainder, Requirement
from .polynomials import Polynomial
from .strided_tiles import Dimension, StridedTile
from .tma import EXTENTS, PROGRAMS

__all__ = ["LaunchConditions"]

MAX_RESIDENT = 1 << 16
"""More CTAs than run at once on any GPU: 32 on each of some 200 SMs."""

_BINARY = {"arith.divsi": "div", "arith.remsi": "rem", "arith.minsi": "min", "arith.maxsi": "max"}


class LaunchConditions:
    """Collects conditions; equal expressions and equal conditions are stored once."""

    def __init__(self, addresses: AffineAddresses, passed: Mapping[Value, str] | None = None) -> None:
        """`passed`: the parameters that the launcher adds, `tma.PROGRAMS` or one of `tma.EXTENTS`."""
        self._addresses = addresses
        self._passed = passed or {}
        self._nodes: dict[str, int] = {}
        self._conditions: dict[str, None] = {}
        self._values: dict[Value, int] = {}
        self._required: set[Requirement] = set()

    def text(self) -> str:
        """The value of the attribute."""
        made = f'{{"nodes":[{",".join(self._nodes)}],"conditions":[{",".join(self._conditions)}]}}'
        return made.replace('"', "'")

    def require(self, requirements: Sequence[Requirement] | frozenset[Requirement]) -> None:
        """Add what values require to be affine."""
        for requirement in sorted(requirements, key=str):
            if requirement in self._required:
                continue
            self._required.add(requirement)
            if isinstance(requirement, Divides):
                self._add("multiple", self._sum(requirement.value), requirement.divisor)
                continue
            indices = [self._node("index", size) for size in requirement.shape]
            self._add("fits", self._sum(requirement.offset, requirement.steps, indices), requirement.bits)

    def one_dimension(self) -> None:
        """Add that the grid has one dimension."""
        for axis in (1, 2):
            self._add("least", self._node("sum", [1], [-1, self._node("programs", axis)]), 0)

    def programs(self, least: int, bits: int) -> None:
        """Add that there are at least so many programs, and that counting them by resident CTAs does not overflow."""
        count = self._node("sum", [1, *self._extents()])
        if least > 1:
            self._add("least", count, least)
        self._add("fits", self._node("sum", [MAX_RESIDENT], [1, count]), bits)

    def most_trips(self, loop: CountedLoop, most: int) -> None:
        """Add that a loop of a constant step has at most so many iterations."""
        step = constant_of(loop.step)
        assert isinstance(step, IntegerAttr)
        span = self._node("sum", [most * step.value], [1, self._value(loop.lb)], [-1, self._value(loop.ub)])
        self._add("least", span, 0)

    def at_least(self, value: Polynomial, least: int) -> None:
        """Add that a value is never below a number."""
        number = value.number
        if number is None or number < least:
            self._add("least", self._sum(value), least)

    def apart(self, one: StridedTile, other: StridedTile) -> None:
        """Add that two accesses never reach the same bytes."""
        rows = [(self._addresses_of(tile), _element_bytes(tile.base)) for tile in (one, other)]
        self._add("apart", *(n for row in rows for n in row))

    # -- expressions --------------------------------------------------------------------------------------------------

    def _add(self, *condition: str | int) -> None:
        self._conditions[json.dumps(condition, separators=(",", ":"))] = None

    def _extents(self) -> list[int]:
        return [self._node("programs", axis) for axis in range(3)]

    def _node(self, *node: object) -> int:
        return self._nodes.setdefault(json.dumps(node, separators=(",", ":")), len(self._nodes))

    def _sum(self, offset: Polynomial, steps: Sequence[Polynomial] = (), indices: Sequence[int] = ()) -> int:
        """offset + Σ steps[d] * indices[d]"""
        number = offset.number
        if number is not None and not any(steps):
            return self._node("int", number)
        terms = self._terms(offset)
        for step, index in zip(steps, indices, strict=True):
            terms += [[*term, index] for term in self._terms(step)]
        return self._node("sum", *terms)

    def _terms(self, polynomial: Polynomial) -> list[list[int]]:
        return [[number, *(self._atom(atom) for atom in monomial)] for monomial, number in polynomial]

    def _addresses_of(self, tile: StridedTile) -> int:
        """The addresses that an access reaches, those within all extents."""
        size = _element_bytes(tile.base)
        terms = [[1, self._value(tile.base)], *self._terms(tile.offset.scaled(size))]
        for dimension in tile.dimensions:
            index = self._index(dimension)
            terms += [[*term, index] for term in self._terms(dimension.stride.scaled(size))]
        return self._node("sum", *terms)

    def _index(self, dimension: Dimension) -> int:
        index = self._sum(dimension.start, [Polynomial.of(1)], [self._node("index", dimension.size)])
        return index if dimension.extent is None else self._node("below", index, self._sum(dimension.extent))

    def _atom(self, number: int) -> int:
        atom = self._addresses.atoms[number]
        if isinstance(atom, Remainder):
            return self._node("rem", 0, self._sum(atom.dividend), self._sum(atom.divisor))
        assert isinstance(atom, Value)
        return self._value(atom)

    def _value(self, value: Value) -> int:
        found = self._values.get(value)
        if found is None:
            self._values[value] = self._node("any", 64)  # of a loop-carried value that depends on itself
            found = self._values[value] = self._described(value)
        return found

    def _described(self, value: Value) -> int:
        ty, known = value.type, constant_of(value)
        if isinstance(known, IntegerAttr):
            return self._node("int", known.value)
        bits = 64 if isinstance(ty, PointerType) else bit_width(ty)
        if value in self._passed:
            name = self._passed[value]
            if name == PROGRAMS:
                return self._node("sum", [1, *self._extents()])
            return self._node("programs", EXTENTS.index(name))
        if isinstance(value, BlockArgument) and value.owner is self._addresses.entry:
            return self._node("arg", bits, value.index)
        if isinstance(ty, IntegerType):
            form = self._addresses.affine(value)
            if form.offset != self._addresses.atoms.polynomial(value):
                self.require(form.requirements)
                return self._sum(form.offset)
        if isinstance(value, BlockArgument):
            loop = value.owner.parent_op
            if isinstance(loop, CountedLoop) and value is loop.induction_variable and not loop.unsignedCmp:
                return self._node("loop", self._value(loop.lb), self._value(loop.ub))
            return self._node("any", bits)
        return self._result(value, bits)

    def _result(self, value: Value, bits: int) -> int:
        op = value.defining_op
        if isinstance(op, (tt.GetProgramId, tt.GetNumPrograms)):
            return self._node("program" if isinstance(op, tt.GetProgramId) else "programs", int(op.axis))
        if op is not None and op.name in _BINARY:
            return self._node(_BINARY[op.name], bits, *map(self._value, op.operands))
        if isinstance(op, arith.Select):
            return self._node("either", self._value(op.true_value), self._value(op.false_value))
        return self._node("any", bits)


def _element_bytes(pointer: Value) -> int:
    ty = element_type(pointer.type)
    assert isinstance(ty, PointerType)
    return max(8, bit_width(ty.pointee)) // 8
