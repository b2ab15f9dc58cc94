"""keep-rows: Keep in shared memory what several loops load.

    for %i = 0 to %n step 1024 {             for %i = 0 to min(%n, 3072) step 1024 {
      %x = load x[%i : %i + 1024]              async_copy x[%i : %i + 1024], %kept[%i / 1024]
      sum += %x                              }
    }                                        async_wait
    mean = sum / %n                          for %i = 0 to min(%n, 3072) step 1024 {
    for %i = 0 to %n step 1024 {               sum += local_load %kept[%i / 1024]
      %x = load x[%i : %i + 1024]      =>    }
      store y[%i : %i + 1024], %x - mean     for %i = 3072 to %n step 1024 { as before }
    }                                        mean = sum / %n
                                             for %i = 0 to min(%n, 3072) step 1024 {
                                               %x = local_load %kept[%i / 1024]
                                               store y[%i : %i + 1024], %x - mean
                                             }
                                             for %i = 3072 to %n step 1024 { as before }

Loops of one block with the same bounds qualify, from a constant by a constant step. The first iterations of each become
a loop of their own, in which equal loads (`row_reuse`) read a copy in shared memory. All copies are in flight at once,
before the first loop. Where a store of the loops could write what is kept, `row_reuse` states the condition on which it
does not; otherwise no iteration is kept.

**Iterations.** As many as fit the shared memory that a CTA has without fewer CTAs being resident: what the SM has, over
the CTAs that its warps and the tensors that a loop carries and loads allow (`max_resident_ctas`). Results are the
same bits.

Left alone are loops with dots or loops in them, and those that request pipelining or other transformations; functions
that use shared memory otherwise or call others; and loads of less than four bytes per thread, the least that `cp.async`
copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from ....analysis.axis_info import AxisInfoAnalysis
from ....analysis.register_pressure import max_resident_ctas
from ....analysis.repeated_reads import AFTER_KEPT_ROWS
from ....analysis.scratch import scratch_bytes
from ....dialects import arith, tt, ttg
from ....dialects.constraints import bit_width
from ....dialects.ttg_context import gpu_of, num_ctas, num_warps
from ....dialects.ttg_memory import MemDescType, SharedMemorySpace, SwizzledShared
from ....dialects.ttg_operands import memory_order
from ....dialects.ttg_switches import is_on
from ....hardware.nvidia import NvidiaGPU
from ....hardware.nvidia_features import ASYNC_COPY
from ....ir import (
    PURE,
    Builder,
    CountedLoop,
    IntegerAttr,
    IntegerType,
    LoopLike,
    Operation,
    PlainLoad,
    TensorType,
    UnitAttr,
    Value,
    constant_of,
    count,
    functions_of,
    i32,
    i64,
    is_private,
    is_tensor_dot,
    may_change,
    pass_on,
)
from ...versions import operations_between
from ..memory.memdesc import single_buffer
from .buffers import ASYNC_BYTES, copied_bytes, is_plain_zero, loaded_bits, loaded_elements
from .row_reuse import Apart, Reuse, find_reuses

__all__ = ["keep_rows"]

MAX_OPERATIONS = 300
"""Operations of the loops and between them, nested ones included, which are cloned at most."""

_REQUESTS = ("tt.warp_specialize", "tt.flatten", "tt.loop_unroll_factor", "tt.num_stages")


@pass_on("module", statistics={"loads kept": "loads that read shared memory in the first iterations of their loop"})
def keep_rows(module: Operation) -> bool:
    """Keep in shared memory what several loops load."""
    gpu = gpu_of(module)
    if gpu is None or not gpu.has(ASYNC_COPY) or num_ctas(module) > 1 or not is_on(module, "keep-rows"):
        return False
    kept = 0
    for func in functions_of(module):
        groups = _groups(func)
        if groups and not is_private(func) and not _uses_shared_memory(func):
            for loops in groups:
                kept += _keep(func, loops, gpu)
    count("loads kept", kept)
    return kept > 0


def _groups(func: Operation) -> list[list[CountedLoop]]:
    """Two or more loops of one block with the same bounds."""
    groups: dict[tuple[object, ...], list[CountedLoop]] = {}
    for op in func.walk():
        if isinstance(op, CountedLoop) and (key := _key_of(op)) is not None:
            groups.setdefault(key, []).append(op)
    return [loops for loops in groups.values() if len(loops) > 1]


def _key_of(loop: CountedLoop) -> tuple[object, ...] | None:
    """What loops of a group have in common; None for a loop that does not qualify."""
    low, step = _integer(loop.lb), _integer(loop.step)
    if low is None or low < 0 or step is None or step <= 0 or loop.unsignedCmp:
        return None
    if not isinstance(loop.ub.type, IntegerType) or any(name in loop.attributes for name in _REQUESTS):
        return None
    if any(isinstance(inner, LoopLike) for op in loop.body for inner in op.walk()):
        return None
    return loop.parent, low, loop.ub, step


def _uses_shared_memory(func: Operation) -> bool:
    """Whether a function has buffers besides the scratch memory of its operations, or may have, by calls."""
    return any(isinstance(op, ttg.LocalAlloc | tt.Call) for op in func.walk())


def _keep(func: Operation, loops: list[CountedLoop], gpu: NvidiaGPU) -> int:
    """Keep what the loops of a group load; the number of loads that read shared memory."""
    ops = operations_between(loops[0], loops[-1])
    nested = [inner for op in ops for inner in op.walk()]
    if len(nested) > MAX_OPERATIONS or any(is_tensor_dot(op) for op in nested):
        return 0
    found = find_reuses(loops)
    facts = AxisInfoAnalysis(func) if found else None
    reuses = [reuse for reuse in found if facts is not None and _can_copy(reuse.first, facts)]
    rows = dict.fromkeys(reuse.first for reuse in reuses)
    budget = _free_shared_memory(loops, gpu, nested) if rows else 0
    trips = loops[0].trip_count()
    iterations = budget // sum(map(_tile_bytes, rows)) if rows else 0
    iterations = iterations if trips is None else min(iterations, trips)
    if facts is None or iterations < 2 or not may_change("keep-rows", loops[0]):
        return 0
    widths = {row: loaded_elements(facts, row) for row in rows}
    _KeptRows(loops, reuses, iterations, widths).emit()
    return len(reuses)


def _can_copy(load: PlainLoad, facts: AxisInfoAnalysis) -> bool:
    """Whether asynchronous copies can load the same, at addresses that are known before the loop."""
    ty = load.results[0].type
    assert isinstance(ty, TensorType)
    if ty.encoding is None or bit_width(ty.element) not in (8, 16, 32, 64) or _slice_of(load) is None:
        return False
    return loaded_bits(facts, load) >= 8 * ASYNC_BYTES and copied_bytes(ty, _layout(ty)) >= ASYNC_BYTES


def _slice_of(load: PlainLoad) -> list[Operation] | None:
    """The operations of the loop's body that the address and the mask depend on, in order; None unless all are pure
    functions of the induction variable."""
    loop = load.parent_op
    assert isinstance(loop, CountedLoop)
    found: dict[Operation, None] = {}
    pending = [v for v in (load.pointer, load.access_mask) if v is not None]
    while pending:
        value = pending.pop()
        op = value.defining_op
        if op is None:
            if value in loop.iter_args:
                return None
        elif op.parent is loop.body and op not in found:
            if not op.traits & PURE or op.regions:
                return None
            found[op] = None
            pending += op.operands
    return [op for op in loop.body if op in found]


def _layout(ty: TensorType) -> SwizzledShared:
    return SwizzledShared(1, 1, 1, memory_order(ty.encoding, ty.shape))


def _tile_bytes(load: PlainLoad) -> int:
    ty = load.results[0].type
    assert isinstance(ty, TensorType)
    return prod(ty.shape) * bit_width(ty.element) // 8


def _free_shared_memory(loops: Sequence[CountedLoop], gpu: NvidiaGPU, ops: Sequence[Operation]) -> int:
    """The bytes of a CTA that reduce no occupancy, less what exchanges among its threads need."""
    each = gpu.shared_memory // max_resident_ctas(gpu, loops, num_warps(ops[0]) or 1)
    free = min(each - gpu.reserved_shared_memory, gpu.shared_memory_per_cta)
    return free - max(map(scratch_bytes, ops)) - gpu.shared_memory_unit


def _are_apart(b: Builder, first: CountedLoop, conditions: Iterable[Apart]) -> Iterator[Value]:
    """Emit conditions on the stores of loops with the bounds of `first`."""
    moved: dict[Value, Value] = {}
    end: Value | None = None
    for condition in conditions:
        if end is None:
            end = first.ub if first.ub.type is i64 else b.add(arith.ExtSI(first.ub, out=i64))
        yield condition.emit(b, end, moved)


class _KeptRows:
    """The buffers of the first iterations of a group of loops."""

    def __init__(
        self, loops: Sequence[CountedLoop], reuses: Sequence[Reuse], iterations: int, widths: dict[PlainLoad, int]
    ) -> None:
        self.loops, self.iterations, self.widths = loops, iterations, widths
        first = loops[0]
        b = Builder(first.parent, first, first.loc)
        low, step = _integer(first.lb), _integer(first.step)
        assert low is not None and step is not None
        conditions = dict.fromkeys(condition for reuse in reuses for condition in reuse.conditions)
        self.far_start: Value = b.add(arith.Constant.of(low + iterations * step, first.ub.type))
        self.near_end: Value = b.add(arith.MinSI(first.ub, self.far_start))
        apart: Value | None = None
        for condition in _are_apart(b, first, conditions):
            apart = condition if apart is None else b.add(arith.AndI(apart, condition))
        if apart is not None:
            self.far_start, self.near_end = (
                b.add(arith.Select(apart, v, first.lb)) for v in (self.far_start, self.near_end)
            )
        self._buffers = {load: self._allocate(b, load) for load in widths}
        self._sources = {load: load for load in widths} | {reuse.later: reuse.first for reuse in reuses}

    def _allocate(self, b: Builder, load: PlainLoad) -> Value:
        """One buffer for each iteration."""
        ty = load.results[0].type
        assert isinstance(ty, TensorType)
        memory = MemDescType((self.iterations, *ty.shape), ty.element, _layout(ty), SharedMemorySpace(), True)
        buffer: Value = b.add(ttg.LocalAlloc(result=memory))
        return buffer

    def emit(self) -> None:
        """Copy the rows, and split the loops, whose first iterations read the copies."""
        last = self.loops[-1]
        after = Builder(last.parent, last.next, last.loc)
        for buffer in self._buffers.values():
            after.add(ttg.LocalDealloc(buffer))
        for loop in self.loops:
            loads = [load for load in self._buffers if load.parent is loop.body]
            if loads:
                self._copy(loop, loads)
            self._split(loop)

    def _copy(self, loop: CountedLoop, loads: Sequence[PlainLoad]) -> None:
        """Copy what the first iterations of a loop load, before it."""
        before = Builder(loop.parent, loop, loop.loc)
        copy = before.insert(type(loop).build(loop.lb, self.near_end, loop.step, []))
        b = Builder(copy.body, loc=loop.loc)
        mapping: dict[Value, Value] = {loop.induction_variable: copy.induction_variable}
        for load in loads:
            for op in _slice_of(load) or ():
                if op.results[0] not in mapping:
                    b.insert(op.clone(mapping))
            pointer, mask = (v if v is None else mapping.get(v, v) for v in (load.pointer, load.access_mask))
            into = single_buffer(b, self._buffers[load], self._index(b, copy))
            b.add(ttg.AsyncCopyGlobalToLocal(pointer, into, mask, None, contiguity=self.widths[load]))
        copy.body.append(copy.make_yield([], loop.loc))
        group = before.add(ttg.AsyncCommitGroup([]))
        before.add(ttg.AsyncWait([group], num=0))

    def _split(self, loop: CountedLoop) -> None:
        """Replace a loop by one over its first iterations and one over the rest."""
        b = Builder(loop.parent, loop, loop.loc)
        mapping: dict[Value, Value] = {}
        copy: CountedLoop = b.insert(loop.clone(mapping))
        near = b.insert(copy.with_operands(copy.lb, self.near_end, copy.step, copy.inits))
        copy.erase()
        far = b.insert(loop.with_operands(self.far_start, loop.ub, loop.step, list(near.results)))
        far.attributes[AFTER_KEPT_ROWS] = UnitAttr()
        for old, new in zip(loop.results, far.results, strict=True):
            new.hint = old.hint
        for load, source in self._sources.items():
            if load.results[0] in mapping:
                self._read(mapping[load.results[0]], source, near)
        loop.replace_with(list(far.results))

    def _read(self, value: Value, source: PlainLoad, near: CountedLoop) -> None:
        """Read what was copied instead of loading it; where masks are false, copies are zeros."""
        load = value.defining_op
        assert isinstance(load, PlainLoad)
        b = Builder(load.parent, load, load.loc)
        buffer = single_buffer(b, self._buffers[source], self._index(b, near))
        kept: Value = b.add(ttg.LocalLoad(buffer, result=value.type))
        if load.access_mask is not None and load.fallback is not None and not is_plain_zero(load.fallback):
            kept = b.add(arith.Select(load.access_mask, kept, load.fallback))
        kept.hint = value.hint
        load.replace_with([kept])

    def _index(self, b: Builder, near: CountedLoop) -> Value:
        """The buffer of an iteration."""
        index: Value = near.induction_variable
        if _integer(near.lb):
            index = b.add(arith.SubI(index, near.lb))
        index = b.add(arith.DivUI(index, near.step))
        return index if index.type is i32 else b.add(arith.TruncI(index, out=i32))


def _integer(value: Value) -> int | None:
    attr = constant_of(value)
    return attr.value if isinstance(attr, IntegerAttr) else None
