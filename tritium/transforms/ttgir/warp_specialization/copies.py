"""What both programs of a span have in common: copies of its loops and branches that carry the counters of rings.

    scf.for %k … iter_args(%c = …) { … }    =>    scf.for %k … iter_args(%c = …, %slot = …, %phase = …) { … }
    scf.if %p { … }                         =>    %slot, %phase = scf.if %p -> (i32, i32) { … } else { … }

A loop or branch has the counters of all blocks with rings in it. A block's own counter advances at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....dialects import scf
from ....ir import Block, Builder, Operation, Region, Value
from .partition import MARK
from .rings import Counter, Rings, number

__all__ = ["Copy"]

DROPPED = (MARK, "tt.flatten", "tt.num_stages", "tt.loop_unroll_factor", "tt.disallow_acc_multi_buffer")


class Copy:
    """Copies operations to where `b` inserts; `mapping` has new values for old ones, `counters` where blocks are."""

    def __init__(self, rings: Rings, b: Builder, mapping: dict[Any, Any]) -> None:
        self.rings, self.b, self.mapping = rings, b, mapping
        self.counters: dict[Block, Counter] = {}

    def run(self, ops: Iterable[Operation]) -> None:
        """Copy the operations of a span."""
        for block in self.rings.of_block:
            self.counters[block] = Counter(number(self.b, 0), number(self.b, 0))
        for op in ops:
            self.one(op)

    def one(self, op: Any) -> None:
        """Copy one operation, if it belongs to this program."""
        if op.__class__ is scf.For and self.is_woven(op):
            self.loop(op)
        elif op.__class__ is scf.If and self.is_woven(op):
            self.branch(op)
        else:
            self.plain(op)

    def is_woven(self, op: Any) -> bool:
        """Whether a loop or branch is taken apart, not copied as it is."""
        return bool(self.rings.inside(op))

    def plain(self, op: Any) -> None:
        """Copy an operation that is no loop or branch around rings."""
        self.b.insert(op.clone(self.mapping))

    def carried(self, loop: Any) -> list[int]:
        """The carried values of a loop that its copy keeps."""
        return list(range(len(loop.results)))

    def handed(self, branch: Any) -> list[int]:
        """The results of a branch that its copy keeps."""
        return list(range(len(branch.results)))

    def new(self, value: Any) -> Any:
        """The copy of a value, or the value if it is from outside."""
        return self.mapping.get(value, value)

    def body(self, block: Block) -> None:
        """Copy a block's operations, without its end."""
        for op in list(block)[:-1]:
            self.one(op)

    def loop(self, op: Any) -> Any:
        """Copy a loop, with the counters of blocks in it."""
        kept, blocks = self.carried(op), self.rings.inside(op)
        inits = [self.new(op.init_args[i]) for i in kept]
        outside = {block: self.counters[block] for block in blocks}
        inits += [v for counter in outside.values() for v in counter.values]
        copy = scf.For.build(self.new(op.lb), self.new(op.ub), self.new(op.step), inits)
        copy.attributes.update({name: v for name, v in op.attributes.items() if name not in DROPPED})
        copy.loc = op.loc
        args = copy.body.args
        for old, arg in zip([op.body.args[0], *(op.body.args[1 + i] for i in kept)], args):
            self.mapping[old] = arg
            arg.hint = old.hint
        with self.b.saved():
            self.b.at_end(copy.body)
            self._enter(blocks, args[1 + len(kept) :])
            self.body(op.body)
            self.finish(op.body, [self.new(op.body.last.operands[i]) for i in kept], blocks)
        self.b.insert(copy)
        for i, result in zip(kept, copy.results):
            self.mapping[op.results[i]] = result
            result.hint = op.results[i].hint
        self._enter(blocks, copy.results[len(kept) :])
        return copy

    def finish(self, block: Block, yielded: list[Value], blocks: list[Block]) -> None:
        """End a copied block: its own counter advances, and all are handed on."""
        if block in self.rings.of_block:
            self.counters[block] = self.counters[block].advance(self.b, self.rings.depth)
        values = [v for inner in blocks for v in self.counters[inner].values]
        self.b.insert(scf.Yield([*yielded, *values], loc=block.last.loc if block.last is not None else self.b.loc))

    def branch(self, op: Any) -> None:
        """Copy a branch, with the counters of blocks in it."""
        kept, blocks = self.handed(op), self.rings.inside(op)
        outside = {block: self.counters[block] for block in blocks}
        types = [op.results[i].type for i in kept] + [v.type for c in outside.values() for v in c.values]
        copy = scf.If.build(self.new(op.condition), types)
        copy.attributes.update(op.attributes)
        copy.loc = op.loc
        for old, region in zip(op.regions, copy.regions):
            self.counters.update(outside)
            with self.b.saved():
                self.b.at_end(region.blocks[0])
                self._arm(old, kept, blocks)
        self.b.insert(copy)
        for i, result in zip(kept, copy.results):
            self.mapping[op.results[i]] = result
            result.hint = op.results[i].hint
        self._enter(blocks, copy.results[len(kept) :])

    def _arm(self, old: Region, kept: list[int], blocks: list[Block]) -> None:
        if not old.blocks:
            values = [v for inner in blocks for v in self.counters[inner].values]
            self.b.insert(scf.Yield(values))
            return
        block: Any = old.blocks[0]
        self.body(block)
        self.finish(block, [self.new(block.last.operands[i]) for i in kept], blocks)

    def _enter(self, blocks: list[Block], values: Sequence[Value]) -> None:
        for i, block in enumerate(blocks):
            self.counters[block] = Counter(values[2 * i], values[2 * i + 1])
