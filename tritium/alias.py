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
from .refused_names import REFUSED
from .runtime.cpu_driver import PreferredCPU
from .support import TritiumError
from .support.lazy import LazyModule, lazy_attributes
from .support.namedtuples import NamedTuple
from .triton_names import add_triton_names

__all__ = ["Backend", "FOR_CHILDREN", "TRITON_VERSION", "install", "uninstall"]

TRITON_VERSION = "3.9.0"

_cuda = LazyModule(".runtime.cuda", __package__)
_metadata, _pathlib = LazyModule("importlib.metadata"), LazyModule("pathlib")


class _Triton(ModuleType):
    """Looks like `tritium`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module 'triton' has no attribute {name!r}")
        try:
            return getattr(sys.modules[__package__ or "tritium"], name)
        except AttributeError:
            raise AttributeError(f"module 'triton' (provided by tritium) has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return dir(sys.modules[__package__ or "tritium"])


class Backend(NamedTuple):
    """A backend as Triton lists them."""

    compiler: Any
    driver: Any


_MAKERS = {"cuda": "nvidia", "hip": "amd"}


class _Absent:
    """The driver of a backend that compiles only: there is no such device."""

    @staticmethod
    def is_active() -> bool:
        return False


class _Backends(Mapping[str, Backend]):
    """`triton.backends.backends`: name -> backend, looked up when asked for.

    Names are Triton's, which calls backends by their makers: programs ask for "nvidia" and "amd". Those of targets,
    "cuda" and "hip", are found too.
    """

    def _found(self) -> dict[str, Backend]:
        drivers = {"cpu": PreferredCPU, "cuda": _cuda.PreferredCUDA}
        found = backends().items()
        return {_MAKERS.get(name, name): Backend(compiler, drivers.get(name, _Absent)) for name, compiler in found}

    def __getitem__(self, name: str) -> Backend:
        return self._found()[_MAKERS.get(name, name)]

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

    def get_code(self, name: str) -> Any:
        """The module's code, which `python -m triton.NAME` runs as a program."""
        return None if self.spec is None else self.spec.loader.get_code(self.spec.name)  # type: ignore[union-attr]


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


_KNOWN = {part for name in (*ADDED, *REACHED) for part in _with_parents(name)}


def _place(name: str) -> str:
    """The name of the module of ours that is Triton's module `name`."""
    return PLACES.get(name, "tritium" + name.removeprefix("triton"))


@functools.cache
def _lookup(module: str) -> Callable[[str], Any]:
    """What finds Triton's names for a module of ours: those of all modules of Triton's that it is."""
    names = [name for name in _KNOWN if _place(name) == module]
    below = {child.rpartition(".")[2]: child for child in REACHED if child.rpartition(".")[0] in names}
    where = {short: f"{_place(child)}:" for short, child in below.items()}
    for name in names:
        where |= ADDED.get(name, {})
    if "triton.backends" in names:
        where["backends"] = f"{__name__}:known_backends"
    return lazy_attributes(module, where, vars(sys.modules[module]))


def triton_attribute(module: ModuleType, attribute: str) -> Any:
    """An attribute that a module of Triton's has and the one of ours has not; AttributeError if there is none."""
    try:
        return _lookup(module.__name__)(attribute)
    except AttributeError:
        for name, refused in REFUSED.items():
            if attribute in refused and _place(name) == module.__name__:
                raise AttributeError(f"{name}.{attribute} is not part of tritium: {refused[attribute]}") from None
        raise


known_backends = _Backends()


def spec_of_alias(name: str) -> ModuleSpec | None:
    """The spec of a module below `tritium` that has Triton's name and another place; None if there is none."""
    theirs = "triton" + name.removeprefix(__package__ or "tritium")
    _refuse_left_out(name, theirs)
    if theirs not in PLACES:
        return None
    module = importlib.import_module(PLACES[theirs])
    return ModuleSpec(name, _Loader(module), is_package=hasattr(module, "__path__"))


def _refuse_left_out(name: str, theirs: str) -> None:
    whole = ".".join(theirs.split(".")[:2])
    if theirs in LEFT_OUT or whole in LEFT_OUT:
        why = LEFT_OUT.get(theirs) or LEFT_OUT[whole]
        by = ", which answers for triton here" if name == theirs else ""
        raise ModuleNotFoundError(f"{name} is not part of tritium{by}: {why}", name=name)


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
        _refuse_left_out(name, name)
        real = _place(name)
        try:
            module = importlib.import_module(real)
        except ModuleNotFoundError as error:
            if error.name is None or not real.startswith(error.name):
                raise
            return None
        add_triton_names(module)  # those of an archive are not found by the package's finder
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
