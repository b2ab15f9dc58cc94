"""ld and st, of all spaces, widths and types. Cache hints, scopes and orderings change nothing here: the emulator's
memory is sequentially consistent."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..access import SPACES, Target, elements, space_of
from ..errors import UnknownInstruction
from ..geometry import Mask, Step
from ..memory import Piece
from ..ptx import Instruction, Operand, Register, Tuple
from ..registry import emulates
from ..state import MachineState
from ..types import TYPES, UNSIGNED, Array, Type, types_of

__all__ = ["check_hints", "store", "values_of", "write"]

#: Suffixes that say how an access is ordered, cached or seen, and change no value.
HINT = re.compile(
    r"(weak|volatile|mmio|relaxed|acquire|release|acq_rel|sc|cta|cluster|gpu|sys|ca|cg|cs|cv|lu|cop|wb|wt|nc|unified"
    r"|L1::\w+|L2::\w+|L1|level::\w+)$"
)


def check_hints(i: Instruction, *allowed: str) -> None:
    """Refuse a suffix that is not known to change nothing."""
    for m in i.modifiers:
        if m not in TYPES and m not in SPACES and m not in allowed and not HINT.match(m):
            raise UnknownInstruction(f"the emulator does not know .{m} in {i.name}", i)


def values_of(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a vector operand, or the one register."""
    return operand.items if isinstance(operand, Tuple) else (operand,)


def memory_type(i: Instruction) -> Type:
    type_ = types_of(i.modifiers)[-1]
    # In memory every number is bits; what a register holds of it depends on the sign alone.
    return type_ if type_.kind == "s" or type_.bits == 128 else TYPES[f"b{type_.bits}"]


def half(rows: Array, n: int) -> Array:
    return rows[:, n]


def check_count(i: Instruction, registers: tuple[Operand, ...]) -> None:
    count = next((int(m[1:]) for m in i.modifiers if m in ("v2", "v4", "v8")), 1)
    if count != len(registers):
        raise UnknownInstruction(f"{i.name} with {len(registers)} registers", i)


@emulates("ld", "ldu")
def load(machine: MachineState, i: Instruction) -> Step:
    check_hints(i, "v2", "v4", "v8")
    type_ = memory_type(i)
    registers = values_of(i.operands[0])
    check_count(i, registers)
    if type_.bits == 128:
        rows: list[Array] = []
        for r in registers:
            wide = machine.write(r, type_, i)
            rows += [half(wide, 0), half(wide, 1)]
        dtype = UNSIGNED[64]
    else:
        rows = [machine.widest(r, type_, i) for r in registers]
        dtype = type_.dtype
    target = Target(machine, i.operands[1], space_of(i), dtype.itemsize * len(rows), i, write=False)
    if target.constant and target.space == "param":
        return load_parameter(machine, target, rows, dtype)
    whole, shared = machine.threads, machine.shared

    def run(mask: Mask) -> None:
        for piece in target.pieces(mask):
            view, at = elements(piece, dtype)
            if piece.store is shared:
                machine.shared_memory_read(piece, target.size, i)
            if len(piece.lanes) == whole:
                for n, row in enumerate(rows):
                    row[:] = view.take(at + n if n else at)
            else:
                for n, row in enumerate(rows):
                    row[piece.lanes] = view.take(at + n if n else at)

    return run


def load_parameter(machine: MachineState, target: Target, rows: list[Array], dtype: np.dtype[Any]) -> Step:
    """A parameter of the kernel is the same for all threads."""
    lane = np.zeros(1, np.int64)
    (piece,) = target.locate(np.full(1, target.fixed, np.int64), lane)
    view, at = elements(piece, dtype)
    first = int(at[0])

    def run(mask: Mask) -> None:
        for n, row in enumerate(rows):
            if mask is True:
                row[:] = view[first + n]
            else:
                row[mask] = view[first + n]

    return run


def store(machine: MachineState, i: Instruction) -> Step:
    if "bulk" in i.modifiers:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    check_hints(i, "v2", "v4", "v8")
    type_ = memory_type(i)
    registers = values_of(i.operands[1])
    check_count(i, registers)
    sources: list[Any] = []
    if type_.bits == 128:
        for r in registers:
            wide = machine.read(r, type_, i)
            sources += [half(wide, 0), half(wide, 1)]
        dtype = UNSIGNED[64]
    else:
        sources = [machine.read(r, type_, i) for r in registers]
        dtype = type_.dtype
    target = Target(machine, i.operands[0], space_of(i), dtype.itemsize * len(sources), i, write=True)

    def run(mask: Mask) -> None:
        for piece in target.pieces(mask):
            values = [s if isinstance(s, np.generic) else s[piece.lanes] for s in sources]
            write(machine, piece, dtype, values, target.size, i)

    return run


def write(
    machine: MachineState,
    piece: Piece,
    dtype: np.dtype[Any],
    values: list[Any],
    size: int,
    i: Instruction,
    collective: bool = False,
) -> None:
    """Put the values of each access of a piece in their places."""
    view, at = elements(piece, dtype)
    races = machine.races if piece.store is machine.shared else None
    if races is not None:
        races.write(piece, view, at, values, size, i, collective=collective)
    for n, value in enumerate(values):
        view[at + n if n else at] = value
    if races is not None:
        races.check_collision(piece, view, at, values, i)
    if machine.initcheck is not None and piece.store is machine.shared:
        machine.initcheck.mark(piece, size)


@emulates("prefetch", "prefetchu", "applypriority", "discard")
def hint(machine: MachineState, i: Instruction) -> Step:
    """Says something to the caches, and changes nothing."""
    return lambda mask: None


@emulates("createpolicy")
def policy(machine: MachineState, i: Instruction) -> Step:
    """Cache policies have no effect in the emulator."""
    first = i.operands[0]
    assert isinstance(first, Register)
    row = machine.rows[first.name]

    def run(mask: Mask) -> None:
        np.copyto(row, np.uint64(0), where=mask)

    return run
