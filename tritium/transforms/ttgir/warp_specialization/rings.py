"""Rings: which loads share one, how deep it is, and the operations that make, fill, wait for and free its buffers.

    %a = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>        one for each load
    %b = ttg.local_alloc : () -> !ttg.memdesc<3x256x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64, …>        phase ends: one arrival and all bytes
    %empty = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64, …>       phase ends: an arrival of each warp that reads

Loads of one block whose last reader is the same operation (the operands of a product) are waited for and freed
together: they share a ring and its barriers. Operands of different products do not: K of attention is there before V,
and free before V is.

All rings of a block are used once an iteration, so they count together: the block has one `Counter`, a slot and the
parity of its `full` phase, which loops carry and branches hand on.

**Depth.** As many buffers as `num_stages` says, but no more than fit: beside the rings, shared memory holds the
buffers allocated elsewhere in the function, and what stores and conversions inside the span need for themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any

from ....dialects import arith, tt, ttg, ttng
from ....dialects.arith_casts import ExtUI
from ....dialects.ttg_memory import MemDescType, SharedMemorySpace, SwizzledShared, element_bits
from ....ir import TERMINATOR, Block, Builder, Operation, TensorType, Value, i1, i32, i64
from .partition import Load, Refused, Span

__all__ = ["VIEWS", "Counter", "Ring", "Rings", "number", "true", "view"]

SHARED_BYTES = 232448
"""What a block may have on sm_90: 227 KiB (CUDA programming guide, compute capabilities)."""

BARRIERS = SwizzledShared(1, 1, 1, (0,))
VIEWS = (ttg.MemDescTrans, ttg.MemDescReshape, ttg.MemDescSubslice, ttg.MemDescReinterpret)


class Ring:
    """Buffers for `loads` of one block; the consumer reads them from the operation `first` to the operation `last`.

    Both stand in the block itself, around who reads.
    """

    def __init__(self, block: Block, first: Operation, last: Operation) -> None:
        self.block, self.first, self.last = block, first, last
        self.loads: list[Load] = []
        self.readers: set[Operation] = set()
        self.buffers: dict[Operation, Value] = {}
        self.full: Value
        self.empty: Value

    @property
    def bytes(self) -> int:
        """Of one slot."""
        return sum(load.bytes for load in self.loads)


class Counter:
    """Where a block is in its rings: `slot` (i32) and `phase` (i32), the parity of the slot's current `full` phase."""

    def __init__(self, slot: Value, phase: Value) -> None:
        self.slot, self.phase = slot, phase

    @property
    def values(self) -> list[Value]:
        """What loops carry."""
        return [self.slot, self.phase]

    def advance(self, b: Builder, depth: int) -> Counter:
        """The counter of the next visit: slot + 1, or slot 0 in the other phase."""
        step = b.add(arith.AddI(self.slot, number(b, 1)))
        wraps = b.add(arith.CmpI(arith.CmpIPredicate.eq, step, number(b, depth)))
        slot = b.add(arith.Select(wraps, number(b, 0), step))
        return Counter(slot, b.add(arith.XOrI(self.phase, b.add(ExtUI(wraps, out=i32)))))

    def previous(self, b: Builder, depth: int) -> Value:
        """The slot of the visit before."""
        is_first = b.add(arith.CmpI(arith.CmpIPredicate.eq, self.slot, number(b, 0)))
        return b.add(arith.Select(is_first, number(b, depth - 1), b.add(arith.SubI(self.slot, number(b, 1)))))  # type: ignore[no-any-return]


class Rings:
    """The rings of a span, by their blocks, and their depth."""

    def __init__(self, span: Span) -> None:
        self.of_block: dict[Block, list[Ring]] = {}
        for load in span.loads:
            self._place(load)
        self.depth = 0
        self.readers = 0

    def _place(self, load: Load) -> None:
        block = load.op.parent
        readers = list(_readers(load))
        for op in readers:
            if op.traits & TERMINATOR:
                raise Refused(op, "a block that was loaded is handed to another iteration or branch")
        at = {op: i for i, op in enumerate(block)}
        places = [at[_in_block(block, op)] for op in readers]
        ops = list(block)
        first, last = ops[min(places)], ops[max(places)]
        rings = self.of_block.setdefault(block, [])
        for ring in rings:
            if ring.last is last:
                ring.first = min(ring.first, first, key=at.__getitem__)
                break
        else:
            ring = Ring(block, first, last)
            rings.append(ring)
        ring.loads.append(load)
        ring.readers.update(readers)

    def __iter__(self) -> Iterator[Ring]:
        for rings in self.of_block.values():
            yield from rings

    def inside(self, op: Operation) -> list[Block]:
        """The blocks with rings that stand in an operation, at any depth."""
        return [block for block in self.of_block if op.is_ancestor_of(block.parent_op)]

    def choose_depth(self, wanted: int, func: Operation, span: Span) -> None:
        """At most `wanted` slots, as many as fit into shared memory; fewer than one if nothing fits."""
        slot = sum(ring.bytes + 16 for ring in self)
        self.depth = min(wanted, (SHARED_BYTES - _elsewhere(func, span)) // slot)

    def allocate(self, b: Builder, readers: int) -> None:
        """Buffers and barriers of all rings; `readers` is the number of warps of the consumer."""
        self.readers = readers
        for ring in self:
            for load in ring.loads:
                ring.buffers[load.op] = b.add(ttg.LocalAlloc(result=_copies(load.type, self.depth)))
            ring.full, ring.empty = (_barriers(b, self.depth, count) for count in (1, readers))
        b.add(ttg.Barrier(ttg.AddrSpace.local))

    def free(self, b: Builder) -> None:
        """The barriers are none any more: their memory may be used for something else."""
        for ring in self:
            for barriers in (ring.full, ring.empty):
                for i in range(self.depth):
                    b.add(ttng.InvalBarrier(view(b, barriers, number(b, i))))

    def captured(self) -> list[Value]:
        """What the producer takes of all rings."""
        return [v for ring in self for v in (*ring.buffers.values(), ring.full, ring.empty)]


def number(b: Builder, value: int) -> Any:
    """A constant i32."""
    return b.add(arith.Constant.of(value, i32))


def true(b: Builder) -> Any:
    """The constant true."""
    return b.add(arith.Constant.of(1, i1))


def view(b: Builder, buffers: Any, slot: Value) -> Any:
    """One of several buffers."""
    ty = buffers.type
    one = MemDescType(ty.shape[1:], ty.element, ty.encoding, ty.memorySpace, True)
    return b.add(ttg.MemDescIndex(buffers, slot, result=one))


def _copies(ty: MemDescType, count: int) -> MemDescType:
    return MemDescType((count, *ty.shape), ty.element, ty.encoding, ty.memorySpace, True)


def _barriers(b: Builder, depth: int, count: int) -> Any:
    one = MemDescType((1,), i64, BARRIERS, SharedMemorySpace(), True)
    barriers = b.add(ttg.LocalAlloc(result=_copies(one, depth)))
    for i in range(depth):
        b.add(ttng.InitBarrier(view(b, barriers, number(b, i)), count))
    return barriers


def _readers(load: Load) -> Iterable[Operation]:
    """Who reads a load's buffer: all that use views of it, and the load itself where it goes to registers."""
    if load.in_registers:
        yield load.op
    todo: list[Any] = list(load.buffers)
    while todo:
        for user in todo.pop().results[0].users:
            if user.__class__ in VIEWS:
                todo.append(user)
            else:
                yield user
    yield from [buffer for buffer in load.buffers if not buffer.results[0].uses]


def _in_block(block: Block, op: Any) -> Operation:
    while op.parent is not block:
        op = op.parent_op
    return op  # type: ignore[no-any-return]


def _elsewhere(func: Operation, span: Span) -> int:
    """Bytes of shared memory that something else may need at the same time."""
    inside = {op for outer in span.ops for op in outer.walk()}
    loaded = {buffer for load in span.loads for buffer in load.buffers}
    buffers = [op for op in func.walk() if op.__class__ is ttg.LocalAlloc and op not in loaded]
    needs = [_size(op.src.type) for op in inside if isinstance(op, (tt.DescriptorStore, ttg.ConvertLayout))]
    return sum(_size(op.result.type) for op in buffers) + max(needs, default=0)


def _size(ty: Any) -> int:
    return prod(ty.shape) * element_bits(ty.element) // 8 if isinstance(ty, (TensorType, MemDescType)) else 0
