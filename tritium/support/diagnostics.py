"""The format of errors: position, source lines with a caret, the chain of calls, a hint.

The frontend, the parser and the verifier make `Diagnostic` values; `render()` is the only place that lays them out.

>>> print(Diagnostic("unknown name 'y'", "k.py", 2, 9, ["def k(x):", "    z = y + x"], hint="is it misspelt?").render())
k.py:2:9: error: unknown name 'y'
    1 | def k(x):
    2 |     z = y + x
      |         ^
hint: is it misspelt?
"""

from __future__ import annotations

from collections.abc import Sequence

from .files import source_lines
from .location import Location

__all__ = ["Diagnostic"]

CONTEXT_LINES = 2  # source lines shown above that of the error
#: Longer lines, as in generated code, are shown partially.
LONGEST_LINE = 400


class Diagnostic:
    """A message about a position in a text.

    `line` and `column` count from 1; 0 means unknown. `source_lines` are the lines of the text, the first of which has
    the number `first_line`. `length` is how many characters the caret underlines. `notes` are further diagnostics
    (severity "note"), shown in order: the chain of inlined calls, earlier definitions.
    """

    __slots__ = (
        "column",
        "context",
        "file",
        "first_line",
        "hint",
        "length",
        "line",
        "message",
        "notes",
        "severity",
        "source_lines",
    )

    def __init__(
        self,
        message: str,
        file: str = "",
        line: int = 0,
        column: int = 0,
        source_lines: Sequence[str] = (),
        hint: str = "",
        notes: Sequence[Diagnostic] = (),
        *,
        first_line: int = 1,
        length: int = 1,
        severity: str = "error",
        context: int = CONTEXT_LINES,
    ) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.source_lines = source_lines
        self.hint = hint
        self.notes = tuple(notes)
        self.first_line = first_line
        self.length = length
        self.severity = severity
        self.context = context

    @classmethod
    def at(
        cls,
        location: Location,
        message: str,
        hint: str = "",
        notes: Sequence[Diagnostic] = (),
        *,
        severity: str = "error",
        context: int = CONTEXT_LINES,
    ) -> Diagnostic:
        """A message about an operation: at its innermost position in the user's files, with the lines of that file.

        An error or a warning in an inlined function has notes at the calls.
        """
        place = location.user_position()
        if place is None:
            return cls(message, hint=hint, notes=notes, severity=severity)
        if severity != "note":
            callers = list(location.call_positions())
            callers = callers[callers.index(place) + 1 :] if place in callers else callers
            notes = [*notes, *(cls.at(at, "called here", severity="note", context=0) for at in callers)]
        lines = source_lines(place.file)
        return cls(
            message, place.file, place.line, place.column, lines, hint, notes, severity=severity, context=context
        )

    def position(self) -> str:
        """`file:line:column`, as far as it is known."""
        parts = [self.file] if self.file else []
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)

    def render(self) -> str:
        """The whole message as text without a final newline; no colours, no line longer than its source."""
        where = self.position()
        head = f"{where}: {self.severity}: {self.message}" if where else f"{self.severity}: {self.message}"
        parts = [head, *self._excerpt()]
        parts.extend(note.render() for note in self.notes)
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)

    def _excerpt(self) -> list[str]:
        at = self.line - self.first_line
        if not self.line or not 0 <= at < len(self.source_lines):
            return []
        start = max(0, at - self.context)
        width = max(5, len(str(self.line)) + 2)
        shown = [self.source_lines[i].rstrip("\r\n") for i in range(start, at + 1)]
        while len(shown) > 1 and not shown[0].strip():  # skip blank lines at the top
            del shown[0]
            start += 1
        column = self.column
        if len(shown[-1]) > LONGEST_LINE:  # only the text around the position
            cut = max(0, min(column - LONGEST_LINE // 2, len(shown[-1]) - LONGEST_LINE))
            shown[-1] = "…" * (cut > 0) + shown[-1][cut : cut + LONGEST_LINE] + "…"
            column -= cut - 1 if cut else 0
        shown[:-1] = [text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + "…" for text in shown[:-1]]
        out = [f"{self.first_line + start + i:>{width}} | {text}".rstrip() for i, text in enumerate(shown)]
        if self.column:
            text = shown[-1]
            # Tabs stay tabs, so that the caret is below its character at any tab width.
            lead = "".join("\t" if ch == "\t" else " " for ch in text[: column - 1])
            lead += " " * (column - 1 - len(lead))
            carets = "^" * max(1, min(self.length, len(text) - column + 1))
            out.append(f"{'':>{width}} | {lead}{carets}")
        return out

    def __str__(self) -> str:
        return self.render()
