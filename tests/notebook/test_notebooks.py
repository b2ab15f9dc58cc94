"""Notebooks executed from the first cell to the last: `%%tritium`, and objects as the last value of a cell."""

from __future__ import annotations

from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install tritium[test]")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install tritium[test]")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install tritium[test]")

SETUP = """
import numpy as np
import tritium
import tritium.language as tl
%load_ext tritium.notebook
"""
KERNEL = """
@tritium.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
"""
LAUNCH = """
x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
double[(2,)](x, y, 100, 64)
assert (y == 2).all()
"""


def outputs(*cells: str) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of a notebook that was executed in a kernel of its own."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    return [[dict(output) for output in cell.outputs] for cell in notebook.cells]


def test_cells_show_the_stages_of_their_kernels() -> None:
    found = outputs(
        SETUP,
        "%%tritium --stage ttir\n" + KERNEL + LAUNCH,
        "%%tritium double -s '*fp32:16, *fp32:16, i32, 64' --target cuda:90\npass",
        "%%tritium other -s '*fp32' --target cuda:90\npass",
        "%%tritium --unknown\npass",
        "double[(2,)](x, y, 100, 64)",
    )
    launched, compiled, missing, wrong, last = found[1:]
    html = launched[-1]["data"]["text/html"]
    assert "double for cpu" in html and "<details open><summary>ttir" in html
    html = compiled[-1]["data"]["text/html"]
    assert "double for cuda:90" in html and "ptx: " in html and "ttgir: " in html
    assert "there is no kernel &#x27;other&#x27;" in str(missing) or "there is no kernel 'other'" in missing[-1]["text"]
    assert "%%tritium: " in wrong[-1]["text"] and "--unknown" in wrong[-1]["text"]
    assert "double for cpu" in last[-1]["data"]["text/html"], "a launch returns its kernel, which shows itself"
