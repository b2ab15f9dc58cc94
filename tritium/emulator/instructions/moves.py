"""mov, and what turns addresses of one space into those of another."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..geometry import Step
from ..memory import CLUSTER_SHIFT, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SIZE
from ..ptx import Address, Instruction, Name, Special, Tuple
from ..registry import emulates
from ..state import MachineState
from ..steps import assign, last_type, only, ufunc
from ..types import TYPES, Array, Type

__all__: list[str] = []

_WINDOWS = {
    "global": 0,
    "const": 0,
    "shared": SHARED_WINDOW,
    "shared::cta": SHARED_WINDOW,
    "shared::cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW,
    "param": PARAM_WINDOW,
    "param::entry": PARAM_WINDOW,
}


@emulates("mov")
def move(machine: MachineState, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    out, source = i.operands[0], i.operands[1]
    if isinstance(out, Tuple):
        return unpack(machine, i, type_)
    if isinstance(source, Tuple):
        return pack(machine, i, type_)
    if isinstance(source, Special) and source.name in _CLOCKS:
        return clock(machine, i, type_, source.name)
    target = machine.write(out, type_, i)
    if isinstance(source, Address) and isinstance(source.base, Name):
        address = np.uint64(int(machine.address_of(source.base.name, i)) + source.offset).astype(type_.dtype)
        return assign(target, lambda: address)
    if type_.kind == "pred":
        predicate = machine.predicate(source, i)
        return assign(target, predicate)
    if type_.bits == 128:
        wide = machine.view(source.name, type_, i)  # type: ignore[union-attr]
        return assign(target, lambda: wide)
    value = machine.read(source, type_, i)
    if isinstance(value, np.generic):
        return assign(target, lambda: value)
    return ufunc(np.positive, target, value) if type_.kind != "f" else assign(target, lambda: value)


def parts_of(machine: MachineState, row: Array, count: int) -> Array:
    """A row of registers as `count` equal parts each, low bits first."""
    size = row.nbytes // machine.threads // count
    return row.view(TYPES[f"b{size * 8}"].dtype).reshape(machine.threads, count)


def unpack(machine: MachineState, i: Instruction, type_: Type) -> Step:
    """{a, b} = c"""
    out = i.operands[0]
    assert isinstance(out, Tuple)
    part = TYPES[f"b{type_.bits // len(out.items)}"]
    value = machine.read(i.operands[1], TYPES[f"b{type_.bits}"], i)
    whole = np.array([value]) if isinstance(value, np.generic) else value
    targets = [machine.write(o, part, i) if o is not None else None for o in out.items]

    def run(mask: Any) -> None:
        size = len(whole) if whole.ndim == 1 else machine.threads
        parts = np.ascontiguousarray(whole).view(part.dtype).reshape(size, len(targets)).copy()
        for n, target in enumerate(targets):
            if target is not None:
                np.copyto(target, parts[:, n], where=mask)

    return run


def pack(machine: MachineState, i: Instruction, type_: Type) -> Step:
    """c = {a, b}"""
    source = i.operands[1]
    assert isinstance(source, Tuple)
    part = TYPES[f"b{type_.bits // len(source.items)}"]
    target = parts_of(machine, machine.write(i.operands[0], TYPES[f"b{type_.bits}"], i), len(source.items))
    values = [machine.read(o, part, i) for o in source.items]

    def run(mask: Any) -> None:
        new = [np.array(v) for v in values]
        for n, value in enumerate(new):
            np.copyto(target[:, n], value, where=mask)

    return run


_CLOCKS = ("%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi")


def clock(machine: MachineState, i: Instruction, type_: Type, name: str) -> Step:
    """Clocks count the emulator's steps; the timer is the machine's, in nanoseconds."""
    target = machine.write(i.operands[0], type_, i)
    high = name.endswith("_hi")

    def value() -> Any:
        now = time.time_ns() if "globaltimer" in name else machine.instructions
        return np.uint64(now >> 32 if high else now).astype(type_.dtype)

    return assign(target, value)


@emulates("cvta")
def convert_address(machine: MachineState, i: Instruction) -> Step:
    """An address of a space as a generic one; `.to`: back."""
    only(i, "to", *_WINDOWS)
    type_ = last_type(i)
    space = next(m for m in i.modifiers if m in _WINDOWS)
    target = machine.write(i.operands[0], type_, i)
    source = i.operands[1]
    offset = 0
    if isinstance(source, Address):
        offset, source = source.offset, source.base
    value = machine.read(source, type_, i)
    window = np.uint64(_WINDOWS[space])
    if "to" in i.modifiers:
        return assign(target, lambda: np.subtract(value, window))
    total = np.uint64(window + np.uint64(offset))
    return assign(target, lambda: np.add(value, total))


@emulates("isspacep")
def is_in_space(machine: MachineState, i: Instruction) -> Step:
    only(i, *_WINDOWS)
    space = i.modifiers[0]
    target = machine.write(i.operands[0], TYPES["pred"], i)
    value = machine.read(i.operands[1], TYPES["u64"], i)
    window = _WINDOWS[space]
    low, high = (np.uint64(0), np.uint64(SHARED_WINDOW)) if not window else (np.uint64(window), np.uint64(window * 2))

    def inside() -> Array:
        result = (value >= low) & (value < high)
        if space in ("shared", "shared::cta"):
            result &= (value & np.uint64(WINDOW_SIZE - 1)) < np.uint64(1 << CLUSTER_SHIFT)
        return result

    return assign(target, inside)


@emulates("mapa")
def map_address(machine: MachineState, i: Instruction) -> Step:
    """The address that a variable of shared memory has in the CTA of a given rank in the cluster."""
    only(i, "shared::cluster")
    type_ = last_type(i)
    target = machine.write(i.operands[0], type_, i)
    source = machine.read(i.operands[1], type_, i)
    rank = machine.read(i.operands[2], TYPES["u32"], i)
    shift = type_.dtype.type(CLUSTER_SHIFT)
    low = type_.dtype.type((1 << CLUSTER_SHIFT) - 1)
    keep = type_.dtype.type(SHARED_WINDOW if type_.bits == 64 and "shared::cluster" not in i.modifiers else 0)

    def value() -> Array:
        block = np.asarray(rank + np.uint32(1)).astype(type_.dtype) << shift
        return block | (source & low) | keep

    return assign(target, value)


@emulates("getctarank")
def rank_of_address(machine: MachineState, i: Instruction) -> Step:
    """The rank in the cluster of the CTA that an address of shared memory belongs to."""
    only(i, "shared::cluster")
    type_ = last_type(i)
    target = machine.write(i.operands[0], TYPES["u32"], i)
    source = machine.read(i.operands[1], type_, i)
    own = machine.specials["%cluster_ctarank"]

    def value() -> Array:
        rank = np.asarray(source >> type_.dtype.type(CLUSTER_SHIFT)).astype(np.uint32) & np.uint32(0xFFFF)
        return np.where(rank == 0, own, rank - np.uint32(1))

    return assign(target, value)
