"""Short ways to raise errors of the language with a hint."""

from __future__ import annotations

from ..errors import LanguageError

__all__ = ["index_error", "type_error", "value_error"]


def index_error(message: str) -> LanguageError:
    """A number where nothing is."""
    return LanguageError(f"IndexError: {message}")


def type_error(message: str, hint: str | None = None) -> LanguageError:
    """A wrong kind of argument."""
    return LanguageError(f"TypeError: {message}", hint)


def value_error(message: str, hint: str | None = None) -> LanguageError:
    """An argument of the right kind with a wrong value."""
    return LanguageError(f"ValueError: {message}", hint)
