"""A process that compiles a file and launches it, and imports nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.example_kernels import EXAMPLES

CODE = """
import sys
from tritium.compiler import GPUTarget, compile
kernel = compile(sys.argv[1], target=GPUTarget("cpu", "", 1))
assert "tritium.runtime" not in sys.modules
import numpy as np
x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
kernel[(2, 1, 1)](x, x, out, 100)
assert (out == 2 * x).all()
"""


def test_launch(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tritium", "compile", f"{EXAMPLES / 'vector_add.py'}::add_kernel"]
    signature = "*fp32, *fp32, *fp32, i32, 64"
    file = tmp_path / "add.ttir"
    subprocess.run([*program, "--target", "cpu", "--signature", signature, "--stage", "ttir", "-o", file], check=True)
    subprocess.run([sys.executable, "-c", CODE, str(file)], check=True)
