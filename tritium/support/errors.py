"""The roots of the exception tree."""

from __future__ import annotations

import sys
from typing import Any

from .diagnostics import Diagnostic
from .location import UNKNOWN

__all__ = [
    "InternalError",
    "OptionError",
    "TritiumError",
    "TooManyElements",
    "TooManyOperations",
    "UnknownOptionError",
    "UnsupportedOperation",
    "UnsupportedStage",
    "interrupts",
    "read_only_store",
]


class TritiumError(Exception):
    """Base of all errors that a user of Tritium can cause, with messages for the user."""


class InternalError(TritiumError):
    """A broken invariant of the compiler: a bug of the compiler, never of the user."""


def read_only_store(name: str) -> tuple[str, str]:
    """The message for a store to the array of a read-only argument, and the hint."""
    return (
        f"argument {name!r} is a read-only array, and the kernel stores to it",
        "pass a copy (array.copy()), or memory that may be written",
    )


class OptionError(TritiumError, ValueError, AssertionError):
    """An option of a compile has an invalid value (Triton raises either of these bases for it)."""


class UnknownOptionError(OptionError, KeyError):
    """A keyword of a compile or a launch is no option of the target, nor a parameter (Triton raises KeyError)."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show the repr


class UnsupportedOperation(TritiumError, RuntimeError):
    """The target does not support `op`; `loc` is its source location."""

    def __init__(self, op: Any, why: str) -> None:
        self.op_name: str = op.name
        self.loc = op.loc
        self.why = why
        text = f"{op.name} {why}"
        super().__init__(Diagnostic.at(op.loc, text).render() if op.loc.file_position() else text)


class TooManyOperations(UnsupportedOperation):
    """A kernel has grown past the setting `compilation.max_operations`; `op` is the operation with the largest
    share."""

    def __init__(self, op: Any, why: str) -> None:
        super().__init__(op, f"{why}; the setting compilation.max_operations (TRITIUM_MAX_OPERATIONS) says how many")


class TooManyElements(UnsupportedOperation):
    """Operations of a kernel have so many elements per thread that compiling them takes minutes."""

    def __init__(self, op: Any, why: str) -> None:
        super().__init__(op, f"{why} (TRITIUM_MAX_OPERATIONS=0 lifts this limit)")


class UnsupportedStage(UnsupportedOperation):
    """A target's table of stages does not reach `stage` yet: it ends at `last`."""

    def __init__(self, stage: str, target: str, last: str) -> None:
        self.op_name = stage
        self.loc = UNKNOWN
        self.why = f"is not supported for {target} yet: its stages end at {last}"
        super(UnsupportedOperation, self).__init__(
            f"the stage {stage} {self.why}\n"
            f"hint: until={last!r} (`tritium compile --stage {last}`) makes the stages that there are"
        )


def interrupts() -> tuple[type[BaseException], ...]:
    """KeyboardInterrupt, and BdbQuit once a debugger is loaded: exceptions that end a program at the user's request.

    `BdbQuit`, which `q` in a debugger raises, is an `Exception` in Python. A handler that reports or wraps exceptions
    must let it pass (`except interrupts(): raise`), as it does with `KeyboardInterrupt`.
    """
    quit_class = getattr(sys.modules.get("bdb"), "BdbQuit", None)
    return (KeyboardInterrupt,) if quit_class is None else (KeyboardInterrupt, quit_class)
