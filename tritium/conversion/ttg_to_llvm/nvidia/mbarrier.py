"""mbarriers, which asynchronous copies signal, and proxy fences.

    ttng.init_barrier %b, 1              one thread:    mbarrier.init.shared::cta.b64 [%b], 1;
    ttng.barrier_expect %b, 4096, %p     one thread:    @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 4096;
    ttng.wait_barrier %b, %phase         every thread:  mbarrier.try_wait.parity … until the phase has ended
    ttng.fence_async_shared              every thread:  fence.proxy.async.shared::cta;

`insert-barriers` orders the operations of the elected thread after those of the others. Where the CTAs of a cluster
share a barrier, it is in the memory of the first of them. Before sm_90 there is no `try_wait`; a thread then polls.
Source: PTX ISA 8.7, sections 9.7.13.15 and 9.7.13.4.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttng
from ....dialects.ttg_maps import linear_layout_of
from ....hardware.nvidia_features import ELECT, TRY_WAIT
from ....ir import IntegerAttr, Value, constant_of
from ..context import FunctionContext, lowers
from .next_dot import prepare_next_dot

__all__ = ["barrier_address", "blocks_sharing", "elected", "guarded"]

MEMORY = "~{memory}"


# -- which thread ---------------------------------------------------------------------------------------------------


def elected(e: FunctionContext, warps: int = 1) -> str:
    """True in one thread of each of the first `warps` warps; the assembler knows that it is always the same thread."""
    chosen = e.call("{ i32, i1 }", "llvm.nvvm.elect.sync", ("i32", "-1"), attributes=" #1")
    (leads,) = e.fields("{ i32, i1 }", chosen, 2)[1:]
    if warps >= e.num_warps:
        return leads
    return e.op(f"and i1 {leads}, {e.op(f'icmp ult i32 {e.warp}, {warps}')}")


def one_thread(e: FunctionContext) -> str:
    """True in one thread of the CTA; before sm_90 without `elect.sync`."""
    return elected(e) if e.module.gpu.has(ELECT) else e.op(f"icmp eq i32 {e.thread}, 0")


def guarded(e: FunctionContext, guard: str, *conditions: str) -> str:
    """guard and all conditions; those that are true add nothing."""
    for condition in conditions:
        if condition != "true":
            guard = e.op(f"and i1 {guard}, {condition}")
    return guard


# -- where a barrier is ---------------------------------------------------------------------------------------------


def blocks_sharing(value: Value) -> int:
    """The bits of a block's number that make no difference to which barrier (or part of a buffer) is its own."""
    return linear_layout_of(value.type).redundant().get("block", 0)  # type: ignore[arg-type]


def leads(e: FunctionContext, value: Value) -> str:
    """Whether this block is the first of those that share a barrier."""
    mask = blocks_sharing(value)
    if not mask or e.block_id == "0":
        return "true"
    return e.op(f"icmp eq i32 {e.op(f'and i32 {e.block_id}, {mask}')}, 0")


def barrier_address(e: FunctionContext, value: Value) -> tuple[str, str]:
    """`space, address`: of a barrier, in the memory of the CTA or, if CTAs share it, of the cluster."""
    near = e.op(f"ptrtoint ptr addrspace(3) {e(value)[0]} to i32")
    mask = blocks_sharing(value)
    if not mask or e.block_id == "0":
        return "shared::cta", near
    first = e.op(f"and i32 {e.block_id}, {~mask}")
    operands = [("i32", near), ("i32", first)]
    return "shared::cluster", e.asm("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", operands, "i32", False)


def reached(e: FunctionContext, op: Any) -> tuple[str, list[tuple[str, str]]]:
    """Whether this block arrives at all, and the barriers at which it does (`space, address`).

    With `multicastCTA` at those of all blocks whose numbers differ in its bits only, its own included; with `fromCTA`
    the blocks whose numbers have no other bits than these arrive, each at the barriers of those that differ from it in
    the others. A barrier that CTAs share is one.
    """
    every, others = e.module.num_ctas - 1, getattr(op, "multicastCTA", 0) or 0
    guard = "true"
    if op.fromCTA is not None and every & ~op.fromCTA:
        others = every & ~op.fromCTA
        guard = e.op(f"icmp eq i32 {e.op(f'and i32 {e.block_id}, {others}')}, 0")
    others &= ~blocks_sharing(op.alloc)
    if not others or not every:
        return guard, [barrier_address(e, op.alloc)]
    first = e.op(f"and i32 {e.block_id}, {~blocks_sharing(op.alloc)}")
    near = e.op(f"ptrtoint ptr addrspace(3) {e(op.alloc)[0]} to i32")
    out = []
    for bits in (n for n in range(every + 1) if not n & ~others):
        block = first if not bits else e.op(f"xor i32 {first}, {bits}")
        operands = [("i32", near), ("i32", block)]
        far = e.asm("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r", operands, "i32", False)
        out.append(("shared::cluster", far))
    return guard, out


def _own_address(e: FunctionContext, value: Value) -> str:
    return e.op(f"ptrtoint ptr addrspace(3) {e(value)[0]} to i32")


# -- barriers -------------------------------------------------------------------------------------------------------


@lowers(ttng.InitBarrier)
def _init(e: FunctionContext, op: ttng.InitBarrier) -> None:
    """A barrier that CTAs share counts the arrivals of all of them."""
    count = op.count * e.module.num_ctas // op.alloc.type.shape[0]  # type: ignore[attr-defined]
    guard = guarded(e, one_thread(e), leads(e, op.alloc))
    operands = [("i32", _own_address(e, op.alloc)), ("i1", guard)]
    e.asm(f"@$1 mbarrier.init.shared::cta.b64 [$0], {count};", f"r,b,{MEMORY}", operands)


@lowers(ttng.InvalBarrier)
def _inval(e: FunctionContext, op: ttng.InvalBarrier) -> None:
    guard = guarded(e, one_thread(e), leads(e, op.alloc))
    e.asm(
        "@$1 mbarrier.inval.shared::cta.b64 [$0];", f"r,b,{MEMORY}", [("i32", _own_address(e, op.alloc)), ("i1", guard)]
    )


@lowers(ttng.BarrierExpect)
def _expect(e: FunctionContext, op: ttng.BarrierExpect) -> None:
    arrives, places = reached(e, op)
    guard = guarded(e, e.op(f"icmp eq i32 {e.thread}, 0"), e.scalar(op.pred), arrives)
    for space, at in places:
        text = f"@$1 mbarrier.arrive.expect_tx.{space}.b64 _, [$0], {op.size};"
        e.asm(text, f"r,b,{MEMORY}", [("i32", at), ("i1", guard)])


@lowers(ttng.ArriveBarrier)
def _arrive(e: FunctionContext, op: ttng.ArriveBarrier) -> None:
    """One thread for all, or, where the arrivals can be shared, one of each warp for its warp."""
    arrives, places = reached(e, op)
    shared = op.count % e.num_warps == 0
    if shared:
        e.call_void("llvm.nvvm.bar.warp.sync", ("i32", "-1"), attributes=" #1")
    guard = elected(e, e.num_warps) if shared else e.op(f"icmp eq i32 {e.thread}, 0")
    if op.pred is not None:
        guard = guarded(e, guard, e.scalar(op.pred))
    guard = guarded(e, guard, arrives)
    arrivals = op.count // e.num_warps if shared else op.count
    count = "" if arrivals == 1 else f", {arrivals}"
    for space, at in places:
        text = f"@$1 mbarrier.arrive.{space}.b64 _, [$0]{count};"
        e.asm(text, f"r,b,{MEMORY}", [("i32", at), ("i1", guard)])


@lowers(ttng.WaitBarrier)
def _wait(e: FunctionContext, op: ttng.WaitBarrier) -> None:
    """A thread whose predicate is false skips the loop; CTAs that do not own a shared barrier do not wait."""
    condition = guarded(e, "true", leads(e, op.alloc)) if op.pred is None else _needs(e, op)
    if condition == "false":
        return
    operands = [("i32", _own_address(e, op.alloc)), ("i32", e.scalar(op.phase))]
    skip, behind = "", ""
    if condition != "true":
        operands.append(("i1", condition))
        skip, behind = "@!$2 bra.uni skipWait;\n\t", "\n\tskipWait:"
    waits = e.module.gpu.has(TRY_WAIT)
    ask, pause = ("try_wait", "") if waits else ("test_wait", "@!complete nanosleep.u32 20;\n\t")
    text = (
        f"{{\n\t.reg .pred complete;\n\t{skip}waitLoop:\n\t"
        f"mbarrier.{ask}.parity.shared::cta.b64 complete, [$0], $1;\n\t{pause}@!complete bra.uni waitLoop;{behind}\n}}"
    )
    constraints = list("rrb"[: len(operands)])
    for descriptor in prepare_next_dot(e, op):
        operands.append(("i64", descriptor))
        constraints.append("l")
    e.asm(text, ",".join([*constraints, MEMORY]), operands)


def _needs(e: FunctionContext, op: Any) -> str:
    """Whether a thread waits, where that is asked for by a predicate."""
    known = constant_of(op.pred)
    pred = e.scalar(op.pred) if not isinstance(known, IntegerAttr) else ("true" if known.value else "false")
    return pred if pred == "false" else _both(e, pred, leads(e, op.alloc))


def _both(e: FunctionContext, a: str, b: str) -> str:
    return b if a == "true" else guarded(e, a, b)


@lowers(ttng.AsyncCopyMbarrierArrive)
def _copies_arrive(e: FunctionContext, op: ttng.AsyncCopyMbarrierArrive) -> None:
    """Each thread arrives for its own copies."""
    kind = ".noinc" if op.noIncrement else ""
    at = _own_address(e, op.barrier)
    e.asm(f"cp.async.mbarrier.arrive{kind}.shared::cta.b64 [$0];", f"r,{MEMORY}", [("i32", at)])


# -- fences ----------------------------------------------------------------------------------------------------------


@lowers(ttng.FenceAsyncShared)
def _fence(e: FunctionContext, op: ttng.FenceAsyncShared) -> None:
    e.asm(f"fence.proxy.async.shared::{'cluster' if op.bCluster else 'cta'};", MEMORY, [])


@lowers(ttng.FenceMBarrierInitReleaseCluster)
def _fence_init(e: FunctionContext, op: ttng.FenceMBarrierInitReleaseCluster) -> None:
    e.asm("@$0 fence.mbarrier_init.release.cluster;", f"b,{MEMORY}", [("i1", one_thread(e))])
