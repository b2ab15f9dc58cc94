"""What the steps of many instructions are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import UnknownInstruction
from .geometry import Mask, Step
from .ptx import Immediate, Instruction, Operand
from .state import MachineState
from .types import TYPES, Array, Type, types_of

__all__ = ["assign", "lanes_of", "last_type", "only", "packed", "packed_target", "ufunc"]


def last_type(i: Instruction) -> Type:
    """The type that an opcode ends with."""
    types = types_of(i.modifiers)
    if not types:
        raise UnknownInstruction(f"{i.name} has no type", i)
    return types[-1]


def only(i: Instruction, *allowed: str) -> None:
    """Refuse suffixes other than types and `allowed` ones: a variant that is not emulated must not pass for another."""
    for modifier in i.modifiers:
        if modifier not in TYPES and modifier not in allowed:
            raise UnknownInstruction(f"the emulator does not know .{modifier} in {i.name}", i)


def assign(target: Array, value: Callable[[], Any]) -> Step:
    """target = value()"""
    if target.ndim == 1:

        def run(mask: Mask) -> None:
            np.copyto(target, value(), where=mask, casting="unsafe")
    else:

        def run(mask: Mask) -> None:
            np.copyto(target, value(), where=mask if mask is True else mask[:, None], casting="unsafe")

    return run


def ufunc(function: Any, target: Array, *arguments: Any) -> Step:
    """target = function(*arguments) for a function that writes in place."""
    if all(isinstance(a, np.generic) for a in arguments):
        value = function(*arguments)
        return assign(target, lambda: value)

    def run(mask: Mask) -> None:
        function(*arguments, out=target, where=mask)

    return run


def lanes_of(machine: MachineState, operand: Operand, type_: Type, i: Instruction) -> Array:
    """A packed operand as an array over threads and the numbers in a register, low bits first."""
    element = TYPES[type_.element]
    if isinstance(operand, Immediate):
        scalar = machine.read(operand, TYPES[f"b{type_.bits}"], i)
        return np.array([scalar]).view(element.dtype)
    whole = machine.read(operand, TYPES[f"b{type_.bits}"], i)
    if not whole.flags.c_contiguous:
        raise UnknownInstruction("a packed operand must fill its register", i)
    return whole.view(element.dtype).reshape(-1, type_.lanes)


def packed(machine: MachineState, operand: Operand, type_: Type, i: Instruction) -> Any:
    """An operand of a type, packed or not."""
    return lanes_of(machine, operand, type_, i) if type_.element else machine.read(operand, type_, i)


def packed_target(machine: MachineState, operand: Operand, type_: Type, i: Instruction) -> Array:
    """Where a result of a type goes, packed or not."""
    if not type_.element:
        return machine.write(operand, type_, i)
    whole = machine.write(operand, TYPES[f"b{type_.bits}"], i)
    return whole.view(TYPES[type_.element].dtype).reshape(-1, type_.lanes)
