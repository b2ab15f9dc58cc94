"""coalesce-async-copy: Choose layouts for asynchronous copies independent of the users of the loaded tensor.

    ttg.async_copy_global_to_local %p, %b : #blocked 16 per row -> #shared vec 8
    =>
    %q = ttg.convert_layout %p : … -> #blocked 8 per row
    ttg.async_copy_global_to_local %q, %b

The layout of a load depends on its users; an asynchronous copy writes shared memory, and is free of that constraint.

1. rule *clip*: where a thread has more contiguous elements than the swizzled buffer (for operands that are widened in
   registers, the swizzle is chosen for the wider type), the copy would need several instructions, with gaps between the
   lanes' addresses. It gets a layout with as many contiguous elements as the buffer.
2. rule *cheap*: a tensor of at least 4 bytes per element with fewer elements than threads got the layout of its users,
   regardless of its addresses. It gets the layout that `coalesce` chooses.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....dialects import ttg
from ....dialects.ttg_context import num_warps, threads_per_warp
from ....dialects.ttg_defaults import blocked_in
from ....dialects.ttg_layouts import Blocked
from ....dialects.ttg_maps import linear_layout_of
from ....dialects.ttg_memory import SwizzledShared
from ....ir import IntegerAttr, Operation, count, functions_of, i32, may_change, pass_on
from ....layout.bases import per_block
from .coalesce import coalesced_layouts, convert_operation

__all__ = ["coalesce_async_copy"]


@pass_on("function", statistics={"copies coalesced": "asynchronous copies with a new layout"})
def coalesce_async_copy(op: Operation) -> bool:
    """Choose layouts for asynchronous copies, in a function or all functions of a module."""
    changed = 0
    for func in functions_of(op):
        copies: list[Any] = [inner for inner in func.walk() if inner.__class__ is ttg.AsyncCopyGlobalToLocal]
        chosen = coalesced_layouts(func) if any(map(_is_cheap, copies)) else {}
        facts = AxisInfoAnalysis(func) if copies else None
        for copy in copies:
            layout = chosen.get(copy) if _is_cheap(copy) else _clipped(copy)
            if layout is None or layout is copy.src.type.encoding or not may_change("coalesce-async-copy", copy):
                continue
            assert facts is not None
            most = _contiguous_elements(copy, layout, facts)
            convert_operation(copy, layout)
            copy.attributes["contiguity"] = IntegerAttr(most, i32)
            changed += 1
    count("copies coalesced", changed)
    return changed > 0


def _is_cheap(copy: Any) -> bool:
    """Whether rule *cheap* applies to a copy."""
    threads = (num_warps(copy) or 1) * threads_per_warp(copy)
    return prod(copy.src.type.shape) < threads and copy.result.type.element.width >= 32


def _clipped(copy: Any) -> Blocked | None:
    """The layout of rule *clip*; None where the buffer has as many contiguous elements as a thread."""
    tensor, buffer = copy.src.type, copy.result.type
    if not isinstance(tensor.encoding, Blocked) or not isinstance(buffer.encoding, SwizzledShared):
        return None
    before: Blocked = tensor.encoding
    share = per_block(tensor.shape, before.CGALayout)
    offsets = linear_layout_of(tensor).invert_and_compose(linear_layout_of(buffer))
    width, axis = offsets.contiguous("register", "offset"), before.order[0]
    sizes = [min(n, size) for n, size in zip(before.sizePerThread, share)]
    if sizes[axis] <= width:
        return None
    sizes[axis] = width
    return blocked_in(before.CGALayout, share, sizes, before.order, num_warps(copy) or 1, threads_per_warp(copy))


def _contiguous_elements(copy: Any, layout: Blocked, facts: AxisInfoAnalysis) -> int:
    """The number of contiguous elements that a thread may copy at once."""
    axis, known = layout.order[0], facts.of(copy.src)
    size = max(1, copy.result.type.element.width // 8)
    most = min(layout.sizePerThread[axis], known.contiguity[axis], max(1, known.divisibility[axis] // size))
    return most if copy.mask is None else min(most, facts.of(copy.mask).constancy[axis])
