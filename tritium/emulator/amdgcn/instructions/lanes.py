"""Instructions that move values between lanes (MI300 ISA, sections 6.8 and 12.8-12.11; RDNA3 ISA, 7.7 and 16.8-16.12).

`v_readlane` and `v_readfirstlane` ignore EXEC but for the choice of the first lane; `v_writelane` ignores it.
"""

from __future__ import annotations

import numpy as np

from ...types import Array
from ..assembly import Instruction
from ..bits import bit_count
from ..operands import Builder, Reader, store
from ..registry import Action, special
from ..state import State

U32 = np.uint32


def _lane_number(i: Instruction, b: Builder, n: int) -> Reader:
    """A lane number over waves."""
    return b.source(n, "u32", vector=False)


@special("v_readfirstlane_b32")
def readfirstlane(i: Instruction, b: Builder) -> Action:
    source = b.source(1, "b32")
    write = b.scalar_destination(0, "b32")

    def run(s: State) -> None:
        first = np.where(s.exec.any(axis=1), s.exec.argmax(axis=1), 0)
        row = np.broadcast_to(source(s), s.exec.shape)
        write(s, row[np.arange(len(row)), first])

    return Action(run)


@special("v_readlane_b32")
def readlane(i: Instruction, b: Builder) -> Action:
    source, lane = b.source(1, "b32"), _lane_number(i, b, 2)
    write = b.scalar_destination(0, "b32")

    def run(s: State) -> None:
        row = source(s)
        chosen = np.broadcast_to(lane(s), (len(row),)) % U32(s.lanes)
        write(s, row[np.arange(len(row)), chosen])

    return Action(run)


@special("v_writelane_b32")
def writelane(i: Instruction, b: Builder) -> Action:
    value, lane = b.source(1, "b32", vector=False), _lane_number(i, b, 2)
    op = i.operands[0]
    row = b.row(op)
    b.use(op, 1)
    b.use(op, 1, write=True)

    def run(s: State) -> None:
        target = s.vectors[row]
        chosen = np.broadcast_to(lane(s), (len(s.waves),)) % U32(s.lanes)
        target[s.waves, chosen] = np.broadcast_to(value(s), chosen.shape)

    return Action(run)


@special("v_mbcnt_lo_u32_b32")
def mbcnt_lo(i: Instruction, b: Builder) -> Action:
    """The set bits of a mask of lanes 0-31 that are below this lane, plus S1."""
    mask, addend, write = b.source(1, "b32"), b.source(2, "u32"), b.destination(0, "u32")
    lane = np.arange(b.limits.lanes)
    below = np.array([[(1 << min(int(n), 32)) - 1 for n in lane]], U32)
    return Action(lambda s: write(s, bit_count(mask(s) & below) + addend(s)))


@special("v_mbcnt_hi_u32_b32")
def mbcnt_hi(i: Instruction, b: Builder) -> Action:
    """The same of lanes 32-63."""
    mask, addend, write = b.source(1, "b32"), b.source(2, "u32"), b.destination(0, "u32")
    lane = np.arange(b.limits.lanes)
    below = np.array([[(1 << max(int(n) - 32, 0)) - 1 for n in lane]], U32)
    return Action(lambda s: write(s, bit_count(mask(s) & below) + addend(s)))


@special("v_permlane16_b32 v_permlanex16_b32")
def permlane16(i: Instruction, b: Builder) -> Action:
    """Lane n of a row of 16 reads the lane that nibble n of S1 (n < 8) or S2 names: in its row, or the other (x16).

    `op_sel` bit 0 is fetch-inactive; bit 1, bound_ctrl, makes disabled source lanes read as 0.
    """
    source = b.source(1, "b32", op_sel=0)
    low, high = b.source(2, "u32", vector=False), b.source(3, "u32", vector=False)
    op = i.operands[0]
    row = b.row(op)
    b.use(op, 1, write=True)
    fetch_inactive, zero, _ = i.bits("op_sel", 0, 3)
    lane = np.arange(b.limits.lanes)
    base = lane & ~15
    if "x16" in i.name:
        base = base ^ 16

    def run(s: State) -> None:
        value = np.broadcast_to(source(s), s.exec.shape)
        one = np.broadcast_to(low(s), (len(s.waves),))[:, None]
        two = np.broadcast_to(high(s), (len(s.waves),))[:, None]
        within = (lane & 15)[None, :]
        nibble = np.where(within < 8, one, two) >> (within & 7).astype(U32) * U32(4) & U32(15)
        index = base[None, :] + nibble
        moved = np.take_along_axis(value, index, axis=1)
        active = np.take_along_axis(s.exec, index, axis=1)
        if fetch_inactive or s.full:
            store(s, s.vectors[row], moved)
        elif zero:
            store(s, s.vectors[row], np.where(active, moved, U32(0)))
        else:
            store(s, s.vectors[row], moved, lambda s: active)

    return Action(run)


@special("v_permlane64_b32")
def permlane64(i: Instruction, b: Builder) -> Action:
    """Exchange the halves of 64 lanes; nothing in waves of 32."""
    source, write = b.source(1, "b32"), b.destination(0, "b32")
    if b.limits.lanes == 32:
        return Action(lambda s: write(s, source(s)))
    return Action(lambda s: write(s, np.roll(np.broadcast_to(source(s), s.exec.shape), 32, axis=1)))


@special("v_swap_b32")
def swap(i: Instruction, b: Builder) -> Action:
    rows = [b.row(op) for op in i.operands]
    for op in i.operands:
        b.use(op, 1)
        b.use(op, 1, write=True)

    def run(s: State) -> None:
        first, second = (s.vectors[row] for row in rows)
        one, two = first[s.at].copy(), second[s.at].copy()
        store(s, first, two)
        store(s, second, one)

    return Action(run)


def _backward(i: Instruction, b: Builder) -> Action:
    """ds_bpermute: lane n reads the lane whose number is (address + offset) / 4; disabled lanes read as 0."""
    address, data, write = b.source(1, "u32"), b.source(2, "b32"), b.destination(0, "b32")
    offset = U32(i.number("offset"))

    def run(s: State) -> None:
        index = ((np.broadcast_to(address(s), s.exec.shape) + offset) >> U32(2)) % U32(s.lanes)
        value = np.where(s.exec, data(s), U32(0))
        write(s, np.take_along_axis(value, index.astype(np.int64), axis=1))

    return Action(run)


def _forward(i: Instruction, b: Builder) -> Action:
    """ds_permute: lane n sends its value to the lane whose number is (address + offset) / 4; others get 0."""
    address, data, write = b.source(1, "u32"), b.source(2, "b32"), b.destination(0, "b32")
    offset = U32(i.number("offset"))

    def run(s: State) -> None:
        index = ((np.broadcast_to(address(s), s.exec.shape) + offset) >> U32(2)) % U32(s.lanes)
        value = np.broadcast_to(data(s), s.exec.shape)
        out = np.zeros(s.exec.shape, U32)
        wave, lane = np.nonzero(s.exec)
        out[wave, index[wave, lane]] = value[wave, lane]
        write(s, out)

    return Action(run)


def _swizzle(i: Instruction, b: Builder) -> Action:
    """ds_swizzle: an exchange within groups of 32 lanes (or quads) that the offset encodes."""
    data, write = b.source(1, "b32"), b.destination(0, "b32")
    source = _swizzled(_swizzle_code(i), np.arange(b.limits.lanes))

    def run(s: State) -> None:
        value = np.where(s.exec, data(s), U32(0))
        write(s, value[:, source])

    return Action(run)


def _swizzled(code: int, lane: Array) -> Array:
    if code & 0x8000:
        order = np.array([code >> 2 * n & 3 for n in range(4)])
        return (lane & ~3) + order[lane & 3]
    keep, either, flip = code & 31, code >> 5 & 31, code >> 10 & 31
    return (lane & ~31) + (((lane & 31 & keep) | either) ^ flip)


def _swizzle_code(i: Instruction) -> int:
    """The offset, which may be written as `swizzle(MODE, ...)`."""
    text = i.modifiers.get("offset", "0")
    if not text.startswith("swizzle("):
        return int(text, 0)
    mode, *rest = (part.strip() for part in text[len("swizzle(") : -1].split(","))
    if mode == "QUAD_PERM":
        return 0x8000 | sum(int(p) << 2 * n for n, p in enumerate(rest))
    if mode == "BITMASK_PERM":
        kinds = rest[0].strip('"')
        keep = sum((c in "pi") << (4 - n) for n, c in enumerate(kinds))
        either = sum((c == "1") << (4 - n) for n, c in enumerate(kinds))
        flip = sum((c == "i") << (4 - n) for n, c in enumerate(kinds))
        return keep | either << 5 | flip << 10
    size = int(rest[0])
    if mode == "SWAP":
        return 31 | size << 10
    if mode == "REVERSE":
        return 31 | (size - 1) << 10
    if mode == "BROADCAST":
        return (31 & ~(size - 1)) | int(rest[1]) << 5
    return int(mode, 0)


PERMUTES = {"ds_bpermute_b32": _backward, "ds_permute_b32": _forward, "ds_swizzle_b32": _swizzle}
