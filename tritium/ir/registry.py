"""Which module defines a dialect, so that text which names one has it loaded.

A program that never meets a dialect does not pay for importing it: `register_dialects` notes the modules, and
`load_dialect` imports one when the parser comes across an operation, type or attribute of it that is not defined yet.
"""

from __future__ import annotations

from ..support.lazy import LazyModule, loaded

__all__ = ["load_dialect", "register_dialects", "registered_dialects"]

_modules: dict[str, LazyModule] = {}
_loaded: set[str] = set()


def register_dialects(modules: dict[str, LazyModule]) -> None:
    """Note the module of each dialect, by the dialect's name (the text before the first dot)."""
    _modules.update(modules)


def registered_dialects() -> list[str]:
    """The names of all dialects with a module noted, loaded or not."""
    return sorted(_modules)


def load_dialect(name: str) -> bool:
    """Import the module of the dialect that `name` (of an operation, a type, …) belongs to; False if nothing is new."""
    dialect = name.partition(".")[0]
    if dialect in _loaded or dialect not in _modules:
        return False
    _loaded.add(dialect)
    loaded(_modules[dialect])
    return True
