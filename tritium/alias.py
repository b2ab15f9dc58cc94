"""`import triton`, answered by this package: for scripts that cannot be changed.

    import tritium
    tritium.install()
    import triton, triton.language as tl     # ours

Every `triton.x` is the module `tritium.x` (a few have other names, or get names of Triton's besides, see
`dropin_names`). `triton` is a module of its own that looks like `tritium`, but for its `__version__`: that of the
Triton whose language we speak.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .compiler import backends
from .dropin_names import ADDED, LEFT_OUT, PLACES, REACHED
from .frontend.errors import chained
from .runtime.driver import PreferredCPU
from .support import TritiumError
from .support.lazy import LazyModule, lazy_attributes
from .support.namedtuples import NamedTuple

__all__ = ["FOR_CHILDREN", "TRITON_VERSION", "install", "uninstall"]

TRITON_VERSION = "3.9.0"

_cuda = LazyModule(".runtime.cuda", __package__)
_metadata, _pathlib = LazyModule("importlib.metadata"), LazyModule("pathlib")


class _Triton(ModuleType):
    """Looks like `tritium`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module 'triton' has no attribute {name!r}")
        try:
            found = getattr(sys.modules[__package__ or "tritium"], name)
            return _completed(f"triton.{name}", found) if isinstance(found, ModuleType) else found
        except AttributeError:
            if f"triton.{name}" in REACHED:
                return importlib.import_module(f"triton.{name}")
            raise AttributeError(f"module 'triton' (provided by tritium) has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return dir(sys.modules[__package__ or "tritium"])


class _Backend(NamedTuple):
    """A backend as Triton lists them."""

    compiler: Any
    driver: Any


class _Absent:
    """The driver of a backend that compiles only: there is no such device."""

    @staticmethod
    def is_active() -> bool:
        return False


class _Backends(Mapping[str, _Backend]):
    """`triton.backends.backends`: name -> backend, looked up when asked for."""

    def _found(self) -> dict[str, _Backend]:
        drivers = {"cpu": PreferredCPU, "cuda": _cuda.PreferredCUDA}
        return {name: _Backend(compiler, drivers.get(name, _Absent)) for name, compiler in backends().items()}

    def __getitem__(self, name: str) -> _Backend:
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


class _Loader(importlib.abc.Loader):
    """Gives a module that exists already."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        if self.spec is not None:  # the import system has just put the alias's there
            module.__spec__ = self.spec


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


_KNOWN = {part for name in (*ADDED, *REACHED) for part in _with_parents(name)}
_BELOW = {
    name: {child.rpartition(".")[2]: child for child in _KNOWN if child.rpartition(".")[0] == name} for name in _KNOWN
}
_complete: set[str] = set()


def _completed(name: str, module: ModuleType) -> ModuleType:
    """`module`, which answers for Triton's module `name`: what is not in it is found where ADDED and REACHED say.

    Triton's modules are all there after `import triton`, with what they import from each other, and programs read
    `triton.runtime.Autotuner` without a line that imports it. Here it is imported when it is read.
    """
    below, members = _BELOW.get(name), vars(module)
    if below is None:
        return module
    if name not in _complete:
        _complete.add(name)
        members["__getattr__"] = _asking(name, below, members)
    for attribute, child in below.items():
        if isinstance(members.get(attribute), ModuleType):
            _completed(child, members[attribute])
    return module


def _asking(name: str, below: dict[str, str], members: dict[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module: what it had itself, behind what Triton's has."""
    places = {
        short: f"{PLACES.get(child, 'tritium' + child[6:])}:" for short, child in below.items() if child in REACHED
    }
    own, theirs = members.get("__getattr__"), lazy_attributes(name, {**places, **ADDED.get(name, {})}, members)

    def get(attribute: str) -> Any:
        try:
            found = theirs(attribute)
        except AttributeError:
            if own is None:
                raise
            found = own(attribute)
        return _completed(f"{name}.{attribute}", found) if isinstance(found, ModuleType) else found

    return get


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `triton` and everything below it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "triton":
            module: ModuleType = _Triton("triton", "Tritium under Triton's name.")
            module.__dict__.update(__version__=TRITON_VERSION, __path__=[], __file__=__file__)
            return ModuleSpec(name, _Loader(module), is_package=True)
        if not name.startswith("triton."):
            return None
        whole = ".".join(name.split(".")[:2])
        if name in LEFT_OUT or whole in LEFT_OUT:
            why = LEFT_OUT.get(name) or LEFT_OUT[whole]
            raise ModuleNotFoundError(f"{name} is not part of tritium, which answers for triton here: {why}", name=name)
        real = PLACES.get(name, "tritium" + name.removeprefix("triton"))
        try:
            module = importlib.import_module(real)
        except ModuleNotFoundError as error:
            if error.name is None or not real.startswith(error.name):
                raise
            return None
        _completed(name, module)
        if name == "triton.backends" and not hasattr(module, "backends"):
            module.backends = _Backends()  # type: ignore[attr-defined]
        return ModuleSpec(name, _Loader(module), is_package=hasattr(module, "__path__"))

    @staticmethod
    def find_distributions(context: Any = None) -> Iterator[Any]:
        """What `importlib.metadata` says of the package `triton`: its version, which scripts compare."""
        if context is None or context.name in (None, "triton"):
            yield _distribution()


@functools.cache
def _distribution() -> Any:
    def read_text(self: Any, filename: str) -> str | None:
        return f"Metadata-Version: 2.1\nName: triton\nVersion: {TRITON_VERSION}\n" if filename == "METADATA" else None

    def locate_file(self: Any, path: Any) -> Any:
        return _pathlib.Path(__file__).parent / path

    methods = {"read_text": read_text, "locate_file": locate_file}
    return type("Distribution", (_metadata.Distribution,), methods)()


_finder = _Finder()

# where children that get this process's sys.path find `triton`: multiprocessing's, and torch.compile's workers
FOR_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_children")


def install() -> None:
    """Answer `import triton` from now on, also in processes started later that get this one's `sys.path`.

    TritiumError if another Triton has been imported already.
    """
    there = sys.modules.get("triton")
    if there is not None and not isinstance(there, _Triton):
        raise TritiumError(
            f"triton was imported already, from {getattr(there, '__file__', 'elsewhere')}\n"
            "hint: call tritium.install() before anything imports triton"
        )
    chained.on = True
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    if FOR_CHILDREN not in sys.path:
        sys.path.insert(1, FOR_CHILDREN)  # the first is the script's folder


def uninstall() -> None:
    """Undo `install`: the next `import triton` looks for Triton itself."""
    chained.on = False
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    if FOR_CHILDREN in sys.path:
        sys.path.remove(FOR_CHILDREN)
    for name in [n for n in sys.modules if n == "triton" or n.startswith("triton.")]:
        del sys.modules[name]
