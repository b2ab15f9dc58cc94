"""Modules that most processes never need: imported when something of theirs is asked for.

A process that only runs kernels from the cache should not pay for importing the compiler. This is the one way to put an
import off; where it points to still has to be a room below.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from .collection import paused

__all__ = ["LazyMethod", "LazyModule", "lazy_attributes", "load", "loaded"]


def load(name: str, package: str | None = None) -> Any:
    """`importlib.import_module`, in which no garbage is collected: modules stay.

    >>> load("math").__name__
    'math'
    """
    found = sys.modules.get(_absolute(name, package or ""))
    if found is not None and not getattr(found.__spec__, "_initializing", False):
        return found
    with paused(stays=True):
        return importlib.import_module(name, package)


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
        value = getattr(load(self._name, self._package), attribute)
        setattr(self, attribute, value)
        return value


class LazyMethod:
    """Stands in a class for the function of its own name in the module `name`, as a method, until it is asked for.

    >>> class Numbers(int):
    ...     sqrt = LazyMethod("math")
    >>> Numbers(9).sqrt
    <built-in function sqrt>
    """

    def __init__(self, name: str, package: str | None = None) -> None:
        self._name, self._package = name, package

    def __set_name__(self, owner: type, attribute: str) -> None:
        self._owner, self._attribute = owner, attribute

    @classmethod
    def add_to(cls, owner: type, attribute: str, name: str, package: str | None = None) -> None:
        """The same for a class that is made already."""
        method = cls(name, package)
        method.__set_name__(owner, attribute)
        setattr(owner, attribute, method)

    def __get__(self, instance: object, owner: type) -> Any:
        function = getattr(load(self._name, self._package), self._attribute)
        setattr(self._owner, self._attribute, function)
        return function.__get__(instance, owner) if hasattr(function, "__get__") else function


def loaded(module: LazyModule) -> Any:
    """The module that `module` stands for, imported now.

    >>> loaded(LazyModule("math")).__name__
    'math'
    """
    return load(module._name, module._package)


def _absolute(name: str, package: str) -> str:
    """A module's full name, of one that may be relative to `package`."""
    level = len(name) - len(name.lstrip("."))
    return f"{package.rsplit('.', level - 1)[0]}.{name[level:]}" if level else name


def lazy_attributes(
    module: str, where: dict[str, str], namespace: dict[str, Any], package: str = ""
) -> Callable[[str], Any]:
    """A module's `__getattr__` (PEP 562): attribute -> `where[attribute]`, a module.

    "." in front of that: below `package`, which is `module` itself unless it is said. "module:name" takes another name
    from there, and "module:" the module itself. What was found is kept in `namespace`.
    """

    def get(name: str) -> Any:
        place = where.get(name)
        if place is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        module_name, colon, other = place.partition(":")
        value = load(module_name, package or module)
        if not colon or other:
            value = getattr(value, other or name)
        namespace[name] = value
        return value

    return get
