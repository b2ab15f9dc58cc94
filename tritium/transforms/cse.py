"""cse: Eliminate common subexpressions.

Two operations are equal when they have the same class, operands (in any order if commutative), attributes, result types
and equal regions, up to the names of values. Of two equal operations, the later is removed if the earlier dominates it:

    %a = arith.addi %x, %y             %a = arith.addi %x, %y
    scf.if %p {                   =>   scf.if %p {
      %b = arith.addi %y, %x             use %a
      use %b                           }
    }

Operations without memory effects always qualify; operations that allocate memory never do. One that only reads memory
qualifies as long as nothing in between may write: every write starts a new epoch, and reads of different epochs are not
equal. A region that writes anywhere starts an epoch when it is entered (a loop returns to its first read after its last
write) and one when it is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir import (
    ALLOC,
    COMMUTATIVE,
    CONSTANT,
    ISOLATED,
    PURE,
    READ,
    SINGLE_BLOCK,
    TERMINATOR,
    WRITE,
    Block,
    Operation,
    Region,
    Value,
    count,
    functions_of,
    may_change,
    memory_effects,
    pass_on,
)

__all__ = ["cse", "region_key"]


@pass_on("function")
def cse(op: Operation) -> bool:
    """Eliminate common subexpressions in a function, or in all functions of a module."""
    merged = 0
    for func in functions_of(op):
        walker = _Walker()
        for region in func.regions:
            walker.region(region)
        merged += walker.merged
    count("operations merged", merged)
    return merged > 0


class _Walker:
    """Visit regions in dominance order; `known` holds dominating operations, `undo` those to remove on leaving."""

    def __init__(self) -> None:
        self.known: dict[Any, Operation] = {}
        self.undo: list[Any] = []
        self.epoch = 0
        self.merged = 0

    def region(self, region: Region) -> None:
        """Visit the entry block, and within its scope every other block separately."""
        blocks = region.blocks
        if not blocks:
            return
        mark = len(self.undo)
        self.block(blocks[0])
        for block in blocks[1:]:
            inner = len(self.undo)
            self.epoch += 1
            self.block(block)
            self.forget(inner)
        self.forget(mark)

    def forget(self, mark: int) -> None:
        for key in self.undo[mark:]:
            del self.known[key]
        del self.undo[mark:]

    def block(self, block: Block) -> None:
        known, undo = self.known, self.undo
        op = block.first
        while op is not None:
            following = op.next
            traits = op.traits
            if traits & TERMINATOR:
                if op.regions:
                    self.nested(op, memory_effects(op))
                break
            if traits & PURE:
                effects = 0
            else:
                effects = memory_effects(op)
            if op.regions:
                self.nested(op, effects)
            if effects & WRITE:
                self.epoch += 1
            elif not effects & ALLOC and (not op.regions or traits & PURE) and op.results:
                key = _key(op, self.epoch if effects & READ else -1)
                found = known.setdefault(key, op)
                if found is op:
                    undo.append(key)
                else:
                    self.merge(op, found)
            op = following

    def nested(self, op: Operation, effects: int) -> None:
        self.epoch += bool(effects & WRITE)
        if not op.traits & ISOLATED:
            for region in op.regions:
                self.region(region)
            return
        for region in op.regions:  # isolated from above
            walker = _Walker()
            walker.region(region)
            self.merged += walker.merged

    def merge(self, op: Operation, into: Operation) -> None:
        if not may_change("merge", op):
            return
        for old, new in zip(op.results, into.results):
            if new.hint is None:
                new.hint = old.hint
            old.replace_all_uses_with(new)
        op.erase()
        self.merged += 1


def _key(op: Operation, epoch: int) -> Any:
    operands = op.operands
    attributes = op.attributes
    traits = op.traits
    if traits & CONSTANT:
        return attributes["value"], op.results[0].type
    if traits & COMMUTATIVE and len(operands) == 2 and id(operands[0]) > id(operands[1]):
        inputs: tuple[Value, ...] = (operands[1], operands[0])
    else:
        inputs = tuple(operands)
    rest = frozenset(attributes.items()) if attributes else None
    types = op.results[0].type if len(op.results) == 1 else tuple(r.type for r in op.results)
    key = (op.__class__, op.name, inputs, rest, types, epoch)
    if not op.regions:
        return key
    return (*key, tuple(region_key(r.blocks) for r in op.regions) if traits & SINGLE_BLOCK else id(op))


def region_key(blocks: Iterable[Block]) -> Any:
    """A key of blocks with numbered values, equal for blocks that are equal up to names.

    Branches are equal when they have the same successors.
    """
    numbers: dict[Value, int] = {}

    def block_key(block: Block) -> Any:
        for arg in block.args:
            numbers[arg] = len(numbers)
        rows: list[Any] = [tuple(arg.type for arg in block.args)]
        for op in block:
            inputs = tuple(numbers.get(v, v) for v in op.operands)
            nested = tuple(block_key(b) for r in op.regions for b in r.blocks)
            types = tuple(r.type for r in op.results)
            rows.append((op.name, inputs, frozenset(op.attributes.items()), types, nested, tuple(op.successors)))
            for r in op.results:
                numbers[r] = len(numbers)
        return tuple(rows)

    return tuple(map(block_key, blocks))
