"""Programs of several blocks: what one block stores, the others load behind `tl.debug_barrier`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from

torch = pytest.importorskip("torch")

THERE_AND_BACK = """
@triton.jit
def kernel(x_ptr, between_ptr, out_ptr, STEPS: tl.constexpr, N: tl.constexpr):
    start = tl.program_id(0) * N
    at = tl.arange(0, N)
    x = tl.load(x_ptr + start + at)
    for step in tl.static_range(STEPS):
        tl.store(between_ptr + (step * tl.num_programs(0) * N) + start + at, x)
        tl.debug_barrier()
        x = tl.load(between_ptr + (step * tl.num_programs(0) * N) + start + N - 1 - at) + 1
    tl.store(out_ptr + start + at, x)
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("ctas", [1, 2, 4])
@pytest.mark.parametrize("n", [64, 1024])
def test_stores_are_seen_behind_a_barrier(ctas: int, n: int, seed: int, tmp_path: Path) -> None:
    kernel = kernel_from(THERE_AND_BACK, tmp_path)
    programs, steps = 50, 3
    x = torch.randint(-1000, 1000, (programs, n), generator=torch.Generator().manual_seed(seed), dtype=torch.int32)
    between, out = torch.full((steps, programs, n), 77, dtype=torch.int32), torch.zeros_like(x)
    kernel[(programs,)](x, between, out, steps, n, num_ctas=ctas)
    assert torch.equal(out, x.flip(1) + steps)
