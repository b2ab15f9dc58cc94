"""Compute how many groups of asynchronous copies may stay pending at each `ttg.async_wait`.

A wait for the group of a token may leave every group pending that was committed later. Commits are counted along every
path from the token's commit to the wait, through loop-carried tokens, and the minimum is used. Consecutive waits with
no commit between them are merged, with the minimum of their counts:

    %0 = ttg.async_commit_group …                 %0 = ttg.async_commit_group …
    %1 = ttg.async_commit_group …            =>   %1 = ttg.async_commit_group …
    %2 = ttg.async_wait %0 {num = 0}              %2 = ttg.async_wait %0, %1 {num = 0}
    %3 = ttg.async_wait %1 {num = 0}

A wait without a token waits for all groups.
"""

from __future__ import annotations

from typing import Any

from ....analysis.dataflow import propagate
from ....dialects import ttg
from ....ir import BlockArgument, Builder, CountedLoop, Operation, Value, is_pure
from ..loops import set_number

__all__ = ["update_waits"]


def update_waits(module: Operation) -> None:
    """Set the pending count of each wait, and merge consecutive waits."""
    waits = [op for op in module.walk() if op.__class__ is ttg.AsyncWait]
    for wait in waits:
        set_number(wait, "num", _pending(wait))
    combined: set[Operation] = set()
    for wait in waits:
        if wait not in combined:
            group = _group(wait)
            combined.update(group)
            if len(group) > 1:
                _combine(group)


def _pending(wait: Any) -> int:
    """The number of groups that were committed on every path after all tokens of `wait`."""
    return min((_Count(value, wait).fewest for value in wait.asyncToken), default=0)


class _Count:
    """Compute the minimum number of commits on any path from the definition of a token to an operation."""

    def __init__(self, token: Value, at: Any) -> None:
        self.seen: dict[Value, int] = {}
        self.found: list[int] = []
        propagate([(token, at, 0)], self.visit)

    @property
    def fewest(self) -> int:
        """The minimum."""
        return min(self.found, default=0)

    def visit(self, at: tuple[Value, Any, int]) -> list[tuple[Value, Any, int]]:
        """Follow a value with a count, if that is less than before."""
        value, sink, count = at
        if self.seen.get(value, count + 1) <= count:
            return []
        self.seen[value] = count
        return self.step(value, sink, count)

    def step(self, value: Any, sink: Any, count: int) -> list[tuple[Value, Any, int]]:
        """Walk from `sink` back to the definition of `value`, or to the operand that a loop carries it from."""
        while sink.parent is not value.block:  # commits in nested regions are not counted: they may not execute
            sink = sink.parent_op
        if not isinstance(value, BlockArgument):
            self.found.append(count + _commits(value.defining_op.next, sink))
            return []
        loop = value.owner.parent_op
        if not isinstance(loop, CountedLoop) or value.index == 0:
            self.found.append(0)
            return []
        count += _commits(value.owner.first, sink)
        last = value.owner.last
        return [(loop.init_args[value.index - 1], loop, count), (last.operands[value.index - 1], last, count)]


def _commits(op: Any, end: Any) -> int:
    """The number of commits from `op` up to `end`, in this block."""
    found = 0
    while op is not end:
        assert op is not None, "a token is used before its definition"
        found += op.__class__ is ttg.AsyncCommitGroup
        op = op.next
    return found


def _group(wait: Any) -> list[Any]:
    """The waits from this one on with no commit, branch or loop between them."""
    found = [wait]
    op = wait.next
    while op is not None and op.__class__ is not ttg.AsyncCommitGroup and (not op.regions or is_pure(op)):
        if op.__class__ is ttg.AsyncWait:
            found.append(op)
        op = op.next
    return found


def _combine(group: list[Any]) -> None:
    tokens = dict.fromkeys(token for wait in group for token in wait.asyncToken)
    first = group[0]
    made = Builder(first.parent, first, first.loc).add(ttg.AsyncWait(list(tokens), num=min(wait.num for wait in group)))
    for wait in group:
        wait.retToken.replace_all_uses_with(made)
        wait.erase()
