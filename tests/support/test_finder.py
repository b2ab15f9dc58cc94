"""Finding modules quickly: what is found and loaded is what Python's own finder would find and load."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import tritium
from tritium.support import finder

ROOT = Path(tritium.__file__).parent


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `sought` with a module, a package and a folder in it, found quickly; its folder."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "sought"
    for name in ("__init__", "plain", "inner/__init__", "inner/deep", "folder/leaf"):
        (folder / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(f"name = {name!r}\n")
    finder.find_quickly("sought")
    yield folder
    for name in [n for n in sys.modules if n.partition(".")[0] == "sought"]:
        del sys.modules[name]


def imported(name):
    """The module, as a new process would import it."""
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module(name)


def test_a_module_is_described_as_python_describes_it(package):
    for name in ("sought.plain", "sought.inner", "sought.inner.deep"):
        module = imported(name)
        ours, theirs = module.__spec__, importlib.machinery.PathFinder.find_spec(name, _parent_path(name))
        assert isinstance(ours.loader, finder._Loader) and not isinstance(theirs.loader, finder._Loader)
        for attribute in ("name", "origin", "cached", "submodule_search_locations", "has_location", "parent"):
            assert getattr(ours, attribute) == getattr(theirs, attribute), (name, attribute)
        assert module.__file__ == theirs.origin and module.__cached__ == theirs.cached
    assert imported("sought.folder.leaf").name == "folder/leaf"  # a folder without __init__ is Python's to find


def _parent_path(name):
    return importlib.import_module(name.rpartition(".")[0]).__path__


def test_valid_bytecode_is_loaded(package, monkeypatch):
    imported("sought.plain")
    monkeypatch.setattr(importlib.machinery.SourceFileLoader, "get_data", None)  # what Python's own way would call
    assert imported("sought.plain").name == "plain"


@pytest.mark.parametrize("edited", ["name = 'other'\n", "name = 'plane'\n"])
def test_an_edited_source_wins(package, edited):
    source = package / "plain.py"
    assert imported("sought.plain").name == "plain"
    source.write_text(edited)
    os.utime(source, (source.stat().st_atime, source.stat().st_mtime + 2))  # a second is what Python's bytecode tells
    assert imported("sought.plain").name == edited.split("'")[1]
    assert imported("sought.plain").name == edited.split("'")[1]  # now from new bytecode


@pytest.mark.parametrize("harm", ["none", "empty", "header", "flags", "magic"])
def test_bytecode_that_does_not_belong_to_the_source_is_not_loaded(package, harm):
    imported("sought.plain")
    compiled = Path(importlib.util.cache_from_source(str(package / "plain.py")))
    data = bytearray(compiled.read_bytes().replace(b"plain", b"wrong"))
    if harm == "none":
        compiled.unlink()
    else:
        place, bits = {"header": (8, 1), "flags": (4, 3), "magic": (0, 1)}.get(harm, (0, 0))
        data[place] ^= bits  # flags of 3: bytecode that belongs to the source by its hash
        compiled.write_bytes(b"" if harm == "empty" else bytes(data))
    assert imported("sought.plain").name == "plain"


def test_bytecode_of_a_moved_file_is_corrected(package, tmp_path):
    """A moved environment: positions in tracebacks are those of the source that is there."""
    imported("sought.plain")
    moved = tmp_path / "elsewhere" / "sought"
    moved.parent.mkdir()
    package.rename(moved)
    for name in [n for n in sys.modules if n.partition(".")[0] == "sought"]:
        del sys.modules[name]
    sys.path.insert(0, str(moved.parent))
    (moved / "inner" / "deep.py").write_text("def fail():\n    raise KeyError(1)\n")
    with pytest.raises(KeyError) as caught:
        imported("sought.inner.deep").fail()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == "raise KeyError(1)"
    code = imported("sought.plain").__spec__.loader.get_code("sought.plain")
    assert code.co_filename == str(moved / "plain.py")


def test_a_finder_that_was_in_front_stays_in_front(package):
    asked = []

    class Hook:
        @staticmethod
        def find_spec(name, path=None, target=None):
            asked.append(name)

    sys.meta_path.insert(0, Hook)
    finder.find_quickly("another")
    assert sys.meta_path.index(Hook) == 0
    imported("sought.plain")
    assert "sought.plain" in asked


def test_bytecode_in_another_folder_is_left_to_python(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parent), "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    code = "import tritium.numbers as n; print(n.__cached__, n.__loader__.__class__.__name__)"
    for _ in range(2):  # the first writes it
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
        cached, loader = done.stdout.split()
        assert cached.startswith(str(tmp_path)) and os.path.isfile(cached) and loader == "_Loader"


def test_no_name_is_a_module_and_a_package():
    """Python takes the package, the quick finder the module."""
    assert not [p for p in ROOT.rglob("*.py") if p.with_suffix("").is_dir()]
    assert not list(ROOT.rglob("*.so"))
