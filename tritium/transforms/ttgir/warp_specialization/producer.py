"""The producer's program: the loops and branches around loads, what addresses are computed from, and the copies.

scf.for %k = %lb to %ub step %s iter_args(%slot = …, %phase = …) {
  %k64 = arith.muli %k, %c64
  ttng.wait_barrier %empty[%slot], %phase ^ 1        once for a ring, in front of its first load
  ttng.barrier_expect %full[%slot], 49152
  ttng.async_tma_copy_global_to_local %A[%m, %k64] %ring_a[%slot], %full[%slot]
  ttng.async_tma_copy_global_to_local %B[%n, %k64] %ring_b[%slot], %full[%slot]
  …
}
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, scf, tt, ttng
from ....ir import Builder
from .copies import Copy
from .partition import Span
from .rings import Ring, Rings, number, true, view

__all__ = ["Producer"]


class Producer(Copy):
    """Copies the slice that loads need, and starts them."""

    def __init__(self, span: Span, rings: Rings, b: Builder, mapping: dict[Any, Any]) -> None:
        super().__init__(rings, b, mapping)
        self.slice = span.slice
        self.ring_of = {load.op: ring for ring in rings for load in ring.loads}

    def is_woven(self, op: Any) -> bool:
        return op in self.slice.ops

    def carried(self, loop: Any) -> list[int]:
        return sorted(self.slice.carried.get(loop, ()))

    def handed(self, branch: Any) -> list[int]:
        return sorted(self.slice.handed.get(branch, ()))

    def plain(self, op: Any) -> None:
        if op.__class__ is tt.DescriptorLoad and op in self.ring_of:
            self.load(op, self.ring_of[op])
        elif op in self.slice.ops and op.__class__ not in (scf.For, scf.If):
            super().plain(op)

    def load(self, op: Any, ring: Ring) -> None:
        """Start the copy of one load; the first of its ring waits until the slot is free."""
        b, counter = self.b, self.counters[ring.block]
        b.loc = op.loc
        full = view(b, self.new(ring.full), counter.slot)
        if op is ring.loads[0].op:
            empty = view(b, self.new(ring.empty), counter.slot)
            b.add(ttng.WaitBarrier(empty, b.add(arith.XOrI(counter.phase, number(b, 1)))))
            b.add(ttng.BarrierExpect(full, true(b), ring.bytes))
        buffer = view(b, self.new(ring.buffers[op]), counter.slot)
        coord = [self.new(v) for v in op.indices]
        copy = ttng.AsyncTMACopyGlobalToLocal(self.new(op.desc), coord, [], full, buffer, true(b))
        if op.cachePolicy is not None:
            copy.attributes["cachePolicy"] = op.cachePolicy
        b.add(copy)
