"""How long a user waits: cold process, warm compile, cache hit. NumPy arrays, so no import of torch counts."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from measure import EXAMPLES, ROOT, Row, example, main

BLOCKS = example("matmul").BLOCKS
FIRST = """
import time
import numpy as np
from vector_add import add_kernel
x, y, out = np.ones(1024, np.float32), np.ones(1024, np.float32), np.zeros(1024, np.float32)
add_kernel[(1,)](x, y, out, 1024, BLOCK_SIZE=1024)
assert (out == 2).all()
start = time.perf_counter()
add_kernel[(1,)](x, y, out, 1024, BLOCK_SIZE=1024)
print(time.perf_counter() - start)
"""


def process(cache: str) -> tuple[float, float]:
    """Seconds from starting Python to the end of a process that ran the vector add twice, and of its second launch.

    Its cache is in the folder `cache`."""
    path = os.pathsep.join([str(ROOT), str(EXAMPLES)])
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": path, "TRITIUM_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", FIRST], check=True, env=environment, capture_output=True, text=True)
    return time.perf_counter() - start, float(done.stdout)


def cold_and_cached() -> list[Row]:
    cold, cached = [], []
    for _ in range(7):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(process(cache))
            cached.append(process(cache))
    (cold_s, cold_second), (cached_s, cached_second) = (map(median, zip(*rows)) for rows in (cold, cached))
    return [
        Row("cold process: import, compile vector add, first result", cold_s, "s", 0.6, "no torch, empty cache"),
        Row("the same with the kernel in the cache", cached_s, "s", 0.3, "no torch"),
        Row("second launch of a cold process", cold_second * 1e3, "ms", 1, "no LLVM, no imports"),
        Row("the same with the kernel in the cache", cached_second * 1e3, "ms", 1, "no torch"),
    ]


def requests() -> dict[str, tuple[float, Callable[[], Callable[[], object]]]]:
    """name -> (milliseconds allowed, function that loads the kernel anew and returns the call that compiles it)."""
    x = np.zeros((1024, 1024), np.float32)

    def add() -> Callable[[], object]:
        kernel = example("vector_add").add_kernel
        return lambda: kernel.warmup(x, x, x, 1024, BLOCK_SIZE=1024, grid=(1,)).loaded

    def softmax() -> Callable[[], object]:
        kernel = example("fused_softmax").softmax_kernel
        sizes = (1024, 1024, 1024, 1000)
        return lambda: kernel.warmup(x, x, *sizes, BLOCK_SIZE=1024, num_stages=2, grid=(1,)).loaded

    def matmul() -> Callable[[], object]:
        kernel = example("matmul").matmul_kernel
        sizes = (1024, 1024, 1024, 1024, 1, 1024, 1, 1024, 1)
        return lambda: kernel.warmup(x, x, x, *sizes, ACTIVATION="", **BLOCKS, grid=(1,)).loaded

    return {"vector add": (25, add), "softmax": (60, softmax), "matmul": (120, matmul)}


def compile_times() -> list[Row]:
    """`.loaded` of what `warmup` returns is the loaded machine code, ready to be launched."""
    rows = []
    for name, (bound, load) in requests().items():
        compiled, hits = [], []
        for _ in range(12):
            with tempfile.TemporaryDirectory() as cache:
                os.environ["TRITIUM_CACHE_DIR"] = cache
                for times in (compiled, hits):
                    request = load()
                    start = time.perf_counter()
                    request()
                    times.append((time.perf_counter() - start) * 1e3)
        rows.append(Row(f"warm compile of {name}", median(compiled), "ms", bound, "from the call to code ready to run"))
        rows.append(Row(f"cache hit, {name}", median(hits), "ms", 2, "another JIT function of the same source"))
    return rows


def measure() -> list[Row]:
    """The rows of this script."""
    return cold_and_cached() + compile_times()


if __name__ == "__main__":
    main(measure)
