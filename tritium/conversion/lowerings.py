"""Tables of lowerings: which function writes an operation in the terms of the next level."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..ir import Operation
from ..support.lazy import LazyModule

__all__ = ["LoweringFunction", "Lowerings"]

_pkgutil = LazyModule("pkgutil")

LoweringFunction = Callable[[Any, Any], None]
"""Takes what the conversion carries along, and the operation."""

Lowering = TypeVar("Lowering", bound=LoweringFunction)


class Lowerings(dict[type[Operation], LoweringFunction]):
    """By op class: a function of what the conversion carries along, and the operation.

    The modules of `package` register theirs when they are imported, and `find` imports one when an operation of its
    turns up: `files` says of a module which these are (names, with spaces between). An operation without a row there is
    looked for in all modules of the package. A lowering that is registered for an interface is that of all operations
    that implement it and have none of their own.
    """

    def __init__(self, package: str = "", files: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.package = package
        self.absent: dict[type[Operation], int] = {}  # classes without a lowering when the table had so many
        self.files = {name: module for module, names in (files or {}).items() for name in names.split()}

    def lowers(self, *classes: type[Operation]) -> Callable[[Lowering], Lowering]:
        """Register the function below as the lowering of op classes."""

        def register(fn: Lowering) -> Lowering:
            self.update(dict.fromkeys(classes, fn))
            return fn

        return register

    def find(self, cls: type[Operation]) -> LoweringFunction | None:
        """The lowering of an op class; None if there is none."""
        found = self.get(cls) or self._of_interface(cls)
        if found is None and self.package and cls not in self:
            module = self.files.get(cls.name)
            if module is None:
                self.import_all()
            else:
                importlib.import_module(f"{self.package}.{module}")
            found = self.get(cls) or self._of_interface(cls)
        return found

    def _of_interface(self, cls: type[Operation]) -> LoweringFunction | None:
        """The lowering of the most special interface that has one."""
        if self.absent.get(cls) == len(self):
            return None
        found = next((self[base] for base in cls.__mro__ if base in self), None)
        if found is None:
            self.absent[cls] = len(self)
        else:
            self[cls] = found
        return found

    def import_all(self) -> None:
        """Import every module of the package, and those of its subpackages that `files` names."""
        found = [module.name for module in _pkgutil.iter_modules(importlib.import_module(self.package).__path__)]
        for name in dict.fromkeys([*found, *self.files.values()]):
            importlib.import_module(f"{self.package}.{name}")
