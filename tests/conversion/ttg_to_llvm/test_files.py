"""The table of who lowers what is whole, so that no kernel imports more than it needs."""

from __future__ import annotations

import subprocess
import sys

from tritium.conversion.ttg_to_llvm.amd.files import FILES as AMD_FILES
from tritium.conversion.ttg_to_llvm.amd.lowerings import AMD_LOWERINGS
from tritium.conversion.ttg_to_llvm.amd.target import AMDTarget
from tritium.conversion.ttg_to_llvm.context import LOWERINGS
from tritium.conversion.ttg_to_llvm.files import FILES
from tritium.dialects import arith, builtin, ttg, ttng

PACKAGE = "tritium.conversion.ttg_to_llvm"


def registered() -> dict[str, set[str]]:
    """The operations of each file of the package, all of which are imported now."""
    LOWERINGS.import_all()
    found: dict[str, set[str]] = {}
    for cls, fn in LOWERINGS.items():
        module = fn.__module__.removeprefix(f"{PACKAGE}.")
        if module not in (fn.__module__, "module"):  # that one starts everything
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
assert "{PACKAGE}.nvidia.atomics" not in sys.modules
assert LOWERINGS.find(tt.AtomicRMW).__module__ == "{PACKAGE}.nvidia.atomics"
assert "{PACKAGE}.scan" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_lowering_for_amd_gpus_has_its_row():
    AMD_LOWERINGS.import_all()
    found: dict[str, set[str]] = {}
    for cls, fn in AMD_LOWERINGS.items():
        found.setdefault(fn.__module__.rpartition(".")[2], set()).add(cls.name)
    assert found == {module: set(names.split()) for module, names in AMD_FILES.items()}


def test_amd_gpus_refuse_what_only_nvidia_gpus_lower():
    target = AMDTarget("gfx942", 64)
    for cls in (ttng.WarpGroupDot, ttg.AsyncCopyGlobalToLocal):
        lowering = target.lowering_of(cls)
        assert lowering is not None and lowering.__name__ == "_refuse"
    assert target.lowering_of(arith.AddI) is None
