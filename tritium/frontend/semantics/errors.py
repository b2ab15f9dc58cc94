"""Constructors of LanguageError by kind."""

from __future__ import annotations

from typing import Any

from ..dtypes import dtype
from ..errors import LanguageError

__all__ = ["IncompatibleTypes", "dtype_spelling", "index_error", "type_error", "value_error"]


class IncompatibleTypes(LanguageError):
    """Operands of incompatible types."""

    def __init__(self, type_a: Any, type_b: Any, hint: str | None = None) -> None:
        super().__init__(f"TypeError: invalid operands of type {type_a} and {type_b}", hint)
        self.type_a, self.type_b = type_a, type_b


def dtype_spelling(ty: dtype) -> str:
    """A scalar type as kernels write it, `tl.float32`."""
    return "tl." + repr(ty).removeprefix("triton.language.")


def index_error(message: str) -> LanguageError:
    """An index out of bounds."""
    return LanguageError(f"IndexError: {message}")


def type_error(message: str, hint: str | None = None) -> LanguageError:
    """An argument of the wrong type."""
    return LanguageError(f"TypeError: {message}", hint)


def value_error(message: str, hint: str | None = None) -> LanguageError:
    """An argument of the right type with a wrong value."""
    return LanguageError(f"ValueError: {message}", hint)
