"""100,000 launches on a GPU, results checked now and then; what they add to its memory and to the process's.

python tests/stress/gpu_launches.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from tests.stress.long_runs import NOISE, growth, saxpy


def main(count: int = 100_000) -> int:
    """Status 1 where memory grows."""
    x, y = torch.arange(256.0, device="cuda"), torch.zeros(256, device="cuda")

    def launch(i: int) -> None:
        n = (256, 200, 7)[i % 3]
        saxpy[(2,)](x, y, n, 0.5, 128)
        if i % 1000 == 999:
            torch.cuda.synchronize()
            y.zero_()
            saxpy[(2,)](x, y, n, 0.5, 128)
            assert torch.equal(y[:n], x[:n] * 0.5) and not y[n:].any()

    growth(launch, 2000)
    start, before = time.perf_counter(), torch.cuda.mem_get_info()[0]
    added = growth(launch, count)
    there = before - torch.cuda.mem_get_info()[0]
    seconds = time.perf_counter() - start
    print(f"{count} launches: {added} bytes more in the second half, {there} of the GPU's memory, {seconds:.1f} s")
    return int(added > NOISE or there > NOISE)


if __name__ == "__main__":
    sys.exit(main())
