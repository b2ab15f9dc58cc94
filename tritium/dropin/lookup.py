"""Triton's modules and their attributes, found in Tritium's: the tables of `names` applied."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..support.lazy import lazy_attributes
from .names import ADDED, LEFT_OUT, PLACES, REACHED
from .refused_names import REFUSED

__all__ = ["ExistingModule", "our_module", "refuse_left_out", "spec_of_alias", "triton_attribute"]

_ROOT = __name__.partition(".")[0]


class ExistingModule(importlib.abc.Loader):
    """A loader that returns a module that exists already."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        if self.spec is not None:  # the import system has just set that of the alias
            module.__spec__ = self.spec

    def get_code(self, name: str) -> Any:
        """The module's code, which `python -m triton.NAME` runs as a program."""
        return None if self.spec is None else self.spec.loader.get_code(self.spec.name)  # type: ignore[union-attr]


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


_KNOWN = {part for name in (*ADDED, *REACHED) for part in _with_parents(name)}


def our_module(name: str) -> str:
    """The name of our module for Triton's module `name`."""
    return PLACES.get(name, "tritium" + name.removeprefix("triton"))


@functools.cache
def _lookup(module: str) -> Callable[[str], Any]:
    """The lookup of Triton's names for one of our modules, which may be several modules of Triton's."""
    names = [name for name in _KNOWN if our_module(name) == module]
    below = {child.rpartition(".")[2]: child for child in REACHED if child.rpartition(".")[0] in names}
    where = {short: f"{our_module(child)}:" for short, child in below.items()}
    for name in names:
        where |= ADDED.get(name, {})
    if "triton.backends" in names:
        where["backends"] = "tritium.dropin.backends:known_backends"
    return lazy_attributes(module, where, vars(sys.modules[module]))


def triton_attribute(module: ModuleType, attribute: str) -> Any:
    """An attribute of Triton's module that ours does not have; AttributeError if there is none."""
    try:
        return _lookup(module.__name__)(attribute)
    except AttributeError:
        for name, refused in REFUSED.items():
            if attribute in refused and our_module(name) == module.__name__:
                raise AttributeError(f"{name}.{attribute} is not part of tritium: {refused[attribute]}") from None
        raise


def spec_of_alias(name: str) -> ModuleSpec | None:
    """The spec of a module below `tritium` for a Triton module with another path here; None if there is none."""
    theirs = "triton" + name.removeprefix(_ROOT)
    refuse_left_out(name, theirs)
    if theirs not in PLACES:
        return None
    module = importlib.import_module(PLACES[theirs])
    return ModuleSpec(name, ExistingModule(module), is_package=hasattr(module, "__path__"))


def refuse_left_out(name: str, theirs: str) -> None:
    whole = ".".join(theirs.split(".")[:2])
    if theirs in LEFT_OUT or whole in LEFT_OUT:
        why = LEFT_OUT.get(theirs) or LEFT_OUT[whole]
        by = ", which answers for triton here" if name == theirs else ""
        raise ModuleNotFoundError(f"{name} is not part of tritium{by}: {why}", name=name)
