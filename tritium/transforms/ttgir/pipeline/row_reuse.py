"""Loads of a loop that read again, iteration by iteration, what a loop before it with the same bounds has loaded.

    for %i = 0 to %n step 1024 {                 %x2 of iteration i reads what %x1 of iteration i has read if
      %x1 = load x[%i : %i + 1024]               the stores between them write elsewhere: `store s` and all
    }                                            iterations of `store y`. The latter may also write the same
    store s, …                                   elements, since no later iteration reads them.
    for %i = 0 to %n step 1024 {
      %x2 = load x[%i : %i + 1024]
      store y[%i : %i + 1024], …
    }

Addresses and masks are compared as expressions of the induction variables and of values carried alike (`_Same`). What
is not known of the stores is a condition on addresses (`Apart`), which the caller tests before the loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....dialects import arith, gpu, tt, ttg
from ....dialects.tt_types import CacheModifier, PointerType
from ....ir import (
    PURE,
    WRITE,
    BlockArgument,
    Builder,
    CountedLoop,
    IntegerAttr,
    Memory,
    MemoryAccess,
    Operation,
    PlainLoad,
    PointerAccess,
    TensorType,
    Value,
    constant_of,
    element_type,
    i64,
    memory_effects,
)
from ....ir.dominance import ancestor_in
from ...versions import operations_between

__all__ = ["Apart", "Reuse", "find_reuses"]


class Row(NamedTuple):
    """The addresses `base + i + [0, length)`, with the induction variable i; `size` is that of an element in bytes."""

    base: Value
    length: int
    size: int


class Apart(NamedTuple):
    """The condition that a store of the loops writes no byte of a row; of `length` 0: it stores one element at `base`.

    `or_same`: it may write exactly the row, since each iteration has read its part before.
    """

    row: Row
    stored: Row
    or_same: bool

    def emit(self, b: Builder, end: Value, moved: dict[Value, Value]) -> Value:
        """Emit the condition before the loops; `end`: the end of the induction variable, an i64; `moved`: scalars
        that are computed there, and their copies."""
        row, stored = (row._replace(base=_move(b, row.base, moved)) for row in (self.row, self.stored))
        distance = b.add(arith.SubI(*(b.add(tt.PtrToInt(v, result=i64)) for v in (stored.base, row.base))))
        above = self._compare(b, arith.CmpIPredicate.sge, distance, _bytes_of(b, row, end))
        if stored.length:
            below = b.add(arith.SubI(_constant(b, 0), _bytes_of(b, stored, end)))
        else:
            below = _constant(b, -stored.size)
        out: Value = b.add(arith.OrI(above, self._compare(b, arith.CmpIPredicate.sle, distance, below)))
        if self.or_same:
            out = b.add(arith.OrI(out, self._compare(b, arith.CmpIPredicate.eq, distance, _constant(b, 0))))
        return out

    @staticmethod
    def _compare(b: Builder, predicate: arith.CmpIPredicate, lhs: Value, rhs: Value) -> Value:
        found: Value = b.add(arith.CmpI(predicate, lhs, rhs))
        return found


class Reuse(NamedTuple):
    """`later` reads what `first` has read, where all conditions hold; `fills`: also where it is masked off."""

    first: PlainLoad
    later: PlainLoad
    conditions: tuple[Apart, ...]
    fills: bool


def find_reuses(loops: Sequence[CountedLoop]) -> list[Reuse]:
    """The reuses of a group of loops of one block, in order; all have the same bounds."""
    found: dict[PlainLoad, Reuse] = {}
    for k, loop in enumerate(loops):
        for later in _loads_of(loop) if k else ():
            earlier = [(before, first) for before in loops[:k] for first in _loads_of(before) if first not in found]
            reuses = (_Pair(loops, before, loop, first, later).reuse() for before, first in earlier)
            reuse = next((reuse for reuse in reuses if reuse is not None), None)
            if reuse is not None:
                found[later] = reuse
    return list(found.values())


def _loads_of(loop: CountedLoop) -> list[PlainLoad]:
    """The loads of tensors directly in a loop that may be replaced by a copy of what they read."""
    return [op for op in loop.body if isinstance(op, PlainLoad) and _may_reuse(op)]


def _may_reuse(load: PlainLoad) -> bool:
    policy = load.cache_policy
    asks_for_memory = memory_effects(load) & WRITE or getattr(policy, "cache_modifier", None) is CacheModifier.cv
    return isinstance(load.results[0].type, TensorType) and not load.volatile and not asks_for_memory


class _Same:
    """Whether values of two loops are equal in each iteration.

    Pairs of carried values are assumed to be equal; they are, as the initial values and those of the next iteration are
    equal under this assumption. The first unequal pair makes the answer of the whole comparison False.
    """

    def __init__(self, first: CountedLoop, later: CountedLoop) -> None:
        self._loops = first, later
        self._assumed: set[tuple[Value, Value]] = {(first.induction_variable, later.induction_variable)}

    def equal(self, one: Value | None, other: Value | None) -> bool:
        """Whether `one`, of the first loop, equals `other`, of the later one; absent operands are equal."""
        if one is other or (one, other) in self._assumed:
            return True
        if one is None or other is None or one.type != other.type:
            return False
        self._assumed.add((one, other))
        if isinstance(one, BlockArgument) or isinstance(other, BlockArgument):
            return self._equal_carried(one, other)
        made, others = one.defining_op, other.defining_op
        return made is not None and others is not None and self._equal_operations(made, others)

    def _equal_carried(self, one: Value, other: Value) -> bool:
        first, later = self._loops
        if one not in first.iter_args or other not in later.iter_args:
            return False
        m, n = first.iter_args.index(one), later.iter_args.index(other)
        return self.equal(first.inits[m], later.inits[n]) and self.equal(first.yielded[m], later.yielded[n])

    def _equal_operations(self, one: Operation, other: Operation) -> bool:
        if not one.traits & PURE or one.regions or len(one.results) != 1 or one.name != other.name:
            return False
        same = len(one.operands) == len(other.operands) and one.attributes == other.attributes
        return same and all(self.equal(a, b) for a, b in zip(one.operands, other.operands))


class _Pair:
    """A load and one of a later loop, and the stores between their executions."""

    def __init__(
        self, loops: Sequence[CountedLoop], before: CountedLoop, loop: CountedLoop, first: PlainLoad, later: PlainLoad
    ) -> None:
        self.before, self.loop, self.first, self.later = before, loop, first, later
        self._loops, self._start = loops, loops[0]

    def reuse(self) -> Reuse | None:
        """The reuse of the first load, or None."""
        first, later = self.first, self.later
        if first.results[0].type != later.results[0].type or first.name != later.name:
            return None
        same = _Same(self.before, self.loop)
        if not same.equal(first.pointer, later.pointer) or not same.equal(first.access_mask, later.access_mask):
            return None
        conditions: dict[Apart, None] = {}
        for op, follows in self._writes():
            apart = self._apart(op, follows)
            if apart is None:
                return None
            conditions[apart] = None
        fills = later.access_mask is None or later.fallback is None or same.equal(first.fallback, later.fallback)
        return Reuse(first, later, tuple(conditions), fills)

    def _writes(self) -> Iterator[tuple[Operation, bool]]:
        """What may write global memory between the two loads; whether it follows the later one in its iteration."""
        for op in operations_between(self.before, self.loop):
            for inner in op.walk():
                if inner.regions or not memory_effects(inner) & WRITE or _is_local(inner):
                    continue
                yield inner, inner.parent is self.loop.body and self.later.is_before(inner)

    def _apart(self, op: Operation, follows: bool) -> Apart | None:
        """The condition under which a store does not change what the later load reads; None for other operations."""
        if not isinstance(op, PointerAccess) or memory_effects(op) != WRITE or op.atomic:
            return None
        row, stored = self._row(self.first.pointer, self.before), self._stored(op)
        if row is None or stored is None:
            return None
        step = constant_of(self.loop.step)
        assert isinstance(step, IntegerAttr)
        same = follows and stored.length == row.length <= step.value and stored.size == row.size
        return Apart(row, stored, same)

    def _stored(self, op: PointerAccess) -> Row | None:
        if not isinstance(op.pointer.type, TensorType):
            return Row(op.pointer, 0, _pointee_bytes(op.pointer)) if self._can_move(op.pointer) else None
        around = next((loop for loop in self._loops if op.parent is loop.body), None)
        return None if around is None else self._row(op.pointer, around)

    def _row(self, pointer: Value, loop: CountedLoop) -> Row | None:
        found = self._terms(pointer, loop.induction_variable)
        if found is None or found.base is None or found.times != 1:
            return None
        return Row(found.base, found.last + 1, _pointee_bytes(pointer))

    def _terms(self, value: Value, index: Value) -> _Terms | None:
        """The terms of an address or an offset; None where others occur."""
        op = value.defining_op
        if value is index:
            return _Terms(None, 1, 0)
        if isinstance(op, tt.MakeRange) and op.start == 0:
            return _Terms(None, 0, op.end - 1)
        if isinstance(op, tt.Splat | arith.ExtSI | ttg.ConvertLayout):
            return self._terms(op.operands[0], index)
        if isinstance(op, arith.AddI | tt.AddPtr) and not (isinstance(op, tt.AddPtr) and self._can_move(value)):
            left, right = (self._terms(v, index) for v in op.operands)
            return None if left is None or right is None else _Terms.total(left, right)
        if isinstance(element_type(value.type), PointerType) and self._can_move(value):
            return _Terms(value, 0, 0)
        return None

    def _can_move(self, value: Value, depth: int = 4) -> bool:
        """Whether a scalar can be computed before the loops."""
        if isinstance(value.type, TensorType):
            return False
        op = value.defining_op
        if _is_defined_before(value, self._start):
            return True
        if op is None or depth == 0 or op.regions or not op.traits & PURE:
            return False
        return all(self._can_move(v, depth - 1) for v in op.operands)


class _Terms(NamedTuple):
    """The address `base + times * i + [0, last]`; an offset without a base."""

    base: Value | None
    times: int
    last: int

    @classmethod
    def total(cls, one: _Terms, other: _Terms) -> _Terms | None:
        """The sum of two, of which one at most has a base."""
        if one.base is not None and other.base is not None:
            return None
        return cls(one.base or other.base, one.times + other.times, one.last + other.last)


def _is_defined_before(value: Value, start: Operation) -> bool:
    """Whether a value that is used in or after `start`, in its block, is defined before it."""
    owner = value.defining_op
    if owner is None and value.block is not None:
        owner = value.block.parent_op
    at = ancestor_in(start.parent, owner)
    return at is None or at.is_before(start)


def _move(b: Builder, value: Value, moved: dict[Value, Value]) -> Value:
    """`value`, computed where `b` inserts."""
    op = value.defining_op
    if op is None or b.before is None or _is_defined_before(value, b.before):
        return value
    if value not in moved:
        moved[value] = b.add(op.clone({v: _move(b, v, moved) for v in op.operands}))
    return moved[value]


def _is_local(op: Operation) -> bool:
    """Whether an operation writes no global memory: a barrier, or an access to shared memory alone."""
    if isinstance(op, ttg.Barrier | gpu.Barrier):
        return True
    return isinstance(op, MemoryAccess) and bool(op.accesses) and all(a.memory is Memory.SHARED for a in op.accesses)


def _pointee_bytes(pointer: Value) -> int:
    ty = element_type(pointer.type)
    assert isinstance(ty, PointerType)
    return max(8, getattr(ty.pointee, "width", 64)) // 8


def _bytes_of(b: Builder, row: Row, end: Value) -> Value:
    """The bytes from the base of a row to the end of what the last iteration may access."""
    elements = b.add(arith.AddI(end, _constant(b, row.length)))
    found: Value = b.add(arith.MulI(elements, _constant(b, row.size)))
    return found


def _constant(b: Builder, value: int) -> Value:
    found: Value = b.add(arith.Constant.of(value, i64))
    return found
