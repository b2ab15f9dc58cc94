"""Where in a block's shared memory every buffer and every operation's scratch stands.

Two that are never needed at the same time may have the same bytes. Buffers come from `ttg.local_alloc`, live as long
as any value that stands for them (`buffers`, `liveness`), and are aligned as their layouts ask; scratch (`scratch`)
lives while its operation runs; a call needs all the shared memory of the function it calls.

Placing them in the fewest bytes is a hard problem; what is done is to take them in several orders (large ones first,
long-lived ones first, as they come), to put each at the lowest place that is free all its life, and to keep the best.
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
    """`size` bytes at `offset` that `op` allocates, or needs while it runs; `life` in the function's order."""

    op: Operation
    size: int
    alignment: int
    life: Interval
    offset: int = 0

    @property
    def end(self) -> int:
        """Behind the last byte."""
        return self.offset + self.size

    def overlaps(self, other: Buffer) -> bool:
        """Whether both have a byte in common."""
        return self.offset < other.end and other.offset < self.end


@dataclass
class Allocation:
    """A function's shared memory: `size` bytes in all.

    `buffers` by the operation that allocates or uses them; `values`: what each value that stands for buffers may be.
    """

    buffers: dict[Operation, Buffer]
    values: dict[Value, list[Operation]]
    size: int

    def of(self, value: Value) -> list[Buffer]:
        """The buffers that a value may stand for."""
        return [self.buffers[op] for op in self.values.get(value, ())]


def padded_size(layout: PaddedShared, elements: int) -> int:
    """How many elements of room `elements` take with the gaps between them; none behind the last."""
    size = elements
    for interval, padding in zip(layout.intervals, layout.paddings):
        size += elements // interval * padding
        if elements and elements % interval == 0:
            size -= padding
    return size


def _per_block(ty: MemDescType) -> int:
    """Elements that one block of the cluster has of a buffer, of one of several behind each other."""
    layout: Any = ty.encoding
    blocks = getattr(layout, "CGALayout", None)
    shape = per_block(ty.allocShape[-layout.rank :], getattr(layout, "block", ()) if blocks is None else blocks)
    return prod(shape) * (2 if getattr(layout, "fp4Padded", False) else 1)


def buffer_bytes(ty: MemDescType) -> int:
    """What one block of the cluster needs for a buffer."""
    layout: Any = ty.encoding
    elements = prod(ty.allocShape[: len(ty.allocShape) - layout.rank]) * _per_block(ty)
    padded = padded_layout(layout)
    if padded is not None:
        elements = padded_size(padded, elements)
    return elements * element_bits(ty) // 8


def stride_bytes(ty: MemDescType) -> int | None:
    """How far one is from the next of the buffers that `ttg.memdesc_index` selects from `ty`.

    None where that differs from one to the other: the gaps of a padded layout do not end where a buffer does.
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
    """Place what a function needs. `sizes`: bytes of the functions that it calls, by name."""
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
    """The same, of a function whose operations say where they have been placed."""
    buffers = _needed(func, Order(func), sizes)
    for op, buffer in buffers.items():
        at = op.attributes.get(OFFSET)
        if not isinstance(at, IntegerAttr):
            raise UnsupportedOperation(op, "has no place in shared memory: allocate-shared-memory comes before")
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
    """Give every buffer its offset; the bytes needed in all. `by_time` says that only lives that overlap `meet`."""
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
    """Buffers that have their offsets, found by when they are needed.

    The time that `buffers` are needed is cut into as many pieces as there are buffers. What is needed in a few of them
    stands in a list for each; what is needed for longer is looked at for every buffer.
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
        """One more has its offset."""
        pieces = self._pieces(buffer)
        if pieces is None:
            self.long.append(buffer)
        for piece in pieces or ():
            self.short.setdefault(piece, []).append(buffer)

    def meeting(self, buffer: Buffer) -> list[Buffer]:
        """Those that are needed at one time with another."""
        pieces = self._pieces(buffer)
        lists = self.short.values() if pieces is None else [self.short.get(piece, ()) for piece in pieces]
        candidates = {id(b): b for some in (self.long, *lists) for b in some}
        return [b for b in candidates.values() if self.meet(b.life, buffer.life)]


def _lowest(buffer: Buffer, others: Iterable[Buffer]) -> int:
    """The lowest aligned offset at which none of those stands that are needed at the same time."""
    at = 0
    for other in sorted(others, key=lambda b: b.offset):
        if other.offset >= at + buffer.size:
            break
        at = max(at, -(-other.end // buffer.alignment) * buffer.alignment)
    return at
