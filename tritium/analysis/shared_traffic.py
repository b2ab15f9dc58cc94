"""Who has which part of shared memory, and how threads access it: instructions, wavefronts, bank conflicts.

    %b = ttg.local_alloc %x : #shared           16384 bytes; st.shared of 128 bits, 4 wavefronts each, no conflict
    %y = ttg.local_load %b                      ldmatrix, 4 wavefronts each, no conflict

What is predicted for an access is the plan that its lowering follows (`layout.buffer_access`, `layout.exchange`), made
from the same maps. Whatever the copy engine and the tensor cores do by themselves is no access of a thread: their
layouts are swizzled for them.
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
        """How PTX calls it, with the bits that a thread moves."""
        access, load = self.access, self.action == "load"
        if access.kind == "vector":
            name = {"copy": "cp.async", "load": "ld.shared", "store": "st.shared"}[self.action]
            return f"{name}.b{access.width * access.bits}"
        name = "ldmatrix" if load else "stmatrix"
        return f"{name}.x{access.width * access.bits // 32}{'.trans' if access.kind == 'transposed' else ''}"

    @property
    def instructions(self) -> int:
        """How many of them a warp issues."""
        return self.access.instructions * self.rounds

    @property
    def wavefronts(self) -> int:
        """Passes through the banks that one of them takes."""
        return self.access.wavefronts

    @property
    def conflicts(self) -> int:
        """Passes among those that other addresses would save."""
        return self.access.conflicts


def traffic_of(op: Operation) -> list[Traffic]:
    """The accesses of one operation; none for those that access no shared memory, or not by a plan known here."""
    plan = _PLANS.get(op.__class__)
    try:
        return [] if plan is None else list(plan(op))
    except ValueError:  # the lowering refuses it, too
        return []


def stages_of(ty: Any) -> int:
    """How many tiles a buffer has behind each other."""
    depth = 1
    for size in ty.shape[: len(ty.shape) - ty.encoding.rank]:
        depth *= size
    return depth


def _memory(ty: Any) -> tuple[Any, tuple[tuple[int, int], ...], int]:
    """The map of a buffer's tile, its gaps, and the bits of an element."""
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
