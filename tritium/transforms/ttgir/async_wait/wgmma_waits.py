"""Where a loop waits for its WGMMAs: a plan made from three rules, before anything is changed.

1. *Read* (`result_uses`). The first operation that reads a result, other than a WGMMA that extends it, waits. A branch
   that may read it waits inside.
2. *Registers* (`lhs_registers`). A carried accumulator is in flight only if each iteration extends it, or reads it
   before the WGMMA that redefines it: else registers would be copied. Elements are of 32 bits, without promoted partial
   sums. A left operand in registers is overwritten after a wait, in this iteration if the loop carries it.
3. *Memory* (`operand_memory`). What stays in flight reads slots of a buffer with several, or memory that the loop does
   not write. In the next iteration all of it is waited for right after the last WGMMA in flight: copies into its slots
   come later. Within the iteration, the next operation that may write shared memory waits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ....dialects import ttng
from ....ir import CountedLoop, Operation, TensorType, Value, f32, i32
from ....support.dataclasses import dataclass, field
from .in_flight import IssueOrder
from .lhs_registers import lhs_redefinition, promotes_accumulator, register_definition
from .operand_memory import OperandMemory, may_overwrite
from .result_uses import ResultUses, result_uses

__all__ = ["BranchWait", "PlannedWait", "WaitPlanner"]


@dataclass
class PlannedWait:
    """A wait before the operation at `position` of the body, which `values` go through."""

    position: int
    pendings: int
    values: dict[Value, None] = field(default_factory=dict)


class BranchWait(NamedTuple):
    """Waits inside the blocks of `branch` that read `value`."""

    branch: Any
    value: Value
    pendings: int


class WaitPlanner:
    """Plans the waits of one loop for its WGMMAs `dots`.

    `in_flight` has those that stay in flight into the next iteration, with the index of the carried value that each is.
    """

    def __init__(self, loop: CountedLoop, dots: list[Any]) -> None:
        self.loop, self.dots = loop, dots
        self.ops = list(loop.body)
        self.order = IssueOrder(loop.body, dots)
        self.memory = OperandMemory(loop)
        self.uses: dict[Any, ResultUses] = {dot: self.uses_of(dot.d) for dot in dots}
        self.in_flight: dict[Any, int] = {}
        self.waits: list[PlannedWait] = []
        self.in_branches: list[BranchWait] = []

    def plan(self) -> None:
        """Decide which WGMMAs stay in flight, and plan a wait for each as late as the rules allow."""
        for dot in reversed(self.dots):
            index = self.carried_index_in_flight(dot)
            if index is not None:
                self.in_flight[dot] = index
        for dot in self.dots:
            if dot not in self.in_flight:
                self.wait_in_iteration(dot, self.uses[dot])
        for dot in self.dots:
            if dot in self.in_flight:
                self.wait_in_branches(dot, self.uses[dot], 0)
                if self.uses[dot].carried is not None:
                    self.wait_in_next(dot, self.in_flight[dot])
        self.free_lhs_registers()
        self.free_memory()

    @property
    def carried(self) -> list[int]:
        """The indices of the carried values that are in flight when the loop ends."""
        return sorted({i for dot, i in self.in_flight.items() if self.uses[dot].carried is not None})

    def uses_of(self, value: Value) -> ResultUses:
        """What an iteration does with a result, or with a carried value."""
        return result_uses(self.loop, self.order.position, value)

    # -- which stay in flight -----------------------------------------------------------------------------------------

    def carried_index_in_flight(self, dot: Any) -> int | None:
        """The index of the carried value that a WGMMA is, if it stays in flight; later ones are decided already."""
        if not self.may_stay_in_flight(dot):
            return None
        uses = self.uses[dot]
        if uses.extended_by is not None:
            return self.in_flight.get(uses.extended_by)
        if uses.carried is None:
            return None
        index, uses = uses.carried, self.uses_of(self.loop.iter_args[uses.carried])
        if uses.extended_by is None:
            position = self.order.position
            is_redefined = uses.read is not None and position[uses.read] < position[dot]
            return index if is_redefined else None
        while uses.extended_by is not None:
            if uses.extended_by is dot:
                return index
            uses = self.uses[uses.extended_by]
        return None  # another WGMMA extends these registers, and what is read of it begins others

    def may_stay_in_flight(self, dot: Any) -> bool:
        """Rules 2 and 3, as far as operands and elements go."""
        ty = dot.d.type.element
        if any(op.__class__ is ttng.ArriveBarrier for op in self.ops):  # which may release this iteration's buffers
            return False
        if (ty is not f32 and ty is not i32) or promotes_accumulator(dot):
            return False
        if lhs_redefinition(dot, self.loop.body) is not None:
            return False
        return all(self.memory.persists(v) for v in (dot.a, dot.b) if not isinstance(v.type, TensorType))

    # -- when they are waited for -------------------------------------------------------------------------------------

    def wait(self, dot: Any, position: int, distance: int, *values: Value, new: int | None = None) -> None:
        """Wait for `dot` before `position`, `distance` iterations later, with `values`; a new wait is put at `new`."""
        order = self.order
        start = order.position[dot] + 1 if distance == 0 else 0
        for wait in sorted(self.waits, key=lambda w: w.position):
            if start <= wait.position <= position and wait.pendings <= order.pendings(dot, wait.position, distance):
                break
        else:
            position = position if new is None else new
            planned = (w for w in self.waits if w.position == position)
            wait = next(planned, PlannedWait(position, len(self.dots)))
            wait.pendings = min(wait.pendings, order.pendings(dot, position, distance))
            if wait not in self.waits:
                self.waits.append(wait)
        wait.values.update(dict.fromkeys(values))

    def wait_in_iteration(self, dot: Any, uses: ResultUses) -> None:
        """Rules 1 to 3 for a WGMMA that does not stay in flight."""
        redefinition = lhs_redefinition(dot, self.loop.body)
        for position in range(self.order.position[dot] + 1, len(self.ops)):
            op = self.ops[position]
            if op is uses.extended_by and op not in self.in_flight:
                return  # its wait is for both
            ends = (uses.read, uses.extended_by, redefinition, self.ops[-1])
            if op in ends or op in uses.branches or may_overwrite(op):
                self.wait(dot, position, 0, *(uses.names if op is uses.read else (dot.d,)))
                return

    def wait_in_next(self, dot: Any, index: int) -> None:
        """Rule 1 for a carried value.

        It is read after a wait for all WGMMAs: ptxas cannot tell which of the previous iteration's may be in flight
        after one of this iteration, and waits for each of them then (C7514).
        """
        uses = self.uses_of(self.loop.iter_args[index])
        if uses.read is not None:
            position = self.order.position[uses.read]
            self.wait(dot, position, 1, *uses.names, new=min(position, self.order.position[self.dots[0]]))
        self.wait_in_branches(dot, uses, 1)

    def wait_in_branches(self, dot: Any, uses: ResultUses, distance: int) -> None:
        """Rule 1 for branches."""
        for branch, value in uses.branches.items():
            pendings = self.order.pendings(dot, self.order.position[branch], distance)
            self.in_branches.append(BranchWait(branch, value, pendings))

    def free_lhs_registers(self) -> None:
        """Rule 2 for left operands that the body computes."""
        for dot, index in self.in_flight.items():
            made = register_definition(dot.a)
            if isinstance(dot.a.type, TensorType) and made is not None and made.parent is self.loop.body:
                position = self.order.position[made]
                if not self.is_waited_for(dot, position):
                    self.wait(dot, position, 1, self.loop.iter_args[index])

    def free_memory(self) -> None:
        """Rule 3 for the next iteration."""
        if not self.in_flight:
            return
        last = max(self.in_flight, key=self.order.position.__getitem__)
        position = self.order.position[last] + 1
        if not self.is_waited_for(last, position):
            ends = [dot for dot in self.dots if dot in self.in_flight and not _is_extended(dot)]
            self.wait(last, position, 1, *(dot.d for dot in ends))

    def is_waited_for(self, dot: Any, position: int) -> bool:
        """Whether the waits so far are for `dot` before the next iteration is at `position`."""
        for wait in self.waits:
            distance = 0 if wait.position > self.order.position[dot] else 1
            if distance == 0 or wait.position <= position:
                if wait.pendings <= self.order.pendings(dot, wait.position, distance):
                    return True
        return False


def _is_extended(dot: Operation) -> bool:
    """Whether another WGMMA adds to the result."""
    return any(user.__class__ is ttng.WarpGroupDot for user in dot.results[0].users)
