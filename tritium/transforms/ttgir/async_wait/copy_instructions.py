"""The number of instructions that an asynchronous copy of AMD GPUs consists of, for each wave.

A lane copies its registers' worth of elements, as many at a time as are adjacent in global memory and in LDS, up to 16
bytes. A copy with tensor descriptors (TDM) is one instruction, or one for each group of rows that it gathers or
scatters, and for each piece of a partitioned buffer that a wave has.
Where not all waves copy, the others issue nothing, so that nothing can be counted on.
"""

from __future__ import annotations

from math import gcd, prod

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import amdg, ttg
from ....dialects.tt_types import PointerType
from ....dialects.ttg_context import num_warps
from ....dialects.ttg_maps import linear_layout, linear_layout_of
from ....dialects.ttg_memory import MemDescType, PaddedShared, PartitionedShared, element_bits
from ....ir import Operation, TensorType, Type, Value

__all__ = ["CopyInstructions", "tdm_instructions"]

_MAX_BITS = 128
_STORE_BITS = (8, 32, 64, 128)  # from LDS to global memory on gfx1250


class CopyInstructions:
    """The instructions of the asynchronous copies of a function, other than by descriptors."""

    def __init__(self, func: Operation) -> None:
        self.facts = AxisInfoAnalysis(func)
        self.known: dict[Operation, int] = {}

    def __call__(self, op: Operation) -> int:
        """The number of instructions of an operation, 0 for those that are no such copies."""
        if op not in self.known:
            self.known[op] = self._count(op)
        return self.known[op]

    def _count(self, op: Operation) -> int:
        if isinstance(op, ttg.AsyncCopyGlobalToLocal):
            width = self._adjacent(op.src, None, op.mask, op.contiguity)
            return self._instructions(op.src, op.operands[1], width)
        if isinstance(op, amdg.BufferLoadToLocal):
            width = self._adjacent(op.offsets, op.ptr, op.mask, op.contiguity)
            return self._instructions(op.offsets, op.dest, width)
        if isinstance(op, amdg.AsyncCopyLocalToGlobal):
            width = self._adjacent(op.dst, None, op.mask, op.contiguity)
            return self._instructions(op.dst, op.src, width, store=True)
        return 0

    def _adjacent(self, address: Value, base: Value | None, mask: Value | None, hint: int) -> int:
        """The adjacent elements in global memory, at an aligned address, with one mask; or those that are stated."""
        ty = address.type
        assert isinstance(ty, TensorType)
        pointer = ty.element if base is None else base.type
        assert isinstance(pointer, PointerType)
        size = max(1, element_bits(pointer.pointee) // 8)
        known, best = self.facts.of(address), 1
        for axis, sizes in enumerate(zip(known.contiguity, known.divisibility)):
            contiguous, divisor = sizes
            bytes_ = divisor if base is None else gcd(divisor * size, self.facts.of(base).divisibility[0])
            most = min(contiguous, max(1, bytes_ // size), _MAX_BITS // (8 * size))
            if mask is not None:
                most = min(most, self.facts.of(mask).constancy[axis])
            best = max(best, most)
        return max(best, hint)

    def _instructions(self, address: Value, buffer: Value, width: int, store: bool = False) -> int:
        memory = buffer.type
        assert isinstance(memory, MemDescType) and isinstance(address.type, TensorType)
        layout = memory.encoding
        shared = linear_layout(layout, layout.shape) if isinstance(layout, PaddedShared) else linear_layout_of(memory)
        registers = linear_layout_of(address.type)
        if registers.redundant()["warp"]:
            return 0
        offsets = registers.invert_and_compose(shared)
        width = min(width, offsets.contiguous("register", "offset"))
        if isinstance(layout, PaddedShared):
            width = min(width, *layout.intervals)
        held = registers.ins["register"] >> registers.redundant()["register"].bit_count()
        count = max(1, held // width)
        bits = width * element_bits(memory.element)
        return 2 * count if store and bits not in _STORE_BITS and bits // 2 in _STORE_BITS else count


def tdm_instructions(op: Operation) -> int:
    """The number of instructions of a copy by descriptors, 0 for other operations."""
    if isinstance(op, (amdg.AsyncTDMGather, amdg.AsyncTDMScatter)):
        return _row_groups(op.row_indices)
    if isinstance(op, amdg.AsyncTDMCopyGlobalToLocal):
        return _pieces(op, op.result.type)
    if isinstance(op, amdg.AsyncTDMCopyLocalToGlobal):
        return _pieces(op, op.src.type)
    return int(isinstance(op, amdg.AsyncTDMFusedCopyGlobalToLocal))


def _pieces(op: Operation, ty: Type) -> int:
    """The pieces of a buffer that each wave copies."""
    layout = ty.encoding if isinstance(ty, MemDescType) else None
    if not isinstance(layout, PartitionedShared):
        return 1
    pieces = layout.numPartitions * layout.numGroups
    return -(-pieces // gcd(num_warps(op) or 1, pieces))


def _row_groups(rows: Value) -> int:
    """The instructions that gather or scatter rows: each takes 8 indices of 32 bits, or 16 of 16 bits, in registers."""
    ty = rows.type
    assert isinstance(ty, TensorType)
    layout = linear_layout_of(ty)
    held = layout.ins["register"] >> layout.redundant()["register"].bit_count()
    most = min(8 if element_bits(ty.element) == 32 else 16, layout.contiguous("register"), prod(ty.shape))
    return max(1, -(-held // max(1, most)))
