"""Warps that run code of their own: `ttg.warp_specialize`.

The first warps of a block run the kernel, default regions included; the others, its *workers*, run partitions.

    head:     br %warp < 4, entry, workers
    entry:    …                                      workers:  (branch by the number of the warp)
              setmaxnreg                             first:    setmaxnreg
              bar.sync 1     ------ all meet ------            bar.sync 1
              <default region>                                 <partition>
              bar.sync 1     ------ all meet ------            bar.sync 1
              …                                                ret

That is all where a kernel has one such operation, at its top: workers go straight to their partition, give and take
registers while the others still prepare, and end with it. Where there are several, or loops or branches around one,
workers wait in a loop to be told what to run. They are told by the barrier itself: it counts (`barrier.red.popc`) the
threads among the first warps that say yes, and as many do as the operation's number; at the end of the kernel none.

    entry:    setmaxnreg.inc
    workers:  setmaxnreg.dec
    next:     %n = barrier.red.popc 1, false
              switch %n: 0 -> ret, 1 -> the partitions of the first operation, …

**Barriers.** The warps of the kernel meet at barrier 0, all warps at 1, those of each partition of several warps at one
of 2 to 15. In a cluster all warps of all CTAs meet where the operation begins, so that each may use the others'
mbarriers from there on. The barriers of a cluster count all threads that have not ended: workers repeat those at the
top of the kernel before the operation (`meet_cluster`), and after it the kernel's own warps wait alone. The operation
must be the only one, at the top of the kernel. A region synchronizes with the same region of the other CTAs by
mbarriers (`analysis/partition_barriers`): after a barrier of its own warps one thread for each CTA arrives there, all
wait for the arrivals here, and a second barrier keeps the counter until all have read it.

    %n = ld.shared [counter];  bar.sync;  at = mbarriers + 8 * (%n & 1)
    @(thread < CTAs) mbarrier.arrive.release.cluster [mapa at, thread]
    wait: mbarrier.try_wait.parity.acquire.cluster [at], %n >> 1 & 1
    @(thread == 0) st.shared [counter], %n + 1;  bar.sync

**Captures** are rematerialized by the workers, or come through shared memory (`analysis/captures`): one thread writes
them before all meet.

**Registers** move by whole warp groups (`actualRegisters`); who gives them does so before it waits for anybody, so that
who takes them is sure to get them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....analysis.captures import PART_BYTES, capture_scratch, sent
from ....analysis.partition_barriers import REGION_BYTES, regions_with_cluster_barriers
from ....dialects import tt
from ....dialects.ttg_warps import WarpReturn, WarpSpecialize, WarpYield
from ....ir import PURE, Operation, Region, TensorType, Value
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass, field
from ...llvm.branches import guarded
from ...llvm.control import lower_region
from ..context import LOWERINGS, FunctionContext, lowers
from ..target_info import ModuleContext, Warps
from ..types import types_of

__all__ = ["Specialization", "dismiss_workers", "lower_workers", "parting", "specialization_of"]

ALL, FIRST_PARTITION, BARRIERS = 1, 2, 16  # numbers of barriers
LEAST, MOST = 24, 256  # registers that a thread keeps, and may have
UNIFORM = "%uniform"  # the number of the warp, known to be the same in all its lanes


@dataclass
class Specialization:
    """How the warps of a kernel part.

    `ops` are its `ttg.warp_specialize`, of which there is one if it is `direct`: workers then need not be told. `low`
    and `high` are the registers of workers that wait, and of the kernel's own warps meanwhile; None: all keep theirs.
    """

    ops: list[Any]
    direct: bool
    low: int | None = None
    high: int | None = None
    parted: bool = False  # whether the workers run their partitions
    done: bool = False  # whether only the kernel's own warps are left
    partition: tuple[int, int] | None = None  # the one that is lowered, as the numbers of the operation and in it
    next: str = "next"  # where workers that are not direct go on
    cluster_barriers: list[str] = field(default_factory=list)  # before the operation, which workers repeat
    region_barriers: list[Region] = field(default_factory=list)  # the regions that have mbarriers in the cluster

    def number(self, op: Operation) -> int:
        """What workers are told."""
        return self.ops.index(op) + 1

    def synchronize_region(self, e: FunctionContext) -> None:
        """Synchronize the warps that run a region with those of the other CTAs in the cluster."""
        number, i = self.partition or (0, -1)
        op = self.ops[number]
        region = op.regions[0] if i < 0 else op.partitions.regions[i]
        assert region in self.region_barriers, "a region whose lowering synchronizes the cluster has mbarriers"
        _synchronize_region(e, _region_place(e, op, self.region_barriers.index(region)))


def specialization_of(context: ModuleContext, func: Any) -> Specialization | None:
    """How the warps of a function part; None where they do not."""
    ops: list[Any] = [op for op in func.walk() if isinstance(op, WarpSpecialize)]
    if not ops:
        return None
    for op in ops:
        if len(_meeting(op)) > BARRIERS - FIRST_PARTITION:
            raise UnsupportedOperation(op, f"has more than {BARRIERS - FIRST_PARTITION} partitions of several warps")
    direct = len(ops) == 1 and ops[0].parent is func.regions[0].blocks[0]
    if context.num_ctas > 1 and not direct:
        raise UnsupportedOperation(ops[0], "of CTAs in a cluster must be the only one, at the top of the kernel")
    out = Specialization(ops, direct)
    each = context.registers
    if not direct and each is not None and any(op.actualRegisters for op in ops):
        workers = context.total_warps - context.num_warps
        out.high = min(MOST, (each + (each - LEAST) * workers // context.num_warps) // 8 * 8)
        out.low = max(LEAST, (each - (out.high - each) * context.num_warps // workers) // 8 * 8)
    return out


def _meeting(op: Any) -> dict[int, int]:
    """The barrier of each partition that needs one: of several warps that do something."""
    counts, regions = op.partitionNumWarps, op.partitions.regions
    some = [i for i, n in enumerate(counts) if n > 1 and not isinstance(regions[i].blocks[0].first, WarpReturn)]
    return {i: FIRST_PARTITION + k for k, i in enumerate(some)}


def parting(context: ModuleContext, how: Specialization) -> list[str]:
    """The end of the kernel's head: the first warps go on, the others work."""
    more = _reallocation(context.registers, how.high)
    shuffle = "llvm.nvvm.shfl.sync.idx.i32"
    context.declare(f"declare i32 @{shuffle}(i32, i32, i32, i32) #1")
    return [
        f"  {UNIFORM} = call i32 @{shuffle}(i32 -1, i32 %warp, i32 0, i32 31)",
        f"  %first = icmp ult i32 {UNIFORM}, {context.num_warps}",
        "  br i1 %first, label %entry, label %workers",
        "entry:",
        *([f'  call void asm sideeffect "{more}", "~{{memory}}"() #1'] if more else []),
    ]


# -- instructions -------------------------------------------------------------------------------------------------


def _all(e: FunctionContext) -> tuple[tuple[str, str], tuple[str, str]]:
    """The barrier of all warps, and their threads: for hardware "all" are those that have not ended yet."""
    return ("i32", str(ALL)), ("i32", str(32 * e.module.total_warps))


def _begin(e: FunctionContext) -> None:
    """All meet, those of other blocks too; what they have written is seen."""
    if e.module.num_ctas == 1:
        _all_meet(e)
        return
    e.call_void("llvm.nvvm.barrier.cluster.arrive.aligned", attributes=" #1")
    e.call_void("llvm.nvvm.barrier.cluster.wait.aligned", attributes=" #1")


def _all_meet(e: FunctionContext) -> None:
    e.call_void("llvm.nvvm.barrier.cta.sync.aligned.count", *_all(e), attributes=" #1")


def _count(e: FunctionContext, says: str) -> str:
    """Meet, and learn how many threads say yes."""
    (_, barrier), (_, threads) = _all(e)
    meet = f"barrier.cta.red.popc.aligned.u32 $0, {barrier}, {threads}, says;"
    template = f"{{ .reg .pred says; setp.ne.u32 says, $1, 0; {meet} }}"
    return e.asm(template, "=r,r,~{memory}", [("i32", says)], "i32")


def _reallocate(e: FunctionContext, before: int | None, after: int | None) -> None:
    """Give registers away, or wait for more."""
    line = _reallocation(before, after)
    if line:
        e.asm(line, "~{memory}", [])


def _reallocation(before: int | None, after: int | None) -> str:
    if before is None or after is None or min(MOST, before) == min(MOST, after):
        return ""
    return f"setmaxnreg.{'dec' if after < before else 'inc'}.sync.aligned.u32 {min(MOST, after)};"


def _registers(op: Any, partition: int) -> int | None:
    """Those of a partition, -1 for the default region."""
    return None if op.actualRegisters is None else op.actualRegisters[partition + 1]


# -- the kernel's own warps ---------------------------------------------------------------------------------------


@lowers(WarpSpecialize)
def _specialize(e: FunctionContext, op: WarpSpecialize) -> None:
    how: Specialization | None = e.specialization
    if how is None or op.warpGroupStartIds is None:
        raise UnsupportedOperation(op, "names no warps for its partitions: allocate-warp-groups comes before")
    _publish(e, op)
    how.region_barriers = regions_with_cluster_barriers(op)
    _initialize_region_barriers(e, op, len(how.region_barriers))
    before = e.module.registers if how.direct else how.high
    own = _registers(op, -1) or before
    _reallocate(e, before, own)
    how.parted = True
    if how.direct:
        _begin(e)
    else:
        said = e.op(f"icmp ult i32 {e.thread}, {how.number(op)}")
        _count(e, e.op(f"zext i1 {said} to i32"))
    _default_region(e, op)
    if not how.direct:
        _all_meet(e)
        _reallocate(e, own, before)
    elif not _ends_quietly(op):
        _all_meet(e)
    how.done = how.direct


def _publish(e: FunctionContext, op: WarpSpecialize) -> None:
    """Captures that the workers cannot know are written to shared memory."""
    operands = [(ty, part) for _, v in sent(op) for ty, part in zip(types_of(v.type), e(v))]
    if not operands:
        return
    base = e.scratch(op)
    with guarded(e, e.op(f"icmp eq i32 {e.thread}, 0")):
        for i, (ty, part) in enumerate(operands):
            at = base if not i else e.op(f"getelementptr i8, ptr addrspace(3) {base}, i32 {PART_BYTES * i}")
            e.stmt(f"store {ty} {part}, ptr addrspace(3) {at}, align {_alignment(PART_BYTES * i)}")


def _at(e: FunctionContext, base: str, offset: int) -> str:
    return base if not offset else e.op(f"getelementptr i8, ptr addrspace(3) {base}, i32 {offset}")


def _region_place(e: FunctionContext, op: WarpSpecialize, i: int) -> str:
    """The mbarriers and the counter of a region."""
    return _at(e, e.scratch(op), capture_scratch(op) + REGION_BYTES * i)


def _initialize_region_barriers(e: FunctionContext, op: WarpSpecialize, count: int) -> None:
    """The cluster barrier where the operation begins makes them visible to the other CTAs."""
    if not count:
        return
    with guarded(e, e.op(f"icmp eq i32 {e.thread}, 0")):
        for i in range(count):
            place = _region_place(e, op, i)
            for offset in (0, 8):
                at = e.op(f"ptrtoint ptr addrspace(3) {_at(e, place, offset)} to i32")
                e.asm(f"mbarrier.init.shared::cta.b64 [$0], {e.module.num_ctas};", "r,~{memory}", [("i32", at)])
            e.stmt(f"store i32 0, ptr addrspace(3) {_at(e, place, 16)}, align 8")
        e.asm("fence.mbarrier_init.release.cluster;", "~{memory}", [])


def _synchronize_region(e: FunctionContext, place: str) -> None:
    counter = _at(e, place, 16)
    executed = e.op(f"load i32, ptr addrspace(3) {counter}, align 8")
    e.barrier()
    used = e.op(f"and i32 {executed}, 1")
    at = e.op(f"getelementptr i64, ptr addrspace(3) {place}, i32 {used}")
    near = e.op(f"ptrtoint ptr addrspace(3) {at} to i32")
    rank = e.op(f"and i32 {e.thread}, {e.module.num_ctas - 1}")
    far = e.asm("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", [("i32", near), ("i32", rank)], "i32", False)
    arrives = e.op(f"icmp ult i32 {e.thread}, {e.module.num_ctas}")
    text = "@$1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];"
    e.asm(text, "r,b,~{memory}", [("i32", far), ("i1", arrives)])
    parity = e.op(f"and i32 {e.op(f'lshr i32 {executed}, 1')}, 1")
    text = (
        "{\n\t.reg .pred complete;\n\twaitLoop:\n\t"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [$0], $1;\n\t"
        "@!complete bra.uni waitLoop;\n}"
    )
    e.asm(text, "r,r,~{memory}", [("i32", near), ("i32", parity)])
    first = e.op(f"icmp eq i32 {e.thread}, 0")
    e.target.store_shared(e, counter, [e.op(f"add i32 {executed}, 1")], 32, first)
    e.barrier()


def _alignment(offset: int) -> int:
    """Of a capture: two in a row are one access."""
    return PART_BYTES if offset % (2 * PART_BYTES) else 2 * PART_BYTES


def _default_region(e: FunctionContext, op: WarpSpecialize) -> None:
    e.joins.append((e.fresh_label("together"), []))
    lower_region(e, op.regions[0])
    label, edges = e.joins.pop()
    e.label(label)
    for i, result in enumerate(op.results):
        types = types_of(result.type)
        rows = [(row[i], block) for row, block in edges]
        if len(rows) == 1:
            e.bind(result, rows[0][0])
            continue
        parts = []
        for k, ty in enumerate(types):
            incoming = ", ".join(f"[ {values[k]}, %{block} ]" for values, block in rows)
            parts.append(e.op(f"phi {ty} {incoming}"))
        e.bind(result, parts)


@lowers(WarpYield)
def _yield(e: FunctionContext, op: WarpYield) -> None:
    label, edges = e.joins[-1]
    edges.append(([e(v) for v in op.values], e.block))
    e.stmt(f"br label %{label}")


def _ends_quietly(op: Any) -> bool:
    """Whether what follows in the kernel is nothing that could meet with what partitions do."""
    following = op.next
    while following is not None and following.traits & PURE and not isinstance(following, tt.Return):
        following = following.next
    return isinstance(following, tt.Return) and isinstance(op.parent_op, tt.Func)


def dismiss_workers(e: FunctionContext) -> None:
    """The kernel ends: workers that wait may end, too."""
    if not e.specialization.direct:
        _count(e, "0")


# -- workers ------------------------------------------------------------------------------------------------------


def lower_workers(e: FunctionContext) -> None:
    """Behind the kernel: where workers go, and their partitions."""
    how: Specialization = e.specialization
    how.done = False
    e.label("workers")
    if how.direct:
        _partitions(e, how.ops[0])
        return
    _reallocate(e, e.module.registers, how.low)
    how.next = e.fresh_label("next")
    e.stmt(f"br label %{how.next}")
    e.label(how.next)
    told = _count(e, "0")
    labels = [e.fresh_label("operation") for _ in how.ops]
    done = e.fresh_label("dismissed")
    cases = " ".join(f"i32 {how.number(op)}, label %{label}" for op, label in zip(how.ops, labels))
    e.stmt(f"switch i32 {told}, label %{done} [ {cases} ]")
    e.label(done)
    e.stmt("ret void")
    for op, label in zip(how.ops, labels):
        e.label(label)
        _partitions(e, op)


def _partitions(e: FunctionContext, op: Any) -> None:
    """Branch to the partition of this warp; the partitions."""
    counts, starts = op.partitionNumWarps, op.warpGroupStartIds
    labels = [e.fresh_label(f"partition{i}_") for i in range(len(counts))]
    order = sorted(range(len(counts)), key=lambda i: starts[i])
    for i in order[:-1]:
        test = e.op(f"icmp ult i32 {UNIFORM}, {starts[i] + counts[i]}")
        other = e.fresh_label("further")
        e.stmt(f"br i1 {test}, label %{labels[i]}, label %{other}")
        e.label(other)
    e.stmt(f"br label %{labels[order[-1]]}")
    for i, label in enumerate(labels):
        _partition(e, op, i, label)


def _partition(e: FunctionContext, op: Any, i: int, label: str) -> None:
    count, start, region = op.partitionNumWarps[i], op.warpGroupStartIds[i], op.partitions.regions[i]
    how: Specialization = e.specialization
    p = e.of_other_warps(label, Warps(count, _meeting(op).get(i, ALL), alone=False), start)
    before = e.module.registers if how.direct else how.low
    _reallocate(p, before, _registers(op, i) or before)
    how.partition = how.ops.index(op), i
    if how.direct:
        for intrinsic in how.cluster_barriers:
            p.call_void(intrinsic, attributes=" #1")
        _begin(p)
    _bind_captures(p, op, region.blocks[0].args)
    lower_region(p, region)
    how.partition = None
    e.append(p)


@lowers(WarpReturn)
def _return(e: FunctionContext, op: WarpReturn) -> None:
    how: Specialization = e.specialization
    assert how.partition is not None
    number, partition = how.partition
    specialize = how.ops[number]
    if how.direct:
        if not _ends_quietly(specialize):
            _all_meet(e)
        e.stmt("ret void")
        return
    _reallocate(e, _registers(specialize, partition), how.low)
    _all_meet(e)
    e.stmt(f"br label %{how.next}")


def _bind_captures(e: FunctionContext, op: Any, arguments: Sequence[Value]) -> None:
    base, at = "", 0
    through_memory = {i for i, _ in sent(op)}
    for i, (value, argument) in enumerate(zip(op.partitions.operands, arguments)):
        if i not in through_memory:
            if argument.users:
                _compute(e, value)
                e.bind(argument, e(value))
            continue
        if isinstance(value.type, TensorType):
            raise UnsupportedOperation(op, f"captures {value.type}: partitions share tensors through buffers")
        base = base or e.scratch(op)
        parts = []
        for ty in types_of(value.type):
            place = base if not at else e.op(f"getelementptr i8, ptr addrspace(3) {base}, i32 {at}")
            parts.append(e.op(f"load {ty}, ptr addrspace(3) {place}, align {_alignment(at)}"))
            at += PART_BYTES
        e.bind(argument, parts)


def _compute(e: FunctionContext, value: Value) -> None:
    """A value that workers can know, with what leads to it."""
    op = value.defining_op
    if value in e.names or op is None:
        return
    for operand in op.operands:
        _compute(e, operand)
    lower = LOWERINGS.find(type(op))
    assert lower is not None, "operations that workers do again are lowered where they stand, too"
    lower(e, op)
