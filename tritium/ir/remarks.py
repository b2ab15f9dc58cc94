"""What passes tell people: remarks and warnings about an operation, which change nothing.

    remark(loop, "unrolled 4 times")
    with listening(told.append): ...

Who listens gets them; `tritium opt` shows all. Nobody listening, they go to stderr if `MLIR_ENABLE_DIAGNOSTICS` names
their kind: `remarks`, `warnings`, or both with a comma between; `operations` adds the operation's text, and
`stacktraces` where in the compiler the remark was made.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..support import Diagnostic
from ..support.lazy import LazyModule
from ..support.settings import compilation
from .operation import Operation
from .printer import print_op

__all__ = ["listening", "remark", "warn"]

_traceback = LazyModule("traceback")

Listener = Callable[[Diagnostic], object]


class _Listeners(threading.local):
    """Who listens to a thread's passes; the last counts."""

    def __init__(self) -> None:
        self.all: list[Listener] = []


_listeners = _Listeners()


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """What is told inside goes to `listener`, and nowhere else."""
    _listeners.all.append(listener)
    try:
        yield
    finally:
        _listeners.all.pop()


def remark(op: Operation, message: str) -> None:
    """Tell of something that was done, or was not, at `op`."""
    _tell("remark", op, message)


def warn(op: Operation, message: str) -> None:
    """Tell of something about `op` that its author should look at."""
    _tell("warning", op, message)


def _tell(severity: str, op: Operation, message: str) -> None:
    if _listeners.all:
        _listeners.all[-1](_diagnostic(severity, op, message, ()))
        return
    wanted = compilation.diagnostics
    kinds = [k.strip() for k in wanted.split(",")] if wanted else []
    if f"{severity}s" in kinds:
        print(_diagnostic(severity, op, message, kinds).render(), file=sys.stderr)


def _diagnostic(severity: str, op: Operation, message: str, kinds: list[str] | tuple[str, ...]) -> Diagnostic:
    notes = []
    if "operations" in kinds:
        notes.append(Diagnostic(f"see current operation: {print_op(op, regions=False)}", severity="note"))
    if "stacktraces" in kinds:
        stack = "".join(_traceback.format_list(_traceback.extract_stack()[:-3]))
        notes.append(Diagnostic(f"told from\n{stack.rstrip()}", severity="note"))
    return Diagnostic.at(op.loc, message, notes=notes, severity=severity, context=0)
