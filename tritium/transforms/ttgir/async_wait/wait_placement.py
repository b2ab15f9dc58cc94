"""Place the wait for a TMA load before its first use.

    %q = tt.descriptor_load …          the copy is issued here
    %k = tt.descriptor_load …          so is this one
    %r = scf.for … {                   both are waited for here
      … %q, %k …

The wait sinks over pure operations and reads of global memory, but not over possible writes to it (the copy would read
the written data), nor over unknown operations. It sinks into the default region of a warp-specialized operation if only
that region uses the loaded data: the other partitions start meanwhile.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg
from ....ir import PURE, Operation, Value, ViewLike, is_buffer_load, is_global_load

__all__ = ["first_use"]

_PASSED = {
    "ttg.barrier",
    "ttg.local_alloc",
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
"""Operations, besides pure ones and loads, that write no global memory that a pending copy could read."""


def first_use(load: Any, layout: Any) -> Operation | None:
    """The operation before which `load`, into a buffer of `layout`, must have completed; None without users.

    A local allocation of that layout is replaced by the buffer itself, so it is no use.
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
        elif _needs(op, names) or not _writes_no_source(op):
            break
        op = op.next
    return op  # type: ignore[no-any-return]


def _writes_no_source(op: Operation) -> bool:
    return bool(op.traits & PURE) or is_global_load(op) or is_buffer_load(op) or op.name in _PASSED


def _renames(op: Any, names: set[Value], layout: Any) -> bool:
    """Whether the result of `op` is the buffer of the copy, or a view of it."""
    if op.__class__ is ttg.LocalAlloc:
        return op.src in names and op.result.type.encoding is layout
    return isinstance(op, ViewLike) and op.view_source in names


def _needs(op: Operation, names: set[Value]) -> bool:
    return any(v in names for inner in op.walk() for v in inner.operands)


def _uses(region: Any, names: set[Value]) -> bool:
    return any(_needs(op, names) for block in region.blocks for op in block)
