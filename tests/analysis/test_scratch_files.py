"""The table of scratch sizes: entries of operations that exist, modules imported on first use."""

from __future__ import annotations

import subprocess
import sys

from tritium.analysis import scratch
from tritium.ir import load_dialect
from tritium.ir.definition import OPS


def test_scratch_table_names_defined_operations():
    for name in scratch._SIZES:
        load_dialect(name.partition(".")[0])
        assert name in OPS


def test_plans_are_imported_for_operations_that_need_scratch_only():
    code = """
import sys
from tritium.analysis import allocation, membar
assert not any(f"tritium.analysis.{name}" in sys.modules for name in ("exchange", "scratch_reduce", "captures"))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
