"""Triton's module of this name: a kernel that is always interpreted, whatever TRITON_INTERPRET says.

The interpreter itself is `tritium.interpreter` (docs/interpreter.md), which has nothing in common with Triton's.
"""

from __future__ import annotations

from typing import TypeVar

from ..interpreter.kernels import InterpreterError
from .jit import JITFunction

__all__ = ["InterpretedFunction", "InterpreterError"]

T = TypeVar("T")


class InterpretedFunction(JITFunction[T]):
    """`@jit` whose launches run the function's Python on the CPU, one program after the other."""

    always_interpreted = True
