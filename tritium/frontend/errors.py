"""Errors of the frontend: what failed, the kernel's source line with a caret, the chain of calls, a hint."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..support import Diagnostic, TritiumError

if TYPE_CHECKING:
    from .source import SourceText

__all__ = [
    "CallFrame",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "LanguageError",
    "Note",
    "UnsupportedLanguageConstruct",
    "cause_of_call",
    "triton_errors",
]


Note = tuple[str, ast.AST]
"""A message about another place in the function of an error."""


class LanguageError(TritiumError):
    """A wrong use of the language, raised by library functions; the visitor adds the position in the source.

    The message starts with the corresponding Python exception (`TypeError: …`) if there is one. `node` is the cause
    where the raiser knows it; otherwise the error is at the statement or expression being compiled. `notes` are further
    nodes of the same function, each with a message.
    """

    def __init__(
        self, message: str, hint: str | None = None, node: ast.AST | None = None, notes: Sequence[Note] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.node = node
        self.notes = notes


class UnsupportedUse(LanguageError):
    """A use of Python's syntax that kernels do not support: becomes an UnsupportedLanguageConstruct."""


class _TritonErrors:
    """Errors as scripts for Triton expect them, `on` while `tritium.install()` is active.

    Compilation errors then have a cause (`cause_of_call`) and start with Triton's position, which is relative to the
    function: its lines are counted from 1 and its columns from 0 (`at 3:8:`).
    """

    on = False


triton_errors = _TritonErrors()

_NAMED = {
    kind.__name__: kind
    for kind in (AttributeError, IndexError, NotImplementedError, OverflowError, RuntimeError, TypeError, ValueError)
}


def cause_of_call(node: ast.AST, error: Exception) -> Exception | None:
    """The `__cause__` of a CompilationError at a call of the language: the Python exception that its message names.

    Scripts for Triton inspect it, `except CompilationError as e: if isinstance(e.__cause__, ValueError)`, so it is set
    while `tritium.install()` is active (`triton_errors`). Otherwise it is not, since Python would print the cause too.
    """
    if not (triton_errors.on and isinstance(node, ast.Call) and isinstance(error, LanguageError)):
        return None
    name, colon, text = error.message.partition(": ")
    kind = _NAMED.get(name) if colon else None
    return LanguageError(error.message) if kind is None else kind(text)


class _Excerpt:
    """The source of a function without a file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines(keepends=True) or [""]
        self.file = "<source>"
        self.def_line = 1


class CallFrame(NamedTuple):
    """One function of the call stack of an error: `node` is the call, or the failing node in the last frame."""

    name: str
    source: SourceText | _Excerpt
    node: ast.AST


class CompilationError(TritiumError):
    """A kernel cannot be compiled.

    `str(error)` has the position (file:line:column, 1-based), the message, the source with a caret, the call stack and
    a hint. `frames`: the calls, outermost first. `notes`: further places in the last of them, each with a message.

    Programs raise it with Triton's arguments, `CompilationError(src, node, message)`: the text of a function (None
    where there is none), and a syntax node whose lines count from the first of that text.
    """

    source_line_count_max_in_message = 12

    def __init__(self, src: Any, node: Any, error_message: str | None = None) -> None:
        if isinstance(node, list):  # the compiler's own arguments: a message, frames, a hint
            message, frames, hint, failing = src, node, error_message, None
        else:
            message, hint, failing = error_message or "", None, node
            frames = [] if src is None else [CallFrame("", _Excerpt(src), node)]
        super().__init__(message)
        self.error_message: str = message
        self.hint = hint
        self.frames: list[CallFrame] = list(frames)
        self.notes: Sequence[Note] = ()
        self._node: ast.AST | None = failing

    @property
    def message(self) -> str:
        """The whole text."""
        return str(self)

    @property
    def node(self) -> ast.AST | None:
        """The failing syntax node, None if unknown."""
        return self.frames[-1].node if self.frames else self._node

    @property
    def src(self) -> str | None:
        """The source of the function that failed, None if unknown."""
        return self.frames[-1].source.text if self.frames else None

    def diagnostic(self) -> Diagnostic:
        """The error as a diagnostic: the failing line, then one note for each call of the stack."""
        hint = self.hint or ""
        if not self.frames:
            return Diagnostic(self.error_message, hint=hint)
        frame = self.frames[-1]
        notes = [_note(text, frame._replace(node=node)) for text, node in self.notes]
        calls = [(callee.name, caller) for caller, callee in zip(reversed(self.frames[:-1]), reversed(self.frames))]
        for (name, caller), times in Counter(calls).items():
            notes.append(_note(f"{name} is called from {caller.name}" + (f" ({times} times)" * (times > 1)), caller))
        line, column, length = _span(frame)
        first = frame.source.def_line
        lines = frame.source.lines[first - 1 :]
        return Diagnostic(
            self.error_message, frame.source.file, line, column, lines, hint, notes, first_line=first, length=length
        )

    def triton_position(self) -> str:
        """The position as Triton writes it: line (from 1) and column (from 0) within the function."""
        if not self.frames:
            return ""
        frame = self.frames[-1]
        line, column, _ = _span(frame)
        first = frame.source.def_line
        margin = len(frame.source.lines[first - 1]) - len(frame.source.lines[first - 1].lstrip())
        return f"at {line - first + 1}:{column - 1 - margin}:\n"

    def __str__(self) -> str:
        text = self.diagnostic().render()
        return self.triton_position() + text if triton_errors.on else text

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Restored, (self.diagnostic().render(), self.triton_position()))


class _Restored(CompilationError):
    """A compilation error from another process, of which only the text is left."""

    def __init__(self, text: str, position: str) -> None:
        super().__init__(text, [])
        self._position = position

    def triton_position(self) -> str:
        """The position as Triton writes it."""
        return self._position

    def diagnostic(self) -> Diagnostic:
        """The text as it is."""
        return Diagnostic(self.error_message)

    def __str__(self) -> str:
        return self._position + self.error_message if triton_errors.on else self.error_message

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Restored, (self.error_message, self._position))


class UnsupportedLanguageConstruct(CompilationError):
    """Python syntax that kernels do not support."""


class CompileTimeAssertionFailure(CompilationError):
    """A failed `tl.static_assert`."""


def _note(message: str, frame: CallFrame) -> Diagnostic:
    line, column, length = _span(frame)
    source = frame.source
    return Diagnostic(message, source.file, line, column, source.lines, length=length, severity="note", context=0)


def _span(frame: CallFrame) -> tuple[int, int, int]:
    """(line, column, length) of the node of a frame, 1-based; the length is 1 for nodes of several lines."""
    node, source = frame.node, frame.source
    line = getattr(node, "lineno", source.def_line)
    encoded = source.lines[line - 1].encode()  # column offsets of syntax nodes count bytes
    start = getattr(node, "col_offset", 0)
    column = len(encoded[:start].decode(errors="ignore")) + 1
    end = getattr(node, "end_col_offset", None)
    if end is None or getattr(node, "end_lineno", None) != line:
        return line, column, 1
    return line, column, max(1, len(encoded[start:end].decode(errors="ignore")))
