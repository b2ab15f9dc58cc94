"""The common part of both partitions: clones of loops and branches that count visits of rings.

    scf.for %k … iter_args(%c = …) { … }    =>    scf.for %k … iter_args(%c = …, %slot = …, %phase = …) { … }
    scf.if %p { … }                         =>    %slot, %phase = scf.if %p -> (i32, i32) { … } else { … }

A *clock* is the counter of the rings that a block visits together; loops and branches carry the clocks of all visits in
them. At the start of a visit the clock is read and advanced to the next slot, whatever the rest of the block does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....ir import Block, Builder, CountedLoop, IfLike, Operation, Region, RegionBranch, Value
from .circular_buffers import Counter, Ring, Rings, number
from .partition import MARK

__all__ = ["PartitionEmitter"]

DROPPED = (MARK, "tt.flatten", "tt.num_stages", "tt.loop_unroll_factor", "tt.disallow_acc_multi_buffer")


class PartitionEmitter:
    """Clone operations to the insertion point of `b`; `mapping` maps values to their clones.

    `clocks`: for each block with visits, the clock of each ring; `counters`: the current values of clocks; `visits`:
    their values at the visits in the current block.
    """

    def __init__(self, rings: Rings, b: Builder, mapping: dict[Any, Any], clocks: dict[Block, dict[Ring, Any]]) -> None:
        self.rings, self.b, self.mapping, self.clocks = rings, b, mapping, clocks
        self.counters: dict[Any, Counter] = {}
        self.visits: dict[Any, Counter] = {}

    def run(self, ops: Iterable[Operation]) -> None:
        """Clone the operations of a span."""
        for clock in dict.fromkeys(clock for clocks in self.clocks.values() for clock in clocks.values()):
            self.counters[clock] = Counter(number(self.b, 0), number(self.b, 0))
        for op in ops:
            self.one(op)

    def one(self, op: Any) -> None:
        """Clone one operation, if it belongs to this partition."""
        if isinstance(op, CountedLoop) and self.is_rebuilt(op):
            self.loop(op)
        elif isinstance(op, IfLike) and self.is_rebuilt(op):
            self.branch(op)
        else:
            self.plain(op)

    def is_rebuilt(self, op: Any) -> bool:
        """Whether a loop or branch contains visits, and cannot be cloned as a whole."""
        return bool(self.inside(op))

    def plain(self, op: Any) -> None:
        """Clone an operation without visits."""
        self.b.insert(op.clone(self.mapping))

    def carried(self, loop: CountedLoop) -> list[int]:
        """The indices of carried values of a loop that its clone keeps."""
        return list(range(len(loop.results)))

    def yielded(self, branch: Any) -> list[int]:
        """The indices of results of a branch that its clone keeps."""
        return list(range(len(branch.results)))

    def new(self, value: Any) -> Any:
        """The clone of a value, or the value if it is from outside."""
        return self.mapping.get(value, value)

    def inside(self, op: Operation) -> list[Any]:
        """The clocks of visits in an operation, at any depth."""
        blocks = [block for block in self.clocks if op.is_ancestor_of(block.parent_op)]
        return list(dict.fromkeys(clock for block in blocks for clock in self.clocks[block].values()))

    def visit(self, block: Any, ring: Ring) -> Counter:
        """The position of the current block in a ring."""
        clock = self.clocks[block][ring]
        if clock not in self.visits:
            counter = self.visits[clock] = self.counters[clock]
            self.counters[clock] = counter.advance(self.b, self.rings.depth)
        return self.visits[clock]

    def body(self, copy: RegionBranch, block: Block, target: Block, kept: list[int], clocks: list[Any]) -> None:
        """Clone a block into one of `copy`; it yields the values with indices in `kept`, and the clocks."""
        outer, self.visits = self.visits, {}
        with self.b.saved():
            self.b.at_end(target)
            *ops, end = block
            for op in ops:
                self.one(op)
            self.at_end(end)
            values = [self.new(end.operands[i]) for i in kept]
            self.b.insert(copy.make_yield([*values, *self._counts(clocks)], end.loc))
        self.visits = outer

    def at_end(self, end: Operation) -> None:
        """Hook before the terminator of a cloned block."""

    def loop(self, op: Any) -> Any:
        """Clone a loop, with the clocks of visits in it."""
        kept, clocks = self.carried(op), self.inside(op)
        inits = [self.new(op.init_args[i]) for i in kept]
        copy = op.build(*map(self.new, op.bounds), inits + self._counts(clocks))
        copy.attributes.update({name: v for name, v in op.attributes.items() if name not in DROPPED})
        copy.loc = op.loc
        args = copy.body.args
        for old, arg in zip([op.body.args[0], *(op.body.args[1 + i] for i in kept)], args):
            self.mapping[old] = arg
            arg.hint = old.hint
        self._enter(clocks, args[1 + len(kept) :])
        self.body(copy, op.body, copy.body, kept, clocks)
        self._leave(op, copy, kept, clocks)
        return copy

    def branch(self, op: Any) -> None:
        """Clone a branch, with the clocks of visits in it."""
        kept, clocks = self.yielded(op), self.inside(op)
        before = {clock: self.counters[clock] for clock in clocks}
        types = [op.results[i].type for i in kept] + [v.type for v in self._counts(clocks)]
        copy = op.build(self.new(op.condition), types)
        copy.attributes.update(op.attributes)
        copy.loc = op.loc
        for old, region in zip(op.regions, copy.regions):
            self.counters.update(before)
            self._arm(copy, old, region.blocks[0], kept, clocks)
        self._leave(op, copy, kept, clocks)

    def _arm(self, copy: RegionBranch, old: Region, target: Block, kept: list[int], clocks: list[Any]) -> None:
        if old.blocks:
            self.body(copy, old.blocks[0], target, kept, clocks)
        else:
            target.append(copy.make_yield(self._counts(clocks)))

    def _leave(self, op: Any, copy: Any, kept: list[int], clocks: list[Any]) -> None:
        self.b.insert(copy)
        for i, result in zip(kept, copy.results):
            self.mapping[op.results[i]] = result
            result.hint = op.results[i].hint
        self._enter(clocks, copy.results[len(kept) :])

    def _counts(self, clocks: list[Any]) -> list[Value]:
        return [v for clock in clocks for v in self.counters[clock]]

    def _enter(self, clocks: list[Any], values: Sequence[Value]) -> None:
        for i, clock in enumerate(clocks):
            self.counters[clock] = Counter(values[2 * i], values[2 * i + 1])
