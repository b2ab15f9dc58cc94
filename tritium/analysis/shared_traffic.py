"""Shared memory traffic: instructions, wavefronts and bank conflicts of each access.

    %b = ttg.local_alloc %x : #shared           16384 bytes; st.shared of 128 bits, 4 wavefronts each, no conflict
    %y = ttg.local_load %b                      ldmatrix, 4 wavefronts each, no conflict

The prediction is computed from the plan that the lowering follows (`layout.buffer_access`, `layout.exchange`). TMA
copies and operand reads of MMA instructions are no accesses of threads; their layouts are swizzled for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..dialects import ttg
from ..dialects.ttg_maps import linear_layout, linear_layout_of
from ..dialects.ttg_memory import PartitionedShared, element_bits, padded_layout
from ..ir import Operation
from ..layout.access import Access, vector_access
from ..layout.buffer_access import gap_limit, offset_columns, plan_buffer_access
from ..layout.swizzle import MemoryPlan
from .exchange import exchange_of, has_ldmatrix, has_stmatrix

__all__ = ["Traffic", "stages_of", "traffic_of"]


class Traffic(NamedTuple):
    """One access of `op`: `action` is "store", "load" or "copy" (from global memory), done `rounds` times."""

    op: Operation
    action: str
    access: Access
    rounds: int = 1

    @property
    def instruction(self) -> str:
        """The PTX instruction, with the bits per thread."""
        access, load = self.access, self.action == "load"
        if access.kind == "vector":
            name = {"copy": "cp.async", "load": "ld.shared", "store": "st.shared"}[self.action]
            return f"{name}.b{access.width * access.bits}"
        name = "ldmatrix" if load else "stmatrix"
        return f"{name}.x{access.width * access.bits // 32}{'.trans' if access.kind == 'transposed' else ''}"

    @property
    def instructions(self) -> int:
        """Instructions per warp."""
        return self.access.instructions * self.rounds

    @property
    def wavefronts(self) -> int:
        """Wavefronts per instruction."""
        return self.access.wavefronts

    @property
    def conflicts(self) -> int:
        """Wavefronts caused by bank conflicts."""
        return self.access.conflicts


def traffic_of(op: Operation) -> list[Traffic]:
    """The accesses of one operation to shared memory, for which the plan is known."""
    plan = _PLANS.get(op.__class__)
    try:
        return [] if plan is None else list(plan(op))
    except ValueError:  # the lowering refuses it, too
        return []


def stages_of(ty: Any) -> int:
    """The number of consecutive tiles in a buffer."""
    depth = 1
    for size in ty.shape[: len(ty.shape) - ty.encoding.rank]:
        depth *= size
    return depth


def _memory(ty: Any) -> tuple[Any, tuple[tuple[int, int], ...], int]:
    """The linear layout of a buffer's tile, its padding, and the bits of an element."""
    layout = ty.encoding
    if isinstance(layout, PartitionedShared):
        raise ValueError("several partitions")
    padded = padded_layout(layout)
    gaps = tuple(zip(padded.intervals, padded.paddings)) if padded is not None else ()
    return linear_layout(layout, ty.allocShape[-layout.rank :]), gaps, element_bits(ty)


def _store(op: Operation, tensor: Any, buffer: Any) -> Traffic:
    whole, gaps, bits = _memory(buffer)
    registers = linear_layout_of(tensor)
    idle = registers.redundant()
    matrix = has_stmatrix(op) and not idle.get("lane", 0) and not idle.get("warp", 0)
    return Traffic(op, "store", plan_buffer_access(registers, whole, bits, matrix, gaps))


def _alloc(op: Any) -> Iterator[Traffic]:
    if op.src is not None:
        yield _store(op, op.src.type, op.result.type)


def _local_store(op: Any) -> Iterator[Traffic]:
    yield _store(op, op.src.type, op.dst.type)


def _local_load(op: Any) -> Iterator[Traffic]:
    whole, gaps, bits = _memory(op.src.type)
    registers = linear_layout_of(op.result.type)
    yield Traffic(op, "load", plan_buffer_access(registers, whole, bits, has_ldmatrix(op), gaps))


def _copy(op: Any) -> Iterator[Traffic]:
    whole, gaps, bits = _memory(op.result.type)
    columns = offset_columns(linear_layout_of(op.src.type), whole)
    yield Traffic(op, "copy", vector_access(columns, bits, most=gap_limit(gaps, bits)))


def _convert(op: Any) -> Iterator[Traffic]:
    plan = exchange_of(op)
    if isinstance(plan, MemoryPlan):
        yield Traffic(op, "store", plan.store.access, plan.rounds)
        yield Traffic(op, "load", plan.load.access, plan.rounds)


_PLANS: dict[type[Operation], Callable[[Any], Iterator[Traffic]]] = {
    ttg.LocalAlloc: _alloc,
    ttg.LocalStore: _local_store,
    ttg.LocalLoad: _local_load,
    ttg.AsyncCopyGlobalToLocal: _copy,
    ttg.ConvertLayout: _convert,
}
