"""Which function emulates which opcode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import UnknownInstruction
from .geometry import Mask, Step
from .ptx import Instruction, Register
from .state import MachineState

__all__ = ["EMULATES", "emulates", "find", "step_of", "unguarded_step"]

#: Opcode -> what makes the step of such an instruction on a machine.
EMULATES: dict[str, Callable[[Any, Any], Any]] = {}


def emulates(*opcodes: str) -> Callable[[Any], Any]:
    """Register the function below for `opcodes`: it takes the machine and the instruction, and returns the step."""

    def register(function: Any) -> Any:
        for opcode in opcodes:
            EMULATES[opcode] = function
        return function

    return register


def find(i: Instruction) -> Callable[[MachineState, Instruction], Step]:
    """What makes the steps of `i`. Raises UnknownInstruction."""
    found = EMULATES.get(i.opcode)
    if found is None:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    return found


def unguarded_step(machine: MachineState, i: Instruction) -> Step:
    """The step of an instruction without its guard; checks observe its register accesses."""
    step = find(i)(machine, i)
    if machine.asynchrony is None or i.opcode == "wgmma":
        return step
    return machine.asynchrony.registers.watched(step, i)


def step_of(machine: MachineState, i: Instruction) -> Step:
    """The step of an instruction, under its guard."""
    step = unguarded_step(machine, i)
    return step if i.guard is None else _guarded(machine, step, i.guard)


def _guarded(machine: MachineState, step: Step, guard: Register) -> Step:
    row, negated = machine.rows[guard.name], guard.negated

    def run(mask: Mask) -> None:
        chosen = ~row if negated else row.copy()
        if mask is not True:
            chosen &= mask
        elif chosen.all():
            return step(True)
        if chosen.any():
            step(chosen)
        return None

    return run
