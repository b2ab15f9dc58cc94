"""async-dots: keep WGMMAs in flight across iterations.

    scf.for … iter_args(%acc = …) {                     scf.for … iter_args(%acc = …) {
      %d = ttng.warp_group_dot %a, %b, %acc               %d = ttng.warp_group_dot %a, %b, %acc {isAsync = true}
      … copies for later iterations …              =>     %w:3 = ttng.warp_group_dot_wait %d, %a, %b {pendings = 1}
      scf.yield %d                                        … copies for later iterations …
    }                                                     scf.yield %w#0
                                                        }
                                                        %r = ttng.warp_group_dot_wait %loop {pendings = 0}

A `wgmma` is only issued; until a wait for it nothing may read the result, overwrite the shared memory it is computed
from, or write any of its registers; only another WGMMA may add to it. So each WGMMA of a loop is waited for as late as
that allows, and one that nothing in the iteration needs stays in flight into the next. Three rules say when
(`wgmma_waits`):

1. Read. The first operation that reads the result waits; a branch that may read it waits inside.
2. Registers. A carried accumulator stays in flight only if each iteration extends or redefines it in place; a left
   operand in registers is overwritten after a wait.
3. Memory. What stays in flight reads slots of a buffer with several, or memory that the loop does not write, and is
   waited for right after the next iteration's last WGMMA; within the iteration, the next write of shared memory waits.

Results go through the waits, so that what reads them comes after, and so do shared operands, which live until then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects import ttg, ttng
from ....dialects.ttg_memory import MemDescType
from ....dialects.ttg_switches import is_on
from ....ir import (
    UNIT,
    Block,
    Builder,
    CountedLoop,
    IfLike,
    Operation,
    Value,
    bool_attr,
    count,
    may_change,
    pass_on,
)
from ....ir.dominance import ancestor_in
from ...regions import add_result, is_inside
from .in_flight import is_async_wgmma, wgmmas_of
from .wgmma_waits import WaitPlanner

__all__ = ["async_dots"]


@pass_on("function", statistics={"WGMMAs in flight": "WGMMAs that stay in flight into the next iteration"})
def async_dots(op: Operation) -> bool:
    """Keep WGMMAs of loops in flight; what is asynchronous already is left alone."""
    changed = False
    for loop in [inner for inner in op.walk() if isinstance(inner, CountedLoop)]:
        dots = wgmmas_of(loop.body)
        if dots and is_on(loop, "wgmma-in-flight") and not _has_waits(loop, dots) and may_change("async-dots", loop):
            planner = WaitPlanner(loop, dots)
            planner.plan()
            _Inserter(planner).run()
            count("WGMMAs in flight", len(planner.in_flight))
            changed = True
    return changed


def _has_waits(loop: Operation, dots: list[Any]) -> bool:
    """Whether waits are placed already: by warp specialization, or by hand."""
    around: Operation | None = loop
    while around is not None and around.__class__ is not ttg.WarpSpecialize:
        around = around.parent_op
    return around is not None or any(map(is_async_wgmma, dots))


class _Inserter:
    """Makes the WGMMAs of a loop asynchronous, and inserts the waits of a plan."""

    def __init__(self, planner: WaitPlanner) -> None:
        self.loop, self.planner = planner.loop, planner
        self.region = self.loop.regions[0]
        self.position = planner.order.position

    def run(self) -> None:
        """Insert everything, front to back."""
        for dot in self.planner.dots:
            dot.attributes["isAsync"] = bool_attr(True)
        latest: dict[Value, Value] = {}
        for position, op in enumerate(self.planner.ops):
            for wait in self.planner.waits:
                if wait.position == position:
                    names = [latest.get(v, v) for v in wait.values]
                    made = _insert_wait(op, names, wait.pendings, lambda user, at=position: self.is_after(user, at))
                    latest.update(zip(wait.values, made.outputs))
            for branch, value, pendings in self.planner.in_branches:
                if branch is op:
                    name = latest.get(value, value)
                    latest[value] = self.yield_from(branch, name, position)
                    _wait_inside(branch, name, pendings)
        if self.planner.carried:
            results: list[Value] = [self.loop.results[i] for i in self.planner.carried]
            _insert_wait(self.loop.next, results, 0, lambda _: True)

    def is_after(self, op: Operation, position: int) -> bool:
        """Whether an operation is in the body at `position` or later."""
        top = ancestor_in(self.region, op)
        return top is not None and self.position.get(top, -1) >= position

    def yield_from(self, branch: Any, value: Value, position: int) -> Value:
        """Yield a value from a branch if it is needed after it: where the branch waits, it is in the same registers."""
        if not any(self.is_after(user, position + 1) for user in value.users):
            return value
        if branch.else_block is None:
            other = Block()
            other.append(branch.make_yield([], branch.loc))
            branch.regions[1].append(other)
        result = add_result(branch, value.type, [region.block.last for region in branch.regions], [value, value])
        value.replace_uses_where(result, lambda user: self.is_after(user, position + 1))
        return result


def _wait_inside(branch: IfLike, value: Value, pendings: int) -> None:
    """Wait before the first use in each block of a branch that does more than yield the value."""
    for region in branch.regions:
        inside = [top for user in value.users if (top := ancestor_in(region, user)) is not None]
        if not all(top is region.block.last for top in inside):
            first = next(op for op in region.block if op in inside)
            wait = _insert_wait(first, [value], pendings, lambda op, region=region: is_inside(op, region))
            wait.attributes["warpGroupLocal"] = UNIT


def _insert_wait(anchor: Any, values: list[Value], pendings: int, is_after: Callable[[Operation], bool]) -> Any:
    """A wait before `anchor` for `values`, and for the shared memory of the WGMMAs among them."""
    inputs: dict[Value, None] = dict.fromkeys(values)
    for value in values:
        while (dot := _wgmma_of(value)) is not None:
            inputs.update(dict.fromkeys(v for v in (dot.a, dot.b) if isinstance(v.type, MemDescType)))
            value = dot.c
    loc = next((op.loc for v in values if (op := v.defining_op) is not None), anchor.loc)
    wait = Builder(anchor.parent, anchor, loc).insert(ttng.WarpGroupDotWait(list(inputs), pendings))
    for value, waited in zip(values, wait.outputs):
        value.replace_uses_where(waited, lambda op: op is not wait and is_after(op))
    return wait


def _wgmma_of(value: Any) -> Any:
    """The WGMMA whose result a value is, perhaps through waits."""
    while value.defining_op.__class__ is ttng.WarpGroupDotWait:
        value = value.defining_op.operands[value.index]
    return value.defining_op if value.defining_op.__class__ is ttng.WarpGroupDot else None
