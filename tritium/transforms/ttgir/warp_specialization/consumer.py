"""The consumer's program: everything of the span but the loads, for which it waits, and whose buffers it frees.

    scf.for %k = … iter_args(%c = …, %slot = …, %phase = …) {
      %a = ttg.memdesc_index %ring_a[%slot]              for each `ttg.local_alloc` of a load
      ttng.wait_barrier %full[%slot], %phase             in front of the first who reads
      %p = ttng.warp_group_dot %a, %b, %c {isAsync}
      %d = ttng.warp_group_dot_wait %p {pendings = 1}    `flights`
      ttng.arrive_barrier %empty[%slot - 1], 8, %k != %lb
      …
    }
    %r = ttng.warp_group_dot_wait %result {pendings = 0}
    ttng.arrive_barrier %empty[%slot - 1], 8, %lb < %ub

**Release points.** A slot is free behind the last operation that reads it. A product that reads has read once it has
been waited for; where that is in the next iteration, the slot is the one before, and the first iteration has none.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, scf, ttg, ttng
from ....ir import Block, Builder, Operation, Value, bool_attr
from .copies import Copy
from .flights import GROUNDED, Flight, Flights, Wait, flights_of, is_used_from, values_of
from .partition import Load
from .rings import VIEWS, Ring, Rings, view

__all__ = ["Consumer"]


class Consumer(Copy):
    """Copies a span without its loads. With `in_flight`, products are waited for as late as possible."""

    def __init__(self, rings: Rings, b: Builder, mapping: dict[Any, Any], in_flight: bool) -> None:
        super().__init__(rings, b, mapping)
        self.in_flight = in_flight
        self.loads: dict[Operation, tuple[Ring, Load]] = {load.op: (r, load) for r in rings for load in r.loads}
        self.buffers = {buffer: load for _, load in self.loads.values() for buffer in load.buffers}
        self.first: dict[Operation, list[Ring]] = {ring.first: [] for ring in rings}
        self.last: dict[Operation, list[Ring]] = {ring.last: [] for ring in rings}
        for ring in rings:
            self.first[ring.first].append(ring)
            self.last[ring.last].append(ring)
        self.flights: Flights = GROUNDED
        self.held: dict[Any, list[Ring]] = {}

    def loop(self, op: Any) -> Any:
        """Copy a loop; what is in flight at its end is waited for behind it."""
        outer = self.flights, self.held
        self.flights = flights_of(op.body, self.rings.depth > 1) if self.in_flight else GROUNDED
        self.held = _held(self.rings.of_block.get(op.body, ()), self.flights)
        copy = super().loop(op)
        carried, held = self.flights.carried, self.held
        self.flights, self.held = outer
        if carried:
            self._land_all(op, carried, held)
        return copy

    def one(self, op: Any) -> None:
        """Copy an operation, between the waits and releases that belong to it."""
        for ring in self.first.get(op, ()):
            self._await(ring)
        if op in self.flights.ahead:
            self._land(op, self.flights.ahead[op], itself=True)
        super().one(op)
        if op in self.flights.behind:
            self._land(op, self.flights.behind[op], itself=False)
        for ring in self.last.get(op, ()):
            if not any(ring in rings for rings in self.held.values()):
                self._release(ring, self.counters[ring.block].slot)

    def finish(self, block: Block, yielded: list[Value], blocks: list[Block]) -> None:
        end = block.last
        assert end is not None
        if end in self.flights.ahead:
            self._land(end, self.flights.ahead[end], itself=True)
            loop = block.parent_op
            kept = self.carried(loop) if loop.__class__ is scf.For else self.handed(loop)
            yielded = [self.new(end.operands[i]) for i in kept]
        super().finish(block, yielded, blocks)

    def plain(self, op: Any) -> None:
        if op in self.loads:
            self._load(op, *self.loads[op])
        elif op in self.buffers:
            ring, load = self.loads[self.buffers[op].op]
            self.mapping[op.results[0]] = view(self.b, ring.buffers[load.op], self.counters[ring.block].slot)
        else:
            self._copy(op)

    def _copy(self, op: Any) -> None:
        super().plain(op)
        copy: Any = self.new(op.results[0]).defining_op if op.results else None
        if op.__class__ in VIEWS:
            copy.results[0].type = view_type(copy)
        elif op.__class__ is ttng.WarpGroupDot and any(op in (f.dot for f in fs) for fs in self.flights.air.values()):
            copy.attributes["isAsync"] = bool_attr(True)

    def _load(self, op: Any, ring: Ring, load: Load) -> None:
        """What is used in registers is read where it was loaded."""
        if load.in_registers:
            buffer = view(self.b, ring.buffers[op], self.counters[ring.block].slot)
            self.mapping[op.result] = self.b.add(ttg.LocalLoad(buffer, None, result=op.result.type))

    def _await(self, ring: Ring) -> None:
        b, counter = self.b, self.counters[ring.block]
        b.loc = ring.loads[0].op.loc
        b.add(ttng.WaitBarrier(view(b, ring.full, counter.slot), counter.phase))

    def _release(self, ring: Ring, slot: Value, where: Value | None = None) -> None:
        self.b.add(ttng.ArriveBarrier(view(self.b, ring.empty, slot), where, self.rings.readers))

    def _land(self, op: Any, wait: Wait, itself: bool) -> None:
        """Wait for products, and release what they were the last to read."""
        values = [v for flight in wait.done for v in values_of(flight) if is_used_from(v, op, itself)]
        if not values:
            newest = wait.flying[-1] if wait.flying else wait.done[-1]
            values = values_of(newest)[:1]
        self._wait(values, wait.pendings)
        for flight in wait.done:
            for ring in self.held.get(flight.dot, ()):
                self._release_of(flight, ring)

    def _wait(self, values: list[Value], pendings: int) -> None:
        values = list(dict.fromkeys(values))
        landed = ttng.WarpGroupDotWait([self.new(v) for v in values], pendings)
        self.b.insert(landed)
        self.mapping.update(zip(values, landed.results))

    def _release_of(self, flight: Flight, ring: Ring) -> None:
        b, counter = self.b, self.counters[ring.block]
        if not flight.before:
            return self._release(ring, counter.slot)
        loop: Any = flight.dot.parent_op
        is_later = b.add(arith.CmpI(arith.CmpIPredicate.ne, self.new(loop.body.args[0]), self.new(loop.lb)))
        return self._release(ring, counter.previous(b, self.rings.depth), is_later)

    def _land_all(self, loop: Any, carried: tuple[Any, ...], held: dict[Any, list[Ring]]) -> None:
        """Behind a loop: wait for what its last iteration left in flight."""
        end = loop.body.last
        left = [r for r, v in zip(loop.results, end.operands) if v.defining_op in carried]
        self._wait(left, 0)
        rings = [ring for dot in carried for ring in held.get(dot, ())]
        if rings:
            b = self.b
            less = arith.CmpIPredicate.ult if loop.unsignedCmp else arith.CmpIPredicate.slt
            ran = b.add(arith.CmpI(less, self.new(loop.lb), self.new(loop.ub)))
            for ring in rings:
                self._release(ring, self.counters[ring.block].previous(b, self.rings.depth), ran)


def view_type(op: Any) -> Any:
    """The type of a view of a buffer that is written again and again."""
    ty = op.results[0].type
    return type(ty)(ty.shape, ty.element, ty.encoding, ty.memorySpace, True, ty.allocShape)


def _held(rings: Any, flights: Flights) -> dict[Any, list[Ring]]:
    """The rings that are free once a product has been waited for, by the product."""
    held: dict[Any, list[Ring]] = {}
    for ring in rings:
        reading = [f.dot for f in flights.air.get(ring.last, ()) if not f.before and f.dot in ring.readers]
        if reading:
            held.setdefault(reading[-1], []).append(ring)
    return held
