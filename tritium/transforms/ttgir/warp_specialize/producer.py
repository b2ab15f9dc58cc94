"""Emit the producer partition: control flow around loads, address computations, and TMA loads.

scf.for %k = %lb to %ub step %s iter_args(%slot = …, %phase = …) {
  %k64 = arith.muli %k, %c64
  ttng.wait_barrier %empty[%slot], %phase ^ 1        once per ring, before its first load
  ttng.barrier_expect %full[%slot], 49152
  ttng.async_tma_copy_global_to_local %A[%m, %k64] %ring_a[%slot], %full[%slot]
  ttng.async_tma_copy_global_to_local %B[%n, %k64] %ring_b[%slot], %full[%slot]
  …
}
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, ttng
from ....ir import Block, Builder, CountedLoop, IfLike, UnitAttr
from ..tma.copies import start_load, true
from .circular_buffers import Ring, Rings, number, view
from .emit import PartitionEmitter
from .partition import Span

__all__ = ["Producer"]


class Producer(PartitionEmitter):
    """Clone the slice that loads need, and issue them."""

    def __init__(self, span: Span, rings: Rings, b: Builder, mapping: dict[Any, Any]) -> None:
        clocks: dict[Block, dict[Ring, Any]] = {}
        self.loads: dict[Any, tuple[Ring, int]] = {}
        for ring in rings:
            blocks = tuple(loads[0].op.parent for loads in ring.sites)
            for block, loads in zip(blocks, ring.sites):
                clocks.setdefault(block, {})[ring] = blocks
                self.loads.update({load.op: (ring, i) for i, load in enumerate(loads)})
        super().__init__(rings, b, mapping, clocks)
        self.slice = span.slice

    def is_rebuilt(self, op: Any) -> bool:
        return op in self.slice.ops

    def carried(self, loop: CountedLoop) -> list[int]:
        return sorted(self.slice.carried.get(loop, ()))

    def yielded(self, branch: Any) -> list[int]:
        return sorted(self.slice.yielded.get(branch, ()))

    def plain(self, op: Any) -> None:
        if op in self.loads:
            self.load(op, *self.loads[op])
        elif op in self.slice.ops and not isinstance(op, (CountedLoop, IfLike)):
            super().plain(op)

    def load(self, op: Any, ring: Ring, i: int) -> None:
        """Issue load `i` of a ring; the first one waits for the slot to be free."""
        b = self.b
        b.loc = op.loc
        counter = self.visit(op.parent, ring)
        full = view(b, self.new(ring.full), counter.slot)
        if i == 0:
            empty = view(b, self.new(ring.empty), counter.slot)
            b.add(ttng.WaitBarrier(empty, b.add(arith.XOrI(counter.phase, number(b, 1)))))
            b.add(ttng.BarrierExpect(full, true(b), ring.bytes))
        buffer = view(b, self.new(ring.buffers[i]), counter.slot)
        copy: Any = start_load(b, op, buffer, full, true(b))
        if ring.shared_by and ring.loads[i].shared_by:
            copy.attributes["multicast"] = UnitAttr()
        copy.set_operands([self.new(v) for v in copy.operands])
