"""Descriptors that a kernel makes one after the other, so that its warps can make them at the same time.

    ttng.tensormap_create %a, …             warp 0 makes %a while warp 1 makes %b: with the last of them
    ttng.tensormap_create %b, …
    ttng.tensormap_fenceproxy_acquire %a    warp 0
    ttng.tensormap_fenceproxy_acquire %b    warp 1; all threads wait behind the last

A run is what follows each other with nothing but pure operations (and places in global memory) between. Each warp
publishes what it has made and invalidates what was cached of that place, which takes the time of a write to global
memory and back (measured on an H200, 2026-11: about 2 us with the instructions that build it).
"""

from __future__ import annotations

from typing import Any

from ..ir import PURE, Operation, Value
from .tma import DESCRIPTOR_BYTES

__all__ = ["ends_run", "maker_of", "run_of", "tensormap_scratch"]

CREATE = "ttng.tensormap_create"
ACQUIRE = "ttng.tensormap_fenceproxy_acquire"


def _between(op: Operation) -> bool:
    """Whether a run goes on behind `op`; also a barrier, which may be there for the scratch of its last creation."""
    return bool(op.traits & PURE) or op.name in ("ttg.global_scratch_alloc", "ttg.barrier")


def ends_run(op: Operation) -> bool:
    """Whether no other operation of the same name follows in the run."""
    after = op.next
    while after is not None and _between(after):
        after = after.next
    return after is None or after.name != op.name


def run_of(op: Operation) -> list[Any]:
    """The run of operations of one name that ends with `op`, in order; none where it goes on."""
    if not ends_run(op):
        return []
    found, before = [op], op.prev
    while before is not None and (before.name == op.name or _between(before)):
        if before.name == op.name:
            found.append(before)
        before = before.prev
    return found[::-1]


def maker_of(place: Value) -> int | None:
    """The number in its run of the one creation of a descriptor at `place`; None where that is not known."""
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


def tensormap_scratch(op: Any) -> int:
    """Bytes in which the descriptors of a run are built, each by one warp."""
    return DESCRIPTOR_BYTES * len(run_of(op))
