"""tensormap.replace, the copy that publishes a changed map, and the fence by which others see it."""

from __future__ import annotations

import numpy as np

from ..access import Target, elements, space_of
from ..errors import UnknownInstruction
from ..geometry import Mask, Step
from ..ptx import Immediate, Instruction, Operand
from ..registry import emulates
from ..state import MachineState
from ..tensor_map import FIELDS, MAP_BYTES, Field
from ..types import TYPES, UNSIGNED, Array

__all__ = ["acquire"]


@emulates("tensormap")
def tensormap(machine: MachineState, i: Instruction) -> Step:
    if i.modifiers[:2] == ("replace", "tile") and i.modifiers[2] in FIELDS:
        return replace(machine, i, FIELDS[i.modifiers[2]])
    if i.modifiers[:1] == ("cp_fenceproxy",) and {"tensormap::generic", "release"} <= set(i.modifiers):
        return publish(machine, i)
    raise UnknownInstruction(f"the emulator does not know {i.name}", i)


def replace(machine: MachineState, i: Instruction, field: Field) -> Step:
    """One field of a map in shared or global memory, or one of a field of several, is set."""
    operands = list(i.operands[1:])
    number = 0
    if field.count > 1:
        index = operands.pop(0)
        if not isinstance(index, Immediate) or not 0 <= index.value < field.count:
            raise UnknownInstruction(f"{i.name} counts to {field.count}", i)
        number = int(index.value)
    base = Target(machine, i.operands[0], space_of(i), MAP_BYTES // 2, i, write=True)
    part = base.sized(field.size)
    value = machine.read(operands[0], TYPES["u64" if field.size == 8 else "u32"], i)
    dtype = UNSIGNED[field.size * 8]

    def run(mask: Mask) -> None:
        lanes = machine.lanes(mask)
        addresses = base.addresses(mask, lanes)
        list(base.locate(addresses, lanes))
        values = np.broadcast_to(value, machine.threads)
        for piece in part.locate(addresses + field.offset + number * field.size, lanes):
            view, at = elements(piece, dtype)
            machine.shared_memory_changes(piece, view, at, field.size, i, atomic=False)
            view[at] = values[piece.lanes].astype(dtype)

    return run


class _Bytes:
    """128 bytes at an address."""

    def __init__(self, machine: MachineState, operand: Operand, space: str | None, i: Instruction, write: bool) -> None:
        self.machine, self.i = machine, i
        self.target = Target(machine, operand, space, 16, i, write=write)

    def pieces(self, thread: int) -> list[tuple[Array, Array]]:
        steps = self.target.of(thread) + np.arange(0, MAP_BYTES, 16)
        found = []
        for piece in self.target.locate(steps, np.full(len(steps), thread)):
            if piece.store is self.machine.shared:
                self.machine.shared_memory_read(piece, 16, self.i, collective=True)
            view, at = elements(piece, UNSIGNED[8])
            found.append((view, at[:, None] + np.arange(16)))
        return found


def publish(machine: MachineState, i: Instruction) -> Step:
    """tensormap.cp_fenceproxy: a warp copies a map from shared to global memory, for TMA to use."""
    size = i.operands[2]
    if not isinstance(size, Immediate) or size.value != MAP_BYTES:
        raise UnknownInstruction(f"{i.name} copies {MAP_BYTES} bytes", i)
    to = _Bytes(machine, i.operands[0], "global", i, write=True)
    source = _Bytes(machine, i.operands[1], "shared", i, write=False)

    def run(mask: Mask) -> None:
        lanes = machine.lanes(mask)
        for thread in lanes[np.unique(lanes >> 5, return_index=True)[1]].tolist():
            data = np.concatenate([view[at] for view, at in source.pieces(thread)])
            for view, at in to.pieces(thread):
                view[at] = data
            machine.tensor_maps.publish(to.target.of(thread))

    return run


def acquire(machine: MachineState, i: Instruction) -> Step:
    """fence.proxy.tensormap::generic.acquire [map], 128"""
    target = Target(machine, i.operands[0], None, 16, i, write=False)

    def run(mask: Mask) -> None:
        lanes = machine.lanes(mask)
        addresses = target.addresses(mask, lanes)
        for cta, address in set(zip(machine.cta[lanes].tolist(), addresses.tolist())):
            machine.tensor_maps.acquire(cta, address)

    return run
