"""TMA copies of tiles between global and shared memory, addressed by tensor descriptors.

    ttng.async_tma_copy_global_to_local %d[%i, %j] %buffer, %barrier, %pred

    one thread of a warp for each box:
        @%p cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%buffer], [%d, {%j, %i}], [%b];

One instruction moves a box, as large as the descriptor says: at most 256 elements along each dimension, a swizzled row
wide. Where a block is several boxes, warp w moves box w, and box w + number of warps, …; boxes stand behind each other
in the buffer. Copies out of shared memory form groups, which the thread that began them waits for. Of blocks of a
cluster that hold the same part of a buffer the first writes; with `multicast` it loads for all of them.
Source: PTX ISA 8.7, section 9.7.9.27.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from ....analysis.tma import box_of, pixel_box
from ....dialects import ttng
from ....dialects.tt_types import CachePolicy, DescriptorReduceKind, EvictionPolicy
from ....dialects.ttg_maps import linear_layout
from ....dialects.ttg_memory import NvmmaShared
from ....dialects.ttng_types import CachePolicy as FractionalPolicy
from ....dialects.ttng_types import EvictionPriority, TensorDescIm2ColType
from ....ir import PURE, LoopLike, Operation, Value, region_branch_of
from ....layout import LinearLayout
from ....layout.bases import per_block
from ....layout.tiling import dimension_names
from ....support import UnsupportedOperation
from ..context import FunctionContext, lowers
from ..positions import linear_image, with_constant
from ..shared_memory import SHARED, buffer_of
from .mbarrier import MEMORY, barrier_address, blocks_sharing, elected, guarded

__all__ = ["Instruction", "l2_policy"]


# -- instructions ---------------------------------------------------------------------------------------------------


class Instruction:
    """One instruction whose operands are named as they are written: `add` gives the place of an operand."""

    def __init__(self, guard: str) -> None:
        self.operands: list[tuple[str, str]] = []
        self.constraints: list[str] = []
        self.guard = self.add("i1", guard)

    def add(self, ty: str, operand: str) -> str:
        """Where an operand of an LLVM type stands: `$3`."""
        self.operands.append((ty, operand))
        self.constraints.append({"i1": "b", "i16": "h", "i32": "r"}.get(ty, "l"))
        return f"${len(self.operands) - 1}"

    def listed(self, ty: str, operands: Sequence[str]) -> str:
        """`{$3, $4}`"""
        return f"{{{', '.join(self.add(ty, v) for v in operands)}}}"

    def emit(self, e: FunctionContext, text: str) -> None:
        """Write the instruction, for the threads of the guard."""
        e.asm(f"@{self.guard} {text};", ",".join([*self.constraints, MEMORY]), self.operands)


def l2_policy(e: FunctionContext, op: Any) -> str | None:
    """An operand with what an operation says of the second-level cache, None where it says nothing.

    Cache modifiers are hints for the first level, which these copies do not use.
    """
    policy = getattr(op, "cachePolicy", None)
    if policy is None:
        return None
    if isinstance(policy, FractionalPolicy):
        return _fractional_policy(e, op, policy)
    if not isinstance(policy, CachePolicy):
        raise UnsupportedOperation(op, f"with the cache policy {policy} is not supported")
    if policy.eviction_policy is EvictionPolicy.evict_normal:
        return None
    name = policy.eviction_policy.name
    return e.asm(f"createpolicy.fractional.L2::{name}.b64 $0, 1.0;", "=l", [], "i64", False)


def _fractional_policy(e: FunctionContext, op: Operation, policy: FractionalPolicy) -> str:
    """A policy for a share of the lines."""
    if policy.l2_fraction is None or policy.l1 is not EvictionPriority.none or policy.l2_prefetch_size is not None:
        raise UnsupportedOperation(op, f"with the cache policy {policy} is not supported")
    names = f"L2::{policy.l2_primary.name}.L2::{policy.l2_secondary.name}"
    share = struct.pack(">f", policy.l2_fraction.value).hex()
    return e.asm(f"createpolicy.fractional.{names}.b64 $0, 0f{share};", "=l", [], "i64", False)


# -- boxes ----------------------------------------------------------------------------------------------------------


class Box(NamedTuple):
    """One round of instructions: who takes part, where the box is in memory (i32 operands) and in the tensor."""

    guard: str
    address: str
    offsets: list[str]


class Boxes(NamedTuple):
    """The boxes of a block: the maps from the number of a box (and a block) to its place in the tensor and in memory.

    `place` counts bytes of the buffer; `dimensions` are those of the descriptor that the buffer has.
    """

    count: int  # type: ignore[assignment]  # shadows tuple.count
    offsets: LinearLayout
    place: LinearLayout
    dimensions: list[int]

    @classmethod
    def of(cls, op: Operation, desc: Any, buffer: Value) -> Boxes:
        """Those of a buffer; UnsupportedOperation where the engine would not write what the buffer's layout says."""
        ty: Any = buffer.type
        layout = ty.encoding
        block = desc.block
        dimensions = _dimensions(op, block.shape, ty.shape)
        names = dimension_names(len(ty.shape))
        try:
            whole = linear_layout(layout, ty.allocShape[-layout.rank :])
            if isinstance(desc, TensorDescIm2ColType):
                sizes = pixel_box(layout, block.shape)
            else:
                sizes = box_of(desc.block.encoding, block.shape, packed=True)
            box = [sizes[d] for d in dimensions]
            written = linear_layout(layout, _tensor_of(layout, box))
        except ValueError as error:
            raise UnsupportedOperation(op, f"cannot be done: {error}") from None
        bits = prod(box).bit_length() - 1
        if whole.bases["offset"][:bits] != written.bases["offset"][:bits]:
            raise UnsupportedOperation(op, f"copies boxes of {box}, which do not lie behind each other in {ty}")
        mine = per_block(ty.shape, layout.CGALayout)
        bases = []
        for d, (size, step) in enumerate(zip(mine, box)):
            for i in range((size // step).bit_length() - 1):
                bases.append(tuple((step << i) * (k == d) for k in range(len(mine))))
        outs = dict(zip(names, (2 * n for n in ty.shape)))
        size = ty.element.width // 8
        inverse = whole.pseudoinvert()
        places = [(inverse.apply(**dict(zip(names, basis)))["offset"] * size,) for basis in bases]
        offsets = LinearLayout({"box": bases, "block": whole.bases.get("block", [])}, outs)
        place = LinearLayout({"box": places}, {"offset": whole.ins["offset"] * size * 2})
        return cls(1 << len(bases), offsets, place, dimensions)


def _tensor_of(layout: Any, box: Sequence[int]) -> tuple[int, ...]:
    """The tensor of which each block of a cluster has a box."""
    parts = [1] * len(box)
    for basis in layout.CGALayout:
        parts = [p * 2 if n else p for p, n in zip(parts, basis)]
    return tuple(n * p for n, p in zip(box, parts))


def _dimensions(op: Operation, block: Sequence[int], buffer: Sequence[int]) -> list[int]:
    """Which dimension of the descriptor each of the buffer is; the others have size 1."""
    out: list[int] = []
    for n in buffer[::-1]:
        at = (out[-1] if out else len(block)) - 1
        while at >= 0 and block[at] != n:
            if block[at] != 1:
                raise UnsupportedOperation(op, f"blocks of {list(block)} do not match a buffer of {list(buffer)}")
            at -= 1
        if at < 0:
            raise UnsupportedOperation(op, f"blocks of {list(block)} do not match a buffer of {list(buffer)}")
        out.append(at)
    return out[::-1]


def start_of(e: FunctionContext, op: Operation, value: Value) -> str:
    """Where what is seen of a buffer begins, as an i32 address."""
    buffer = buffer_of(e, op, value)
    first, _ = buffer._start(e)
    layout: Any = value.type.encoding  # type: ignore[attr-defined]
    if first != "0" and (not first.isdigit() or int(first) % layout.alignment):
        raise UnsupportedOperation(op, f"of a part that does not begin with a swizzle of its buffer: {value.type}")
    base = buffer.base if first == "0" else e.op(f"getelementptr i8, {SHARED} {buffer.base}, i32 {first}")
    return e.op(f"ptrtoint {SHARED} {base} to i32")


def rounds(e: FunctionContext, op: Operation, desc: Any, buffer: Value, *conditions: str) -> Iterator[Box]:
    """The boxes that each warp copies, in order."""
    boxes = Boxes.of(op, desc, buffer)
    start = start_of(e, op, buffer)
    top = sum(basis[0] for basis in boxes.place.bases["box"])
    for first in range(0, boxes.count, e.num_warps):
        warps = min(e.num_warps, boxes.count - first)
        number = "0" if warps == 1 else e.warp if warps == e.num_warps else e.op(f"and i32 {e.warp}, {warps - 1}")
        inputs = {"box": number, "block": e.block_id}
        constant = boxes.offsets.apply(box=first)
        moved = linear_image(e, boxes.offsets, inputs)
        offsets = [with_constant(e, v, -1, constant[name]) for name, v in moved.items()]
        place = linear_image(e, boxes.place, {"box": number})["offset"]
        place = with_constant(e, place, top, boxes.place.apply(box=first)["offset"])
        address = start if place == "0" else e.op(f"add i32 {start}, {place}")
        whole = ["0"] * desc.block.rank
        for d, v in zip(boxes.dimensions, offsets):
            whole[d] = v
        yield Box(guarded(e, elected(e, warps), *conditions), address, whole)


def coordinates(e: FunctionContext, op: Any, offsets: Sequence[str]) -> list[str]:
    """Where a box begins, the innermost dimension first; padded 4-bit elements count one by one there.

    A box of an im2col load has all pixels of the block, so that only its channels move.
    """
    if isinstance(op.desc.type, TensorDescIm2ColType):
        offsets = [*["0"] * (len(op.coord) - 1), offsets[-1]]
    out = [_plus(e, e.scalar(v), offset) for v, offset in zip(op.coord, offsets)]
    layout = getattr(op.desc.type, "sharedLayout", None) or op.desc.type.block.encoding
    if isinstance(layout, NvmmaShared) and layout.fp4Padded:
        out[-1] = e.op(f"shl i32 {out[-1]}, 1")
    return out[::-1]


def _plus(e: FunctionContext, a: str, b: str) -> str:
    return a if b == "0" else e.op(f"add i32 {a}, {b}")


def _tiled(op: Any) -> None:
    if isinstance(op.desc.type, TensorDescIm2ColType):
        raise UnsupportedOperation(op, "of windows (im2col) is not supported")


# -- copies ---------------------------------------------------------------------------------------------------------


def first_of_group(e: FunctionContext, value: Value) -> str:
    """Whether this block of the cluster is the first of those that hold the same part of a buffer."""
    mask = blocks_sharing(value)
    if not mask or e.block_id == "0":
        return "true"
    return e.op(f"icmp eq i32 {e.op(f'and i32 {e.block_id}, {mask}')}, 0")


def group_mask(e: FunctionContext, value: Value) -> str:
    """The blocks that hold what this one does of a buffer, one bit each, as an i16 operand."""
    mask = blocks_sharing(value)
    pattern = sum(1 << n for n in range(mask + 1) if n & ~mask == 0)
    first = e.op(f"and i32 {e.block_id}, {~mask}")
    return e.op(f"trunc i32 {e.op(f'shl i32 {pattern}, {first}')} to i16")


@lowers(ttng.AsyncTMACopyGlobalToLocal)
def _load(e: FunctionContext, op: ttng.AsyncTMACopyGlobalToLocal) -> None:
    if op.isVolatile:
        raise UnsupportedOperation(op, "cannot be volatile")
    policy = l2_policy(e, op)
    several = bool(op.multicast) and e.module.num_ctas > 1
    only = first_of_group(e, op.result) if several else "true"
    space, barrier = barrier_address(e, op.barrier)
    space = "shared::cluster" if several else space
    n = len(op.coord)
    windows = isinstance(op.desc.type, TensorDescIm2ColType)
    form = f"cp.async.bulk.tensor.{n}d.{space}.global{'.im2col' if windows else ''}.mbarrier::complete_tx::bytes"
    form += ".multicast::cluster" if several else ""
    form += ".L2::cache_hint" if policy else ""
    for box in rounds(e, op, op.desc.type, op.result, e.scalar(op.pred), only):
        i = Instruction(box.guard)
        text = f"{form} [{i.add('i32', box.address)}], [{i.add('ptr', e.scalar(op.desc))}, "
        text += f"{i.listed('i32', coordinates(e, op, box.offsets))}], [{i.add('i32', barrier)}]"
        if windows:
            text += f", {i.listed('i16', [e.scalar(v) for v in op.offsets][::-1])}"
        text += f", {i.add('i16', group_mask(e, op.result))}" if several else ""
        text += f", {i.add('i64', policy)}" if policy else ""
        i.emit(e, text)


def _write(e: FunctionContext, op: Any, form: str) -> None:
    _tiled(op)
    policy = l2_policy(e, op)
    only = first_of_group(e, op.src)
    for box in rounds(e, op, op.desc.type, op.src, only):
        i = Instruction(box.guard)
        text = f"{form}{'.L2::cache_hint' if policy else ''} [{i.add('ptr', e.scalar(op.desc))}, "
        text += f"{i.listed('i32', coordinates(e, op, box.offsets))}], [{i.add('i32', box.address)}]"
        text += f", {i.add('i64', policy)}" if policy else ""
        i.emit(e, text)
    commit_group(e)


def commit_group(e: FunctionContext) -> None:
    """The copies out of shared memory that a thread has begun are one group."""
    e.asm("cp.async.bulk.commit_group;", MEMORY, [])


@lowers(ttng.AsyncTMACopyLocalToGlobal)
def _store(e: FunctionContext, op: ttng.AsyncTMACopyLocalToGlobal) -> None:
    _write(e, op, f"cp.async.bulk.tensor.{len(op.coord)}d.global.shared::cta.bulk_group")


@lowers(ttng.AsyncTMAReduce)
def _reduce(e: FunctionContext, op: ttng.AsyncTMAReduce) -> None:
    kind: DescriptorReduceKind = op.kind
    name = kind.name.lstrip("_")
    _write(e, op, f"cp.reduce.async.bulk.tensor.{len(op.coord)}d.global.shared::cta.{name}.bulk_group")


_QUIET = {
    "gpu.barrier",
    "ttg.barrier",
    "ttg.local_dealloc",
    "ttng.arrive_barrier",
    "ttng.async_tma_store_wait",
    "ttng.fence_async_shared",
    "ttng.inval_barrier",
    "ttng.wait_barrier",
}
"""What neither reads nor writes global memory, besides pure operations."""


def _is_last(e: FunctionContext, op: Operation) -> bool:
    """Whether the kernel ends behind `op` without another access to global memory.

    The end of a kernel waits for what its copies write, so that they need not be waited for: only that they have read
    shared memory, which goes to the next block.
    """
    after = op.next
    while after is not None:
        around = region_branch_of(after)
        if around is not None:
            if isinstance(around, LoopLike):
                return False
            after = around
        elif after.name == "tt.return":
            return e.is_kernel
        elif not (after.traits & PURE or after.name in _QUIET):
            return False
        after = after.next
    return False


@lowers(ttng.TMAStoreWait)
def _store_wait(e: FunctionContext, op: ttng.TMAStoreWait) -> None:
    read = op.read_only or _is_last(e, op)
    e.asm(f"cp.async.bulk.wait_group{'.read' if read else ''} {op.pendings};", MEMORY, [])
