"""Names of Triton's bindings without a counterpart: they can be imported, and raise an error when used."""

from __future__ import annotations

from typing import Any

from ..support import TritiumError

__all__ = ["Refused", "UnsupportedBinding", "refused_attributes"]


class UnsupportedBinding(TritiumError, NotImplementedError):
    """A function or class of Triton's bindings has no counterpart here; the message says what to use instead."""

    def __init__(self, name: str, instead: str) -> None:
        super().__init__(f"{name} is not supported: {instead}")
        self.name = name


class Refused:
    """A placeholder for the binding `name`: calling it, or an attribute of it, raises UnsupportedBinding."""

    def __init__(self, name: str, instead: str) -> None:
        self._name, self._instead = name, instead

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise UnsupportedBinding(self._name, self._instead)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return Refused(f"{self._name}.{attribute}", self._instead)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise UnsupportedBinding(f"a subclass of {self._name}", self._instead)

    def __instancecheck__(self, value: object) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<{self._name}: not supported, {self._instead}>"


def refused_attributes(module: str, reasons: dict[str, str]) -> Any:
    """A module's `__getattr__` (PEP 562): each name becomes a `Refused`. A key of `reasons` is one name or several
    separated by spaces."""
    by_name = {name: reason for names, reason in reasons.items() for name in names.split()}

    def get(name: str) -> Any:
        reason = by_name.get(name)
        if reason is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return Refused(f"{module.removeprefix('tritium._C.')}.{name}", reason)

    return get
