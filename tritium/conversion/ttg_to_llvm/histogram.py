"""`tt.histogram`: bins in shared memory, counted by atomic additions of one.

The machine adds up equal addresses within a warp before it touches memory (ATOMS.POPC.INC), so bins are not divided
further. An element that is counted by no bin, because it is masked or out of range, is not added.
"""

from __future__ import annotations

from ...dialects import tt
from ...ir import Type, element_type, i32
from ..llvm.branches import guarded
from .combine_region import neighbour, within
from .context import FunctionContext, lowers
from .convert_layout import wait_for
from .positions import positions
from .types import bit_width
from .warp import element_at, load_of_block

__all__: list[str] = []


@lowers(tt.Histogram)
def _histogram(e: FunctionContext, op: tt.Histogram) -> None:
    layout = e.layout(op.src)
    bins = op.result.type.shape[0]  # type: ignore[attr-defined]
    base = e.scratch(op)
    _clear(e, base, bins)
    e.barrier()
    copies = layout.redundant()
    masks = e(op.mask) if op.mask is not None else None
    with guarded(e, within(e, {name: (copies[name], 0) for name in ("lane", "warp")})):
        for r, value in enumerate(e(op.src)):
            if not r & copies["register"]:
                _count(e, base, op.src.type, value, None if masks is None else masks[r], bins)
    blocks = layout.bases.get("block", [])
    _read(e, op, base, sum(1 << i for i, v in enumerate(blocks) if any(v)))


def _clear(e: FunctionContext, base: str, bins: int) -> None:
    """All bins zero: each thread clears every n-th."""
    threads = e.module.warp_size * e.num_warps
    test = e.op(f"icmp ult i32 {e.thread}, {bins}") if bins < threads else None
    at = element_at(e, base, i32, e.thread)
    with guarded(e, test):
        for start in range(0, bins, threads):
            where = element_at(e, at, i32, str(start))
            e.stmt(f"store i32 0, ptr addrspace(3) {where}, align 4")


def _count(e: FunctionContext, base: str, ty: Type, value: str, mask: str | None, bins: int) -> None:
    """Add one to the bin of an element; negative ones are out of range, too."""
    width = bit_width(ty)
    if width < 32:
        value, width = e.op(f"{'zext' if width == 1 else 'sext'} i{width} {value} to i32"), 32
    counted = e.op(f"icmp ult i{width} {value}, {bins}")
    if mask is not None:
        counted = e.op(f"and i1 {counted}, {mask}")
    index = value if width == 32 else e.op(f"trunc i{width} {value} to i32")
    e.target.add_shared(e, element_at(e, base, i32, index), counted)


def _read(e: FunctionContext, op: tt.Histogram, base: str, blocks: int) -> None:
    """The counts of all CTAs of a cluster that own elements, whose ids differ in `blocks`."""
    wait_for(e, "cluster" if blocks else "block")
    width = bit_width(element_type(op.result.type))
    known: dict[str, str] = {}
    out = []
    for (at,) in positions(e, e.layout(op.result)):
        if at not in known:
            known[at] = _resized(e, _counted(e, element_at(e, base, i32, at), blocks), width)
        out.append(known[at])
    if blocks:  # nobody overwrites, or leaves, what others still read
        wait_for(e, "cluster")
    e.bind(op.result, out)


def _counted(e: FunctionContext, address: str, blocks: int) -> str:
    if not blocks:
        return e.op(f"load i32, ptr addrspace(3) {address}, align 4")
    total = "0"
    for block in range(blocks + 1):
        if block & ~blocks == 0:
            count = load_of_block(e, i32, address, neighbour(e, blocks, block))
            total = e.op(f"add i32 {total}, {count}")
    return total


def _resized(e: FunctionContext, count: str, width: int) -> str:
    if width == 32:
        return count
    return e.op(f"{'zext' if width > 32 else 'trunc'} i32 {count} to i{width}")
