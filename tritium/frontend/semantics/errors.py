"""Constructors of LanguageError by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dtypes import dtype
from ..errors import LanguageError

__all__ = ["IncompatibleTypes", "OperandError", "dtype_spelling", "index_error", "type_error", "value_error"]


class OperandError(LanguageError):
    """Operands that do not fit together; the visitor names them as the kernel does (`visitor/operand_names`).

    `operands` maps the role of each (the name of a parameter, or "lhs" and "rhs") to what is said of it, such as
    "has shape [64]", or "" where only the hint names it. The error is `at` one of them. `hint` is code with `{role}` in
    the place of operands.
    """

    def __init__(
        self, message: str, operands: Mapping[str, str], hint: str | None = None, at: str | None = None
    ) -> None:
        self.summary = message
        self.operands = operands
        self.suggestion = hint
        self.at = at
        super().__init__(*self.worded({}))

    def worded(self, code: Mapping[str, str]) -> tuple[str, str | None]:
        """The message and the hint, with the source text of the operands in `code`, of which some may be missing."""
        said = ", ".join(f"{_operand(role, code.get(role))} {what}" for role, what in self.operands.items() if what)
        names = {role: code.get(role, _VARIABLES.get(role, role)) for role in self.operands}
        hint = self.suggestion
        return f"{self.summary}: {said}" if said else self.summary, None if hint is None else hint.format_map(names)

    def rename(self, roles: Mapping[str, str]) -> None:
        """Give operands other roles: those of the parameters of a function that is made of operators."""
        self.operands = {roles.get(role, role): what for role, what in self.operands.items()}
        if self.suggestion is not None:
            self.suggestion = self.suggestion.format_map({old: f"{{{new}}}" for old, new in roles.items()})
        self.at = roles.get(self.at, self.at) if self.at is not None else None
        super().__init__(*self.worded({}))


class IncompatibleTypes(OperandError):
    """Operands of incompatible types."""

    def __init__(
        self, type_a: Any, type_b: Any, hint: str | None = None, operands: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(f"TypeError: invalid operands of type {type_a} and {type_b}", operands or {}, hint)
        self.type_a, self.type_b = type_a, type_b


_SIDES = {"lhs": "the left operand", "rhs": "the right operand", "self": "the descriptor", "base": "it"}
_VARIABLES = {"lhs": "x", "rhs": "y", "base": "pointer"}  # in suggested code


def _operand(role: str, code: str | None) -> str:
    if code is None:
        return _SIDES.get(role, f"the {role}")
    named = role in ("pointer", "mask", "value", "condition", "val") and code != role
    return f"the {'value' if role == 'val' else role} `{code}`" if named else f"`{code}`"


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
