"""Modules that most processes never need: imported when something of theirs is asked for.

A process that only runs kernels from the cache should not pay for importing the compiler. This is the one way to put an
import off; where it points to still has to be a room below.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["LazyModule", "lazy_attributes", "loaded"]


class LazyModule:
    """Stands for the module `name` (relative to `package` if it starts with a dot) until an attribute is asked for.

    >>> LazyModule("math").floor(1.5)
    1
    """

    def __init__(self, name: str, package: str | None = None) -> None:
        self._name = name
        self._package = package

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        value = getattr(importlib.import_module(self._name, self._package), attribute)
        setattr(self, attribute, value)
        return value


def loaded(module: LazyModule) -> Any:
    """The module that `module` stands for, imported now.

    >>> loaded(LazyModule("math")).__name__
    'math'
    """
    return importlib.import_module(module._name, module._package)


def lazy_attributes(package: str, where: dict[str, str], namespace: dict[str, Any]) -> Callable[[str], Any]:
    """A module's `__getattr__` (PEP 562): attribute -> `where[attribute]`, a module ("." in front: below `package`).

    "module:name" takes another name from there, and "module:" the module itself. What was found is kept in `namespace`.
    """

    def get(name: str) -> Any:
        place = where.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module_name, colon, other = place.partition(":")
        value = importlib.import_module(module_name, package)
        if not colon or other:
            value = getattr(value, other or name)
        namespace[name] = value
        return value

    return get
