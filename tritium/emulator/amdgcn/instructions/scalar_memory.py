"""Loads of scalar memory (MI300 ISA, section 8; RDNA3 ISA, section 8): consecutive dwords into scalar registers.

They complete in any order, so that only `lgkmcnt(0)` says that one is complete.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...errors import MisalignedAccess, OutOfBounds
from ...memory import Store
from ...types import Array
from ..assembly import Instruction
from ..operands import Builder
from ..registry import Action, special
from ..state import State
from ..waits import Event

U32, I64 = np.uint32, np.int64


def _store(s: State, address: int, size: int) -> Store | None:
    for store in (s.kernarg, s.memory.holding(address)):
        if store is not None and store.base <= address and address + size <= store.end:
            return store
    return None


def _dwords(s: State, addresses: Array, words: int) -> list[list[int]]:
    """The dwords at each wave's address; checked."""
    known: dict[int, list[int]] = {}
    out = []
    for n, address in enumerate(addresses.tolist()):
        if address not in known:
            store = _store(s, address, 4 * words)
            wave = int(s.waves[n])
            if address & 3:
                raise s.error(MisalignedAccess, f"reads {4 * words} bytes at {address:#x}, no multiple of 4", wave)
            if store is None:
                where = s.memory.nearest(address)
                raise s.error(OutOfBounds, f"reads {4 * words} bytes at {address:#x}: {where}", wave)
            at = address - store.base
            known[address] = store.raw[at : at + 4 * words].copy().view(U32).tolist()
        out.append(known[address])
    return out


def _offset(i: Instruction, b: Builder, n: int) -> Callable[[State], Array]:
    """The offsets of an address: a register, a constant, and `offset:`."""
    constant = i.number("offset")
    if n >= len(i.operands):
        return lambda s: np.array([constant])
    op = i.operands[n]
    if op.kind == "int":
        constant += int(op.value)
        return lambda s: np.array([constant])
    if op.is_null:
        return lambda s: np.array([constant])
    register = b.source(n, "u32", vector=False)
    return lambda s: register(s).astype(I64) + constant


def _build(words: int, buffer: bool) -> Callable[[Instruction, Builder], Action]:
    def build(i: Instruction, b: Builder) -> Action:
        op, base = i.operands[0], i.operands[1]
        if op.kind != "s":
            raise b.fail("the destination must be scalar registers")
        b.use(base, 4 if buffer else 2)
        b.use(op, words, write=True)
        offset = _offset(i, b, 2)
        first, target = base.number, op.number

        def run(s: State) -> None:
            low, high = s.scalars[first, s.at].astype(I64), s.scalars[first + 1, s.at].astype(I64)
            at = np.broadcast_to(offset(s), low.shape)
            if buffer:
                values = _buffer_dwords(s, low | (high & 0xFFFF) << 32, at, s.scalars[first + 2, s.at], words)
            else:
                values = np.array(_dwords(s, (low | high << 32) + at, words), U32)
            s.scalars[target : target + words, s.at] = values.T

        return Action(run, Event(("lgkm",), "smem", i, frozenset(b.writes)))

    return build


def _buffer_dwords(s: State, base: Array, at: Array, records: Array, words: int) -> Array:
    """Dwords out of range read as zero."""
    out = np.zeros((len(base), words), U32)
    for n in range(words):
        inside = np.nonzero(at + 4 * n + 4 <= records)[0]
        if inside.size:
            out[inside, n] = np.array(_dwords(s, (base + at)[inside] + 4 * n, 1), U32)[:, 0]
    return out


for _count in (1, 2, 3, 4, 8, 16):
    _suffix = "dword" if _count == 1 else f"dwordx{_count}"
    special(f"s_load_{_suffix} s_load_b{32 * _count}")(_build(_count, False))
    special(f"s_buffer_load_{_suffix} s_buffer_load_b{32 * _count}")(_build(_count, True))


@special("s_memtime s_memrealtime s_sendmsg_rtn_b32 s_sendmsg_rtn_b64 s_getreg_time")
def memtime(i: Instruction, b: Builder) -> Action:
    """A clock: that of this machine, in ticks of 10 ns (100 MHz, MI300 ISA, S_MEMREALTIME)."""
    op = i.operands[0]
    words = 1 if i.name.endswith("b32") else 2
    b.use(op, words, write=True)

    def run(s: State) -> None:
        now = time.time_ns() // 10
        for k in range(words):
            s.scalars[op.number + k, s.at] = now >> 32 * k & 0xFFFFFFFF

    return Action(run, Event(("lgkm",), "smem", i, frozenset(b.writes)))
