"""Instructions by which the threads of a warp exchange values. They run when all members of their mask have come."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnknownInstruction
from ..geometry import Mask, Step
from ..ptx import Instruction, Pair
from ..registry import emulates
from ..state import MachineState
from ..steps import last_type, only
from ..terminators import bits_of_warps
from ..types import TYPES, Array

__all__: list[str] = []

#: What a thread reads from a lane that takes no part.
NOBODY = np.uint32(0xDEADBEEF)


def full(machine: MachineState, mask: Mask) -> Array:
    return np.ones(machine.threads, bool) if mask is True else mask


@emulates("shfl")
def shuffle(machine: MachineState, i: Instruction) -> Step:
    """Each thread reads the register of another lane, as the pseudocode of the PTX ISA has it."""
    only(i, "sync", "up", "down", "bfly", "idx")
    if "sync" not in i.modifiers:
        raise UnknownInstruction("shfl without .sync is not emulated", i)
    out = i.operands[0]
    target = machine.write(out.first if isinstance(out, Pair) else out, TYPES["u32"], i)
    found = machine.write(out.second, TYPES["pred"], i) if isinstance(out, Pair) else None
    source, b, c = (machine.read(o, TYPES["u32"], i) for o in i.operands[1:4])
    mode = i.modifiers[1]
    lane = machine.lane
    first = machine.thread - lane

    def sources() -> tuple[Array, Array]:
        """The lane that each thread reads, and whether it lies in the segment."""
        amount, limits = np.asarray(b).astype(np.int64) & 31, np.asarray(c).astype(np.int64)
        segment = limits >> 8 & 31
        bound = limits & 31
        high = (lane & segment) | (bound & ~segment)
        low = lane & segment
        if mode == "up":
            j = lane - amount
            inside = j >= high
        else:
            j = {"down": lane + amount, "bfly": lane ^ amount, "idx": low | (amount & ~segment)}[mode]
            inside = j <= high
        return np.where(inside, j, lane), inside

    steady = sources() if isinstance(b, np.generic) and isinstance(c, np.generic) else None

    def run(mask: Mask) -> None:
        j, inside = steady if steady is not None else sources()
        values = np.broadcast_to(source, machine.threads)
        at = first + j
        result = values[at]
        if mask is not True:
            result = np.where(mask[at], result, NOBODY)
        np.copyto(target, result, where=mask)
        if found is not None:
            np.copyto(found, inside, where=mask)

    return run


@emulates("vote")
def vote(machine: MachineState, i: Instruction) -> Step:
    """all, any, uni, or the ballot, of the members' predicates."""
    only(i, "sync", "all", "any", "uni", "ballot")
    if "sync" not in i.modifiers:
        raise UnknownInstruction("vote without .sync is not emulated", i)
    predicate = machine.predicate(i.operands[1], i)
    mode = next(m for m in ("all", "any", "uni", "ballot") if m in i.modifiers)
    target = machine.write(i.operands[0], TYPES["u32" if mode == "ballot" else "pred"], i)
    members = machine.read(i.operands[2], TYPES["u32"], i)
    warp = machine.thread >> 5

    def run(mask: Mask) -> None:
        here = full(machine, mask)
        yes = bits_of_warps(predicate() & here)[warp] & members
        present = bits_of_warps(here)[warp] & members
        result = {
            "ballot": lambda: yes,
            "any": lambda: yes != 0,
            "all": lambda: yes == present,
            "uni": lambda: (yes == present) | (yes == 0),
        }[mode]()
        np.copyto(target, result, where=mask)

    return run


@emulates("activemask")
def active_mask(machine: MachineState, i: Instruction) -> Step:
    target = machine.write(i.operands[0], TYPES["u32"], i)
    warp = machine.thread >> 5

    def run(mask: Mask) -> None:
        np.copyto(target, bits_of_warps(full(machine, mask))[warp], where=mask)

    return run


@emulates("elect")
def elect(machine: MachineState, i: Instruction) -> Step:
    """The lowest member is elected; its lane goes to all."""
    out = i.operands[0]
    assert isinstance(out, Pair)
    target = machine.write(out.first, TYPES["u32"], i)
    chosen = machine.write(out.second, TYPES["pred"], i)
    members = machine.read(i.operands[1], TYPES["u32"], i)
    warp = machine.thread >> 5

    def run(mask: Mask) -> None:
        present = (bits_of_warps(full(machine, mask))[warp] & members).astype(np.int64)
        lowest = present & -present
        leader = np.log2(np.maximum(lowest, 1)).astype(np.int64)
        np.copyto(target, leader, where=mask, casting="unsafe")
        np.copyto(chosen, leader == machine.lane, where=mask)

    return run


def groups(machine: MachineState, mask: Mask, members: Any) -> Array:
    """[threads, 32]: which lanes of its warp each thread works with."""
    warp = machine.thread >> 5
    present = bits_of_warps(full(machine, mask))[warp] & members
    return (present[:, None] >> np.arange(32, dtype=np.uint32)) & 1 == 1


@emulates("match")
def match(machine: MachineState, i: Instruction) -> Step:
    """any: the members with the same value; all: whether all have the same."""
    only(i, "sync", "any", "all")
    type_ = last_type(i)
    out = i.operands[0]
    target = machine.write(out.first if isinstance(out, Pair) else out, TYPES["u32"], i)
    same = machine.write(out.second, TYPES["pred"], i) if isinstance(out, Pair) else None
    value, members = machine.read(i.operands[1], type_, i), machine.read(i.operands[2], TYPES["u32"], i)
    powers = np.uint32(1) << np.arange(32, dtype=np.uint32)

    def run(mask: Mask) -> None:
        together = groups(machine, mask, members)
        warps = np.broadcast_to(value, machine.threads).reshape(-1, 32).repeat(32, axis=0)
        equal = together & (warps == np.broadcast_to(value, machine.threads)[:, None])
        if "any" in i.modifiers:
            np.copyto(target, (equal * powers).sum(axis=1, dtype=np.uint32), where=mask)
            return
        everybody = (equal == together).all(axis=1)
        lanes = (together * powers).sum(axis=1, dtype=np.uint32)
        np.copyto(target, np.where(everybody, lanes, np.uint32(0)), where=mask)
        if same is not None:
            np.copyto(same, everybody, where=mask)

    return run


_REDUCTIONS: dict[str, tuple[Any, Any]] = {
    "add": (np.add, 0),
    "and": (np.bitwise_and, -1),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
}


@emulates("redux")
def reduce(machine: MachineState, i: Instruction) -> Step:
    """One value from the members' values, given to all of them."""
    only(i, "sync", "min", "max", "abs", "NaN", *_REDUCTIONS)
    type_ = last_type(i)
    name = next(m for m in i.modifiers if m in ("min", "max", *_REDUCTIONS))
    target = machine.write(i.operands[0], type_, i)
    source, members = machine.read(i.operands[1], type_, i), machine.read(i.operands[2], TYPES["u32"], i)
    if type_.kind == "f":
        return reduce_floats(machine, i, target, source, members, name)
    if name in _REDUCTIONS:
        function, neutral = _REDUCTIONS[name]
        neutral = np.uint32(neutral & 0xFFFFFFFF).view(type_.dtype)
    else:
        info = np.iinfo(type_.dtype)
        function, neutral = (np.minimum, info.max) if name == "min" else (np.maximum, info.min)

    def run(mask: Mask) -> None:
        together = groups(machine, mask, members)
        warps = np.broadcast_to(source, machine.threads).reshape(-1, 32).repeat(32, axis=0)
        chosen = np.where(together, warps, neutral)
        np.copyto(target, function.reduce(chosen, axis=1, dtype=type_.dtype), where=mask)

    return run


def reduce_floats(machine: MachineState, i: Instruction, target: Array, source: Any, members: Any, name: str) -> Step:
    """min and max of f32: NaN loses, or wins with .NaN; -0 is less than +0."""
    keep = "NaN" in i.modifiers

    def run(mask: Mask) -> None:
        together = groups(machine, mask, members)
        values = np.broadcast_to(source, machine.threads)
        values = np.abs(values) if "abs" in i.modifiers else values
        warps = values.reshape(-1, 32).repeat(32, axis=0)
        bits = warps.view(np.int32)
        # Integers that order as the numbers do.
        keys = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
        number = together & ~np.isnan(warps)
        info = np.iinfo(np.int32)
        chosen = np.where(number, keys, info.max if name == "min" else info.min)
        best = (chosen.min if name == "min" else chosen.max)(axis=1)
        result = np.where(best < 0, best ^ np.int32(0x7FFFFFFF), best).astype(np.int32)
        bad = (together & np.isnan(warps)).any(axis=1) if keep else ~number.any(axis=1)
        result = np.where(bad, np.int32(0x7FFFFFFF), result)
        np.copyto(target.view(np.int32), result, where=mask)

    return run


@emulates("bar", "barrier")
def warp_barrier(machine: MachineState, i: Instruction) -> Step:
    """bar.warp.sync: what the members did before is seen by all after."""

    def run(mask: Mask) -> None:
        if machine.races is not None:
            machine.races.warp_barrier(mask)

    return run
