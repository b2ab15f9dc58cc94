"""Triton's names in Tritium's modules, for scripts that say `import tritium as triton`.

After `import triton`, Triton's modules are attributes of each other and hold what they import from each other:
programs read `triton.runtime.Autotuner` or `triton.compiler.compiler` without importing them. Here a module without the
requested attribute imports its submodule of that name, or the object that the tables in `names` list.
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
#: the top-level packages and modules that correspond to modules of Triton's
_TRITONS = frozenset(
    ("_C", "backends", "compiler", "dropin", "experimental", "frontend", "knobs", "language", "profiler", "runtime")
)
_TRITONS |= {"support", "testing", "tools"}


class _Lookup:
    """A module's `__getattr__`: its own, its submodules, then Triton's names.

    `from package import submodule` requests the attribute first, too: submodules are tried before the tables, whose
    import imports the compiler.
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
    """Whether Triton may have a module that corresponds to this one."""
    path = name.split(".", 2)
    return len(path) == 1 or path[1] in _TRITONS


def add_triton_names(module: ModuleType) -> None:
    """Add the lookup of Triton's names to a module of this package, once, if Triton may have a corresponding module."""
    members = vars(module)
    own = members.get("__getattr__")
    if not isinstance(own, _Lookup) and _has_triton_names(module.__name__):
        members["__getattr__"] = _Lookup(module, own)


def find_alias(name: str) -> ModuleSpec | None:
    """The spec of a module for a Triton module with another path here (`tritium.compiler.compiler`); None for
    others."""
    return _lookup.spec_of_alias(name)  # type: ignore[no-any-return]
