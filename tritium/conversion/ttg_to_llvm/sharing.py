"""One thread does it, all have the result: elements that one of several holders has worked out.

Atomic operations happen once for each element, however many threads hold it. The one that did it hands the result on:
by a shuffle where the others are lanes of its warp, else through the operation's scratch.
"""

from __future__ import annotations

from typing import Any

from ...analysis.scratch_reduce import shared_how
from ...ir import TensorType, element_type
from ...layout.reduction import placed
from ...layout.views import registers_in
from ...support import UnsupportedOperation
from .combining import guarded, register_index, thread_index
from .context import FunctionContext
from .types import registers_of
from .warp import element_at, load_elements, shuffle_from, store_element

__all__ = ["bind_shared"]


def bind_shared(e: FunctionContext, op: Any, values: dict[int, str], holder: str | None) -> bool:
    """Give `op.result` its registers: `values` has those of elements that this thread worked out if `holder`.

    Registers that are missing are copies of others. Whether all threads have met at a barrier on the way is returned.
    """
    ty = op.result.type
    how = shared_how(op)
    if how == "cluster":
        raise UnsupportedOperation(op, "has a result that several blocks of a cluster want, which is not supported")
    if how == "memory":
        e.bind(op.result, _through_memory(e, op, values, holder))
        return True
    if how == "lanes":
        mask = e.layout(op.result).redundant()["lane"]
        lane = e.op(f"and i32 {e.lane}, {31 & ~mask}")
        moved = shuffle_from(e, [(element_type(ty), v) for v in values.values()], lane)
        values = dict(zip(values, moved))
    e.bind(op.result, _with_copies(e, op, values))
    return False


def _with_copies(e: FunctionContext, op: Any, values: dict[int, str]) -> list[str]:
    if not isinstance(op.result.type, TensorType):
        return [values[0]]
    layout = e.layout(op.result)
    return [values[r] for r in registers_in(layout, layout) or []]


def _through_memory(e: FunctionContext, op: Any, values: dict[int, str], holder: str | None) -> list[str]:
    element, base = element_type(op.result.type), e.scratch(op)
    if not isinstance(op.result.type, TensorType):
        with guarded(e, holder):
            store_element(e, element, values[0], base)
        e.barrier()
        return load_elements(e, element, base, 1)
    index = placed(e.layout(op.result), None, (), True)
    thread = thread_index(e, index)
    places = [register_index(e, index, thread, r) for r in range(registers_of(op.result.type))]
    addresses = {r: element_at(e, base, element, places[r]) for r in values}
    with guarded(e, holder):
        for r, value in values.items():
            store_element(e, element, value, addresses[r])
    e.barrier()
    read = {r: load_elements(e, element, element_at(e, base, element, places[r]), 1)[0] for r in values}
    return _with_copies(e, op, read)
