"""Runs of tensor maps that a kernel creates, so that its warps can create them in parallel.

    ttng.tensormap_create %a, …             warp 0 creates %a while warp 1 creates %b
    ttng.tensormap_create %b, …
    ttng.tensormap_fenceproxy_acquire %a    warp 0
    ttng.tensormap_fenceproxy_acquire %b    warp 1; a CTA barrier follows the last one

A run is a sequence of such operations with only pure operations and allocations of global memory in between. Each warp
publishes its tensor map and invalidates cached copies, which takes a round trip to global memory (measured on an H200,
2026-11: about 2 us with the instructions that build the map).
"""

from __future__ import annotations

from ..ir import PURE, Operation, Value
from .tma import DESCRIPTOR_BYTES

__all__ = ["ends_run", "maker_of", "run_of", "tensormap_scratch"]

CREATE = "ttng.tensormap_create"
ACQUIRE = "ttng.tensormap_fenceproxy_acquire"


def _between(op: Operation) -> bool:
    """Whether a run continues across `op`; a barrier may order the scratch of the last creation."""
    return bool(op.traits & PURE) or op.name in ("ttg.global_scratch_alloc", "ttg.barrier")


def ends_run(op: Operation) -> bool:
    """Whether no other operation of the same name follows in the run."""
    after = op.next
    while after is not None and _between(after):
        after = after.next
    return after is None or after.name != op.name


def run_of(op: Operation) -> list[Operation]:
    """The run of operations of one name that ends with `op`, in order; empty if it continues after `op`."""
    if not ends_run(op):
        return []
    found: list[Operation] = [op]
    before = op.prev
    while before is not None and (before.name == op.name or _between(before)):
        if before.name == op.name:
            found.append(before)
        before = before.prev
    return found[::-1]


def maker_of(place: Value) -> int | None:
    """The index in its run of the only creation of a tensor map at `place`; None if it is unknown."""
    made = [op for op in place.users if op.name == CREATE and op.operands[0] is place]
    if len(made) != 1:
        return None
    last = made[0]
    while not ends_run(last):
        after = last.next
        while after is not None and after.name != CREATE:
            after = after.next
        assert after is not None
        last = after
    return run_of(last).index(made[0])


def tensormap_scratch(op: Operation) -> int:
    """Bytes in which the descriptors of a run are built, each by one warp."""
    return DESCRIPTOR_BYTES * len(run_of(op))
