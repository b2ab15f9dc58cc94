"""Random kernels of the whole language store the same on every target: a fixed share of the long run.

python -m tests.fuzz --programs 20000 --targets interpreter,cpu     # the long run, and where to look when it fails
"""

from __future__ import annotations

import os

import pytest

from tests.fuzz.kernels.generate import generate
from tests.fuzz.kernels.runner import try_seed

FIRST = int(os.environ["TRITIUM_TEST_SEED"]) % 10**6 if os.environ.get("TRITIUM_PROGRAMS") else 0
COUNT = int(os.environ.get("TRITIUM_PROGRAMS") or 24)


def check(seed, targets, folder, monkeypatch):
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(folder / "cache"))
    result = try_seed(seed, targets, folder)
    assert "error" not in result, f"seed {seed}: {result['error']}: {result['message']}\n{generate(seed).text}"
    return result["compared"]


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_kernel(seed, tmp_path, monkeypatch):
    check(seed, ("interpreter", "numpy", "cpu"), tmp_path, monkeypatch)


@pytest.mark.parametrize("seed", range(1000, 1004))
def test_kernel_on_an_emulated_gpu(seed, tmp_path, monkeypatch):
    check(seed, ("interpreter", f"emulated:{(80, 90)[seed % 2]}"), tmp_path, monkeypatch)


@pytest.mark.parametrize("seed", [118, 1001, 1002, 1003])
def test_kernel_on_an_emulated_amd_gpu(seed, tmp_path, monkeypatch):
    check(seed, ("interpreter", f"emulated:{('gfx1100', 'gfx942')[seed % 2]}"), tmp_path, monkeypatch)


def test_a_seed_is_one_program():
    assert generate(7).text == generate(7).text != generate(8).text
