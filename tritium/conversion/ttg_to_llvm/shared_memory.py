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
from ...analysis.cluster_memory import is_cut_between_ctas
from ...analysis.exchange import has_ldmatrix, has_stmatrix
from ...dialects import ttg
from ...dialects.ttg_maps import linear_layout, linear_layout_of
from ...dialects.ttg_memory import PartitionedShared, element_bits, padded_layout
from ...ir import IntegerAttr, Operation, TensorType, Value
from ...layout import LinearLayout
from ...layout.access import Access
from ...layout.buffer_access import Gaps, plan_buffer_access, plan_cluster_access, reaches_other_ctas
from ...support import UnsupportedOperation
from .context import OFFSET, FunctionContext, lowers
from .positions import linear_image, positions
from .shared_access import (
    Addresses,
    cluster_address,
    from_memory,
    load_access,
    load_cluster_element,
    memory_type,
    owner,
    store_access,
    store_cluster_element,
    store_element,
    to_memory,
)
from .target_info import SHARED_ALIGNMENT
from .types import bit_width

__all__ = ["Buffer", "buffer_of", "element_addresses", "stored_addresses"]

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

    def addresses(self, e: FunctionContext, access: Access, block_bit: int | None = None) -> Addresses:
        """The addresses of an access to it; with `block_bit`, in the memory of the cluster."""
        size = self.bits // 8
        gaps = [(interval * size, padding * size) for interval, padding in self.gaps]
        first = 0 if block_bit is None else self.first_block
        return Addresses(e, access, self.base, gaps, self._start(e), block_bit, self.aligned, first)

    @property
    def shared_blocks(self) -> int:
        """The bits of a CTA's rank that select other elements."""
        blocks = self.layout.ins.get("block", 1)
        return blocks - 1 & ~self.layout.redundant()["block"] if blocks > 1 else 0

    @property
    def first_block(self) -> int:
        """The rank of the CTA that has the first element of what is seen, among those with other elements."""
        if not self.shared_blocks or all(v == "0" for v in self.start):
            return 0
        inverse = self.layout.pseudoinvert()
        known = [int(v) if v.isdigit() else 0 for v in self.start]
        block = inverse.apply(**dict(zip(inverse.ins, known)))["block"]
        return int(block) & self.shared_blocks

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

    def block_of(self, e: FunctionContext, coordinates: Sequence[str]) -> str:
        """The rank of the CTA that holds an element."""
        inverse, mask = self.layout.pseudoinvert(), self.shared_blocks
        at = list(inverse.outs).index("block")
        blocks = {name: [(basis[at] & mask,) for basis in bases] for name, bases in inverse.bases.items()}
        whole = LinearLayout(blocks, {"block": self.layout.ins["block"]})
        block = linear_image(e, whole, dict(zip(blocks, coordinates, strict=True)))["block"]
        if self.first_block:
            block = e.op(f"xor i32 {block}, {self.first_block}")
        own = self.layout.redundant()["block"]
        return e.op(f"or i32 {block}, {e.op(f'and i32 {e.block_id}, {own}')}") if own else block

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


def _partitioned(layout: PartitionedShared, shape: tuple[int, ...]) -> LinearLayout:
    """The pieces of all partitions, in order: one LDS has them all before gfx1250."""
    dim = layout.partitionDim
    pieces = layout.numPartitions * layout.numGroups
    part = tuple(n // pieces if d == dim else n for d, n in enumerate(shape))
    inner = linear_layout(layout.partitionLayout, part)
    steps = [
        tuple(part[dim] << k if d == dim else 0 for d in range(len(shape))) for k in range(pieces.bit_length() - 1)
    ]
    return LinearLayout({**inner.bases, "offset": [*inner.bases["offset"], *steps]}, dict(zip(inner.outs, shape)))


def buffer_of(e: FunctionContext, op: Operation, value: Value) -> Buffer:
    """A buffer that `op` accesses."""
    ty: Any = value.type
    base, *start = e(value)
    layout = ty.encoding
    if isinstance(layout, PartitionedShared) and not e.target.has_partitions:
        raise UnsupportedOperation(op, f"on a buffer in several partitions is not supported on {e.target.name}: {ty}")
    rank = layout.rank
    padded = padded_layout(layout)
    gaps = tuple(zip(padded.intervals, padded.paddings)) if padded is not None else ()
    try:
        map_of = _partitioned if isinstance(layout, PartitionedShared) else linear_layout
        whole = map_of(layout, ty.allocShape[-rank:])
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


def _in_cluster(value: Value, tensor: TensorType, buffer: Buffer) -> tuple[Access, int] | None:
    """The access to a slice that other CTAs of the cluster may hold; None for one in the memory of this CTA."""
    if not buffer.shared_blocks or not is_cut_between_ctas(value.type):
        return None
    registers = linear_layout_of(tensor)
    if not buffer.first_block and not reaches_other_ctas(registers, buffer.layout):
        return None
    return plan_cluster_access(registers, buffer.layout, buffer.bits, buffer.gaps)


def store(e: FunctionContext, op: Operation, parts: Sequence[str], tensor: Any, value: Value) -> None:
    """Store the parts of a tensor to the buffer `value`."""
    buffer = buffer_of(e, op, value)
    idle = linear_layout_of(tensor).redundant()
    lanes, warps = idle.get("lane", 0), idle.get("warp", 0)
    cluster = _in_cluster(value, tensor, buffer)
    if cluster is not None:
        if buffer.layout.redundant()["block"]:  # a store would have to reach all copies
            raise UnsupportedOperation(op, "to memory that several CTAs of the cluster have copies of is not supported")
        access, bit = cluster
        held = [to_memory(e, tensor, v) for v in parts]
        owns = owner(e, lanes, warps, idle.get("block", 0))
        store_access(e, access, buffer.addresses(e, access, bit), held, tensor, owns, True)
        return
    access = _plan(op, tensor, buffer, has_stmatrix(op) and not lanes)
    held = [to_memory(e, tensor, v) for v in parts]
    store_access(e, access, buffer.addresses(e, access), held, tensor, owner(e, lanes, warps))


def load(e: FunctionContext, op: Operation, tensor: Any, value: Value) -> list[str]:
    """The parts of a tensor, loaded from the buffer `value`."""
    buffer = buffer_of(e, op, value)
    cluster = _in_cluster(value, tensor, buffer)
    if cluster is None:
        access = _plan(op, tensor, buffer, has_ldmatrix(op))
        found = load_access(e, access, buffer.addresses(e, access), tensor)
    else:
        access, bit = cluster
        found = load_access(e, access, buffer.addresses(e, access, bit), tensor, True)
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


def element_addresses(e: FunctionContext, op: Any, value: Value, tensor: Any) -> tuple[list[str], bool]:
    """For each register the address of the element that an index selects along `axis`, and whether these are i32
    addresses in the memory of the cluster."""
    buffer = buffer_of(e, op, value)
    remote = bool(buffer.shared_blocks)
    width = bit_width(op.indices.type)
    out = []
    for index, place in zip(e(op.indices), positions(e, linear_layout_of(tensor)), strict=True):
        if width != 32:
            index = e.op(f"{'trunc' if width > 32 else 'zext'} i{width} {index} to i32")
        coordinates = [index if d == op.axis else n for d, n in enumerate(place)]
        at = buffer.element(e, coordinates)
        out.append(cluster_address(e, at, buffer.block_of(e, coordinates)) if remote else at)
    return out, remote


def stored_addresses(e: FunctionContext, op: Operation, value: Value, tensor: TensorType) -> tuple[list[str], bool]:
    """The same of elements that are changed, which must not have copies in other CTAs."""
    layout = buffer_of(e, op, value).layout
    copies = layout.redundant()["block"] if layout.ins.get("block", 1) > 1 else 0
    if copies & ~linear_layout_of(tensor).redundant().get("block", 0):
        raise UnsupportedOperation(op, "to memory that several CTAs of the cluster have copies of is not supported")
    return element_addresses(e, op, value, tensor)


@lowers(ttg.LocalGather)
def _local_gather(e: FunctionContext, op: ttg.LocalGather) -> None:
    ty = op.result.type
    size = element_bits(ty) // 8
    loaded = []
    addresses, remote = element_addresses(e, op, op.src, ty)
    for at in addresses:
        if remote:
            found = load_cluster_element(e, ty, at)
        else:
            found = e.op(f"load {memory_type(ty)}, {SHARED} {at}, align {size}")
        loaded.append(from_memory(e, ty, found))
    e.bind(op.result, loaded)


@lowers(ttg.LocalScatter)
def _local_scatter(e: FunctionContext, op: ttg.LocalScatter) -> None:
    ty = op.values.type
    assert isinstance(ty, TensorType)
    idle = linear_layout_of(ty).redundant()
    addresses, remote = stored_addresses(e, op, op.dst, ty)
    owns = owner(e, idle["lane"], idle["warp"], idle.get("block", 0) if remote else 0)
    values = e(op.values)
    write = store_cluster_element if remote else store_element
    for r, at in enumerate(addresses):
        if not r & idle["register"]:
            write(e, ty, to_memory(e, ty, values[r]), at, owns)


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
