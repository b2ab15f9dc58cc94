"""Microseconds for `kernel[grid](...)` of a small grid, all included, with NumPy arrays and torch tensors."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import sys
import time
from statistics import median

import numpy as np
from measure import Row, example, main

import tritium
import tritium.language as tl
from tritium.backends.cpu import make_launcher
from tritium.runtime.fastpath.preparation import preparation
from tritium.support.cores import usable_cores
from tritium.tools.tensor_descriptor import TensorDescriptor
from tritium.tools.timing import by_turns

add_kernel = example("vector_add").add_kernel


def first_launches(threads: int) -> list[float]:
    """Seconds of launches of four programs whose cost is unknown, each half a millisecond after the last."""
    kernel = add_kernel.warmup(*[np.float32] * 3, 64, BLOCK_SIZE=64, grid=(1,))
    arrays = [np.zeros(64, np.float32) for _ in range(3)]
    slots, _ = kernel.launcher.packer((*arrays, 64, 64))
    buffer = ctypes.create_string_buffer(slots)
    times = []
    for _ in range(300):
        launch = make_launcher(kernel.loaded.address, kernel.loaded)
        time.sleep(0.0005)  # the workers fall asleep
        start = time.perf_counter()
        launch(ctypes.addressof(buffer), 4, 1, 1, threads)
        times.append(time.perf_counter() - start)
    return times


def with_busy_cores() -> list[Row]:
    """A grid that is not worth a hand-off, while another process runs on each core."""
    first_launches(0)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(usable_cores())]
    try:
        alone, shared = median(first_launches(1)), median(first_launches(0))
    finally:
        for process in busy:
            process.kill()
    what = "first launch of a grid of four, all cores busy"
    return [Row(what, shared * 1e6, "us", 15, f"by one thread {alone * 1e6:.2g} us")]


def measure() -> list[Row]:
    """The rows of this script."""
    return one_program() + of_known_kernels() + with_busy_cores()


@tritium.jit
def described(a, b, c, d, n, BLOCK: tl.constexpr):
    """The sum of three blocks."""
    d.store([0, 0], a.load([0, 0]) + b.load([0, 0]) + c.load([0, 0]))


def of_known_kernels() -> list[Row]:
    """What programs do with kernels besides launching them with arrays."""
    blocks = [TensorDescriptor.from_tensor(np.ones((16, 64), np.float32), [16, 16]) for _ in range(4)]
    matmul = example("matmul").matmul_kernel
    sizes = (1024, 1024, 1024, 1024, 1, 1024, 1, 1024, 1)
    numbers = {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 8, "ACTIVATION": ""}
    calls = {
        "launch with four tensor descriptors": (10, lambda: described[(1,)](*blocks, 64, BLOCK=16)),
        "warmup of a known kernel": (20, lambda: matmul.warmup(*[np.float32] * 3, *sizes, **numbers, grid=(1,))),
    }
    preparation.wait()
    times = by_turns({name: call for name, (_, call) in calls.items()}, rounds=25)
    notes = dict(zip(calls, ("NumPy arrays", "17 parameters, element types of NumPy")))
    return [Row(name, times[name] * 1e6, "us", bound, notes[name]) for name, (bound, _) in calls.items()]


def one_program() -> list[Row]:
    """Launches of a kind that has been launched before."""
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
