"""Buffers in shared memory: made, looked at in parts and in other shapes, stored to and loaded from.

A buffer is the address of a whole allocation (or of one of several behind each other) and, for each of its dimensions,
where what is seen of it begins. Since a part begins at a multiple of its size, an element of it stands at the exclusive
or of two offsets: that of the part's first element and its own, both through the inverse of the layout.

| operation | does |
|---|---|
| `ttg.memdesc_index` | the address moves by whole buffers |
| `ttg.memdesc_subslice` | the beginning moves |
| `ttg.memdesc_trans` | the dimensions trade places |
| `ttg.memdesc_reshape`, `ttg.memdesc_reinterpret` | another type; both begin at 0 |

How a tensor is loaded or stored, by vectors or by ldmatrix and stmatrix, is planned in `layout/buffer_access`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...analysis.allocation import stride_bytes
from ...analysis.exchange import has_ldmatrix, has_stmatrix
from ...dialects import ttg
from ...dialects.ttg_maps import linear_layout, linear_layout_of
from ...dialects.ttg_memory import PartitionedShared, element_bits, padded_layout
from ...ir import IntegerAttr, Operation, Value
from ...layout import LinearLayout
from ...layout.access import Access
from ...layout.buffer_access import Gaps, plan_buffer_access
from ...support import UnsupportedOperation
from .context import OFFSET, FunctionContext, lowers
from .positions import linear_image, positions
from .shared_access import (
    Addresses,
    from_memory,
    load_access,
    memory_type,
    owner,
    store_access,
    store_element,
    to_memory,
)
from .target_info import SHARED_ALIGNMENT
from .types import bit_width

__all__ = ["Buffer", "buffer_of", "element_addresses"]

SHARED = "ptr addrspace(3)"


class Buffer(NamedTuple):
    """A buffer as lowering sees it: its address, where it begins, and the map of the allocation that it is part of.

    The address is a multiple of `aligned`, where that is worth knowing.
    """

    base: str
    start: list[str]
    layout: LinearLayout
    gaps: Gaps
    bits: int
    aligned: int = 1

    def addresses(self, e: FunctionContext, access: Access) -> Addresses:
        """The addresses of an access to it."""
        size = self.bits // 8
        gaps = [(interval * size, padding * size) for interval, padding in self.gaps]
        return Addresses(e, access, self.base, gaps, self._start(e), aligned=self.aligned)

    def _start(self, e: FunctionContext) -> tuple[str, int]:
        """The offset in bytes of what is seen, and the bits it may have."""
        if all(v == "0" for v in self.start):
            return "0", 0
        size = self.bits // 8
        inverse = self.layout.pseudoinvert()
        offsets = {name: [(basis[0] * size,) for basis in bases] for name, bases in inverse.bases.items()}
        top = self.layout.ins["offset"] * size
        if all(v.isdigit() for v in self.start):
            at = LinearLayout(offsets, {"offset": top}).apply(**dict(zip(offsets, map(int, self.start))))["offset"]
            return str(at), at
        image = linear_image(e, LinearLayout(offsets, {"offset": top}), dict(zip(offsets, self.start)))
        return image["offset"], top - size

    def element(self, e: FunctionContext, coordinates: Sequence[str]) -> str:
        """The address of one element, for i32 operands as coordinates in what is seen."""
        size = self.bits // 8
        inverse = self.layout.pseudoinvert()
        offsets = {name: [(basis[0] * size,) for basis in bases] for name, bases in inverse.bases.items()}
        whole = LinearLayout(offsets, {"offset": self.layout.ins["offset"] * size})
        offset = linear_image(e, whole, dict(zip(offsets, coordinates, strict=True)))["offset"]
        first, _ = self._start(e)
        if first != "0":
            offset = first if offset == "0" else e.op(f"xor i32 {offset}, {first}")
        return self._at(e, offset)

    def _at(self, e: FunctionContext, offset: str) -> str:
        size, total = self.bits // 8, offset
        for interval, padding in self.gaps:
            which = e.op(f"udiv i32 {offset}, {interval * size}")
            total = e.op(f"add i32 {total}, {e.op(f'mul i32 {which}, {padding * size}')}")
        return self.base if total == "0" else e.op(f"getelementptr i8, {SHARED} {self.base}, i32 {total}")


def buffer_of(e: FunctionContext, op: Operation, value: Value) -> Buffer:
    """A buffer that `op` accesses."""
    ty: Any = value.type
    base, *start = e(value)
    layout = ty.encoding
    if isinstance(layout, PartitionedShared):
        raise UnsupportedOperation(op, f"on a buffer in several partitions is not supported on NVIDIA GPUs: {ty}")
    rank = layout.rank
    padded = padded_layout(layout)
    gaps = tuple(zip(padded.intervals, padded.paddings)) if padded is not None else ()
    try:
        whole = linear_layout(layout, ty.allocShape[-rank:])
    except ValueError as error:
        raise UnsupportedOperation(op, f"cannot be done: {error}") from None
    aligned = _alignment(value) if e.module.high_register_pressure and e.is_kernel else 1
    return Buffer(base, start[-rank:], whole, gaps, element_bits(ty), aligned)


def _alignment(value: Value) -> int:
    """A power of two that divides the address of one of several buffers behind each other, by where they stand.

    1 where that is not known; also for a single buffer, whose addresses LLVM knows but for the thread's part.
    """
    op: Any = value.defining_op
    while op.__class__ in (ttg.MemDescTrans, ttg.MemDescSubslice):
        op = op.src.defining_op
    several = op.src.defining_op if op.__class__ is ttg.MemDescIndex else None
    offset = several.attributes.get(OFFSET) if several.__class__ is ttg.LocalAlloc else None
    if not isinstance(offset, IntegerAttr):
        return 1
    step = offset.value | (stride_bytes(op.src.type) or 1) | SHARED_ALIGNMENT
    return step & -step


def _plan(op: Operation, tensor: Any, buffer: Buffer, matrix: bool) -> Access:
    try:
        return plan_buffer_access(linear_layout_of(tensor), buffer.layout, buffer.bits, matrix, buffer.gaps)
    except ValueError as error:
        raise UnsupportedOperation(op, f"cannot be done: {error}") from None


def store(e: FunctionContext, op: Operation, parts: Sequence[str], tensor: Any, value: Value) -> None:
    """Store the parts of a tensor to the buffer `value`."""
    buffer = buffer_of(e, op, value)
    idle = linear_layout_of(tensor).redundant()
    lanes, warps = idle.get("lane", 0), idle.get("warp", 0)
    access = _plan(op, tensor, buffer, has_stmatrix(op) and not lanes and not warps)
    held = [to_memory(e, tensor, v) for v in parts]
    store_access(e, access, buffer.addresses(e, access), held, tensor, owner(e, lanes, warps))


def load(e: FunctionContext, op: Operation, tensor: Any, value: Value) -> list[str]:
    """The parts of a tensor, loaded from the buffer `value`."""
    buffer = buffer_of(e, op, value)
    access = _plan(op, tensor, buffer, has_ldmatrix(op))
    found = load_access(e, access, buffer.addresses(e, access), tensor)
    fresh = {v: from_memory(e, tensor, v) for v in dict.fromkeys(found.values())}
    return [fresh[found[r]] for r in range(len(found))]


# -- operations -------------------------------------------------------------------------------------------------


@lowers(ttg.LocalAlloc)
def _local_alloc(e: FunctionContext, op: ttg.LocalAlloc) -> None:
    ty: Any = op.result.type
    e.bind(op.result, [e.scratch(op), *["0"] * len(ty.shape)])
    if op.src is not None:
        store(e, op, e(op.src), op.src.type, op.result)


@lowers(ttg.LocalDealloc)
def _local_dealloc(e: FunctionContext, op: ttg.LocalDealloc) -> None:
    """Nothing: its bytes are free since allocate-shared-memory."""


@lowers(ttg.LocalStore)
def _local_store(e: FunctionContext, op: ttg.LocalStore) -> None:
    store(e, op, e(op.src), op.src.type, op.dst)


@lowers(ttg.LocalLoad)
def _local_load(e: FunctionContext, op: ttg.LocalLoad) -> None:
    e.bind(op.result, load(e, op, op.result.type, op.src))


def element_addresses(e: FunctionContext, op: Any, value: Value, tensor: Any) -> list[str]:
    """For each register the address of the element that an index selects along `axis`."""
    buffer = buffer_of(e, op, value)
    if linear_layout_of(tensor).ins["block"] > 1:
        raise UnsupportedOperation(op, "across the CTAs of a cluster is not supported")
    width = bit_width(op.indices.type)
    out = []
    for index, place in zip(e(op.indices), positions(e, linear_layout_of(tensor)), strict=True):
        if width != 32:
            index = e.op(f"{'trunc' if width > 32 else 'zext'} i{width} {index} to i32")
        out.append(buffer.element(e, [index if d == op.axis else n for d, n in enumerate(place)]))
    return out


@lowers(ttg.LocalGather)
def _local_gather(e: FunctionContext, op: ttg.LocalGather) -> None:
    ty = op.result.type
    size = element_bits(ty) // 8
    loaded = []
    for at in element_addresses(e, op, op.src, ty):
        loaded.append(from_memory(e, ty, e.op(f"load {memory_type(ty)}, {SHARED} {at}, align {size}")))
    e.bind(op.result, loaded)


@lowers(ttg.LocalScatter)
def _local_scatter(e: FunctionContext, op: ttg.LocalScatter) -> None:
    ty = op.values.type
    idle = linear_layout_of(ty).redundant()  # type: ignore[arg-type]
    owns = owner(e, idle["lane"], idle["warp"])
    values = e(op.values)
    for r, at in enumerate(element_addresses(e, op, op.dst, ty)):
        if not r & idle["register"]:
            store_element(e, ty, to_memory(e, ty, values[r]), at, owns)


# -- views ------------------------------------------------------------------------------------------------------


@lowers(ttg.MemDescIndex)
def _memdesc_index(e: FunctionContext, op: ttg.MemDescIndex) -> None:
    base, first, *rest = e(op.src)
    index = e.scalar(op.index)
    if first != "0":
        index = e.op(f"add i32 {index}, {first}")
    size = stride_bytes(op.src.type)  # type: ignore[arg-type]
    if size is None:
        raise UnsupportedOperation(op, f"needs gaps between the buffers of {op.src.type}")
    if index.isdigit():
        moved = int(index) * size
        at = base if not moved else e.op(f"getelementptr i8, {SHARED} {base}, i32 {moved}")
    else:
        at = e.op(f"getelementptr [{size} x i8], {SHARED} {base}, i32 {index}")
    e.bind(op.result, [at, *rest])


@lowers(ttg.MemDescSubslice)
def _memdesc_subslice(e: FunctionContext, op: ttg.MemDescSubslice) -> None:
    base, *start = e(op.src)
    moved = []
    for v, n in zip(start, op.offsets, strict=True):
        if v.isdigit():
            moved.append(str(int(v) + n))
        else:
            moved.append(v if not n else e.op(f"add i32 {v}, {n}"))
    e.bind(op.result, [base, *moved])


@lowers(ttg.MemDescTrans)
def _memdesc_trans(e: FunctionContext, op: ttg.MemDescTrans) -> None:
    base, *start = e(op.src)
    e.bind(op.result, [base, *(start[k] for k in op.order)])


@lowers(ttg.MemDescReshape, ttg.MemDescReinterpret)
def _memdesc_reshape(e: FunctionContext, op: Any) -> None:
    ty: Any = op.result.type
    base, *start = e(op.src)
    if any(v != "0" for v in start):
        raise UnsupportedOperation(op, "of a part of a buffer is not supported")
    e.bind(op.result, [base, *["0"] * len(ty.shape)])
