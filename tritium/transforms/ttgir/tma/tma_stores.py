"""tma-stores: Pipeline TMA stores in loops.

    scf.for … {                                      %buffer = ttg.local_alloc
      …                                              scf.for … {
      tt.descriptor_store %desc[%i, %j], %x    =>      …
    }                                                  ttng.async_tma_store_wait {pendings = 0, read_only}
                                                       ttg.local_store %x, %buffer
                                                       ttng.fence_async_shared
                                                       ttng.async_tma_copy_local_to_global %desc[%i, %j] %buffer
                                                     }
                                                     ttng.async_tma_store_wait {pendings = 0}

TMA reads the buffer asynchronously. The wait, for the completion of that read, is placed before the next write to the
buffer, not after the copy. Stores, reductions and scatters of one shape and element type share a buffer.

Stores stay synchronous in a loop

1. with an acquiring or releasing atomic, or a barrier: other programs may look for the stored data;
2. that builds their descriptors: a copy reads its descriptor until it completes;
3. that also reads the memory of one of their descriptors;
4. that writes the same address in each iteration: copies may overtake each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....dialects import gpu, tt, ttg, ttng
from ....dialects.ttg_switches import is_on
from ....ir import (
    READ,
    Builder,
    CountedLoop,
    LoopLike,
    Memory,
    Operation,
    Value,
    accessed_values,
    count,
    is_descriptor_store,
    may_change,
    pass_on,
)
from ....support.dataclasses import dataclass
from ...regions import defined_in
from .copies import buffer_type, start_store

__all__ = ["TMAStoreOptions", "tma_stores"]


@dataclass(frozen=True)
class TMAStoreOptions:
    """`num_stages`: the number of stages of loops that do not state it; with one stage, stores are synchronous."""

    num_stages: int = 3


@pass_on("function", statistics={"stores in flight": "stores of loops with a deferred wait"})
def tma_stores(op: Operation, options: TMAStoreOptions = TMAStoreOptions()) -> bool:
    """Defer the waits for TMA stores to the next write to their buffers, in a function or all of a module."""
    changed = 0
    for loop in [inner for inner in op.walk() if isinstance(inner, LoopLike)]:
        stores = list(_stores(loop))
        if not stores or _stages(loop, options) < 2 or not is_on(loop, "tma-store-in-flight"):
            continue
        if not _must_be_synchronous(loop, stores) and may_change("tma-stores", loop):
            _defer_waits(loop, stores)
            changed += len(stores)
    count("stores in flight", changed)
    return changed > 0


def _stages(loop: LoopLike, options: TMAStoreOptions) -> int:
    said = loop.attributes.get("tt.num_stages")
    return options.num_stages if said is None else said.value  # type: ignore[no-any-return]


def _stores(op: Operation) -> Iterator[Any]:
    """The stores of a loop, without those of nested loops."""
    for inner in (inner for region in op.regions for block in region.blocks for inner in block):
        if is_descriptor_store(inner):
            yield inner
        elif not isinstance(inner, LoopLike):
            yield from _stores(inner)


def _must_be_synchronous(loop: LoopLike, stores: list[Any]) -> bool:
    """Whether one of the rules 1 to 4 applies."""
    stored = {_base(store.desc) for store in stores}
    for op in loop.walk():
        read = [] if is_descriptor_store(op) else accessed_values(op, READ, Memory.GLOBAL)
        if _synchronizes(op) or any(_base(v) in stored for v in read):
            return True
    return any(defined_in(store.desc, loop) or not _address_varies(store, loop) for store in stores)


def _synchronizes(op: Any) -> bool:
    if isinstance(op, (tt.AtomicRMW, tt.AtomicCAS)):
        return op.sem is not tt.MemSemantic.relaxed
    return isinstance(op, (gpu.Barrier, ttg.Barrier))


def _address_varies(store: Any, loop: LoopLike) -> bool:
    """Whether a store is known to write a different address in each iteration."""
    return any(defined_in(v, loop) for v in store.offsets)


def _base(value: Any) -> Any:
    """The base of a pointer or descriptor."""
    while True:
        op = value.defining_op
        if op is not None and op.operands and not op.regions:
            value = op.operands[0]
        elif op is None and isinstance(value.owner.parent_op, CountedLoop) and value.index > 0:
            value = value.owner.parent_op.init_args[value.index - 1]
        else:
            return value


def _defer_waits(loop: LoopLike, stores: list[Any]) -> None:
    """Build the copies, their buffers, and the wait after the loop."""
    before, after = Builder(loop.parent, loop, loop.loc), Builder(loop.parent, loop.next, loop.loc)
    buffers: dict[Any, Value] = {}
    for store in stores:
        ty = buffer_type(store.desc, store.src.type)
        if ty not in buffers:
            buffers[ty] = before.add(ttg.LocalAlloc(result=ty))
        b = Builder(store.parent, store, store.loc)
        b.insert(ttng.TMAStoreWait(0, read_only=True))
        b.insert(ttg.LocalStore(store.src, buffers[ty]))
        b.insert(ttng.FenceAsyncShared(False))
        start_store(b, store, buffers[ty])
        store.erase()
    after.insert(ttng.TMAStoreWait(0))
    for buffer in buffers.values():
        after.insert(ttg.LocalDealloc(buffer))
