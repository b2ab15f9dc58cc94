"""Matrix descriptors of WGMMA operands in shared memory, planned from the linear map of a buffer (`layout.wgmma`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....dialects import ttng
from ....dialects.ttg_layouts import NvidiaMma
from ....dialects.ttg_memory import MemDescType
from ....ir import TensorType
from ....layout import LinearLayout
from ....layout.wgmma import Matrix, plan_matrix
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass
from ..context import FunctionContext
from ..positions import linear_image
from ..shared_memory import buffer_of
from ..types import bit_width

__all__ = ["DEPTH", "InMemory", "in_memory", "prepare"]

DEPTH = 32
"""Bytes of an instruction along K."""


class ByteOffsets(NamedTuple):
    """Byte offsets of the elements of a buffer before swizzling; offsets along both dimensions add."""

    matrix: Matrix
    inverse: LinearLayout
    size: int

    def __call__(self, row: int, column: int) -> int:
        return self.matrix.unswizzled(self.inverse.apply(dim0=row, dim1=column)["offset"] * self.size)


@dataclass
class InMemory:
    """An operand in shared memory: its first descriptor (i64), and the offsets of those of other tiles."""

    descriptor: str
    places: ByteOffsets

    def distance(self, row: int, column: int) -> int:
        """In units of 16 bytes, as in descriptors."""
        return self.places(row, column) // 16

    @property
    def mn_major(self) -> bool:
        """Whether the operand is contiguous along M or N."""
        return self.places.matrix.mn_major


def in_memory(e: FunctionContext, op: ttng.WarpGroupDot, index: int, rows: int, depth: int) -> InMemory:
    """Operand 0 or 1 in shared memory; `rows` of an instruction along M or N."""
    value = (op.a, op.b)[index]
    key = f"wgmma descriptor {id(op)} {index} {rows}"
    buffer = buffer_of(e, op, value)
    matrix: Matrix = plan_matrix(buffer.layout, index, rows, depth, buffer.bits)
    places = ByteOffsets(matrix, buffer.layout.pseudoinvert(), buffer.bits // 8)
    if key in e.known_values:
        return InMemory(e.known_values[key], places)
    base = e.op(f"ptrtoint ptr addrspace(3) {buffer.base} to i32")
    assert isinstance(value.type, MemDescType)
    start = _start(buffer.start, places, value.type.shape)
    if start:
        base = e.op(f"add i32 {base}, {start}")
    base = e.op(f"and i32 {e.op(f'lshr i32 {base}, 4')}, 16383")
    apart = _between_groups(e, op, index, places)
    if apart != "0":
        base = e.op(f"add i32 {base}, {apart}")
    # The address takes the lowest bits, which no other field has.
    descriptor = e.op(f"or disjoint i64 {e.op(f'zext i32 {base} to i64')}, {matrix.descriptor}")
    e.known_values[key] = descriptor
    return InMemory(descriptor, places)


def prepare(e: FunctionContext, op: ttng.WarpGroupDot, index: int) -> str | None:
    """The descriptor of operand 0 or 1 of a dot that is lowered later; None where wgmma does not support it."""
    a, layout = op.a.type, getattr(op.d.type, "encoding", None)
    assert isinstance(a, (TensorType, MemDescType)) and isinstance(layout, NvidiaMma)
    depth = 8 * DEPTH // bit_width(a.element)
    rows = layout.instrShape[1] if index else 64
    try:
        return in_memory(e, op, index, rows, depth).descriptor
    except (UnsupportedOperation, ValueError):
        return None


def _start(start: Sequence[str], places: ByteOffsets, shape: Sequence[int]) -> int:
    """The byte offset of a subview of a buffer; the offsets of its elements are added."""
    if not all(v.isdigit() for v in start):
        raise ValueError("a subview with dynamic offsets")
    row, column = (int(v) for v in start)
    reached = places(shape[0] - 1, 0) | places(0, shape[1] - 1)
    first = places(row, column)
    if first & reached or first % 16:
        raise ValueError(f"a subview at row {row} and column {column}")
    return first


def _between_groups(e: FunctionContext, op: ttng.WarpGroupDot, index: int, places: ByteOffsets) -> str:
    """How far the matrix of this warp group is from that of the first, in 16 bytes; i32."""
    moved = []
    for number, vector in enumerate(e.layout(op.d).bases["warp"]):
        away = vector[index] if number >= 2 else 0
        moved.append((places(*((away, 0) if index == 0 else (0, away))) // 16,))
    if not any(n for (n,) in moved):
        return "0"
    layout = LinearLayout({"warp": moved}, {"distance": 1 << 14})
    return linear_image(e, layout, {"warp": _warp_of_group(e)})["distance"]


def _warp_of_group(e: FunctionContext) -> str:
    """The id of this warp, broadcast from its first lane, so that the assembler knows it to be uniform."""
    operands = f"i32 -1, i32 {e.warp}, i32 0, i32 31"
    call = f"call i32 @llvm.nvvm.shfl.sync.idx.i32({operands}) #1"
    e.module.declare("declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32) #1")
    if e.warp != "%warp":
        return e.op(call)
    line = f"%warp.uniform = {call}"
    if line not in e.entry_lines:
        e.entry_lines.append(line)
    return "%warp.uniform"
