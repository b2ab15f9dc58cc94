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
from dataclasses import dataclass

from ..support import Diagnostic

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


def expected_in(text: str) -> list[Expected]:
    """All announcements in a text."""
    lines = text.split("\n")
    announcing = [bool(_expected.search(line)) for line in lines]
    found = []
    for number, line in enumerate(lines, 1):
        for m in _expected.finditer(line):
            kind, regex, place, message = m.groups()
            found.append(Expected(kind, _line(number, place, announcing), message, bool(regex), number))
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
    text: str, filename: str, diagnostics: Iterable[Diagnostic], *, only_expected: bool = False
) -> list[Diagnostic]:
    """What is wrong: announced messages that did not come, and (unless `only_expected`) others that did."""
    announced = expected_in(text)
    lines = text.split("\n")
    wrong = []
    for d in _flat(diagnostics):
        match = next((e for e in announced if not e.met and e.matches(d.severity, d.line, d.message)), None)
        if match is None:
            match = next((e for e in announced if e.matches(d.severity, d.line, d.message)), None)
        if match is not None:
            match.met = True
        elif not only_expected:
            message = f"unexpected {d.severity}: {d.message}"
            wrong.append(Diagnostic(message, filename, d.line, d.column, lines, length=d.length, context=0))
    for e in announced:
        if not e.met:
            wrong.append(
                Diagnostic(f'expected {e.kind} "{e.text}" was not produced', filename, e.where, 1, lines, context=0)
            )
    return wrong
