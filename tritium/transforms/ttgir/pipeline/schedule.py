"""The schedule of a loop: a stage and a cluster for each operation.

Stage s of iteration i runs together with stage s + 1 of iteration i - 1: as many iterations overlap as there are
stages. Within the kernel, operations are ordered by cluster, and within a cluster in program order:

    stage 0: load                                     iteration      0      1      2      3
    stage 2: dot                                      stage 0        load   load   load   load
                                                      stage 2                      dot    dot

    kernel, dot in cluster 0 and load in cluster 1:     dot (i); load (i + 2)

A definition must precede its uses in this order. In the IR, attributes represent the schedule: `loop.stage` and
`loop.cluster` of each operation, `tt.scheduled_max_stage` of the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ....analysis.dataflow import propagate
from ....ir import BlockArgument, CountedLoop, Operation, Value
from ..loops import body_of, needed_by, number_of, set_number

__all__ = ["CLUSTER", "MAX_STAGE", "STAGE", "Cluster", "Place", "Schedule", "drop_attributes"]

STAGE = "loop.stage"
CLUSTER = "loop.cluster"
MAX_STAGE = "tt.scheduled_max_stage"


class Cluster:
    """A group of operations in the kernel; `number` is its position, which changes as clusters are added."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __lt__(self, other: Cluster) -> bool:
        return self.number < other.number


class Place(NamedTuple):
    """The stage and cluster of an operation."""

    stage: int
    cluster: Cluster


class Schedule:
    """The places of a loop's operations. Some may be unscheduled."""

    def __init__(self, num_stages: int = 0) -> None:
        self.num_stages = num_stages
        self.clusters: list[Cluster] = []
        self.places: dict[Operation, Place] = {}

    def __contains__(self, op: Operation) -> bool:
        return op in self.places

    def __getitem__(self, op: Operation) -> Place:
        return self.places[op]

    def __bool__(self) -> bool:
        return bool(self.places)

    # -- clusters -----------------------------------------------------------------------------------------------

    def new_cluster(self, at: int | None = None) -> Cluster:
        """Create a cluster before position `at`, or after all others."""
        cluster = Cluster(0)
        self.clusters.insert(len(self.clusters) if at is None else at, cluster)
        for number, one in enumerate(self.clusters):
            one.number = number
        return cluster

    # -- operations ---------------------------------------------------------------------------------------------

    def insert(self, op: Operation, stage: int, cluster: Cluster) -> None:
        """Schedule an operation, replacing its place."""
        self.num_stages = max(self.num_stages, stage + 1)
        self.places[op] = Place(stage, cluster)

    def insert_if_absent(self, op: Operation, stage: int, cluster: Cluster) -> bool:
        """Schedule an operation if it is unscheduled; returns whether it was."""
        if op in self.places:
            return False
        self.insert(op, stage, cluster)
        return True

    def insert_earliest(self, op: Operation, stage: int, cluster: Cluster) -> bool:
        """Schedule an operation, unless its place is as early; returns whether it changed."""
        old = self.places.get(op)
        if old is not None and (old.stage, old.cluster.number) <= (stage, cluster.number):
            return False
        self.insert(op, stage, cluster)
        return True

    def insert_dependencies(self, op: Operation, place: Place, carried: bool = False) -> None:
        """Schedule all operations of the block that `op` depends on at `place`, unless they are earlier.

        With `carried`, dependences on the previous iteration count, too.
        """

        def visit(user: Operation) -> list[Operation]:
            makers = [_definition_in(user, value, carried) for value in needed_by(user)]
            return [maker for maker in makers if maker is not None and self.insert_earliest(maker, *place)]

        propagate([op], visit)

    def schedule_dependencies(self, loop: CountedLoop) -> None:
        """Schedule unscheduled dependences of scheduled operations at their first user."""
        in_order = list(self.in_order(loop))
        for stage in range(self.num_stages):
            for op, place in in_order:
                if place.stage == stage:
                    self.insert_dependencies(op, place)

    def shrink_to_fit(self) -> None:
        """Renumber stages from 0 to the last in use."""
        least = min(place.stage for place in self.places.values())
        for op, place in self.places.items():
            self.places[op] = Place(place.stage - least, place.cluster)
        self.num_stages = 1 + max(place.stage for place in self.places.values())

    def in_order(self, loop: CountedLoop) -> Iterator[tuple[Any, Place]]:
        """The scheduled operations in kernel order."""
        found = [(op, self.places[op]) for op in body_of(loop) if op in self.places]
        return iter(sorted(found, key=lambda entry: entry[1].cluster.number))

    # -- attributes ---------------------------------------------------------------------------------------------

    def write(self, loop: CountedLoop) -> None:
        """Write the schedule to attributes."""
        for op, place in self.in_order(loop):
            set_number(op, STAGE, place.stage)
            set_number(op, CLUSTER, place.cluster.number)
        set_number(loop, MAX_STAGE, max(self.num_stages - 1, number_of(loop, MAX_STAGE) or 0))

    @classmethod
    def read(cls, loop: CountedLoop) -> Schedule | None:
        """Read the schedule from attributes; None where the loop has none. Clusters start with the first in use."""
        last = number_of(loop, MAX_STAGE)
        if last is None:
            return None
        said = [(op, number_of(op, STAGE), number_of(op, CLUSTER)) for op in body_of(loop)]
        known = [(op, stage, cluster) for op, stage, cluster in said if stage is not None and cluster is not None]
        numbers = [cluster for _, _, cluster in known]
        schedule = cls(last + 1)
        if numbers:
            clusters = {n: schedule.new_cluster() for n in range(min(numbers), max(numbers) + 1)}
            for op, stage, cluster in known:
                schedule.insert(op, stage, clusters[cluster])
        return schedule


def _definition_in(user: Operation, value: Value, carried: bool) -> Operation | None:
    """The definition of a value in the block of `user`; with `carried`, in the previous iteration."""
    seen = set()
    while carried and isinstance(value, BlockArgument):
        block = value.owner
        if block is not user.parent or value.index == 0 or value in seen:
            return None
        seen.add(value)
        value = block.last.operands[value.index - 1]  # type: ignore[union-attr]
    maker = value.defining_op
    return maker if maker is not None and maker.parent is user.parent else None


def drop_attributes(ops: Iterable[Operation]) -> None:
    """Remove the attributes of a schedule."""
    for op in ops:
        for name in (STAGE, CLUSTER, MAX_STAGE):
            op.attributes.pop(name, None)
