"""Broadcast of results that one of several owners of an element has computed.

An atomic operation is executed once per element, however many threads own a copy of it. That thread broadcasts the
result: by a shuffle to lanes of its warp, else through the scratch memory of the operation.
"""

from __future__ import annotations

from typing import Any

from ...analysis.scratch_reduce import shared_how
from ...dialects.ttg_maps import linear_layout_of
from ...ir import TensorType, Type, element_type
from ...layout.reduction import placed
from ...layout.views import registers_in
from ..llvm.branches import guarded
from .combine_region import neighbour, register_index, thread_index
from .context import FunctionContext
from .convert_layout import wait_for
from .types import registers_of
from .warp import element_at, load_elements, load_of_block, shuffle_from, store_element

__all__ = ["bind_replicated"]


def bind_replicated(e: FunctionContext, op: Any, values: dict[int, str], holder: str | None) -> bool:
    """Bind `op.result`: `values` are the elements that this thread has computed if `holder` is true.

    Missing registers are copies of others. Returns whether a barrier was emitted.
    """
    ty = op.result.type
    how = shared_how(op)
    if how in ("memory", "cluster"):
        e.bind(op.result, _through_memory(e, op, values, holder, how == "cluster"))
        return True
    if how == "lanes":
        mask = e.layout(op.result).redundant()["lane"]
        lane = e.op(f"and i32 {e.lane}, {e.module.warp_size - 1 & ~mask}")
        moved = shuffle_from(e, [(element_type(ty), v) for v in values.values()], lane)
        values = dict(zip(values, moved))
    e.bind(op.result, _with_copies(e, op, values))
    return False


def _with_copies(e: FunctionContext, op: Any, values: dict[int, str]) -> list[str]:
    if not isinstance(op.result.type, TensorType):
        return [values[0]]
    layout = e.layout(op.result)
    return [values[r] for r in registers_in(layout, layout) or []]


def _through_memory(
    e: FunctionContext, op: Any, values: dict[int, str], holder: str | None, cluster: bool
) -> list[str]:
    ty = op.result.type
    element, base = element_type(ty), e.scratch(op)
    places = _places(e, ty)
    addresses = {r: element_at(e, base, element, places[r]) for r in values}
    with guarded(e, holder):
        for r, value in values.items():
            store_element(e, element, value, addresses[r])
    wait_for(e, "cluster" if cluster else "block")
    if not cluster:
        addresses = {r: element_at(e, base, element, places[r]) for r in values}
        read = {r: load_elements(e, element, at, 1)[0] for r, at in addresses.items()}
        return _with_copies(e, op, read)
    block = neighbour(e, _block_copies(e, ty), 0)
    read = {r: load_of_block(e, element, element_at(e, base, element, places[r]), block) for r in values}
    wait_for(e, "cluster")  # no CTA overwrites, or exits, while others still read
    return _with_copies(e, op, read)


def _places(e: FunctionContext, ty: Type) -> list[str]:
    """For each register the linear index of its element."""
    if not isinstance(ty, TensorType):
        return ["0"]
    index = placed(linear_layout_of(ty), None, (), True)
    thread = thread_index(e, index)
    return [register_index(e, index, thread, r) for r in range(registers_of(ty))]


def _block_copies(e: FunctionContext, ty: Type) -> int:
    """The bits of the CTA id that do not affect which elements it owns."""
    return linear_layout_of(ty).redundant()["block"] if isinstance(ty, TensorType) else e.module.num_ctas - 1
