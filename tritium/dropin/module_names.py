"""Triton's names in Tritium's modules, for scripts that say `import tritium as triton`.

After `import triton`, Triton's modules are attributes of each other and hold what they import from each other:
programs read `triton.runtime.Autotuner` or `triton.compiler.compiler` without a line that imports them. Here a module
that is asked for an attribute it lacks imports its submodule of that name, or what `names` says.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..support.lazy import LazyModule, load

__all__ = ["add_triton_names", "find_alias"]

_lookup = LazyModule(".lookup", __package__)
#: the packages and modules at the top that Triton has one like
_TRITONS = frozenset(("_C", "backends", "compiler", "dropin", "frontend", "knobs", "language", "profiler", "runtime"))
_TRITONS |= {"support", "testing", "tools"}


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
        return _lookup.triton_attribute(self.module, attribute)

    def _has_submodule(self, name: str) -> bool:
        paths = [os.path.join(folder, name) for folder in getattr(self.module, "__path__", ())]
        return any(os.path.isfile(f"{path}.py") or os.path.isfile(f"{path}/__init__.py") for path in paths)


def _has_triton_names(name: str) -> bool:
    """Whether Triton may have a module like the one of this name."""
    path = name.split(".", 2)
    return len(path) == 1 or path[1] in _TRITONS


def add_triton_names(module: ModuleType) -> None:
    """Have a module of this package find the names that Triton's has; once, and only if Triton has one like it."""
    members = vars(module)
    own = members.get("__getattr__")
    if not isinstance(own, _Lookup) and _has_triton_names(module.__name__):
        members["__getattr__"] = _Lookup(module, own)


def find_alias(name: str) -> ModuleSpec | None:
    """The spec of a module that has Triton's name and another place (`tritium.compiler.compiler`); None if none has."""
    return _lookup.spec_of_alias(name)  # type: ignore[no-any-return]
