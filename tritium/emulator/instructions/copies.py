"""cp.async: copies from global to shared memory that a thread starts and later waits for.

The bytes are copied at once. That nobody may read them before the thread has waited, and a barrier has told the
others, is what the race check sees to.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..access import Target, elements
from ..errors import UnknownInstruction
from ..geometry import Mask, Step
from ..ptx import Immediate, Instruction, Register
from ..registry import emulates
from ..state import MachineState
from ..types import TYPES, UNSIGNED, Array
from .mbarrier import bulk_copy, copies_arrive
from .tensor_copies import tensor_copy

__all__: list[str] = []

_ALLOWED = re.compile(r"(async|ca|cg|shared|shared::cta|global|L2::\w+|L2::cache_hint)$")


@emulates("cp")
def copy(machine: MachineState, i: Instruction) -> Step:
    if "tensor" in i.modifiers:
        return tensor_copy(machine, i)
    if i.modifiers[:1] != ("async",):
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    if "bulk" in i.modifiers:
        if {"commit_group", "wait_group"} & set(i.modifiers):
            return group(machine, i, bulk=True)
        return bulk_copy(machine, i)
    last = i.modifiers[-1]
    if "mbarrier" in i.modifiers:
        return copies_arrive(machine, i)
    if last in ("commit_group", "wait_group", "wait_all"):
        return group(machine, i, bulk=False)
    for m in i.modifiers:
        if not _ALLOWED.match(m):
            raise UnknownInstruction(f"the emulator does not know .{m} in {i.name}", i)
    return start(machine, i)


def group(machine: MachineState, i: Instruction, bulk: bool) -> Step:
    """commit_group, wait_group and wait_all: which copies have come is for the race check to know."""
    hazards = machine.asynchrony
    if hazards is None:
        return lambda mask: None
    if "commit_group" in i.modifiers:
        groups = hazards.bulk if bulk else hazards.copies
        return lambda mask: groups.commit(chosen(mask))
    allowed = None
    if "wait_group" in i.modifiers:
        count = i.operands[0]
        assert isinstance(count, Immediate)
        allowed = int(count.value)
    if bulk:
        return lambda mask: hazards.end_bulk_reads(chosen(mask), allowed or 0)
    return lambda mask: hazards.end_copies(chosen(mask), allowed)


def chosen(mask: Mask) -> Array | slice:
    return slice(None) if mask is True else mask


def start(machine: MachineState, i: Instruction) -> Step:
    """Copy 4, 8 or 16 bytes: the first `source size` of them from global memory, the others zeros."""
    size = i.operands[2]
    if not isinstance(size, Immediate) or size.value not in (4, 8, 16):
        raise UnknownInstruction(f"{i.name} copies 4, 8 or 16 bytes", i)
    total = int(size.value)
    to = Target(machine, i.operands[0], "shared", total, i, write=True)
    source = Target(machine, i.operands[1], "global", total, i, write=False)
    present = amount(machine, i, total)
    word = UNSIGNED[32]

    def run(mask: Mask) -> None:
        lanes = machine.lanes(mask)
        (piece,) = to.pieces(mask)
        view, at = elements(piece, word)
        if machine.initcheck is not None:
            machine.initcheck.mark(piece, total)
        if machine.races is not None and machine.asynchrony is not None:
            machine.asynchrony.copies.begin(*machine.races.begin_copy(piece, total, i))
        values = np.zeros((len(lanes), total), np.uint8)
        sizes = np.broadcast_to(np.asarray(present()), machine.threads)[lanes]
        for bytes_ in np.unique(sizes):
            if bytes_:
                some = sizes == bytes_
                fetch(machine, source, lanes[some], int(bytes_), np.nonzero(some)[0], values)
        words = values.view(word)
        for n in range(total // 4):
            view[at + n] = words[:, n]

    return run


def amount(machine: MachineState, i: Instruction, total: int) -> Any:
    """A function that gives how many bytes of its source each thread copies."""
    if len(i.operands) < 4:
        return lambda: total
    operand = i.operands[3]
    if isinstance(operand, Register) and machine.rows[operand.name].dtype == np.bool_:
        ignored = machine.predicate(operand, i)
        return lambda: np.where(ignored(), 0, total)
    if "L2::cache_hint" in i.modifiers and len(i.operands) == 4:
        return lambda: total
    sizes = machine.read(operand, TYPES["u32"], i)

    def checked() -> Any:
        return np.minimum(sizes, np.uint32(total))

    return checked


def fetch(machine: MachineState, source: Target, lanes: Array, size: int, rows: Array, values: Array) -> None:
    """The first `size` bytes of each thread's source, into the rows of its values."""
    mask = np.zeros(machine.threads, bool)
    mask[lanes] = True
    addresses = source.addresses(mask, lanes)
    if int(np.bitwise_or.reduce(addresses)) & (source.size - 1):
        source.misaligned(addresses, lanes)
    narrow = source if size == source.size else source.sized(size)
    where = np.zeros(machine.threads, np.int64)
    where[lanes] = rows
    for piece in narrow.in_space(addresses, lanes):
        view, at = elements(piece, UNSIGNED[8])
        values[where[piece.lanes], :size] = view[at[:, None] + np.arange(size)]
