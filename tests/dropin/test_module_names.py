"""Triton's names in the modules of this package: which modules get them, and that their specs are Python's."""

from __future__ import annotations

import importlib.machinery
import sys

import pytest

import tritium
import tritium.compiler
import tritium.ir
import tritium.runtime.grid
from tritium.dropin import module_names


@pytest.mark.parametrize("module", [tritium.runtime.grid, tritium.compiler, tritium.ir])
def test_spec_is_that_of_the_standard_finder(module):
    parent = sys.modules[module.__name__.rpartition(".")[0]]
    standard = importlib.machinery.PathFinder.find_spec(module.__name__, parent.__path__)
    for name in ("name", "origin", "cached", "submodule_search_locations", "has_location", "parent"):
        assert getattr(module.__spec__, name) == getattr(standard, name), name
    assert isinstance(module.__spec__.loader, importlib.machinery.SourceFileLoader)


def test_only_modules_that_triton_has_too_look_up_its_names():
    assert isinstance(vars(tritium.runtime.grid)["__getattr__"], module_names._Lookup)
    assert not isinstance(vars(tritium.ir).get("__getattr__"), module_names._Lookup)


def test_module_with_another_place_is_found():
    import tritium.compiler.compiler

    import tritium.dropin.utils

    assert tritium.compiler.compiler is tritium.compiler and tritium._utils is tritium.dropin.utils


def test_module_that_is_nowhere_is_reported_by_name():
    with pytest.raises(ModuleNotFoundError, match=r"tritium\.nowhere"):
        importlib.import_module("tritium.nowhere")
