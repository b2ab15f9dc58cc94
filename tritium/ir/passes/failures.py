"""What is said and kept when a pass raises, leaves broken IR, or is interrupted."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from ...support import InternalError
from ...support.errors import interrupts
from ..operation import Operation
from ..printer import print_op
from .definition import Pass
from .reproducer import reproducer_text

__all__ = ["PassError", "PassInterrupted", "keep_reproducer", "pass_error", "text_of"]


class PassError(InternalError, RuntimeError):
    """A pass failed. The text says which pass, on which function, at which operation, and where the reproducer is.

    `failed` is the row of the pipeline, `operation` the one that was being worked on (None: not known), `reproducer`
    the path of the file.
    """

    failed: Pass
    operation: Operation | None
    reproducer: str


class PassInterrupted(KeyboardInterrupt):
    """Ctrl-C, or `q` in a debugger, while a pass ran. Text and attributes are those of a PassError."""

    failed: Pass
    operation: Operation | None
    reproducer: str


def text_of(op: Operation) -> str:
    """The first line of an operation's text, or its name when it is half-made."""
    try:
        return print_op(op, regions=False).splitlines()[0].strip()
    except Exception:
        return op.name


def pass_error(error: BaseException, p: Pass, where: str, reproducer: str) -> PassError | PassInterrupted:
    """What to raise for `error` of the pass `p` on the function `where`."""
    op = getattr(error, "operation", None)
    interrupted = isinstance(error, interrupts())
    if interrupted:
        lines = [f"interrupted in pass {p} on {where}"]
    else:
        lines = [f"pass {p} failed on {where}: {type(error).__name__}: {error}"]
    if op is not None:
        lines.append(f"  at: {text_of(op)}")
        position = op.loc.user_position()
        if position is not None:
            lines.append(f"  from: {position.text()}")
    lines.append(f"  reproducer (tritium opt --run-reproducer): {reproducer}")
    failure: PassError | PassInterrupted
    failure = (PassInterrupted if interrupted else PassError)("\n".join(lines))
    failure.failed = p
    failure.operation = op
    failure.reproducer = reproducer
    return failure


def keep_reproducer(op: Operation, pipeline: str, name: str, path: str | None) -> str:
    """Write the IR `op` and the passes that fail on it to `path` (None: a new temporary file); the path, or why not."""
    try:
        text = reproducer_text(_whole_text(op), pipeline)
    except Exception as error:  # the reproducer must not hide the failure
        return f"could not be made ({type(error).__name__}: {error})"
    try:
        if path is None:
            handle, path = tempfile.mkstemp(prefix=f"tritium-{name}-", suffix=".mlir")
            os.close(handle)
        with open(path, "w") as f:
            f.write(text)
    except OSError as error:
        return f"could not be written ({error})"
    return path


def _whole_text(op: Operation) -> str:
    options: dict[str, Any] = {"locations": True}
    try:
        return print_op(op, **options)
    except Exception:  # a class whose printer is the fault still has its generic form
        return print_op(op, generic=True, **options)
