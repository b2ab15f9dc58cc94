"""`import triton` provided by this package, for scripts that cannot be changed.

    import tritium
    tritium.install()
    import triton, triton.language as tl     # ours

Every `triton.x` is the module `tritium.x` (a few have other names, or get further names of Triton's, see `names`).
`triton` is a separate module with the attributes of `tritium`, except `__version__`: that of the supported release of
Triton.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..frontend.errors import triton_errors
from ..support import TritiumError
from ..support.lazy import LazyModule
from .lookup import ExistingModule, our_module, refuse_left_out
from .module_names import add_triton_names

__all__ = ["FOR_CHILDREN", "TRITON_VERSION", "install", "uninstall"]

TRITON_VERSION = "3.9.0"

_ROOT = __name__.partition(".")[0]

_metadata, _pathlib = LazyModule("importlib.metadata"), LazyModule("pathlib")


class _Triton(ModuleType):
    """The module `triton`, with the attributes of `tritium`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module 'triton' has no attribute {name!r}")
        try:
            return getattr(sys.modules[_ROOT], name)
        except AttributeError:
            raise AttributeError(f"module 'triton' (provided by tritium) has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return dir(sys.modules[_ROOT])


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `triton` and everything below it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "triton":
            module: ModuleType = _Triton("triton", "Tritium under Triton's name.")
            module.__dict__.update(__version__=TRITON_VERSION, __path__=[], __file__=sys.modules[_ROOT].__file__)
            return ModuleSpec(name, ExistingModule(module), is_package=True)
        if not name.startswith("triton."):
            return None
        refuse_left_out(name, name)
        real = our_module(name)
        try:
            module = importlib.import_module(real)
        except ModuleNotFoundError as error:
            if error.name is None or not real.startswith(error.name):
                raise
            return None
        add_triton_names(module)  # a module of an archive has none yet
        return ModuleSpec(name, ExistingModule(module), is_package=hasattr(module, "__path__"))

    @staticmethod
    def find_distributions(context: Any = None) -> Iterator[Any]:
        """The package `triton` for `importlib.metadata`: its version, which scripts compare."""
        if context is None or context.name in (None, "triton"):
            yield _distribution()


@functools.cache
def _distribution() -> Any:
    def read_text(self: Any, filename: str) -> str | None:
        return f"Metadata-Version: 2.1\nName: triton\nVersion: {TRITON_VERSION}\n" if filename == "METADATA" else None

    def locate_file(self: Any, path: Any) -> Any:
        return _pathlib.Path(sys.modules[_ROOT].__file__).parent / path

    methods = {"read_text": read_text, "locate_file": locate_file}
    return type("Distribution", (_metadata.Distribution,), methods)()


_finder = _Finder()

# the folder where child processes with this process's sys.path find `triton`: of multiprocessing and torch.compile
FOR_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")


def install() -> None:
    """Provide `import triton` from now on, also in processes started later that inherit this one's `sys.path`.

    TritiumError if another Triton has been imported already.
    """
    there = sys.modules.get("triton")
    if there is not None and not isinstance(there, _Triton):
        raise TritiumError(
            f"triton was imported already, from {getattr(there, '__file__', 'elsewhere')}\n"
            "hint: call tritium.install() before anything imports triton"
        )
    triton_errors.on = True
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    if FOR_CHILDREN not in sys.path:
        sys.path.insert(1, FOR_CHILDREN)  # the first is the script's folder


def uninstall() -> None:
    """Undo `install`: the next `import triton` searches for Triton itself."""
    triton_errors.on = False
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    if FOR_CHILDREN in sys.path:
        sys.path.remove(FOR_CHILDREN)
    for name in [n for n in sys.modules if n == "triton" or n.startswith("triton.")]:
        del sys.modules[name]
