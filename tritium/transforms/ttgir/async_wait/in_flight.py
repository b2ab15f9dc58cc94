"""WGMMAs in flight in the body of a loop: the analysis under every placement of waits for them.

A `ttng.warp_group_dot` with `isAsync` only issues a WGMMA. Those of a warp group complete in the order of issue, and
`warp_group_dot_wait {pendings = n}` returns once only the n youngest may be in flight. So the state at a point is one
number: the n youngest of those issued before it, the oldest of which the previous iteration may have issued.

    %c = scf.for … {                                   in flight: %p of the previous iteration
      %p = ttng.warp_group_dot %a, %b, %c {isAsync}    %p of the previous iteration, %p
      ttng.warp_group_dot_wait %p {pendings = 1}       %p
    }

`IssueOrder` answers both questions that follow: which WGMMAs the number stands for, and which `pendings` wait for a
given one. What reads, overwrites or extends a WGMMA in flight is asked of `accumulates`, `lhs_registers` and
`operand_memory`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ....dialects import ttng
from ....ir import Block, Operation, Value

__all__ = ["InFlight", "IssueOrder", "accumulates", "is_async_wgmma", "wgmmas_of"]


class InFlight(NamedTuple):
    """A WGMMA in flight, issued in this iteration or in the `previous` one."""

    dot: Any
    previous: bool

    def values(self) -> list[Value]:
        """The values of the loop's body that hold its result: its own, or the arguments that carry it."""
        if not self.previous:
            return [self.dot.results[0]]
        body = self.dot.parent
        return [body.args[1 + i] for i, v in enumerate(body.last.operands) if v is self.dot.results[0]]


class IssueOrder:
    """The asynchronous WGMMAs `dots` of a loop's body in the order of issue; operations are named by their position."""

    def __init__(self, body: Block, dots: Iterable[Any]) -> None:
        self.position: dict[Operation, int] = {op: i for i, op in enumerate(body)}
        self.length = len(self.position)
        self.dots = sorted(dots, key=self.position.__getitem__)
        self._issues = [self.position[dot] for dot in self.dots]

    def issued(self, start: int, stop: int) -> int:
        """The number of WGMMAs issued by the operations from position `start` up to, but not including, `stop`."""
        return sum(start <= at < stop for at in self._issues)

    def pendings(self, dot: Any, position: int, distance: int) -> int:
        """The largest `pendings` of a wait for `dot` at `position`, `distance` (0 or 1) iterations later."""
        start = self.position[dot] + 1
        if distance == 0:
            return self.issued(start, position)
        return self.issued(start, self.length) + self.issued(0, position)

    def youngest(self, position: int, count: int) -> list[InFlight]:
        """The `count` youngest WGMMAs issued before `position`, the oldest first; one iteration back at the most."""
        issued = [InFlight(dot, True) for dot in self.dots]
        issued += [InFlight(dot, False) for dot, at in zip(self.dots, self._issues) if at < position]
        return issued[len(issued) - count :]


def wgmmas_of(body: Block) -> list[Any]:
    """The WGMMAs at the top level of a block."""
    return [op for op in body if op.__class__ is ttng.WarpGroupDot]


def is_async_wgmma(op: Any) -> bool:
    """Whether an operation issues a WGMMA and does not wait for it."""
    return op.__class__ is ttng.WarpGroupDot and bool(op.isAsync)


def accumulates(op: Any, value: Value) -> bool:
    """Whether an operation uses `value` as the accumulator of a WGMMA only, which needs no wait."""
    return op.__class__ is ttng.WarpGroupDot and op.a is not value and op.b is not value
