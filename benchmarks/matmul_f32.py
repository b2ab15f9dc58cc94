"""Matrix multiplication 1024^3 in float32 against torch (its BLAS), on one thread and on all."""

from __future__ import annotations

import torch
from measure import Row, against, example, main

import tritium as triton

matmul = example("matmul")
BLOCKS, matmul_kernel = {**matmul.BLOCKS, "BLOCK_SIZE_M": 256, "BLOCK_SIZE_N": 256}, matmul.matmul_kernel
N = 1024


def multiply(threads: int, name: str) -> list[Row]:
    """One row for torch and us on `threads` threads (0: all)."""
    torch.set_num_threads(threads or ALL_THREADS)
    a, b, c = torch.randn(N, N), torch.randn(N, N), torch.empty(N, N)
    grid = (triton.cdiv(N, BLOCKS["BLOCK_SIZE_M"]) * triton.cdiv(N, BLOCKS["BLOCK_SIZE_N"]),)

    def ours() -> None:
        matmul_kernel[grid](a, b, c, N, N, N, N, 1, N, 1, N, 1, ACTIVATION="", num_threads=threads, **BLOCKS)

    rows = against(f"matmul {N}^3 f32, {name}", ours, {"torch": (lambda: torch.matmul(a, b, out=c), 0.8)}, slice_s=0.1)
    ours()
    assert torch.allclose(c.double(), a.double() @ b.double(), rtol=1e-4, atol=1e-3)
    return rows


ALL_THREADS = torch.get_num_threads()


def measure() -> list[Row]:
    """The rows of this script."""
    return multiply(1, "one thread") + multiply(0, "all threads")


if __name__ == "__main__":
    main(measure)
