"""The recorder of names hands over what workers of pytest-xdist found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.works.evidence import ROOT

TESTS = """
import numpy as np
import pytest
import tritium
import tritium.language as tl


@tritium.jit
def sorts(x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x + at, tl.sort(tl.load(x + at)))


@tritium.jit
def flips(x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x + at, tl.flip(tl.load(x + at)))


@pytest.mark.parametrize("kernel", [sorts, flips, None], ids=str)
def test_one(kernel):
    x = np.array([3, 1, 2, 0], np.int32)
    (kernel or sorts)[(1,)](x, 4)
    assert sorted(x) == [0, 1, 2, 3] and kernel is not None


@pytest.mark.parametrize("device", ["gfx942"])
def test_on_an_emulated_gpu(device):
    from tritium.runtime import driver
    from tritium.runtime.emulated_hip import EmulatedHIPDriver

    driver.set_active(EmulatedHIPDriver(device))
    flips[(1,)](np.array([3, 1, 2, 0], np.int32), 4)
    driver.reset_active()


def test_that_kills_its_process():
    import os
    if DIES:
        os._exit(1)
"""


def _run(folder: Path, *arguments: str, dies: bool = False) -> str:
    (folder / "test_some.py").write_text(TESTS.replace("DIES", str(dies)))
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "scripts.works.recorder",
        f"--record-shown={folder / 'shown.json'}",
        *arguments,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRITIUM_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, *command, str(folder)], cwd=folder, env=environment, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize("arguments", [["-n0"], ["-n2"]], ids=["one process", "workers"])
def test_what_is_found_is_written(tmp_path, arguments):
    pytest.importorskip("xdist")
    said = _run(tmp_path, *arguments)
    found = json.loads((tmp_path / "shown.json").read_text())
    assert found["tl.sort"].keys() == {"cpu"} and found["tl.flip"].keys() == {"cpu", "gfx942"}, said
    assert "1 failed, 4 passed" in said and "it died" not in said


def test_a_worker_that_dies_is_told(tmp_path):
    pytest.importorskip("xdist")
    said = _run(tmp_path, "-n1", "--max-worker-restart=0", dies=True)
    assert "lacks what tests of worker gw0 showed: it died" in said
