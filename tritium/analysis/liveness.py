"""Live ranges of values, as intervals of program order.

Operations are numbered in textual order, an operation before those in its regions; one with regions ends after them. A
live range extends from the definition of a value to its last use, and to the end of a loop if the value is defined
outside of the loop and used inside, since every iteration uses it. Loop-carried values live as long as the loop. A
branch backward makes a loop of all blocks in between.

A use by a bulk copy (TMA) lasts until the copy is waited for. If no wait follows in the block, a `ttg.local_dealloc`
after the wait elsewhere says how long the buffer is used.

Specialized warps run concurrently: values shared by them live as long as the whole operation; values of one region have
a live range by the order there, which overlaps those of all other regions.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dialects import ttg
from ..ir import BlockArgument, Completion, LoopLike, MemoryAccess, Operation, Region, Value, ViewLike, WaitLike
from .dataflow import fixed_point

__all__ = ["Interval", "Order"]


_BULK = (Completion.MBARRIER, Completion.BULK_GROUP)
"""How bulk copies complete. No token stands for the buffers that they access, so that their lives extend to a wait."""


def _viewed(buffer: Value) -> Value:
    """The buffer at the root of a chain of views."""
    while isinstance(maker := buffer.defining_op, ViewLike):
        buffer = maker.view_source
    return buffer


def _waits(op: Operation, completion: Completion, barrier: Value | None) -> bool:
    """Whether `op` waits for what completes in that way, at the mbarrier `barrier` where it is one."""
    if not isinstance(op, WaitLike) or op.waits_for is not completion:
        return False
    return barrier is None or _viewed(op.operands[0]) is barrier


class Interval(NamedTuple):
    """Operations from number `first` to number `last`, both included."""

    first: int
    last: int

    def meets(self, other: Interval) -> bool:
        """Whether the intervals overlap."""
        return self.first <= other.last and other.first <= self.last

    def within(self, other: Interval) -> bool:
        """Whether the other interval contains this one."""
        return other.first <= self.first and self.last <= other.last

    def join(self, other: Interval) -> Interval:
        """The smallest interval that contains both."""
        return Interval(min(self.first, other.first), max(self.last, other.last))


class Order:
    """The numbering of a function's operations and loops."""

    def __init__(self, func: Operation) -> None:
        self.begin: dict[Operation, int] = {}
        self.end: dict[Operation, int] = {}
        self._loops: list[Interval] = []
        self._whole: list[tuple[Interval, list[Interval]]] = []  # operations whose regions run concurrently
        self._number(func)

    def _number(self, op: Operation) -> None:
        self.begin[op] = len(self.begin)
        for region in op.regions:
            starts = {}
            for block in region.blocks:
                starts[block] = len(self.begin)
                for inner in block:
                    self._number(inner)
                    for target in inner.successors:
                        if target in starts:
                            self._loops.append(Interval(starts[target], len(self.begin) - 1))
        self.end[op] = len(self.begin) - 1
        if isinstance(op, LoopLike):
            self._loops.append(self.of(op))
        if isinstance(op, ttg.WarpSpecialize):
            self._whole.append((self.of(op), [self._region(r) for r in (op.regions[0], *op.partitions.regions)]))

    def _region(self, region: Region) -> Interval:
        """From the first operation of a region to the last."""
        return Interval(self.begin[region.blocks[0].first], self.end[region.blocks[-1].last])  # type: ignore[index]

    @property
    def apart(self) -> bool:
        """Whether some operations run concurrently, though their intervals are disjoint."""
        return bool(self._whole)

    def meet(self, a: Interval, b: Interval) -> bool:
        """Whether two live ranges overlap in time."""
        return a.meets(b) or any(
            i != j
            for _, regions in self._whole
            for i, r in enumerate(regions)
            for j, s in enumerate(regions)
            if a.within(r) and b.within(s)
        )

    def of(self, op: Operation) -> Interval:
        """The interval of an operation and its regions."""
        return Interval(self.begin[op], self.end[op])

    def life(self, value: Value) -> Interval:
        """The live range of a value."""
        made = self._made(value)
        out = made
        for user in value.users:
            out = out.join(Interval(self.begin[user], self._until(user)))
        return self.extended(out, made.first)

    def _until(self, user: Operation) -> int:
        """The index of the operation at which `user` is done with its buffers."""
        if not isinstance(user, MemoryAccess) or user.completes not in _BULK:
            return self.begin[user]
        barrier = _viewed(user.completion_barrier) if user.completes is Completion.MBARRIER else None
        op = user.next
        while op is not None and not _waits(op, user.completes, barrier):
            op = op.next
        return self.begin[user if op is None else op]

    def _made(self, value: Value) -> Interval:
        maker = value.defining_op
        if maker is not None:
            # A result of an operation with regions is defined after them.
            at = self.end[maker] if maker.regions else self.begin[maker]
            return Interval(at, at)
        assert isinstance(value, BlockArgument)
        parent = value.owner.parent_op
        if isinstance(parent, LoopLike):
            return self.of(parent)
        first = value.owner.first
        at = 0 if first is None else self.begin[first]
        return Interval(at, at)

    def extended(self, life: Interval, made: int) -> Interval:
        """A live range, extended to the ends of loops that it enters and of operations that run concurrently."""

        def step(life: Interval) -> Interval:
            for loop in self._loops:
                if made < loop.first <= life.last < loop.last or (life.first < loop.first and life.meets(loop)):
                    life = life.join(loop)
            for whole, regions in self._whole:
                if life.meets(whole) and not any(life.within(region) for region in regions):
                    life = life.join(whole)
            return life

        return fixed_point(step, life) if self._loops or self._whole else life
