"""amd-update-async-wait-count: Count the instructions that may be pending at a wait for asynchronous copies.

    %t = ttg.async_copy_global_to_local …; %g = ttg.async_commit_group tokens %t          1 instruction
    %u = ttg.async_copy_global_to_local …; %h = ttg.async_commit_group tokens %u          4 instructions
    ttg.async_wait %g                              =>      amdg.async_wait %g {num_inst = 4 : i32}

The counters of gfx1250 count instructions, not groups. A wait for tokens leaves all copies pending that are issued
after these on every path, through loops that carry the tokens; of nested branches and loops of known trip counts the
fewest count. A wait without tokens leaves those of the last `num` groups pending. Waits for tensor descriptors count
those instructions alone. What is not understood leaves nothing pending, which is always right.

CDNA has marks in the instruction stream, which LLVM counts itself: their waits stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....dialects import amdg, tt, ttg
from ....dialects.ttg_context import target_of
from ....hardware.amd import amd_gpu
from ....ir import (
    BlockArgument,
    Builder,
    CountedLoop,
    IfLike,
    IntegerAttr,
    LoopLike,
    Operation,
    Value,
    count,
    functions_of,
    i32,
    may_change,
    pass_on,
)
from ....support.dataclasses import dataclass
from .copy_instructions import CopyInstructions, tdm_instructions

__all__ = ["WaitCountOptions", "amd_update_async_wait_count"]

_Counter = Callable[[Operation], int]


@dataclass(frozen=True)
class WaitCountOptions:
    """`gfx_arch`: the architecture, where it is not the module's."""

    gfx_arch: str = ""


@pass_on("module", statistics={"waits counted": "waits that count instructions"})
def amd_update_async_wait_count(module: Operation, options: WaitCountOptions = WaitCountOptions()) -> bool:
    """Replace the waits for copies of a module by those that count instructions."""
    arch = options.gfx_arch or target_of(module).partition(":")[2]
    if not arch or not (amd_gpu(arch).has_tensor_data_mover or amd_gpu(arch).mfma_version):
        return False
    changed = 0
    for func in functions_of(module):
        found = [op for op in func.walk() if isinstance(op, (ttg.AsyncWait, amdg.AsyncTDMWait))]
        copies = CopyInstructions(func) if found else None
        for wait in found:
            counts_groups = isinstance(wait, ttg.AsyncWait)
            if copies is None or (counts_groups and amd_gpu(arch).mfma_version) or not may_change("wait-count", wait):
                continue
            counter: _Counter = copies if counts_groups else tdm_instructions
            _replace(wait, _pending(wait, counter))
            changed += 1
    count("waits counted", changed)
    return changed > 0


def _replace(wait: ttg.AsyncWait | amdg.AsyncTDMWait, pending: int) -> None:
    b = Builder(wait.parent, wait, wait.loc)
    tokens = list(wait.asyncToken)
    if isinstance(wait, ttg.AsyncWait):
        new: Operation = amdg.AsyncWait(tokens, num_inst=pending)
        new.attributes["ttg.num_commit_groups"] = IntegerAttr(wait.num, i32)
    else:
        new = amdg.AsyncTDMIntrinsicWait(tokens, count=pending)
        new.attributes["ttg.num_tdm_ops"] = IntegerAttr(wait.num, i32)
    wait.replace_with([b.add(new)])


def _pending(wait: ttg.AsyncWait | amdg.AsyncTDMWait, counter: _Counter) -> int:
    if wait.asyncToken:
        return min(_after_token(token, wait, counter, 0, frozenset()) for token in wait.asyncToken)
    if isinstance(wait, ttg.AsyncWait):
        walk = _Backward(counter, by_groups=True)
        return walk.run(wait, wait.num)
    return _Backward(counter, by_groups=False).run(wait, wait.num - 1)


# -- from a token -------------------------------------------------------------------------------------------------


def _between(op: Operation | None, end: Operation | None, counter: _Counter) -> int:
    """The fewest instructions from `op` up to `end` in a block."""
    total = 0
    while op is not None and op is not end:
        if isinstance(op, IfLike):
            blocks = [region.blocks[0] for region in op.regions if region.blocks]
            total += min(_between(b.first, None, counter) for b in blocks) if len(blocks) == 2 else 0
        elif isinstance(op, CountedLoop):
            total += (op.trip_count() or 0) * _between(op.body.first, None, counter)
        elif not op.regions:
            total += counter(op)
        op = op.next
    return total


def _after_token(
    token: Value, sink: Operation, counter: _Counter, total: int, seen: frozenset[tuple[Value, Operation]]
) -> int:
    """The fewest instructions on any path from the definition of a token to `sink`, plus `total`."""
    while sink.parent is not token.block:
        block, parent = sink.parent, sink.parent_op
        if block is None or parent is None:
            return 0
        total += _between(block.first, sink, counter)
        sink = parent
    if not isinstance(token, BlockArgument):
        maker = token.defining_op
        return total + _between(None if maker is None else maker.next, sink, counter)
    loop = token.owner.parent_op
    if not isinstance(loop, CountedLoop) or token.index == 0 or (token, sink) in seen:
        return 0 if (token, sink) not in seen else total
    total += _between(token.owner.first, sink, counter)
    seen |= {(token, sink)}
    k = token.index - 1
    return min(
        _after_token(loop.inits[k], loop, counter, total, seen),
        _after_token(loop.yielded[k], loop.terminator, counter, total, seen),
    )


# -- back from a wait ---------------------------------------------------------------------------------------------


class _Point(NamedTuple):
    """Before an operation: how many groups or copies are left to find, and the instructions so far."""

    op: Operation | None
    block_of: Operation
    left: int
    total: int


class _Backward:
    """The fewest instructions on any path back from a wait to the commit (or copy) of the group waited for."""

    def __init__(self, counter: _Counter, by_groups: bool) -> None:
        self.counter, self.by_groups = counter, by_groups
        self.best: int | None = None
        self.seen: set[tuple[Operation | None, Operation, int, int]] = set()

    def run(self, wait: Operation, left: int) -> int:
        """The count for a wait that leaves `left` and one more behind."""
        work = [_Point(wait.prev, wait, left, 0)]
        while work:
            point = work.pop()
            if point not in self.seen and (self.best is None or point.total < self.best):
                self.seen.add(point)
                work += self.step(*point)
        return self.best or 0

    def finish(self, total: int) -> list[_Point]:
        """A path ends."""
        self.best = total if self.best is None else min(self.best, total)
        return []

    def step(self, op: Operation | None, inside: Operation, left: int, total: int) -> list[_Point]:
        """Walk from before an operation in the block of `inside` to where paths divide."""
        while left >= 0:
            if op is None:
                return self.leave(inside, left, total)
            if isinstance(op, (IfLike, LoopLike)) or _is_plain_region(op):
                return self.enter(op, left, total)
            if op.regions and not isinstance(op, tt.Reduce):
                return self.finish(0)
            here = self.counter(op)
            total += here
            left -= isinstance(op, ttg.AsyncCommitGroup) if self.by_groups else here > 0
            inside, op = op, op.prev
        return self.finish(total)

    def leave(self, inside: Operation, left: int, total: int) -> list[_Point]:
        """The beginning of a block was reached."""
        parent = inside.parent_op
        if parent is not None and (isinstance(parent, IfLike) or _is_plain_region(parent)):
            return [_Point(parent.prev, parent, left, total)]
        if isinstance(parent, LoopLike):
            ends = self.ends(parent, left, total)
            around = _Point(parent.prev, parent, left, total)
            if len(ends) == 1:  # scf.for
                return [around, *ends]
            before, after = ends  # the condition of scf.while precedes the body, and is entered from outside
            return [around, after] if inside.parent is parent.regions[0].blocks[0] else [before]
        return self.finish(total if isinstance(parent, tt.Func) else 0)

    def ends(self, op: Operation, left: int, total: int) -> list[_Point]:
        """Before the terminators of the regions of an operation."""
        found = [region.blocks[0].last for region in op.regions if region.blocks]
        return [_Point(end.prev, end, left, total) for end in found if end is not None]

    def enter(self, op: Operation, left: int, total: int) -> list[_Point]:
        """Paths through the regions of a branch or loop, and around these."""
        ends = self.ends(op, left, total)
        if isinstance(op, LoopLike) and len(ends) == 2:
            return ends[:1]
        around = (isinstance(op, IfLike) and len(ends) == 1) or isinstance(op, LoopLike)
        return [*ends, _Point(op.prev, op, left, total)] if around else ends


def _is_plain_region(op: Operation) -> bool:
    """Whether an operation executes its one block once."""
    return op.name == "scf.execute_region" and len(op.regions[0].blocks) == 1
