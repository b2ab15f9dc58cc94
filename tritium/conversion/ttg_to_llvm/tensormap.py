"""Descriptors that a kernel makes (tensor maps): built in shared memory, then published in global memory.

    ttng.tensormap_create %at, %base, […], …      warp 0: 128 bytes of zeros in scratch
                                                  thread 0: tensormap.replace, once for each field
                                                  warp 0: tensormap.cp_fenceproxy, scratch -> %at
    ttng.tensormap_fenceproxy_acquire %at         warp 0: fence.proxy.tensormap::generic.acquire.gpu; then all wait

The copy engine reads descriptors through a proxy of its own, which the fences bring up to date (PTX ISA 8.7, sections
8.5 and 9.7.9.27). A fence is followed by an empty group of copies: ptxas (up to 13.0) lets later copies overtake it
otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.tma import DESCRIPTOR_BYTES, LEAST_ROW
from ...dialects import ttng
from .context import FunctionContext, lowers
from .mbarrier import MEMORY

__all__: list[str] = []


def _first_warp(e: FunctionContext) -> str:
    return e.op(f"icmp ult i32 {e.thread}, 32")


@lowers(ttng.TensormapCreate)
def _create(e: FunctionContext, op: ttng.TensormapCreate) -> None:
    near = e.op(f"ptrtoint ptr addrspace(3) {e.scratch(op)} to i32")
    warp = _first_warp(e)
    word = e.op(f"add i32 {near}, {e.op(f'shl i32 {e.thread}, 2')}")
    e.asm("@$1 st.shared.b32 [$0], 0;", f"r,b,{MEMORY}", [("i32", word), ("i1", warp)])
    e.call_void("llvm.nvvm.bar.warp.sync", ("i32", "-1"), attributes=" #1")
    first = e.op(f"icmp eq i32 {e.thread}, 0")

    def replace(name: str, value: str, ty: str = "i32", place: int | None = None) -> None:
        bits = "b64" if ty != "i32" else "b32"
        at = "" if place is None else f" {place},"
        if value.isdigit() and ty == "i32":
            text, more = value, []
        else:
            text, more = "$2", [(ty, value)]
        letters = ",".join(["r", "b", *("l" if bits == "b64" else "r" for _ in more), MEMORY])
        line = f"@$1 tensormap.replace.tile.{name}.shared::cta.b1024.{bits} [$0],{at} {text};"
        e.asm(line, letters, [("i32", near), ("i1", first), *more])

    def each(name: str, values: Sequence[str], ty: str = "i32") -> None:
        for i, value in enumerate(values):
            replace(name, value, ty, i)

    base = _address(e, op.global_address)
    _stop_where_odd(e, op, base, first)
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
    e.call_void("llvm.nvvm.bar.warp.sync", ("i32", "-1"), attributes=" #1")
    text = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    operands = [("i64", _address(e, op.desc_ptr)), ("i32", near), ("i1", warp)]
    e.asm(f"@$2 {text} [$0], [$1], {DESCRIPTOR_BYTES};", f"l,r,b,{MEMORY}", operands)


def _stop_where_odd(e: FunctionContext, op: ttng.TensormapCreate, base: str, first: str) -> None:
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
    e.asm("@$0 trap;", f"b,{MEMORY}", [("i1", e.op(f"and i1 {bad}, {first}"))])


def _address(e: FunctionContext, value: object) -> str:
    """The address in global memory as a number."""
    ty = e.types_of(value.type)[0]  # type: ignore[attr-defined]
    return e.op(f"ptrtoint {ty} {e.scalar(value)} to i64")  # type: ignore[arg-type]


@lowers(ttng.TensormapFenceproxyAcquire)
def _acquire(e: FunctionContext, op: ttng.TensormapFenceproxyAcquire) -> None:
    lines = (
        f"@$1 fence.proxy.tensormap::generic.acquire.gpu [$0], {DESCRIPTOR_BYTES};",
        "@$1 cp.async.bulk.commit_group;",
        "@$1 cp.async.bulk.wait_group.read 0;",
    )
    e.asm("\n\t".join(lines), f"l,b,{MEMORY}", [("i64", _address(e, op.desc_ptr)), ("i1", _first_warp(e))])
    e.barrier()


@lowers(ttng.ReinterpretTensorDesc)
def _reinterpret(e: FunctionContext, op: ttng.ReinterpretTensorDesc) -> None:
    """A descriptor is its generic address."""
    source = e.types_of(op.rawDesc.type)[0]
    raw = e.scalar(op.rawDesc)
    e.bind(op.result, [raw if source == "ptr" else e.op(f"addrspacecast {source} {raw} to ptr")])
