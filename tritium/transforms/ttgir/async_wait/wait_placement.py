"""Where a load by the copy engine has to be waited for: in front of its first use, however far behind its beginning.

    %q = tt.descriptor_load …          the copy begins here
    %k = tt.descriptor_load …          so does this one
    %r = scf.for … {                   both are waited for here
      … %q, %k …

The wait moves down over what computes and what reads global memory, but not over what may write it (the copy would see
what is written), nor over anything that is not known. Warps that are specialized wait inside, where the default region
alone uses what was loaded: the others begin to load meanwhile.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg
from ....ir import PURE, Operation, Value
from ..loops import VIEWS

__all__ = ["first_use"]

_PASSED = {
    "tt.load",
    "tt.descriptor_load",
    "tt.descriptor_gather",
    "ttg.barrier",
    "ttg.local_alloc",
    "ttg.local_load",
    "ttg.global_scratch_alloc",
    "ttg.async_copy_global_to_local",
    "ttg.async_commit_group",
    "ttg.async_wait",
    "ttng.async_tma_copy_global_to_local",
    "ttng.async_tma_gather",
    "ttng.barrier_expect",
    "ttng.fence_async_shared",
    "ttng.init_barrier",
    "ttng.inval_barrier",
    "ttng.tensormap_create",
    "ttng.tensormap_fenceproxy_acquire",
    "ttng.wait_barrier",
}
"""What writes no global memory that a copy under way could read, besides pure operations."""


def first_use(load: Any, layout: Any) -> Operation | None:
    """The operation in front of which `load` must have come, which goes to a buffer of `layout`; None without users.

    A buffer of that layout into which the result is put is the one that is copied to: putting it there is no use.
    """
    if not load.result.users:
        return None
    return _first(load.next, {load.result}, layout)


def _first(op: Any, names: set[Value], layout: Any) -> Operation:
    while op.next is not None:
        if op.__class__ is ttg.WarpSpecialize and not _uses(op.regions[1], names):
            return _first(op.regions[0].blocks[0].first, names, layout) if _uses(op.regions[0], names) else op
        if _renames(op, names, layout):
            names.add(op.result)
        elif _needs(op, names) or not (op.traits & PURE or op.name in _PASSED):
            break
        op = op.next
    return op  # type: ignore[no-any-return]


def _renames(op: Any, names: set[Value], layout: Any) -> bool:
    """Whether the result of `op` is the buffer that is copied to, or a view of it."""
    if op.__class__ is ttg.LocalAlloc:
        return op.src in names and op.result.type.encoding is layout
    return isinstance(op, VIEWS) and op.src in names


def _needs(op: Operation, names: set[Value]) -> bool:
    return any(v in names for inner in op.walk() for v in inner.operands)


def _uses(region: Any, names: set[Value]) -> bool:
    return any(_needs(op, names) for block in region.blocks for op in block)
