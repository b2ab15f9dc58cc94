"""Offsets in shared memory of all buffers and scratch of a function.

Allocations whose live ranges do not overlap may share bytes. Buffers come from `ttg.local_alloc`, live as long as any
value that refers to them (`buffers`, `liveness`) and are aligned as their layouts require; scratch (`scratch`) lives
while its operation runs; a call needs all the shared memory of its callee.

Minimizing the total size is NP-hard. The allocator tries several orders (by size, by length of the live range, in
program order), assigns each allocation the lowest offset that is free during its live range, and keeps the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from ..dialects import tt
from ..dialects.ttg_memory import MemDescType, PaddedShared, element_bits, padded_layout
from ..ir import IntegerAttr, Operation, Value
from ..layout.bases import per_block
from ..support import UnsupportedOperation
from ..support.dataclasses import dataclass
from .buffers import buffers_of, is_shared_alloc
from .liveness import Interval, Order
from .scratch import SCRATCH_ALIGNMENT, scratch_bytes

__all__ = ["OFFSET", "Allocation", "Buffer", "allocate", "allocated", "buffer_bytes", "padded_size", "stride_bytes"]

OFFSET = "allocation.offset"


@dataclass
class Buffer:
    """`size` bytes at `offset` that `op` allocates or uses as scratch; `life` is the live range in program order."""

    op: Operation
    size: int
    alignment: int
    life: Interval
    offset: int = 0

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.offset + self.size

    def overlaps(self, other: Buffer) -> bool:
        """Whether the byte ranges overlap."""
        return self.offset < other.end and other.offset < self.end


@dataclass
class Allocation:
    """A function's shared memory: `size` bytes in all.

    `buffers`: by the operation that allocates or uses them; `values`: the allocations that each value may refer to.
    """

    buffers: dict[Operation, Buffer]
    values: dict[Value, list[Operation]]
    size: int

    def of(self, value: Value) -> list[Buffer]:
        """The buffers that a value may refer to."""
        return [self.buffers[op] for op in self.values.get(value, ())]


def padded_size(layout: PaddedShared, elements: int) -> int:
    """The number of elements that `elements` occupy with the padding between them; none after the last."""
    size = elements
    for interval, padding in zip(layout.intervals, layout.paddings):
        size += elements // interval * padding
        if elements and elements % interval == 0:
            size -= padding
    return size


def _per_block(ty: MemDescType) -> int:
    """Elements of a buffer per CTA; of an array of buffers, those of one buffer."""
    layout: Any = ty.encoding
    shape = ty.allocShape[-layout.rank :]
    blocks = getattr(layout, "CGALayout", None)
    if blocks is None:  # bases in elements, of which those that move distinguish the parts of CTAs
        return prod(shape) >> sum(map(any, getattr(layout, "block", ())))
    return prod(per_block(shape, blocks)) * (2 if getattr(layout, "fp4Padded", False) else 1)


def buffer_bytes(ty: MemDescType) -> int:
    """The size of a buffer per CTA, in bytes."""
    layout: Any = ty.encoding
    elements = prod(ty.allocShape[: len(ty.allocShape) - layout.rank]) * _per_block(ty)
    padded = padded_layout(layout)
    if padded is not None:
        elements = padded_size(padded, elements)
    return elements * element_bits(ty) // 8


def stride_bytes(ty: MemDescType) -> int | None:
    """The distance in bytes of consecutive buffers that `ttg.memdesc_index` selects from `ty`.

    None if it is not constant: the padding of a layout need not be periodic in the size of a buffer.
    """
    layout: Any = ty.encoding
    elements = prod(ty.shape[1 : len(ty.shape) - layout.rank]) * _per_block(ty)
    padded = padded_layout(layout)
    if padded is not None:
        if elements % max(padded.intervals):
            return None
        elements = padded_size(padded, 2 * elements) - padded_size(padded, elements)
    return elements * element_bits(ty) // 8


def _alignment(op: Any) -> int:
    return max(op.alignment or 0, getattr(op.result.type.encoding, "alignment", 16))


def allocate(func: Operation, sizes: dict[str, int]) -> Allocation:
    """Assign offsets in a function. `sizes`: bytes of its callees, by name."""
    order = Order(func)
    values = buffers_of(func)
    buffers = _needed(func, order, sizes)
    lives: dict[Operation, Interval] = {}
    for value, ops in values.items():
        life = order.life(value)
        for op in ops:
            lives[op] = lives[op].join(life) if op in lives else life
    for op, life in lives.items():
        buffers[op].life = order.extended(life, order.begin[op])
    return Allocation(buffers, values, _place(list(buffers.values()), order.meet, not order.apart))


def allocated(func: Operation, sizes: dict[str, int]) -> Allocation:
    """The allocation of a function whose operations have their offsets as attributes."""
    buffers = _needed(func, Order(func), sizes)
    for op, buffer in buffers.items():
        at = op.attributes.get(OFFSET)
        if not isinstance(at, IntegerAttr):
            raise UnsupportedOperation(op, "has no offset in shared memory: run allocate-shared-memory before")
        buffer.offset = at.value
    return Allocation(buffers, buffers_of(func), max((b.end for b in buffers.values()), default=0))


def _needed(func: Operation, order: Order, sizes: dict[str, int]) -> dict[Operation, Buffer]:
    out = {}
    for op in func.walk():
        if is_shared_alloc(op):
            size, alignment = buffer_bytes(op.results[0].type), _alignment(op)  # type: ignore[arg-type]
        elif isinstance(op, tt.Call):
            size, alignment = sizes[op.callee], SCRATCH_ALIGNMENT
        else:
            size, alignment = scratch_bytes(op), SCRATCH_ALIGNMENT
        if size or is_shared_alloc(op):
            out[op] = Buffer(op, size, alignment, order.extended(order.of(op), order.begin[op]))
    return out


Key = Callable[[Buffer], Any]
_ORDERS: Sequence[Key] = (
    lambda b: (-b.size, b.life),
    lambda b: (-b.alignment, -b.size, b.life),
    lambda b: (b.life.first - b.life.last, -b.size),
    lambda b: b.life,
)


Meet = Callable[[Interval, Interval], bool]


def _place(buffers: list[Buffer], meet: Meet = Interval.meets, by_time: bool = True) -> int:
    """Assign offsets; returns the total size. `by_time`: only live ranges that overlap as intervals `meet`."""
    best: tuple[int, list[int]] | None = None
    for key in _ORDERS:
        placed = _Placed(buffers if by_time else [], meet)
        for buffer in sorted(buffers, key=key):
            buffer.offset = _lowest(buffer, placed.meeting(buffer))
            placed.add(buffer)
        size = max((b.end for b in buffers), default=0)
        if best is None or size < best[0]:
            best = size, [b.offset for b in buffers]
    assert best is not None
    for buffer, offset in zip(buffers, best[1]):
        buffer.offset = offset
    return best[0]


class _Placed:
    """Buffers with assigned offsets, indexed by time.

    The union of all live ranges is divided into as many pieces as there are buffers. A buffer that lives in a few of
    them is in the list of each; one that lives longer is compared with every buffer.
    """

    FEW = 16

    def __init__(self, buffers: Sequence[Buffer], meet: Meet) -> None:
        self.meet = meet
        self.long: list[Buffer] = []
        self.short: dict[int, list[Buffer]] = {}
        self.width = 0  # of a piece; 0: there are none
        if buffers:
            first, last = min(b.life.first for b in buffers), max(b.life.last for b in buffers)
            self.width = max(1, (last - first + 1) // len(buffers))

    def _pieces(self, buffer: Buffer) -> range | None:
        if not self.width:
            return None
        pieces = range(buffer.life.first // self.width, buffer.life.last // self.width + 1)
        return pieces if len(pieces) <= self.FEW else None

    def add(self, buffer: Buffer) -> None:
        """Add a buffer with an offset."""
        pieces = self._pieces(buffer)
        if pieces is None:
            self.long.append(buffer)
        for piece in pieces or ():
            self.short.setdefault(piece, []).append(buffer)

    def meeting(self, buffer: Buffer) -> list[Buffer]:
        """The buffers whose live ranges overlap that of `buffer`."""
        pieces = self._pieces(buffer)
        lists = self.short.values() if pieces is None else [self.short.get(piece, ()) for piece in pieces]
        candidates = {id(b): b for some in (self.long, *lists) for b in some}
        return [b for b in candidates.values() if self.meet(b.life, buffer.life)]


def _lowest(buffer: Buffer, others: Iterable[Buffer]) -> int:
    """The lowest aligned offset at which a buffer overlaps none of `others`."""
    at = 0
    for other in sorted(others, key=lambda b: b.offset):
        if other.offset >= at + buffer.size:
            break
        at = max(at, -(-other.end // buffer.alignment) * buffer.alignment)
    return at
