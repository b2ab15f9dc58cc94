"""Which blocks, operations and values come before which on every way through a region.

bb0 -> bb1 -> bb3, bb0 -> bb2 -> bb3      idom: bb1, bb2, bb3 all have bb0
"""

from __future__ import annotations

from .operation import Block, BlockArgument, Operation, Region, Value

__all__ = ["Dominance", "ancestor_in", "value_dominates"]


def successors(block: Block) -> list[Block]:
    """The blocks that the last operation of `block` may go to."""
    return block.last.successors if block.last is not None else []


class Dominance:
    """The dominator tree of a region, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).

    `order`: reachable blocks in reverse postorder. `idom`: immediate dominator of each of them but the entry.
    A block that cannot be reached is dominated by all blocks and dominates only itself.
    """

    __slots__ = ("_number", "idom", "order")

    def __init__(self, region: Region) -> None:
        self.order = reverse_postorder(region)
        self._number = {block: i for i, block in enumerate(self.order)}
        self.idom: dict[Block, Block] = {}
        if len(self.order) > 1:
            self._solve()

    def _solve(self) -> None:
        number = self._number
        predecessors: dict[Block, list[Block]] = {block: [] for block in self.order}
        for block in self.order:
            for target in successors(block):
                if target in predecessors:
                    predecessors[target].append(block)
        entry = self.order[0]
        idom = self.idom
        idom[entry] = entry
        changed = True
        while changed:
            changed = False
            for block in self.order[1:]:
                found: Block | None = None
                for p in predecessors[block]:
                    if p in idom:
                        found = p if found is None else self._meet(p, found, number)
                assert found is not None
                if idom.get(block) is not found:
                    idom[block] = found
                    changed = True
        del idom[entry]

    def _meet(self, a: Block, b: Block, number: dict[Block, int]) -> Block:
        idom = self.idom
        while a is not b:
            while number[a] > number[b]:
                a = idom[a]
            while number[b] > number[a]:
                b = idom[b]
        return a

    def is_reachable(self, block: Block) -> bool:
        """Whether any way from the entry leads to `block`."""
        return block in self._number

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether every way from the entry to `b` goes through `a` (a block dominates itself)."""
        if a is b or b not in self._number:
            return True
        if a not in self._number:
            return False
        walk: Block | None = b
        while walk is not None and walk is not a:
            walk = self.idom.get(walk)
        return walk is a

    def children(self) -> dict[Block, list[Block]]:
        """The tree downwards: the blocks that each block dominates immediately, in reverse postorder."""
        out: dict[Block, list[Block]] = {block: [] for block in self.order}
        for block in self.order[1:]:
            out[self.idom[block]].append(block)
        return out


def reverse_postorder(region: Region) -> list[Block]:
    if not region.blocks:
        return []
    order: list[Block] = []
    entry = region.blocks[0]
    seen = {entry}
    stack = [(entry, iter(successors(entry)))]
    while stack:
        block, rest = stack[-1]
        for target in rest:
            if target not in seen and target.parent is region:
                seen.add(target)
                stack.append((target, iter(successors(target))))
                break
        else:
            order.append(block)
            stack.pop()
    order.reverse()
    return order


def ancestor_in(scope: Region | Block | None, op: Operation | None) -> Operation | None:
    """`op`, or the operation around it, that is directly in `scope`, a region or a block; None if there is none."""
    while op is not None:
        block = op.parent
        if block is not None and (block is scope or block.parent is scope):
            return op
        op = None if block is None else block.parent_op
    return None


def value_dominates(value: Value, op: Operation, dominance: Dominance | None = None) -> bool:
    """Whether `value` may be an operand of `op`: defined before it on every way, in its region or one around it.

    `dominance` is that of the region that defines the value; it is computed if missing and needed.
    """
    block = value.block
    if block is None or block.parent is None:
        return False
    user = ancestor_in(block.parent, op)
    if user is None:
        return False
    if user.parent is block:
        definition = value.defining_op
        return isinstance(value, BlockArgument) or (definition is not None and definition.is_before(user))
    assert user.parent is not None
    return (dominance or Dominance(block.parent)).dominates(block, user.parent)
