"""Rings (circular buffers): the loads that share one, its depth, and its operations.

    %a = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>        one for each load
    %b = ttg.local_alloc : () -> !ttg.memdesc<3x256x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64, …>        phase completes: one arrival and all bytes
    %empty = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64, …>       phase completes: one arrival of each reading warp

Loads of one block whose last reader is the same operation (the operands of a dot) are waited for and released together:
they share a ring and its mbarriers. Operands of different dots do not: K of attention arrives before V, and is released
before V arrives.

Consecutive loops with loads of the same types share rings, such as the loops over full and diagonal tiles of attention.
Such a ring has several *sites*, and is first in, first out across them.

**Clusters.** Each CTA of a cluster has separate rings. Data that several CTAs need (an operand of a dot that is not
split over them) is copied to all of them by the first (`multicast`), which must know that the slot is free in all of
them: a reader arrives at the mbarriers of every one of them.

**Depth.** As many slots as `num_stages`, but no more than fit (`occupancy` determines the limit): besides the rings,
shared memory has the buffers allocated elsewhere in the function, and the scratch of stores and conversions in the
span.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import prod
from operator import or_
from typing import Any, NamedTuple

from ....analysis.dataflow import reachable
from ....analysis.scratch import scratch_bytes
from ....dialects import arith, tt, ttg, ttng
from ....dialects.arith_casts import ExtUI
from ....dialects.ttg_memory import MemDescType, element_bits
from ....dialects.ttg_switches import is_on
from ....ir import TERMINATOR, Block, Builder, Operation, TensorType, Value, ViewLike, i32
from ....ir.dominance import ancestor_in
from ..tma.copies import barrier_type
from .occupancy import Occupancy
from .partition import Load, Refused, Span

__all__ = ["Counter", "Ring", "Rings", "Visit", "number", "view", "visit_of"]


class Ring:
    """Buffers for loads of one block, and their mbarriers; `sites` has the loads of each block that uses them.

    `shared_by`: the bits of the CTA rank in which CTAs differ that get one copy; 0 where each CTA gets a separate copy.
    """

    def __init__(self) -> None:
        self.sites: list[list[Load]] = [[]]
        self.shared_by = 0
        self.buffers: list[Value] = []
        self.full: Value
        self.empty: Value

    @property
    def loads(self) -> list[Load]:
        """The loads of the first site; those of other sites have the same types."""
        return self.sites[0]

    @property
    def bytes(self) -> int:
        """The bytes of one slot."""
        return sum(load.bytes for load in self.loads)

    def find_sharing(self) -> None:
        """Set `shared_by`, while the loads exist."""
        if is_on(self.loads[0].op, "multicast"):
            self.shared_by = reduce(or_, (load.shared_by for load in self.loads))

    def takes(self, other: Ring) -> bool:
        """Whether the loads of `other` can use this ring: the same types, in sibling loops."""
        here, there = ([load.buffer_type() for load in ring.loads] for ring in (self, other))
        blocks = [loads[0].op.parent for loads in self.sites]
        return here == there and all(_apart(block, other.loads[0].op.parent) for block in blocks)


class Visit(NamedTuple):
    """A use of a slot of a ring in a block: `readers`, within the operations `first` to `last` of the block."""

    block: Block
    first: Operation
    last: Operation
    readers: frozenset[Operation]


class Counter(NamedTuple):
    """The position of a partition in a ring: `slot` (i32), and `phase` (i32), the parity of the slot's next `full`
    phase."""

    slot: Value
    phase: Value

    def advance(self, b: Builder, depth: int) -> Counter:
        """The counter of the next visit: slot + 1, or slot 0 with the other parity."""
        step = b.add(arith.AddI(self.slot, number(b, 1)))
        wraps = b.add(arith.CmpI(arith.CmpIPredicate.eq, step, number(b, depth)))
        slot = b.add(arith.Select(wraps, number(b, 0), step))
        return Counter(slot, b.add(arith.XOrI(self.phase, b.add(ExtUI(wraps, out=i32)))))

    def previous(self, b: Builder, depth: int) -> Value:
        """The slot of the previous visit."""
        is_first = b.add(arith.CmpI(arith.CmpIPredicate.eq, self.slot, number(b, 0)))
        below = b.add(arith.SubI(self.slot, number(b, 1)))
        return b.add(arith.Select(is_first, number(b, depth - 1), below))


class Rings(list[Ring]):
    """The rings of a span, all of one `depth`; `readers` is the number of warps of the consumer."""

    def __init__(self, span: Span) -> None:
        lasts: dict[Operation, Ring] = {}
        for load in span.loads:
            last = visit_of(load.op.parent, [load]).last
            lasts.setdefault(last, Ring()).loads.append(load)
        for ring in lasts.values():
            shared = next((known for known in self if known.takes(ring)), None)
            if shared is not None:
                shared.sites.append(ring.loads)
            else:
                ring.find_sharing()
                self.append(ring)
        self.depth = self.readers = 0

    @property
    def shared(self) -> bool:
        """Whether a copy is multicast to several CTAs."""
        return any(ring.shared_by for ring in self)

    def choose_depth(self, wanted: int, func: Operation, span: Span, choices: list[Occupancy]) -> Occupancy:
        """Choose at most `wanted` slots, as many as fit into shared memory; fewer than one if none fits.

        Returns the first of `choices` that fits: three CTAs with all slots, two CTAs with two slots, one CTA with any.
        """
        slot = sum(ring.bytes + 16 for ring in self)
        taken = _elsewhere(func, span)
        for chosen in choices:
            self.depth = min(wanted, (chosen.shared - taken) // slot)
            if self.depth >= (wanted if chosen.blocks > 2 else min(chosen.blocks, 2)):
                break
        return chosen

    def allocate(self, b: Builder, around: Operation, readers: int) -> None:
        """Allocate buffers and mbarriers of all rings, for the function of `around`.

        The memory may be reused: a fence orders earlier generic-proxy writes before the writes of TMA.
        """
        self.readers = readers
        for ring in self:
            ring.buffers = [b.add(ttg.LocalAlloc(result=load.buffer_type(self.depth))) for load in ring.loads]
            who_frees = readers << ring.shared_by.bit_count()
            ring.full, ring.empty = (_barriers(b, around, self.depth, count) for count in (1, who_frees))
        if self.shared:
            b.add(ttng.FenceMBarrierInitReleaseCluster())
        b.add(ttng.FenceAsyncShared(bCluster=self.shared))
        b.add(ttg.Barrier(ttg.AddrSpace.local))

    def free(self, b: Builder) -> None:
        """Invalidate the mbarriers, so that their memory can be reused.

        Other CTAs of the cluster may arrive at them until then.
        """
        if self.shared:
            b.add(ttng.ClusterBarrier(False))
        for ring in self:
            for barriers in (ring.full, ring.empty):
                for i in range(self.depth):
                    b.add(ttng.InvalBarrier(view(b, barriers, number(b, i))))

    def captured(self) -> list[Value]:
        """The values of all rings that the producer captures."""
        return [v for ring in self for v in (*ring.buffers, ring.full, ring.empty)]


def visit_of(block: Any, loads: list[Load]) -> Visit:
    """The readers of these loads in a block; raises Refused where a loaded tile leaves the block."""
    at = {op: i for i, op in enumerate(block)}
    readers = [op for load in loads for op in _readers(load)]
    for op in readers:
        if op.traits & TERMINATOR:
            raise Refused(op, "a loaded tile is passed to another iteration or branch")
    tops = (ancestor_in(block, op) for op in readers)
    around = sorted((top for top in tops if top is not None), key=at.__getitem__)
    return Visit(block, around[0], around[-1], frozenset(readers))


def number(b: Builder, value: int) -> Any:
    """A constant i32."""
    return b.add(arith.Constant.of(value, i32))


def view(b: Builder, buffers: Any, slot: Value) -> Any:
    """A view of one of several buffers."""
    ty = buffers.type
    one = MemDescType(ty.shape[1:], ty.element, ty.encoding, ty.memorySpace, True)
    return b.add(ttg.MemDescIndex(buffers, slot, result=one))


def _barriers(b: Builder, around: Operation, depth: int, count: int) -> Any:
    barriers = b.add(ttg.LocalAlloc(result=barrier_type(around, depth)))
    for i in range(depth):
        b.add(ttng.InitBarrier(view(b, barriers, number(b, i)), count))
    return barriers


def _readers(load: Load) -> Iterable[Operation]:
    """The readers of a load's buffer: users of its views, and the load itself where it is read to registers."""
    if load.in_registers:
        yield load.op
    names = reachable(load.buffers, lambda op: [user for user in op.results[0].users if isinstance(user, ViewLike)])
    for op in names:
        yield from [user for user in op.results[0].users if not isinstance(user, ViewLike)]
    yield from [buffer for buffer in load.buffers if not buffer.results[0].uses]


def _apart(block: Any, other: Any) -> bool:
    """Whether neither block contains the other."""
    return not any(a is b or a.parent_op.is_ancestor_of(b.parent_op) for a, b in ((block, other), (other, block)))


def _elsewhere(func: Operation, span: Span) -> int:
    """Bytes of shared memory that may be needed elsewhere at the same time."""
    inside = {op for outer in span.ops for op in outer.walk()}
    loaded = {buffer for load in span.loads for buffer in load.buffers}
    buffers = [op for op in func.walk() if op.__class__ is ttg.LocalAlloc and op not in loaded]
    needs = [_size(op.src.type) if op.__class__ is tt.DescriptorStore else scratch_bytes(op) for op in inside]
    return sum(_size(op.result.type) for op in buffers) + max(needs, default=0)


def _size(ty: Any) -> int:
    return prod(ty.shape) * element_bits(ty.element) // 8 if isinstance(ty, (TensorType, MemDescType)) else 0
