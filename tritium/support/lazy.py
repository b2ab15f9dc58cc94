"""Lazy imports: modules that most processes do not need are imported at first access.

A process that only runs cached kernels should not import the compiler. This is the only way to defer an import; the
module must still be in a layer below.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from .collection import paused

__all__ = ["LazyMethod", "LazyModule", "lazy_attributes", "load", "loaded"]


def load(name: str, package: str | None = None) -> Any:
    """`importlib.import_module` without garbage collection: modules are long-lived.

    >>> load("math").__name__
    'math'
    """
    found = sys.modules.get(_absolute(name, package or ""))
    if found is not None and not getattr(found.__spec__, "_initializing", False):
        return found
    with paused(stays=True):
        return importlib.import_module(name, package)


class LazyModule:
    """The module `name` (relative to `package` if it starts with a dot), imported at the first attribute access.

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
    """A method that is the function of its own name in the module `name`, imported at the first access.

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
        """Add such a method to an existing class."""
        method = cls(name, package)
        method.__set_name__(owner, attribute)
        setattr(owner, attribute, method)

    def __get__(self, instance: object, owner: type) -> Any:
        function = getattr(load(self._name, self._package), self._attribute)
        setattr(self._owner, self._attribute, function)
        return function.__get__(instance, owner) if hasattr(function, "__get__") else function


def loaded(module: LazyModule) -> Any:
    """The module of a LazyModule, imported now.

    >>> loaded(LazyModule("math")).__name__
    'math'
    """
    return load(module._name, module._package)


def _absolute(name: str, package: str) -> str:
    """The absolute name of a module that may be relative to `package`."""
    level = len(name) - len(name.lstrip("."))
    return f"{package.rsplit('.', level - 1)[0]}.{name[level:]}" if level else name


def lazy_attributes(
    module: str, where: dict[str, str], namespace: dict[str, Any], package: str = ""
) -> Callable[[str], Any]:
    """A module's `__getattr__` (PEP 562): attribute -> `where[attribute]`, a module.

    A leading "." is relative to `package`, by default `module` itself. "module:name" is another name in it, and
    "module:" the module itself. Found values are stored in `namespace`.
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
