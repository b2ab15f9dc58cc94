"""The table of who lowers what is whole, so that no kernel imports more than it needs."""

from __future__ import annotations

import subprocess
import sys

from tritium.conversion.ttg_to_llvm.context import LOWERINGS
from tritium.conversion.ttg_to_llvm.files import FILES
from tritium.dialects import arith, builtin

PACKAGE = "tritium.conversion.ttg_to_llvm"


def registered() -> dict[str, set[str]]:
    """The operations of each file of the package, all of which are imported now."""
    LOWERINGS.import_all()
    found: dict[str, set[str]] = {}
    for cls, fn in LOWERINGS.items():
        package, _, module = fn.__module__.rpartition(".")
        if package == PACKAGE and module != "module":  # that one starts everything
            found.setdefault(module, set()).add(cls.name)
    return found


def test_every_lowering_has_its_row():
    for module, names in registered().items():
        rows = set(FILES.get(module, "").split())
        assert names <= rows, f"files.py: {module!r} is without {' '.join(sorted(names - rows))}"
        assert rows <= names, f"files.py: {module!r} does not lower {' '.join(sorted(rows - names))}"


def test_an_operation_without_a_row_is_found(monkeypatch):
    known = LOWERINGS.find(arith.AddI)
    assert known is not None
    monkeypatch.setattr(LOWERINGS, "files", {})
    monkeypatch.delitem(LOWERINGS, arith.AddI)
    imported = []
    monkeypatch.setattr(LOWERINGS, "import_all", lambda: imported.append(LOWERINGS.update({arith.AddI: known})))
    assert LOWERINGS.find(arith.AddI) is known and imported
    assert LOWERINGS.find(builtin.Module) is None


def test_a_lowering_is_imported_when_it_is_needed():
    code = f"""
import sys
from {PACKAGE}.context import LOWERINGS
from tritium.dialects import tt
assert "{PACKAGE}.atomics" not in sys.modules
assert LOWERINGS.find(tt.AtomicRMW).__module__ == "{PACKAGE}.atomics"
assert "{PACKAGE}.scan" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
