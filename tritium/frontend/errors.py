"""Errors of the frontend: what failed, the kernel's source line with a caret, the chain of calls, a hint."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from ..support import TritiumError

if TYPE_CHECKING:
    from .source import SourceText

__all__ = [
    "CallFrame",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "LanguageError",
    "UnsupportedLanguageConstruct",
]

CONTEXT_LINES = 12  # source lines shown before and with the failing one, as many as Triton shows


class LanguageError(TritiumError):
    """A wrong use of the language, raised by library functions; the visitor adds the place in the source.

    `kind` is the Python exception type the message would have had (shown as Triton shows it).
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class CallFrame(NamedTuple):
    """One function on the way to the error: `node` is the call (or the failing node itself for the last frame)."""

    name: str
    source: SourceText
    node: ast.AST


class CompilationError(TritiumError):
    """A kernel cannot be compiled.

    `str(error)` has the line and column within the function (`at 3:8:`), the source up to there, a caret, the
    message, the file position, the chain of inlined calls and a hint. `frames` holds the calls, outermost first.
    """

    def __init__(self, message: str, frames: list[CallFrame], hint: str | None = None) -> None:
        super().__init__(message)
        self.error_message = message
        self.hint = hint
        self.frames = list(frames)

    @property
    def node(self) -> ast.AST:
        """The failing syntax node."""
        return self.frames[-1].node

    @property
    def src(self) -> str:
        """The source of the function that failed."""
        return self.frames[-1].source.text

    def __str__(self) -> str:
        if not self.frames:
            return self._with_hint(self.error_message)
        frame = self.frames[-1]
        parts = [_excerpt(frame), self.error_message, f"  in {_place(frame)}"]
        for caller in reversed(self.frames[:-1]):
            parts += [f"  called from {_place(caller)}", f"    {_line(caller).strip()}"]
        return self._with_hint("\n".join(parts))

    def _with_hint(self, text: str) -> str:
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> object:
        return (_Restored, (str(self),))


class _Restored(CompilationError):
    """A compilation error that came from another process: only its text is left."""

    def __init__(self, text: str) -> None:
        super().__init__(text, [])


class UnsupportedLanguageConstruct(CompilationError):
    """A piece of Python that kernels cannot use."""


class CompileTimeAssertionFailure(CompilationError):
    """A `tl.static_assert` that does not hold."""


def _place(frame: CallFrame) -> str:
    return f"{frame.source.file}:{getattr(frame.node, 'lineno', frame.source.first_line)}, in {frame.name}"


def _line(frame: CallFrame) -> str:
    lineno = getattr(frame.node, "lineno", frame.source.first_line)
    lines = frame.source.lines
    return lines[lineno - 1].rstrip("\n") if lineno <= len(lines) else ""


def _excerpt(frame: CallFrame) -> str:
    """`at L:C:`, the source lines of the function up to the failing one, and a caret under the column."""
    source, node = frame.source, frame.node
    first = source.def_line
    lineno = getattr(node, "lineno", first)
    indent = len(source.lines[first - 1]) - len(source.lines[first - 1].lstrip())
    text = source.lines[lineno - 1]
    column = len(text.encode()[: getattr(node, "col_offset", indent)].decode(errors="ignore"))
    width = 1
    if getattr(node, "end_lineno", None) == lineno:
        width = max(1, len(text.encode()[: node.end_col_offset].decode(errors="ignore")) - column)  # type: ignore[attr-defined]
    shown = source.lines[max(first, lineno - CONTEXT_LINES + 1) - 1 : lineno]
    lines = [line.rstrip("\n")[indent:] if line[:indent].isspace() else line.rstrip("\n") for line in shown]
    pointer = " " * (column - indent) + "^" + "~" * (width - 1)
    return "\n".join([f"at {lineno - first + 1}:{column - indent}:", *lines, pointer])
