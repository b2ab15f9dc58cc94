"""A process that finds its kernel in the cache imports nothing that it does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.example_kernels import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
import numpy as np
before = set(sys.modules)
from vector_add import add_kernel
import tritium
hits = []
tritium.knobs.compilation.listener = lambda **told: hits.append(told["cache_hit"])
x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
add_kernel[(1,)](x, x, out, 64, BLOCK_SIZE=64)
assert (out == 2).all()
print(hits[0], *sorted(set(sys.modules) - before))
"""
#: What only compiling, people at a terminal, or machines that share kernels need.
UNWANTED = {
    "base64", "fcntl", "hmac", "llvmlite", "redis", "rich", "tempfile", "typer",
    "tritium.compiler.cache_managers", "tritium.compiler.inventory", "tritium.compiler.remote", "tritium.compiler.why",
    "tritium.frontend.visitor", "tritium.transforms", "tritium.tools",
}  # fmt: skip


def test_imports_of_a_hit(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(EXAMPLES)]), "TRITIUM_CACHE_DIR": str(tmp_path)}
    told = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", CODE], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.split())
    assert [told[0][0], told[1][0]] == ["False", "True"]
    assert "llvmlite" in told[0]  # so the test can tell
    assert not UNWANTED & set(told[1])
