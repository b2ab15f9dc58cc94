"""How objects show themselves in notebooks: `_repr_mimebundle_`, with the formatters of `tritium.notebook`.

Classes of all layers have the method by `LazyMethod`; the formatters need the layers above them, so they register
themselves here when the first object is shown. Nothing is imported before that.
"""

from __future__ import annotations

from collections.abc import Callable

from .lazy import LazyModule

__all__ = ["formats", "mimebundle"]

_package = LazyModule(__name__.partition(".")[0])

Formatter = Callable[..., str]

_formatters: dict[type, Formatter] = {}


def formats(*classes: type) -> Callable[[Formatter], Formatter]:
    """Register a function that shows values of these classes, and of classes derived from them, as HTML."""

    def register(formatter: Formatter) -> Formatter:
        _formatters.update(dict.fromkeys(classes, formatter))
        return formatter

    return register


def mimebundle(value: object, text: str | None = None) -> dict[str, str]:
    """A value as text and, where it has a formatter, HTML; `text` is its `repr` where none is given."""
    _ = _package.notebook
    found = {"text/plain": repr(value) if text is None else text}
    formatter = next((_formatters[cls] for cls in type(value).__mro__ if cls in _formatters), None)
    if formatter is not None:
        found["text/html"] = formatter(value)
    return found


def _repr_mimebundle_(self: object, include: object = None, exclude: object = None) -> dict[str, str]:
    """What notebooks show: a method of classes that have a formatter (`LazyMethod`)."""
    return mimebundle(self)
