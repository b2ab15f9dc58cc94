"""assign-latencies: Assign pipeline latencies to loads.

    scf.for … {                                       kernel with num_stages = 3
      %a = tt.load %pa                          =>    %a = tt.load %pa {tt.latency = 2 : i32}
      %b = tt.load %pb                                %b = tt.load %pb {tt.latency = 2 : i32}
      %acc = tt.dot %a, %b, %c
    }

A latency of n means that the result is used n stages after the load is issued. With s stages, a load is issued s - 1
iterations ahead of the dot that uses it. Where an address is itself loaded, the loads of a chain share the stages:

    %i = tt.load %pi          {tt.latency = 1}        num_stages = 3: while the dot of iteration i executes, %a of i + 1
    %a = tt.load %pa[%i]      {tt.latency = 1}        is in flight, and %i of i + 2
    tt.dot %a, …

**Loops.** Innermost loops without values carried over more than one iteration, with two stages or more: from
`tt.num_stages` of the loop, or `num-stages` of the pass.

**Loads.** Those that operands A and B of a dot are computed from, and, where the loop itself states `tt.num_stages`,
all loads with users. They must be wide enough for an asynchronous copy (4 bytes per thread), and all users must agree
on the layout of the buffer. A load that two dots (or loads) use at different distances is not pipelined, nor one whose
chain is longer than the number of stages. No load is issued further ahead than the loop has iterations. Latencies
stated by the program are kept.

Of two chained dots, the first may be issued an iteration ahead as well (`pipeline.dot_chains`).

Asynchronous MMAs of Blackwell have latencies, too; they are not assigned here.
"""

from __future__ import annotations

from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....analysis.trips import max_trip_count
from ....dialects import ttg, ttng
from ....dialects.ttg_switches import is_on
from ....ir import CountedLoop, DotLike, Operation, count, functions_of, is_descriptor_load, may_change, pass_on
from ....support.dataclasses import dataclass
from ..loops import (
    NUM_STAGES,
    body_of,
    has_distant_values,
    is_outer,
    loops_of,
    needed_by,
    set_number,
    stages_of,
)
from .buffers import (
    ASYNC_BYTES,
    copied_bytes,
    is_pipelinable,
    loaded_bits,
    operand_swizzle,
)
from .dot_chains import chain_of

__all__ = ["LATENCY", "LatencyOptions", "assign_latencies", "assign_to_loads"]

LATENCY = "tt.latency"

ROOTS = (DotLike, ttng.TMEMStore)
"""Operations whose operands are prefetched."""


@dataclass(frozen=True)
class LatencyOptions:
    """`num_stages`: the number of stages of loops that do not state it."""

    num_stages: int = 3


@pass_on("module", statistics={"loads ahead": "loads ahead"})
def assign_latencies(module: Operation, options: LatencyOptions = LatencyOptions()) -> bool:
    """Assign pipeline latencies to loads in loops."""
    return assign_to_loads(module, options.num_stages) if is_on(module, "async-copies") else False


def assign_to_loads(module: Operation, num_stages: int, filter_small: bool = True) -> bool:
    """Assign latencies in loops of `num_stages`, unless they state another number.

    `filter_small`: leave loads of less than 4 bytes for each thread alone.
    """
    changed = 0
    for func in functions_of(module):
        loops = [loop for loop in loops_of(func) if _is_candidate(loop, num_stages)]
        facts = AxisInfoAnalysis(func) if loops else None
        for loop in loops:
            if facts is not None and may_change("assign-latencies", loop):
                changed += _assign(loop, stages_of(loop, num_stages), facts, filter_small)
    count("loads ahead", changed)
    return changed > 0


def _is_candidate(loop: CountedLoop, default: int) -> bool:
    if stages_of(loop, default) <= 1 or has_distant_values(loop) or is_outer(loop):
        return False
    return not any(LATENCY in op.attributes for op in body_of(loop))


def _assign(loop: CountedLoop, stages: int, facts: AxisInfoAnalysis, filter_small: bool) -> int:
    distances = loads_by_distance(loop, stages, facts, filter_small)
    if not distances:
        return 0
    latency = (stages - 1) // (max(distances.values()) + 1)
    trips = max_trip_count(loop)
    if trips is not None:
        latency = min(latency, max(trips, 1))
    for load in distances:
        set_number(load, LATENCY, latency)
    chain = chain_of(loop)
    if chain is not None:
        set_number(chain.lhs_producer, LATENCY, 1)
    return len(distances)


def loads_by_distance(
    loop: CountedLoop, stages: int, facts: AxisInfoAnalysis, filter_small: bool = True
) -> dict[Operation, int]:
    """The loads worth pipelining, and the number of other loads between each and its final user."""
    search = _Search(loop, facts, filter_small)
    body = list(body_of(loop))
    for op in body:
        if isinstance(op, ROOTS):
            search.seen.clear()
            search.from_root(op)
    if NUM_STAGES in loop.attributes:
        for op in body:
            if not is_pipelinable(op):
                search.from_root(op)
    return {load: distance for load, distance in search.distances.items() if distance < stages - 1}


class _Search:
    """A backward search for loads from the operations that use them."""

    def __init__(self, loop: CountedLoop, facts: AxisInfoAnalysis, filter_small: bool) -> None:
        self.block = loop.body
        self.facts = facts
        self.filter_small = filter_small
        self.distances: dict[Operation, int] = {}
        self.seen: set[Operation] = set()
        self.unclear: set[Operation] = set()

    def from_root(self, root: Operation) -> None:
        """Record the loads that `root` is computed from."""
        work = [(root, 0)]
        while work:
            op, distance = work.pop()
            if op in self.seen or op in self.unclear:
                continue
            self.seen.add(op)
            if is_pipelinable(op):
                if not self.note(op, distance):
                    continue
                distance += 1
            work += [(maker, distance) for maker in self.makers(op)]

    def note(self, load: Operation, distance: int) -> bool:
        """Record a load at a distance; returns whether it can be pipelined."""
        if not _is_worth_it(load, self.facts, self.filter_small):
            return False
        if self.distances.setdefault(load, distance) != distance:
            del self.distances[load]
            self.unclear.add(load)
            return False
        return True

    def makers(self, op: Operation) -> list[Operation]:
        """The definitions of the operands, last first; of a dot without the accumulator."""
        values = dict.fromkeys(needed_by(op))
        if isinstance(op, DotLike):
            values.pop(op.accumulator, None)
        found = [v.defining_op for v in values]
        return [maker for maker in reversed(found) if maker is not None and maker.parent is self.block]


def _is_worth_it(load: Any, facts: AxisInfoAnalysis, filter_small: bool) -> bool:
    if is_descriptor_load(load):
        return True
    if filter_small and loaded_bits(facts, load) < 8 * ASYNC_BYTES:
        return False
    if operand_swizzle(load.result)[1]:
        return False
    layouts = {user.result.type.encoding for user in load.result.users if user.__class__ is ttg.LocalAlloc}
    if len(layouts) > 1:
        return False
    return not filter_small or all(copied_bytes(load.result.type, layout) >= ASYNC_BYTES for layout in layouts)
