"""Gather and scatter of matrix rows by index, by TMA: since sm_100.

    ttng.async_tma_gather %d[%rows, %j] %buffer, %barrier, %pred

    one thread of each warp, for every four rows whose numbers it has:
        @%p cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4… [%buffer], [%d, {%j, %r0, %r1, %r2, %r3}], [%b];

Four rows that follow each other in the buffer come by one instruction, as many columns of them as a box of the
descriptor has; wider rows take several. All threads of a warp have the same numbers (the verifier asks for it).
Source: PTX ISA 8.7, section 9.7.9.27.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ....analysis.tma import box_of
from ....dialects import ttng
from ....dialects.ttg_maps import linear_layout_of
from ....hardware.nvidia_features import TMA_GATHER
from ....ir import Value
from ....layout import LinearLayout
from ....layout.bases import per_block
from ..context import FunctionContext, lowers
from ..positions import linear_image
from ..target_info import require
from .mbarrier import barrier_address, elected, guarded
from .tma import Instruction, commit_group, first_of_group, group_mask, l2_policy, start_of

__all__: list[str] = []

AT_ONCE = 4


class Rows(NamedTuple):
    """One instruction: where its rows are in memory, and their column and numbers (i32 operands)."""

    address: str
    coordinates: list[str]


def rounds(e: FunctionContext, op: Any, buffer: Value) -> Iterator[Rows]:
    """The rows that each warp copies, four at a time."""
    require(e, op, TMA_GATHER)
    ty: Any = buffer.type
    layout, size = ty.encoding, ty.element.width // 8
    numbers = linear_layout_of(op.x_offsets.type)
    memory = linear_layout_of(ty).pseudoinvert()
    mine = per_block(ty.shape, layout.CGALayout)
    width = box_of(op.desc.type.block.encoding, op.desc.type.block.shape)[1]
    start, column, values = start_of(e, op, buffer), e.scalar(op.y_offset), e(op.x_offsets)
    placed = _placed(numbers, memory, mine[1] // width, width, size)
    # Where a row begins: the swizzle of its first piece is the engine's business.
    row = ~(max(layout.swizzlingByteWidth, 1) - 1)
    idle = numbers.redundant().get("register", 0)
    shared = _block_column(e, linear_layout_of(ty))
    for first in range(0, numbers.ins["register"], AT_ONCE):
        if first & idle:
            continue
        for box in range(mine[1] // width):
            constant = placed.apply(register=first, box=box)["offset"]
            moved = linear_image(e, placed, {"warp": e.warp})["offset"]
            offset = str(constant) if moved == "0" else e.op(f"xor i32 {moved}, {constant}")
            offset = e.op(f"and i32 {offset}, {row}")
            at = e.op(f"add i32 {column}, {box * width}") if box else column
            at = at if shared == "0" else e.op(f"add i32 {at}, {shared}")
            yield Rows(e.op(f"add i32 {start}, {offset}"), [at, *values[first : first + AT_ONCE]])


def _placed(numbers: LinearLayout, memory: LinearLayout, boxes: int, width: int, size: int) -> LinearLayout:
    """From a register and a warp (and a box along the row) to the offset in bytes of the row that they have."""

    def offset(row: int, column: int) -> tuple[int]:
        return (memory.apply(dim0=row, dim1=column)["offset"] * size,)

    rows = memory.ins["dim0"]
    bases = {
        name: [offset(basis[0] % rows, 0) for basis in numbers.bases.get(name, ())] for name in ("register", "warp")
    }
    bases["box"] = [offset(0, width << i) for i in range(boxes.bit_length() - 1)]
    return LinearLayout(bases, {"offset": memory.outs["offset"] * size})


def _block_column(e: FunctionContext, layout: LinearLayout) -> str:
    """Where the columns of this block of the cluster begin."""
    return linear_image(e, layout.sublayout(["block"]), {"block": e.block_id})["dim1"]


def _issuers(e: FunctionContext, op: Any, *conditions: str) -> str:
    """One thread of each warp that has rows of its own."""
    copies = linear_layout_of(op.x_offsets.type).redundant().get("warp", 0)
    guard = elected(e, e.num_warps)
    if copies:
        among = e.op(f"and i32 {e.warp}, {copies}")
        guard = e.op(f"and i1 {guard}, {e.op(f'icmp eq i32 {among}, 0')}")
    return guarded(e, guard, *conditions)


@lowers(ttng.AsyncTMAGather)
def _gather(e: FunctionContext, op: ttng.AsyncTMAGather) -> None:
    policy = l2_policy(e, op)
    several = bool(op.multicast) and e.module.num_ctas > 1
    guard = _issuers(e, op, e.scalar(op.pred), first_of_group(e, op.result) if several else "true")
    space, barrier = barrier_address(e, op.barrier)
    space = "shared::cluster" if several else space
    form = f"cp.async.bulk.tensor.2d.{space}.global.tile::gather4.mbarrier::complete_tx::bytes"
    form += ".multicast::cluster" if several else ""
    form += ".L2::cache_hint" if policy else ""
    for rows in rounds(e, op, op.result):
        i = Instruction(guard)
        text = f"{form} [{i.add('i32', rows.address)}], [{i.add('ptr', e.scalar(op.desc))}, "
        text += f"{i.listed('i32', rows.coordinates)}], [{i.add('i32', barrier)}]"
        text += f", {i.add('i16', group_mask(e, op.result))}" if several else ""
        text += f", {i.add('i64', policy)}" if policy else ""
        i.emit(e, text)


@lowers(ttng.AsyncTMAScatter)
def _scatter(e: FunctionContext, op: ttng.AsyncTMAScatter) -> None:
    policy = l2_policy(e, op)
    guard = _issuers(e, op, first_of_group(e, op.src))
    form = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
    for rows in rounds(e, op, op.src):
        i = Instruction(guard)
        text = f"{form}{'.L2::cache_hint' if policy else ''} [{i.add('ptr', e.scalar(op.desc))}, "
        text += f"{i.listed('i32', rows.coordinates)}], [{i.add('i32', rows.address)}]"
        text += f", {i.add('i64', policy)}" if policy else ""
        i.emit(e, text)
    commit_group(e)
