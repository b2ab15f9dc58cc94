"""A builder that schedules the operations it inserts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ....ir import Builder, CountedLoop, Operation
from ..loops import top_level_users
from .schedule import Place, Schedule

__all__ = ["StagedBuilder", "first_use"]

OpT = TypeVar("OpT", bound=Operation)


class StagedBuilder(Builder):
    """Inserts before `before`, with its location, and schedules the operation at `place`, if there is one."""

    __slots__ = ("place", "schedule")

    def __init__(self, schedule: Schedule, before: Any, place: Place | None) -> None:
        super().__init__(before.parent, before, before.loc)
        self.schedule = schedule
        self.place = place

    def insert(self, op: OpT) -> OpT:
        """Insert `op` and schedule it."""
        if self.place is not None:
            self.schedule.insert(op, *self.place)
        return super().insert(op)


def first_use(loop: CountedLoop, ops: Sequence[Operation], schedule: Schedule) -> Operation:
    """The first operation of the loop's body, in kernel order, that uses a result of `ops`."""
    users = {user for user in top_level_users(loop, [r for op in ops for r in op.results]) if user in schedule}
    in_order = (op for op, _ in schedule.in_order(loop) if op in users)
    return min(in_order, key=lambda op: schedule[op].stage)
