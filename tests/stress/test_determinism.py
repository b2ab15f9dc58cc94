"""The same key and the same code in every process, for every hash seed, whatever was compiled before; the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import tritium
import tritium.language as tl

SCRIPT = Path(__file__).with_name("determined.py")


def hashes(seed: int, folder: Path, *more: str) -> list[str]:
    place = "-".join([str(seed), *more])
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "TRITIUM_CACHE_DIR": str(folder / place)}
    command = [sys.executable, str(SCRIPT), str(seed), *more]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_keys_and_every_stage_are_the_same_in_any_order(tmp_path: Path) -> None:
    """Six compiles for two targets, in three orders: what a process has met before leaves no trace."""
    first = hashes(0, tmp_path)
    assert len(first) >= 6 * 4
    for seed in (1, 4711):
        assert hashes(seed, tmp_path) == first
    assert hashes(2, tmp_path, "users") == first  # nor does the order in which values know their users


@tritium.jit
def row_sums(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    v = tl.load(x + row * n + at, mask=at < n, other=0.0)
    tl.store(o + row, tl.sum(tl.exp(v) * v) / tl.max(v))


def test_results_are_the_same_in_every_run_and_with_any_number_of_threads() -> None:
    x = np.random.default_rng(0).standard_normal((64, 1000)).astype(np.float32)
    seen = set()
    for threads in (1, 2, 2, 4):
        o = np.full(64, np.nan, np.float32)
        row_sums[(64,)](x, o, 1000, 1024, num_threads=threads)
        seen.add(o.tobytes())
    assert len(seen) == 1
