"""tma-lowering: Lower descriptor accesses that were not pipelined to synchronous TMA copies.

    %x = tt.descriptor_load %d[%i, %j]      =>   %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, …>
                                                 %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, …>
                                                 ttng.init_barrier %b, 1
                                                 ttng.barrier_expect %b, 8192, %true
                                                 ttng.async_tma_copy_global_to_local %d[%i, %j] %m, %b, %true
                                                 ttng.wait_barrier %b, %c0
                                                 ttng.inval_barrier %b
                                                 %x = ttg.local_load %m
    tt.descriptor_store %d[%i, %j], %x      =>   %m = ttg.local_alloc %x : … -> !ttg.memdesc<64x64xf16, #shared, …>
                                                 ttng.fence_async_shared {bCluster = false}
                                                 ttng.async_tma_copy_local_to_global %d[%i, %j] %m
                                                 ttng.async_tma_store_wait {pendings = 0 : i32}
    %d = tt.make_tensor_descriptor %p, …    =>   %s = ttg.global_scratch_alloc {alignment = 128, nbytes = 128}
                                                 ttng.tensormap_create %s, %p, …
                                                 ttng.tensormap_fenceproxy_acquire %s
                                                 %d = ttng.reinterpret_tensor_descriptor %s

Descriptors that a block builds before it uses any of them are built together, so that its warps can build them in
parallel (`analysis/tensormaps`). The wait for a load is placed before its first use (`wait_placement`), so that other
loads are issued meanwhile. Gathers are lowered like loads, reductions and scatters like stores. Where the result of a
load is copied to a buffer of the descriptor's layout, the TMA load writes to that buffer directly. The software
pipeliner runs before and lowers the loads that it prefetches.
"""

from __future__ import annotations

from typing import Any

from ....analysis.tma import DESCRIPTOR_BYTES
from ....dialects import arith, tt, ttg, ttng
from ....ir import Builder, Operation, Value, count, functions_of, i8, i32, may_change, pass_on
from ..async_wait.wait_placement import first_use
from ..memory.memdesc import read_buffer
from .copies import barrier_type, buffer_type, create_descriptor, expected_bytes, start_load, start_store, true

__all__ = ["tma_lowering"]


@pass_on("function", statistics={"copies": "descriptor loads and stores", "descriptors": "descriptors built"})
def tma_lowering(op: Operation) -> bool:
    """Lower descriptor accesses in a function, or in all functions of a module."""
    changed = False
    for func in functions_of(op):
        made = [op for op in func.walk() if op.__class__ is tt.MakeTensorDescriptor and may_change("tma-lowering", op)]
        for block in dict.fromkeys(op.parent for op in made):
            for group in _together(block, made):
                _make(group)
                changed = True
        for access in [op for op in func.walk() if op.__class__ in _LOWER]:
            if may_change("tma-lowering", access):
                _LOWER[access.__class__](access)
                changed = True
    return changed


def _load(op: Any) -> None:
    b = Builder(op.parent, op, op.loc)
    kind = buffer_type(op.desc, op.result.type)
    buffer = b.add(ttg.LocalAlloc(None, result=kind))
    barrier = b.add(ttg.LocalAlloc(None, result=barrier_type(op)))
    b.insert(ttng.InitBarrier(barrier, 1))
    pred = true(b)
    b.insert(ttng.BarrierExpect(barrier, pred, expected_bytes(kind)))
    start_load(b, op, buffer, barrier, pred)
    used = first_use(op, kind.encoding) or op
    b = Builder(used.parent, used, op.loc)
    b.insert(ttng.WaitBarrier(barrier, b.add(arith.Constant.of(0, i32)), None, []))
    b.insert(ttng.InvalBarrier(barrier))
    read_buffer(b, op.result, buffer)
    op.erase()
    count("copies")


def _store(op: Any) -> None:
    b = Builder(op.parent, op, op.loc)
    buffer = b.add(ttg.LocalAlloc(op.src, result=buffer_type(op.desc, op.src.type, mutable=False)))
    b.insert(ttng.FenceAsyncShared(False))
    start_store(b, op, buffer)
    b.insert(ttng.TMAStoreWait(0))
    op.erase()
    count("copies")


def _together(block: Any, made: list[Any]) -> list[list[Any]]:
    """Groups of descriptors built in a block, where none is used before the last of its group is built."""
    groups: list[list[Any]] = []
    open_: dict[Value, None] = {}
    for op in block:
        if open_ and any(v in open_ for inner in op.walk() for v in inner.operands):
            open_ = {}
        if op in made:
            if not open_:
                groups.append([])
            groups[-1].append(op)
            open_[op.result] = None
    return groups


def _make(group: list[Any]) -> None:
    """Build a group of descriptors at the position of its last one, so that warps can do so in parallel."""
    last = group[-1]
    b = Builder(last.parent, last, last.loc)
    places = []
    for _ in group:
        places.append(b.add(ttg.GlobalScratchAlloc(DESCRIPTOR_BYTES, DESCRIPTOR_BYTES, result=tt.PointerType(i8))))
    for op, place in zip(group, places):
        b.loc = op.loc
        create_descriptor(b, op, place)
    for op, place in zip(group, places):
        b.loc = op.loc
        b.insert(ttng.TensormapFenceproxyAcquire(place))
    for op, place in zip(group, places):
        made = b.add(ttng.ReinterpretTensorDesc(place, result=op.result.type))
        made.hint = op.result.hint
        op.replace_with([made])
    count("descriptors", len(group))


_LOWER: dict[type[Operation], Any] = {
    tt.DescriptorLoad: _load,
    tt.DescriptorGather: _load,
    tt.DescriptorStore: _store,
    tt.DescriptorReduce: _store,
    tt.DescriptorScatter: _store,
}
