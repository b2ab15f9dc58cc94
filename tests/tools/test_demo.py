"""The demo runs to its end, shows what it promises, and its workloads are right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tritium.tools import workloads

BUILDERS = {
    "vector add": lambda rng: workloads.vector_add(5000, 1024, rng),
    "softmax": lambda rng: workloads.fused_softmax(9, 100, rng),
    "matmul": lambda rng: workloads.matmul(130, rng),
    "dropout": lambda rng: workloads.low_memory_dropout(100_000, rng),
    "layer norm": lambda rng: workloads.layer_norm(9, 100, rng),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_workloads_and_their_peers_agree(name: str, rng: np.random.Generator) -> None:
    workload = BUILDERS[name](rng)
    assert np.isnan(workload.output).all(), "the output is poisoned before the first run"
    workload.run()
    assert workload.error() < 1e-4
    assert workload.name == name
    if name != "dropout":  # there, peers draw their own numbers
        peer = workload.numpy()
        assert np.allclose(np.asarray(peer), workload.output, atol=1e-4)


def test_a_missing_examples_folder_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(workloads, "EXAMPLES", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"examples/ folder"):
        workloads.example("vector_add")


def test_the_demo_shows_everything(tmp_path: Path) -> None:
    environment = {**os.environ, "TRITIUM_CACHE_DIR": str(tmp_path), "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-m", "tritium", "demo"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    output = done.stdout
    for stage in ("source", "ttir", "ttcir", "llir", "asm", "obj"):
        assert re.search(rf"^\| {stage} +\| .*(lines|bytes)", output, re.M), f"{stage} is missing"
    assert "tt.load" in output and "loc(" not in output
    assert "vector<16xf32>" in output or "ttc." in output
    assert re.search(r"^add_kernel:", output, re.M)
    assert float(re.search(r"maximum error .*: (\S+)", output)[1]) < 1e-6
    for name in BUILDERS:
        assert re.search(rf"^\| {name} ", output, re.M), f"{name} is missing"
    assert "\x1b[" not in output, "colours where there is no terminal"
    assert not any(tmp_path.iterdir()), "the demo compiles; it must not use the user's cache"
