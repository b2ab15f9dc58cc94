"""Which function emulates which opcode."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import UnknownInstruction

if TYPE_CHECKING:
    from .machine import Machine, Step
    from .ptx import Instruction

__all__ = ["EMULATES", "emulates", "find"]

#: Opcode -> what makes the step of such an instruction on a machine.
EMULATES: dict[str, Callable[[Any, Any], Any]] = {}


def emulates(*opcodes: str) -> Callable[[Any], Any]:
    """Register the function below for `opcodes`: it takes the machine and the instruction, and returns the step."""

    def register(function: Any) -> Any:
        for opcode in opcodes:
            EMULATES[opcode] = function
        return function

    return register


def find(i: Instruction) -> Callable[[Machine, Instruction], Step]:
    """What makes the steps of `i`. Raises UnknownInstruction."""
    found = EMULATES.get(i.opcode)
    if found is None:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    return found
