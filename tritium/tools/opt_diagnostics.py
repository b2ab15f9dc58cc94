"""Errors that comments announce: `// expected-error@+1 {{text}}`, as MLIR's tests write them.

    %0 = arith.addi %a, %b : i32   // expected-error {{'%b' is not defined}}
    // expected-error@below {{V3}}
    // expected-note-re@-2 {{ma[ny] things}}

The kind is `error`, `warning`, `remark` or `note`. Behind `@` stands how many lines below (`+1`, `below`) or above
(`-1`, `above`) the line at fault is, or `unknown` for a message without a place. The text is part of the message; with
`-re` it is a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..support import Diagnostic
from ..support.dataclasses import dataclass
from .opt_input import Piece

__all__ = ["Expected", "check_diagnostics", "expected_in"]

_expected = re.compile(
    r"expected-(error|warning|remark|note)(-re)?[ \t]*(?:@(unknown|above|below|[+-]\d+))?[ \t]*\{\{(.*?)\}\}(?!\})"
)


@dataclass
class Expected:
    """An announced message: its kind, the line it is about (0: none), the text, and the line of the comment."""

    kind: str
    line: int
    text: str
    regex: bool
    where: int
    met: bool = False

    def matches(self, kind: str, line: int, message: str) -> bool:
        """Whether this announces the message."""
        if self.kind != kind or self.line != line:
            return False
        return bool(re.search(self.text, message)) if self.regex else self.text in message


def expected_in(text: str, first_line: int = 1) -> list[Expected]:
    """All remarks in a text whose first line is `first_line`."""
    lines = text.split("\n")
    announcing = [bool(_expected.search(line)) for line in lines]
    found = []
    before = first_line - 1
    for number, line in enumerate(lines, 1):
        for m in _expected.finditer(line):
            kind, regex, place, message = m.groups()
            at = _line(number, place, announcing)
            found.append(Expected(kind, at + before if at else 0, message, bool(regex), number + before))
    return found


def _line(number: int, place: str | None, announcing: list[bool]) -> int:
    if place is None:
        return number
    if place == "unknown":
        return 0
    if place in ("above", "below"):  # the next line that announces nothing itself
        step = -1 if place == "above" else 1
        at = number + step
        while 0 < at <= len(announcing) and announcing[at - 1]:
            at += step
        return at
    return number + int(place)


def _flat(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    out = []
    for diagnostic in diagnostics:
        out.append(diagnostic)
        out.extend(_flat(note for note in diagnostic.notes if note.line))
    return out


def check_diagnostics(
    piece: Piece, diagnostics: Iterable[Diagnostic], *, only_expected: bool = False
) -> list[Diagnostic]:
    """What is wrong: announced messages that did not come, and (unless `only_expected`) others that did."""
    announced = expected_in(piece.text, piece.first_line)
    lines = piece.text.split("\n")
    wrong = []

    def add(message: str, line: int, column: int, length: int = 1) -> None:
        at = Diagnostic(
            message, piece.filename, line, column, lines, first_line=piece.first_line, length=length, context=0
        )
        wrong.append(at)

    for d in _flat(diagnostics):
        match = next((e for e in announced if not e.met and e.matches(d.severity, d.line, d.message)), None)
        if match is None:
            match = next((e for e in announced if e.matches(d.severity, d.line, d.message)), None)
        if match is not None:
            match.met = True
        elif not only_expected:
            add(f"unexpected {d.severity}: {d.message}", d.line, d.column, d.length)
    for e in announced:
        if not e.met:
            add(f'expected {e.kind} "{e.text}" was not produced', e.where, 1)
    return wrong
