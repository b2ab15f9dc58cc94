"""Instructions of a warp on small matrices: ldmatrix, stmatrix, movmatrix.

The 8x8 matrices have elements of 16 bits; lane n holds two neighbours of row n / 4. Their rows stand in shared memory
at addresses that the lanes give: lanes 0-7 those of the first matrix, 8-15 of the second, and so on.
"""

from __future__ import annotations

import numpy as np

from ..access import Target, elements
from ..errors import BarrierError, UnknownInstruction
from ..geometry import Mask, Step
from ..ptx import Instruction
from ..registry import emulates
from ..state import MachineState
from ..steps import only
from ..types import TYPES, UNSIGNED, Array
from .loads import values_of, write

__all__ = ["whole_warps"]

_ALLOWED = ("sync", "aligned", "m8n8", "m16n16", "x1", "x2", "x4", "trans", "shared", "shared::cta")
HALF = UNSIGNED[16]


def whole_warps(machine: MachineState, mask: Mask, i: Instruction) -> Array:
    """The threads of a mask, in whole warps. Raises BarrierError where lanes are missing."""
    lanes = machine.lanes(mask)
    if mask is not True and not mask.reshape(-1, 32).any(axis=1).sum() * 32 == len(lanes):
        raise machine.error(BarrierError, "lanes of the warp do not take part", i, int(lanes[0]))
    return lanes


def count_of(i: Instruction, registers: int) -> int:
    only(i, *_ALLOWED)
    count = next((int(m[1:]) for m in i.modifiers if m in ("x1", "x2", "x4")), 0)
    if count != registers or "m8n8" not in i.modifiers or "b16" not in i.modifiers:
        raise UnknownInstruction(f"the emulator does not know {i.name} with {registers} registers", i)
    return count


def rows(machine: MachineState, target: Target, lanes: Array, count: int, i: Instruction) -> tuple[Array, Array, Array]:
    """The lanes that give addresses, their elements' store, and the numbers of the first elements."""
    givers = lanes[(lanes & 31) < 8 * count]
    mask = np.zeros(machine.threads, bool)
    mask[givers] = True
    pieces = list(target.pieces(mask))
    if len(pieces) != 1 or pieces[0].store is not machine.shared:
        raise machine.error(BarrierError, f"{i.opcode} of an address outside shared memory", i, int(lanes[0]))
    machine.shared_memory_read(pieces[0], 16, i, collective=True)
    view, at = elements(pieces[0], HALF)
    return givers, view, at


@emulates("ldmatrix")
def load_matrix(machine: MachineState, i: Instruction) -> Step:
    registers = values_of(i.operands[0])
    count = count_of(i, len(registers))
    results = [machine.write(r, TYPES["u32"], i) for r in registers]
    target = Target(machine, i.operands[1], space(i), 16, i, write=False)
    transposed = "trans" in i.modifiers

    def run(mask: Mask) -> None:
        lanes = whole_warps(machine, mask, i)
        _, view, at = rows(machine, target, lanes, count, i)
        data = view[at[:, None] + np.arange(8)].reshape(-1, count, 8, 8)
        words = to_words(data, transposed)
        for n, result in enumerate(results):
            result[lanes] = words[:, n].ravel()

    return run


def space(i: Instruction) -> str | None:
    return "shared" if {"shared", "shared::cta"} & set(i.modifiers) else None


def to_words(matrices: Array, transposed: bool) -> Array:
    """[…, 8, 8] halves as […, 32] words, one for each lane."""
    if transposed:
        matrices = matrices.swapaxes(-1, -2)
    return np.ascontiguousarray(matrices).view(np.uint32).reshape(*matrices.shape[:-2], 32)


def from_words(words: Array, transposed: bool) -> Array:
    """[…, 32] words as […, 8, 8] halves."""
    matrices = np.ascontiguousarray(words).view(HALF).reshape(*words.shape[:-1], 8, 8)
    return matrices.swapaxes(-1, -2) if transposed else matrices


@emulates("stmatrix")
def store_matrix(machine: MachineState, i: Instruction) -> Step:
    registers = values_of(i.operands[1])
    count = count_of(i, len(registers))
    sources = [machine.read(r, TYPES["u32"], i) for r in registers]
    target = Target(machine, i.operands[0], space(i), 16, i, write=True)
    transposed = "trans" in i.modifiers

    def run(mask: Mask) -> None:
        lanes = whole_warps(machine, mask, i)
        words = np.stack([s[lanes].reshape(-1, 32) for s in sources], axis=1)
        data = np.ascontiguousarray(from_words(words, transposed)).reshape(-1, 8).view(np.uint32)
        givers = np.zeros(machine.threads, bool)
        givers[lanes[(lanes & 31) < 8 * count]] = True
        for piece in target.pieces(givers):
            if piece.store is not machine.shared:
                raise machine.error(BarrierError, "stmatrix to an address outside shared memory", i, int(lanes[0]))
            write(machine, piece, UNSIGNED[32], [data[:, n] for n in range(4)], 16, i, collective=True)

    return run


@emulates("movmatrix")
def transpose_matrix(machine: MachineState, i: Instruction) -> Step:
    """The transposed matrix, in registers."""
    only(i, "sync", "aligned", "m8n8", "trans")
    target = machine.write(i.operands[0], TYPES["u32"], i)
    source = machine.read(i.operands[1], TYPES["u32"], i)

    def run(mask: Mask) -> None:
        lanes = whole_warps(machine, mask, i)
        matrices = from_words(source[lanes].reshape(-1, 32), False)
        target[lanes] = to_words(matrices, True).ravel()

    return run
