"""Simplify the control flow graph of blocks connected by branches of the cf dialect.

    ^a: cf.br ^b(%x)                                  remove unreachable blocks;
    ^b(%y): cf.br ^c(%y)          =>    ^a: …%x…      merge a block with its only predecessor;
    ^c(%z): …%z…                                      bypass blocks that only branch;
                                                      replace arguments that are always the same value;
                                                      remove dead arguments, at every branch too;
                                                      merge equal blocks (when requested)

Blocks that are successors of other terminators keep their arguments.
"""

from __future__ import annotations

from typing import Any

from ..dialects import cf
from ..ir import PURE, Block, DenseArrayAttr, Operation, Region, Value
from ..ir.dominance import reverse_postorder
from .cse import region_key

__all__ = ["simplify_blocks"]

Edge = tuple[Any, int]
"""A branch and the index of one of its successors."""


def simplify_blocks(region: Region, merge: bool = False) -> bool:
    """Simplify the blocks of a region; with `merge`, merge equal blocks. Returns whether anything changed."""
    changed = _drop_unreachable(region)
    while True:
        again = False
        edges = _edges(region)
        for block in region.blocks[1:]:
            again |= _simplify_arguments(block, edges.get(block, []))
        again |= _drop_dead_arguments(region, edges)
        for block in region.blocks[1:]:
            again |= _pass_through(block, edges.get(block, []))
            if again:
                break  # the edges have changed
        again |= _drop_unreachable(region)
        for block in list(region.blocks):
            while block.parent is region and _join_successor(region, block):
                again = True
        if merge and not again:
            again = _merge_equal(region)
        if not again:
            return changed
        changed = True


def _edges(region: Region) -> dict[Block, list[Edge]]:
    """Each block, and the branches to it."""
    found: dict[Block, list[Edge]] = {}
    for block in region.blocks:
        last = block.last
        for i, target in enumerate(last.successors if last is not None else []):
            found.setdefault(target, []).append((last, i))
    return found


def _known(edges: list[Edge]) -> bool:
    """Whether all branches are of classes whose successor operands are known."""
    return all(branch.__class__ in (cf.Br, cf.CondBr) for branch, _ in edges)


def _handed(edge: Edge) -> list[Value]:
    """The operands a branch passes to a successor."""
    branch, i = edge
    return list(branch.successor_operands()[i])


def _hand(edge: Edge, values: list[Value]) -> None:
    """Make a branch pass other operands to a successor."""
    branch, i = edge
    groups = [list(group) for group in branch.successor_operands()]
    groups[i] = values
    if branch.__class__ is cf.Br:
        branch.set_operands(values)
        return
    branch.set_operands([branch.condition, *groups[0], *groups[1]])
    branch.attributes["operandSegmentSizes"] = DenseArrayAttr((1, len(groups[0]), len(groups[1])))


def _drop_unreachable(region: Region) -> bool:
    reached = set(reverse_postorder(region))
    dead = [block for block in region.blocks if block not in reached]
    for block in dead:
        for op in block:
            op.drop_references()
        region.blocks.remove(block)
        block.parent = None
    return bool(dead)


def _drop_argument(block: Block, at: int, edges: list[Edge]) -> None:
    for edge in edges:
        values = _handed(edge)
        del values[at]
        _hand(edge, values)
    block.erase_argument(at)


def _simplify_arguments(block: Block, edges: list[Edge]) -> bool:
    """Replace arguments for which every branch passes the same value, or the argument itself."""
    if not edges or not _known(edges):
        return False
    changed = False
    for at in reversed(range(len(block.args))):
        arg = block.args[at]
        handed = {_handed(edge)[at] for edge in edges} - {arg}
        if len(handed) == 1:
            arg.replace_all_uses_with(handed.pop())
            _drop_argument(block, at, edges)
            changed = True
    return changed


def _drop_dead_arguments(region: Region, edges: dict[Block, list[Edge]]) -> bool:
    """Remove arguments that are used only as operands of branches to such arguments."""
    candidates = {arg for block in region.blocks[1:] if _known(edges.get(block, [])) for arg in block.args}
    handed_to: dict[tuple[Operation, int], Value] = {}
    for block, arrivals in edges.items():
        for edge in arrivals if _known(arrivals) else []:
            branch, i = edge
            start = sum(len(group) for group in branch.successor_operands()[:i]) + (branch.__class__ is cf.CondBr)
            for k, arg in enumerate(block.args):
                handed_to[branch, start + k] = arg
    feeds = {arg: _fed_by(arg, handed_to) for arg in candidates}
    needed = {arg for arg, fed in feeds.items() if fed is None}
    while True:
        more = {arg for arg in candidates - needed if not needed.isdisjoint(feeds[arg] or ())}
        if not more:
            break
        needed |= more
    dead = sorted(candidates - needed, key=lambda arg: -arg.index)
    for arg in dead:
        for edge in edges.get(arg.owner, []):
            values = _handed(edge)
            del values[arg.index]
            _hand(edge, values)
    for arg in dead:
        for user in list(arg.users):
            _erase_unused(user)
        arg.owner.erase_argument(arg.index)
    return bool(dead)


def _fed_by(arg: Value, handed_to: dict[tuple[Operation, int], Value]) -> set[Value] | None:
    """The arguments that `arg` flows to, also through pure operations; None where it has another use."""
    fed: set[Value] = set()
    work, seen = [arg], {arg}
    while work:
        value = work.pop()
        for user in value.users:
            if user.successors:
                for i, v in enumerate(user.operands):
                    if v is value:
                        if (user, i) not in handed_to:
                            return None
                        fed.add(handed_to[user, i])
            elif user.traits & PURE and not user.regions:
                for r in user.results:
                    if r not in seen:
                        seen.add(r)
                        work.append(r)
            else:
                return None
    return fed


def _erase_unused(op: Operation) -> None:
    """Erase dead pure operations, users first."""
    for r in op.results:
        for user in list(r.users):
            _erase_unused(user)
    if op.parent is not None:
        op.erase()


def _pass_through(block: Block, edges: list[Edge]) -> bool:
    """Redirect branches to a block that only branches to its successor."""
    only = block.first
    if only.__class__ is not cf.Br or not edges or not _known(edges):
        return False
    target = only.successors[0]  # type: ignore[union-attr]
    if target is block or any(user is not only for arg in block.args for user in arg.users):
        return False
    for edge in edges:
        branch, i = edge
        mapping = dict(zip(block.args, _handed(edge)))
        _hand(edge, [mapping.get(v, v) for v in only.operands])  # type: ignore[union-attr, arg-type]
        branch.successors[i] = target
    return True


def _join_successor(region: Region, block: Block) -> bool:
    last = block.last
    if last.__class__ is not cf.Br:
        return False
    target = last.successors[0]  # type: ignore[union-attr]
    arrivals = sum(s is target for b in region.blocks if b.last is not None for s in b.last.successors)
    if arrivals != 1 or target is block or target is region.blocks[0]:
        return False
    for arg, value in zip(target.args, list(last.operands)):  # type: ignore[union-attr]
        arg.replace_all_uses_with(value)
    last.erase()  # type: ignore[union-attr]
    for op in list(target):
        op.detach()
        block.append(op)
    region.blocks.remove(target)
    target.parent = None
    return True


def _merge_equal(region: Region) -> bool:
    """Redirect branches to a block to an equal one before it, where no value of the blocks is used outside of them."""
    seen: dict[Any, Block] = {}
    for block in region.blocks[1:]:
        if any(user.parent is not block and not _inside(user, block) for v in _defined(block) for user in v.users):
            continue
        kept = seen.setdefault(region_key([block]), block)
        if kept is not block:
            for branch, i in _edges(region)[block]:
                branch.successors[i] = kept
            return _drop_unreachable(region)
    return False


def _defined(block: Block) -> list[Value]:
    return [*block.args, *(r for op in block for r in op.results)]


def _inside(op: Operation | None, block: Block) -> bool:
    while op is not None:
        if op.parent is block:
            return True
        op = op.parent_op
    return False
