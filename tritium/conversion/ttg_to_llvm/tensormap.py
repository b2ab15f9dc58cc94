"""Descriptors that a kernel makes (tensor maps): built in shared memory, then published in global memory.

    ttng.tensormap_create %at, %base, […], …      one warp: 128 bytes of zeros in scratch
                                                  its first lane: tensormap.replace, once for each field
                                                  the warp: tensormap.cp_fenceproxy, scratch -> %at
    ttng.tensormap_fenceproxy_acquire %at         the warp: fence.proxy.tensormap::generic.acquire.gpu; then all wait

Those of a run (`analysis/tensormaps`) are made by as many warps at the same time, and all wait once. The copy engine
reads descriptors through a proxy of its own, which the fences bring up to date (PTX ISA 8.7, sections 8.5 and
9.7.9.27). A fence is followed by an empty group of copies: ptxas (up to 13.0) lets later copies overtake it otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.tensormaps import creations, ends_run, maker_of
from ...analysis.tma import DESCRIPTOR_BYTES, LEAST_ROW
from ...dialects import ttng
from .context import FunctionContext, lowers
from .mbarrier import MEMORY

__all__: list[str] = []

WORDS = DESCRIPTOR_BYTES // 4  # as many as a warp has lanes


def _warp_is(e: FunctionContext, warp: int) -> str:
    return "true" if e.num_warps == 1 else e.op(f"icmp eq i32 {e.warp}, {warp}")


def _sync_warp(e: FunctionContext) -> None:
    e.call_void("llvm.nvvm.bar.warp.sync", ("i32", "-1"), attributes=" #1")


def _only_where(e: FunctionContext, condition: str) -> str:
    """Begin code that runs where a condition holds; the label behind it, which its writer sets."""
    inside, behind = e.fresh_label("chosen"), e.fresh_label("others")
    e.stmt(f"br i1 {condition}, label %{inside}, label %{behind}")
    e.label(inside)
    return behind


def _end(e: FunctionContext, label: str) -> None:
    e.stmt(f"br label %{label}")
    e.label(label)


@lowers(ttng.TensormapCreate)
def _create(e: FunctionContext, op: ttng.TensormapCreate) -> None:
    """All of a run, where it ends: what the others are made of is there as well."""
    made = creations(op)
    if not made:
        return
    near = e.op(f"ptrtoint ptr addrspace(3) {e.scratch(op)} to i32")
    warps = min(len(made), e.num_warps)
    for first in range(0, len(made), warps):
        guard = e.op(f"icmp ult i32 {e.thread}, {WORDS * min(warps, len(made) - first)}")
        word = e.op(f"add i32 {near}, {e.op(f'shl i32 {e.thread}, 2')}")
        word = e.op(f"add i32 {word}, {DESCRIPTOR_BYTES * first}") if first else word
        e.asm("@$1 st.shared.b32 [$0], 0;", f"r,b,{MEMORY}", [("i32", word), ("i1", guard)])
    _sync_warp(e)
    for i, one in enumerate(made):
        at = e.op(f"add i32 {near}, {DESCRIPTOR_BYTES * i}") if i else near
        behind = _only_where(e, _warp_is(e, i % warps))
        _build(e, one, at)
        _publish(e, one, at)
        _end(e, behind)


def _build(e: FunctionContext, op: Any, at: str) -> None:
    """Fill in the fields of a descriptor in shared memory, by one lane of the warp."""

    def replace(name: str, value: str, ty: str = "i32", place: int | None = None) -> None:
        bits = "b64" if ty != "i32" else "b32"
        which = "" if place is None else f" {place},"
        text, more = (value, []) if value.isdigit() and ty == "i32" else ("$1", [(ty, value)])
        letters = ",".join(["r", *("l" if bits == "b64" else "r" for _ in more), MEMORY])
        line = f"tensormap.replace.tile.{name}.shared::cta.b1024.{bits} [$0],{which} {text};"
        e.asm(line, letters, [("i32", at), *more])

    def each(name: str, values: Sequence[str], ty: str = "i32") -> None:
        for i, value in enumerate(values):
            replace(name, value, ty, i)

    behind = _only_where(e, e.op(f"icmp eq i32 {e.lane}, 0"))
    base = _address(e, op.global_address)
    _stop_where_odd(e, op, base)
    replace("global_address", base, "i64")
    replace("rank", str(len(op.box_dim) - 1))
    each("box_dim", [e.scalar(v) for v in op.box_dim])
    each("global_dim", [e.scalar(v) for v in op.global_dim])
    each("global_stride", [e.scalar(v) for v in op.global_stride], "i64")
    each("element_stride", [e.scalar(v) for v in op.element_stride])
    modes = {"elemtype": op.elem_type, "swizzle_mode": op.swizzle_mode}
    modes |= {"interleave_layout": op.interleave_layout, "fill_mode": op.fill_mode}
    for name, number in modes.items():
        if number:  # 0 is what is there
            replace(name, str(number))
    _end(e, behind)


def _publish(e: FunctionContext, op: Any, at: str) -> None:
    """Copy a descriptor from shared memory to its place, by the whole warp."""
    _sync_warp(e)
    text = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    operands = [("i64", _address(e, op.desc_ptr)), ("i32", at)]
    e.asm(f"{text} [$0], [$1], {DESCRIPTOR_BYTES};", f"l,r,{MEMORY}", operands)


def _stop_where_odd(e: FunctionContext, op: Any, base: str) -> None:
    """Stop the kernel where tensor or rows begin inside of 16 bytes: the engine would drop the rest of the address.

    Not an assertion, which would be a call: products by warp groups do not overlap in functions with calls.
    """
    values = [(op.global_address, base), *((v, e.scalar(v)) for v in op.global_stride)]
    odd = [operand for v, operand in values if e.facts.of(v).element_divisor() % LEAST_ROW]
    if not odd:
        return
    bits = odd[0]
    for operand in odd[1:]:
        bits = e.op(f"or i64 {bits}, {operand}")
    bad = e.op(f"icmp ne i64 {e.op(f'and i64 {bits}, {LEAST_ROW - 1}')}, 0")
    e.asm("@$0 trap;", f"b,{MEMORY}", [("i1", bad)])


def _address(e: FunctionContext, value: Any) -> str:
    """The address in global memory as a number."""
    return e.op(f"ptrtoint {e.types_of(value.type)[0]} {e.scalar(value)} to i64")


@lowers(ttng.TensormapFenceproxyAcquire)
def _acquire(e: FunctionContext, op: ttng.TensormapFenceproxyAcquire) -> None:
    """By the warp that made the descriptor; where that is not known, behind all of them."""
    number = maker_of(op.desc_ptr)
    if number is None:
        e.barrier()
    lines = (
        f"@$1 fence.proxy.tensormap::generic.acquire.gpu [$0], {DESCRIPTOR_BYTES};",
        "@$1 cp.async.bulk.commit_group;",
        "@$1 cp.async.bulk.wait_group.read 0;",
    )
    guard = _warp_is(e, (number or 0) % e.num_warps)
    e.asm("\n\t".join(lines), f"l,b,{MEMORY}", [("i64", _address(e, op.desc_ptr)), ("i1", guard)])
    if ends_run(op):
        e.barrier()


@lowers(ttng.ReinterpretTensorDesc)
def _reinterpret(e: FunctionContext, op: ttng.ReinterpretTensorDesc) -> None:
    """A descriptor is its generic address."""
    source = e.types_of(op.rawDesc.type)[0]
    raw = e.scalar(op.rawDesc)
    e.bind(op.result, [raw if source == "ptr" else e.op(f"addrspacecast {source} {raw} to ptr")])
