"""assign-latencies: which loads of a loop are begun iterations ahead, and how many.

    scf.for … {                                       kernel with num_stages = 3
      %a = tt.load %pa                          =>    %a = tt.load %pa {tt.latency = 2 : i32}
      %b = tt.load %pb                                %b = tt.load %pb {tt.latency = 2 : i32}
      %acc = tt.dot %a, %b, %c
    }

A latency of n says that the result is wanted n stages after the load was begun. With s stages, a load is s - 1
iterations ahead of the product it is for. Where an address is loaded itself, the loads of a chain share them:

    %i = tt.load %pi          {tt.latency = 1}        num_stages = 3: while iteration i multiplies, %a of i + 1
    %a = tt.load %pa[%i]      {tt.latency = 1}        is on its way, and %i of i + 2
    tt.dot %a, …

**Which loops.** Innermost ones in which an iteration needs nothing from before the previous one, with two stages or
more: by `tt.num_stages` of the loop, or `num-stages` of the pass.

**Which loads.** Those that operands A and B of a product come from, and where the loop itself says `tt.num_stages`, all
that others are computed from. They must be wide enough for an asynchronous copy (4 bytes a thread), and users must not
want them in buffers of different layouts. A load that two products (or loads) use at different distances stays, as does
one whose chain is longer than there are stages. Latencies that a program gives itself are taken as they are.

Of two products in a row, the first may be an iteration ahead, too (`pipeline.dot_chains`).

Tensor cores that multiply on their own (Blackwell's) have latencies, too; those are not assigned here.
"""

from __future__ import annotations

from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import tt, ttg, ttng
from ....dialects.ttg_switches import is_on
from ....ir import Operation, count, functions_of, may_change, pass_on
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
    DESCRIPTOR_LOADS,
    LOADS,
    copied_bytes,
    loaded_bits,
    operand_swizzle,
)
from .dot_chains import chain_of

__all__ = ["LATENCY", "LatencyOptions", "assign_latencies"]

LATENCY = "tt.latency"

PRODUCTS = (tt.Dot, tt.DotScaled, ttng.WarpGroupDot, ttng.TCGen5MMA, ttng.TCGen5MMAScaled)
"""Products; their operand 2 is the sum they add to."""

ROOTS = (*PRODUCTS, ttng.TMEMStore)
"""Whose operands are loaded ahead."""


@dataclass(frozen=True)
class LatencyOptions:
    """`num_stages`: iterations that overlap in loops which do not say."""

    num_stages: int = 3


@pass_on("module", statistics={"loads ahead": "loads that are begun in an earlier iteration"})
def assign_latencies(module: Operation, options: LatencyOptions = LatencyOptions()) -> bool:
    """Say of loads in loops how many stages before their use they are begun."""
    if not is_on(module, "async-copies"):
        return False
    changed = 0
    for func in functions_of(module):
        loops = [loop for loop in loops_of(func) if _is_candidate(loop, options.num_stages)]
        facts = AxisInfoAnalysis(func) if loops else None
        for loop in loops:
            if facts is not None and may_change("assign-latencies", loop):
                changed += _assign(loop, stages_of(loop, options.num_stages), facts)
    count("loads ahead", changed)
    return changed > 0


def _is_candidate(loop: Any, default: int) -> bool:
    if stages_of(loop, default) <= 1 or has_distant_values(loop) or is_outer(loop):
        return False
    return not any(LATENCY in op.attributes for op in body_of(loop))


def _assign(loop: Any, stages: int, facts: AxisInfoAnalysis) -> int:
    distances = loads_by_distance(loop, stages, facts)
    if not distances:
        return 0
    latency = (stages - 1) // (max(distances.values()) + 1)
    for load in distances:
        set_number(load, LATENCY, latency)
    chain = chain_of(loop)
    if chain is not None:
        set_number(chain.lhs_producer, LATENCY, 1)
    return len(distances)


def loads_by_distance(
    loop: Any, stages: int, facts: AxisInfoAnalysis, filter_small: bool = True
) -> dict[Operation, int]:
    """The loads worth beginning early, and how many other loads are between each and what it is for."""
    search = _Search(loop, facts, filter_small)
    body = list(body_of(loop))
    for op in body:
        if isinstance(op, ROOTS):
            search.seen.clear()
            search.from_root(op)
    if NUM_STAGES in loop.attributes:
        for op in body:
            if not isinstance(op, LOADS):
                search.from_root(op)
    return {load: distance for load, distance in search.distances.items() if distance < stages - 1}


class _Search:
    """Follows operands back from what uses loads."""

    def __init__(self, loop: Any, facts: AxisInfoAnalysis, filter_small: bool) -> None:
        self.block = loop.body
        self.facts = facts
        self.filter_small = filter_small
        self.distances: dict[Operation, int] = {}
        self.seen: set[Operation] = set()
        self.unclear: set[Operation] = set()

    def from_root(self, root: Operation) -> None:
        """Note the loads that `root` is computed from."""
        work = [(root, 0)]
        while work:
            op, distance = work.pop()
            if op in self.seen or op in self.unclear:
                continue
            self.seen.add(op)
            if isinstance(op, LOADS):
                if not self.note(op, distance):
                    continue
                distance += 1
            work += [(maker, distance) for maker in self.makers(op)]

    def note(self, load: Operation, distance: int) -> bool:
        """Whether the load can go ahead; its distance is known then."""
        if not _is_worth_it(load, self.facts, self.filter_small):
            return False
        if self.distances.setdefault(load, distance) != distance:
            del self.distances[load]
            self.unclear.add(load)
            return False
        return True

    def makers(self, op: Operation) -> list[Operation]:
        """What makes the operands, last first; of a product without the sum."""
        values = dict.fromkeys(needed_by(op))
        if isinstance(op, PRODUCTS):
            values.pop(op.operands[2], None)
        found = [v.defining_op for v in values]
        return [maker for maker in reversed(found) if maker is not None and maker.parent is self.block]


def _is_worth_it(load: Any, facts: AxisInfoAnalysis, filter_small: bool) -> bool:
    if isinstance(load, DESCRIPTOR_LOADS):
        return True
    if filter_small and loaded_bits(facts, load) < 8 * ASYNC_BYTES:
        return False
    if operand_swizzle(load.result)[1]:
        return False
    layouts = {user.result.type.encoding for user in load.result.users if user.__class__ is ttg.LocalAlloc}
    if len(layouts) > 1:
        return False
    return not filter_small or all(copied_bytes(load.result.type, layout) >= ASYNC_BYTES for layout in layouts)
