"""The instructions that the emulator has, by name.

A vector or scalar ALU instruction is declared by a signature in the order of its operands, `"f32 = f32 f32"`, and a
function over arrays. Sources that are not operands: `vcc`, `scc`, `saturate` (the mode FP16_OVFL), and `d:f32`, the
destination's old value. Other
instructions register a function that builds their step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from ..types import Array
from .assembly import Instruction
from .operands import Builder
from .state import State
from .waits import Event

__all__ = ["SALU", "SPECIAL", "VALU", "Action", "Function", "Signature", "Value", "scalar", "special", "vector"]

Value = Array | tuple[Array, Array]
Function = Callable[..., Value]
F = TypeVar("F", bound=Function)


class Signature(NamedTuple):
    """An ALU instruction: types of destinations and sources, its function, and the function for `clamp`."""

    destinations: tuple[str, ...]
    sources: tuple[str, ...]
    function: Function
    clamped: Function | None
    generation: int | None


class Action(NamedTuple):
    """A built instruction: what executes it, and the memory operation it begins, if any."""

    run: Callable[[State], None]
    event: Event | None = None


VALU: dict[str, list[Signature]] = {}
SALU: dict[str, list[Signature]] = {}
SPECIAL: dict[str, Callable[[Instruction, Builder], Action]] = {}


def _declare(
    table: dict[str, list[Signature]], names: str, text: str, clamped: Function | None, generation: int | None
) -> Callable[[F], F]:
    destinations, _, sources = text.partition("=")

    def declare(function: F) -> F:
        signature = Signature(tuple(destinations.split()), tuple(sources.split()), function, clamped, generation)
        for name in names.split():
            table.setdefault(name, []).append(signature)
        return function

    return declare


def vector(
    names: str, signature: str, clamped: Function | None = None, generation: int | None = None
) -> Callable[[F], F]:
    """Declare vector ALU instructions; `generation` restricts them to one of GFX9 and GFX11."""
    return _declare(VALU, names, signature, clamped, generation)


def scalar(names: str, signature: str) -> Callable[[F], F]:
    """Declare scalar ALU instructions."""
    return _declare(SALU, names, signature, None, None)


def special(
    names: str,
) -> Callable[[Callable[[Instruction, Builder], Action]], Callable[[Instruction, Builder], Action]]:
    """Declare instructions that build their step themselves."""

    def declare(build: Callable[[Instruction, Builder], Action]) -> Callable[[Instruction, Builder], Action]:
        for name in names.split():
            SPECIAL[name] = build
        return build

    return declare
