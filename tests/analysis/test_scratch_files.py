"""Every operation that needs scratch is known before the file that says how much is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tritium.analysis import scratch
from tritium.dialects import tt
from tritium.support.lazy import loaded


def test_rows_name_the_files_that_register_them():
    for name, module in scratch._FILES.items():
        assert loaded(module) and scratch._SIZES[name].__module__ == loaded(module).__name__


def test_an_operation_without_a_row_is_refused():
    with pytest.raises(ValueError, match="no row"):
        scratch.scratch_of("tt.unheard_of")(lambda op: 1)
    with pytest.raises(ValueError, match="two functions"):
        loaded(scratch._FILES["tt.reduce"])
        scratch.scratch_of(tt.Reduce)(lambda op: 1)


def test_files_are_imported_for_their_operations_only():
    code = """
import sys
from tritium.analysis import allocation, membar
assert not any(f"tritium.analysis.{name}" in sys.modules for name in ("exchange", "scratch_reduce", "captures"))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
