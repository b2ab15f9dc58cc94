"""The consumer's program: the span without its loads, with waits for them and releases of their buffers.

    scf.for %k = … iter_args(%c = …, %slot = …, %phase = …) {
      %a = ttg.memdesc_index %ring_a[%slot]              for each `ttg.local_alloc` of a load
      ttng.wait_barrier %full[%slot], %phase             before the first reader
      %p = ttng.warp_group_dot %a, %b, %c {isAsync}
      %d = ttng.warp_group_dot_wait %p {pendings = 1}    `consumer_waits`
      ttng.arrive_barrier %empty[%slot - 1], 8, %k != %lb
      …
    }
    %r = ttng.warp_group_dot_wait %result {pendings = 0}
    ttng.arrive_barrier %empty[%slot - 1], 8, %lb < %ub

**Release points.** A slot is free after the last operation that reads it. A WGMMA has read its operands once it has
been waited for; where that is in the next iteration, the slot is the previous one, and the first iteration releases
none.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, ttg, ttng
from ....ir import Block, Builder, CountedLoop, Operation, Value, ViewLike, bool_attr
from ..async_wait.in_flight import InFlight
from .circular_buffers import Ring, Rings, Visit, view, visit_of
from .consumer_waits import NO_ASYNC, ConsumerWaits, Wait, consumer_waits, is_used_from
from .emit import PartitionEmitter
from .partition import Load

__all__ = ["Consumer", "Sites", "Stretches"]

Sites = dict[Ring, list[list[Load]]]
"""For each ring the visits in the program to be copied: the loads of each, in the order of the ring's buffers."""

Stretches = list[tuple[Operation, Operation]]
"""First and last operations of stretches whose waits for loads all come before the first one."""


class Consumer(PartitionEmitter):
    """Copies a span without its loads. With `in_flight`, WGMMAs are waited for as late as possible.

    Rings whose visits are all in the same blocks share a clock.
    """

    def __init__(
        self, rings: Rings, sites: Sites, stretches: Stretches, b: Builder, mapping: dict[Any, Any], in_flight: bool
    ) -> None:
        visits = {
            ring: [visit_of(loads[0].op.parent, loads) for loads in all_loads] for ring, all_loads in sites.items()
        }
        clocks: dict[Block, dict[Ring, Any]] = {}
        for ring, found in visits.items():
            for visit in found:
                clocks.setdefault(visit.block, {})[ring] = tuple(v.block for v in found)
        super().__init__(rings, b, mapping, clocks)
        self.in_flight = in_flight
        self.loads: dict[Operation, tuple[Ring, Value, Load]] = {}
        self.first: dict[Operation, list[tuple[Ring, Visit]]] = {}
        self.last: dict[Operation, list[tuple[Ring, Visit]]] = {}
        for ring, all_loads in sites.items():
            for loads, visit in zip(all_loads, visits[ring]):
                self.first.setdefault(visit.first, []).append((ring, visit))
                self.last.setdefault(visit.last, []).append((ring, visit))
                for load, buffer in zip(loads, ring.buffers):
                    self.loads.update(dict.fromkeys([load.op, *load.buffers], (ring, buffer, load)))
        for begin, end in stretches:
            op: Any = begin
            while op is not end:
                op = op.next
                self.first.setdefault(begin, []).extend(self.first.pop(op, ()))
        self.views: dict[Load, Value] = {}
        self.waits: ConsumerWaits = NO_ASYNC
        self.held: dict[Any, list[tuple[Ring, Visit]]] = {}

    def loop(self, op: Any) -> Any:
        """Copy a loop; WGMMAs in flight at its end are waited for after it."""
        outer = self.waits, self.held
        self.waits = consumer_waits(op.body, self.loads, self.rings.depth > 1) if self.in_flight else NO_ASYNC
        self.held = self._held(op.body)
        copy = super().loop(op)
        carried, held = self.waits.carried, self.held
        self.waits, self.held = outer
        if carried:
            self._retire_all(op, carried, held)
        return copy

    def one(self, op: Any) -> None:
        """Copy an operation, between its waits and releases."""
        for ring, visit in self.first.get(op, ()):
            self._await(ring, visit)
        if op in self.waits.before:
            self._retire(op, self.waits.before[op], itself=True)
        super().one(op)
        if op in self.waits.after:
            self._retire(op, self.waits.after[op], itself=False)
        for ring, visit in self.last.get(op, ()):
            if not any((ring, visit) in held for held in self.held.values()):
                self._release(ring, self.visit(visit.block, ring).slot)

    def at_end(self, end: Operation) -> None:
        if end in self.waits.before:
            self._retire(end, self.waits.before[end], itself=True)

    def plain(self, op: Any) -> None:
        if op not in self.loads:
            return self._copy(op)
        ring, buffers, load = self.loads[op]
        if op is not load.op:
            self.mapping[op.results[0]] = self.views[load]
            return None
        buffer = self.views[load] = view(self.b, buffers, self.visit(op.parent, ring).slot)
        if load.in_registers:
            self.mapping[op.result] = self.b.add(ttg.LocalLoad(buffer, None, result=op.result.type))
        return None

    def _copy(self, op: Any) -> None:
        super().plain(op)
        copy: Any = self.new(op.results[0]).defining_op if op.results else None
        if isinstance(op, ViewLike):
            copy.results[0].type = _mutable(copy.results[0].type)
        elif op in self.waits.asynchronous:
            copy.attributes["isAsync"] = bool_attr(True)

    def _await(self, ring: Ring, visit: Visit) -> None:
        b, counter = self.b, self.visit(visit.block, ring)
        b.loc = visit.first.loc
        b.add(ttng.WaitBarrier(view(b, ring.full, counter.slot), counter.phase))

    def _release(self, ring: Ring, slot: Value, where: Value | None = None) -> None:
        empty = view(self.b, ring.empty, slot)
        self.b.add(ttng.ArriveBarrier(empty, where, self.rings.readers, None, ring.shared_by))

    def _held(self, body: Block) -> dict[Any, list[tuple[Ring, Visit]]]:
        """The visits that end once a WGMMA has been waited for, by the WGMMA."""
        held: dict[Any, list[tuple[Ring, Visit]]] = {}
        for op in body:
            for ring, visit in self.last.get(op, ()):
                in_flight = self.waits.in_flight_after.get(op, ())
                reading = [f.dot for f in in_flight if not f.previous and f.dot in visit.readers]
                if reading:
                    held.setdefault(reading[-1], []).append((ring, visit))
        return held

    def _retire(self, op: Any, wait: Wait, itself: bool) -> None:
        """Wait for WGMMAs, and release the slots of which they were the last readers."""
        values = [v for wgmma in wait.done for v in wgmma.values() if is_used_from(v, op, itself)]
        if not values:
            newest = wait.remaining[-1] if wait.remaining else wait.done[-1]
            values = newest.values()[:1]
        self._wait([*values, *wait.kept], wait.pendings)
        for wgmma in wait.done:
            for ring, visit in self.held.get(wgmma.dot, ()):
                self._release_of(wgmma, ring, visit)

    def _wait(self, values: list[Value], pendings: int) -> None:
        values = list(dict.fromkeys(values))
        waited = ttng.WarpGroupDotWait([self.new(v) for v in values], pendings)
        self.b.insert(waited)
        self.mapping.update(zip(values, waited.results))

    def _release_of(self, wgmma: InFlight, ring: Ring, visit: Visit) -> None:
        b, counter = self.b, self.visit(visit.block, ring)
        if not wgmma.previous:
            return self._release(ring, counter.slot)
        loop: Any = wgmma.dot.parent_op
        is_later = b.add(arith.CmpI(arith.CmpIPredicate.ne, self.new(loop.body.args[0]), self.new(loop.lb)))
        return self._release(ring, counter.previous(b, self.rings.depth), is_later)

    def _retire_all(
        self, loop: CountedLoop, carried: tuple[Any, ...], held: dict[Any, list[tuple[Ring, Visit]]]
    ) -> None:
        """After a loop: wait for what its last iteration left in flight."""
        end = loop.terminator
        self._wait([r for r, v in zip(loop.results, end.operands) if v.defining_op in carried], 0)
        visits = [pair for dot in carried for pair in held.get(dot, ())]
        if visits:
            b = self.b
            less = arith.CmpIPredicate.ult if loop.unsignedCmp else arith.CmpIPredicate.slt
            ran = b.add(arith.CmpI(less, self.new(loop.lb), self.new(loop.ub)))
            for ring, visit in visits:
                counter = self.counters[self.clocks[visit.block][ring]]
                self._release(ring, counter.previous(b, self.rings.depth), ran)


def _mutable(ty: Any) -> Any:
    """The type of a view of a buffer that is written repeatedly."""
    return type(ty)(ty.shape, ty.element, ty.encoding, ty.memorySpace, True, ty.allocShape)
