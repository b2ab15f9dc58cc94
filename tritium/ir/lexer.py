"""The cursor over MLIR text: one regular expression a token, and errors that point at their place.

No list of tokens is made: the parser knows at each place what may come, and asks for just that. The cursor always
stands at the start of a token, blanks and `// comments` after the last one skipped; the text ends in a zero
character, so that looking at the next one needs no check for the end.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from ..support import Diagnostic, TritiumError
from ..support.text import unescape

__all__ = ["Cursor", "ParseError"]

BLANK = r"\s*(?://[^\n\0]*\s*)*"
END = "\0"


def _token(pattern: str) -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(pattern + BLANK, re.ASCII).match


_skip = re.compile(BLANK, re.ASCII).match
_value = _token(r"(%[\w$.\-]+(?:#\d+)?)")
_symbol = _token(r'@(?:([A-Za-z_][\w$.]*)|"([^"\\\n]*(?:\\.[^"\\\n]*)*)")')
_string = _token(r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"')
_label = _token(r"\^([\w$.\-]+)")
_word = _token(r"([A-Za-z_][\w$.]*)")
_alias = _token(r"([#!][A-Za-z_][\w$.]*)")
_number = _token(r"(-?)(0x[0-9A-Fa-f]+|\d+(?:\.\d*(?:[eE][+\-]?\d+)?)?)")
_bracket = re.compile(r"->|[<>()\[\]{}\"]").search
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_shown = re.compile(r'"[^"\n]*"|[%@^#!]?[\w$.\-]+|->|[^\s]')


class _Literals(dict[str, Callable[[str, int], "re.Match[str] | None"]]):
    """Matchers of fixed tokens, made on first use; a word must end where the literal ends."""

    def __missing__(self, literal: str) -> Callable[[str, int], re.Match[str] | None]:
        pattern = re.escape(literal) + (r"(?![\w$.])" if literal[-1].isalnum() or literal[-1] == "_" else "")
        matcher = self[literal] = _token(pattern)
        return matcher


_literals = _Literals()


class ParseError(TritiumError, RuntimeError):
    """The text is not what it should be; `diagnostic` holds the place and the hint.

    As other errors of reading and of passes, a RuntimeError, which Triton's bindings raise for them.
    """

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.render())
        self.diagnostic = diagnostic


class Cursor:
    """A place in a text. The methods of `Parser` build on these."""

    def __init__(self, text: str, filename: str, first_line: int = 1) -> None:
        self.text = text.replace("\0", " ") + END
        self.filename = filename
        self.first_line = first_line
        self._lines: list[int] = []
        self.pos: int = _skip(self.text, 0).end()  # type: ignore[union-attr]

    def line_column(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, from 1 (the first line of the text is number `first_line`)."""
        if not self._lines:
            self._lines = [0, *(m.end() for m in re.finditer("\n", self.text))]
        line = bisect_right(self._lines, at)
        return line + self.first_line - 1, at - self._lines[line - 1] + 1

    def error(self, message: str, at: int | None = None, hint: str = "") -> ParseError:
        """The error at offset `at` (here, if not given), to be raised by the caller."""
        at = min(self.pos if at is None else at, len(self.text) - 1)
        line, column = self.line_column(at)
        found = _shown.match(self.text, at)
        length = len(found[0]) if found and found[0] != END else 1
        lines = self.text[:-1].split("\n")
        if len(message) > 1000:  # a name that goes on and on
            message = message[:1000] + "…"
        return ParseError(
            Diagnostic(message, self.filename, line, column, lines, hint, first_line=self.first_line, length=length)
        )

    def found(self) -> str:
        """The next token, for messages."""
        m = _shown.match(self.text, self.pos)
        if m is None or m[0] == END:
            return "the end of the text"
        return f"'{m[0]}'" if len(m[0]) <= 100 else f"'{m[0][:100]}…'"

    def expected(self, what: str, hint: str = "") -> ParseError:
        """The error that `what` is expected here."""
        return self.error(f"expected {what}, found {self.found()}", hint=hint)

    # -- tokens ---------------------------------------------------------------------------------------------------

    def peek(self, literal: str) -> bool:
        """Whether the token `literal` is next."""
        return _literals[literal](self.text, self.pos) is not None

    def accept(self, literal: str) -> bool:
        """Step over the token `literal` if it is next."""
        m = _literals[literal](self.text, self.pos)
        if m is None:
            return False
        self.pos = m.end()
        return True

    def accept_any(self, *words: str) -> str | None:
        """Step over one of `words` if it is next, and say which."""
        return next((word for word in words if self.accept(word)), None)

    def expect(self, literal: str) -> None:
        """Step over the token `literal`, which must be next."""
        m = _literals[literal](self.text, self.pos)
        if m is None:
            raise self.expected(f"'{literal}'")
        self.pos = m.end()

    def _take(self, matcher: Callable[[str, int], re.Match[str] | None], what: str) -> re.Match[str]:
        m = matcher(self.text, self.pos)
        if m is None:
            raise self.expected(what)
        self.pos = m.end()
        return m

    def value_name(self) -> str:
        """`%x`, with the percent sign (and `#1` where it picks one of several results)."""
        m = _value(self.text, self.pos)
        if m is None:
            raise self.expected("an SSA value like %x")
        self.pos = m.end()
        return m[1]

    def symbol_name(self) -> str:
        """`@f`, without the sign."""
        m = self._take(_symbol, "a symbol like @name")
        return m[1] if m[1] is not None else unescape(m[2])

    def string(self) -> str:
        """A string literal's content."""
        return unescape(self._take(_string, "a string")[1])

    def word(self, what: str = "a name") -> str:
        """An identifier; dots belong to it."""
        return self._take(_word, what)[1]

    def at_word(self) -> str | None:
        """The next identifier, if there is one."""
        m = _word(self.text, self.pos)
        return m[1] if m is not None else None

    def label(self) -> str:
        """`^bb0`, without the sign."""
        return self._take(_label, "a block like ^bb0")[1]

    def alias_name(self) -> str:
        """`#name` or `!name`, with the sign."""
        return self._take(_alias, "an alias or a dialect's attribute or type")[1]

    def number(self) -> tuple[str, str]:
        """A number as its sign ("" or "-") and digits, so that the caller decides what it is."""
        m = self._take(_number, "a number")
        return m[1], m[2]

    def at_number(self) -> bool:
        """Whether a number is next."""
        return _number(self.text, self.pos) is not None

    def integer(self) -> int:
        """A whole number."""
        at = self.pos
        sign, digits = self.number()
        if "." in digits:
            raise self.error("expected a whole number", at)
        return int(sign + digits, 0) if digits.startswith("0x") else int(sign + digits)

    def integers(self) -> tuple[int, ...]:
        """`[1, 0]`"""
        self.expect("[")
        return tuple(self.comma_list(self.integer, "]"))

    def comma_list(self, item: Callable[[], Any], closing: str) -> list[Any]:
        """Items separated by commas up to `closing`, which is stepped over."""
        out: list[Any] = []
        while not self.accept(closing):
            if out:
                self.expect(",")
            out.append(item())
        return out

    def skip_to(self, pos: int) -> None:
        """Go on at offset `pos`, after blanks."""
        self.pos = _skip(self.text, pos).end()  # type: ignore[union-attr]

    def balanced(self, comparisons: bool = False) -> str:
        """The text of `<…>` here, brackets of all kinds matched, strings skipped; with the angle brackets.

        `comparisons`: `>=` in it is no bracket.
        """
        text, start = self.text, self.pos
        closing: list[str] = []
        pos = start
        while True:
            m = _bracket(text, pos)
            if m is None:
                raise self.error("this bracket is never closed", start)
            ch, pos = m[0], m.end()
            if ch in _CLOSING:
                closing.append(_CLOSING[ch])
            elif ch == '"':
                string = _string(text, m.start())
                if string is None:
                    raise self.error("this string is never closed", m.start())
                pos = string.end()
            elif len(ch) == 1 and not (comparisons and ch == ">" and text[pos] == "="):
                if not closing or ch != closing.pop():
                    raise self.error("this bracket closes nothing", m.start())
                if not closing:
                    self.skip_to(pos)
                    return text[start:pos]
