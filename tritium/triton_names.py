"""Triton's names in Tritium's modules, for scripts that say `import tritium as triton`.

After `import triton`, Triton's modules are attributes of each other and hold what they import from each other:
programs read `triton.runtime.Autotuner` or `triton.compiler.compiler` without a line that imports them. Here a module
that is asked for an attribute it lacks imports its submodule of that name, or what `dropin_names` says.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .support.lazy import LazyModule, load

__all__ = ["add_triton_names", "find_alias"]

_alias = LazyModule(".alias", __package__)
_TRITONS = ("_C", "_filecheck", "_internal_testing", "_utils", "backends", "compiler", "dropin", "frontend", "knobs")
_TRITONS += ("language", "profiler", "runtime", "support", "testing", "tools")


class _Lookup:
    """A module's `__getattr__`: its own, its submodules, then Triton's names.

    `from package import submodule` asks for the attribute first, too: the submodules come before what takes an import
    of the compiler.
    """

    def __init__(self, module: ModuleType, own: Callable[[str], Any] | None) -> None:
        self.module = module
        self.own = own

    def __call__(self, attribute: str) -> Any:
        if self.own is not None:
            try:
                return self.own(attribute)
            except AttributeError:
                if attribute.startswith("__"):
                    raise
        if attribute.startswith("__"):
            raise AttributeError(f"module {self.module.__name__!r} has no attribute {attribute!r}")
        if self._has_submodule(attribute):
            return load(f"{self.module.__name__}.{attribute}")
        return _alias.triton_attribute(self.module, attribute)

    def _has_submodule(self, name: str) -> bool:
        paths = [os.path.join(folder, name) for folder in getattr(self.module, "__path__", ())]
        return any(os.path.isfile(f"{path}.py") or os.path.isfile(f"{path}/__init__.py") for path in paths)


def add_triton_names(module: ModuleType) -> None:
    """Have a module of this package find the names that Triton's has; once, and only if Triton has one like it."""
    members, path = vars(module), module.__name__.split(".")
    own = members.get("__getattr__")
    if not isinstance(own, _Lookup) and (len(path) == 1 or path[1] in _TRITONS):
        members["__getattr__"] = _Lookup(module, own)


def find_alias(name: str) -> Any:
    """The spec of a module that has Triton's name and another place (`tritium.compiler.compiler`); None if none has."""
    return _alias.spec_of_alias(name)
