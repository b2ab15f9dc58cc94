"""Microseconds for `kernel[grid](...)` of a one-program grid, all included, with NumPy arrays and torch tensors."""

from __future__ import annotations

import importlib.util

import numpy as np
from measure import Row, example, main

from tritium.tools.timing import by_turns

add_kernel = example("vector_add").add_kernel


def measure() -> list[Row]:
    """The rows of this script."""
    arrays = {"NumPy arrays": tuple(np.zeros(64, np.float32) for _ in range(3))}
    if importlib.util.find_spec("torch"):
        import torch

        arrays["torch tensors"] = tuple(torch.zeros(64) for _ in range(3))
    calls = {n: (lambda xyz=xyz: add_kernel[(1,)](*xyz, 64, BLOCK_SIZE=64)) for n, xyz in arrays.items()}
    times = by_turns(calls, rounds=25)
    note = "vector add of 64 elements"
    return [Row(f"launch of a one-program grid, {n}", t * 1e6, "us", 8, note) for n, t in times.items()]


if __name__ == "__main__":
    main(measure)
