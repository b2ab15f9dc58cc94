"""keep-rows: kernels compute the same bits with rows kept in shared memory, for all trip counts and aliases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from
from tests.gpu.test_one_trip_loops import CROSS_ENTROPY, KINDS, LAYER_NORM, bits, program, values

torch = pytest.importorskip("torch")

BLOCK = 64
SWITCH = "keep-rows"


def both(run) -> None:  # type: ignore[no-untyped-def]
    """Assert that arrays are equal with and without the pass."""
    one, other = (run(f"one-trip-loops{without}") for without in ("", f",{SWITCH}"))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.share(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK - 1, 60 * BLOCK + 5])
def test_layer_norm_keeps_its_bits(n: int, kind: str, seed: int, tmp_path: Path) -> None:
    x, w = values(kind, 62 * BLOCK, seed).half(), values("random", 62 * BLOCK, seed + 1).half()
    kernel = kernel_from(LAYER_NORM, tmp_path)

    def run(without: str) -> tuple[torch.Tensor, torch.Tensor]:
        y, sums = torch.full((62 * BLOCK,), 7.0).half(), torch.full((2,), 7.0)
        kernel[(1,)](x, y, w, sums[:1], sums[1:], n, 1e-5, BLOCK=BLOCK, num_warps=1, without=without)
        return bits(y), bits(sums)

    both(run)


@pytest.mark.share(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [16, 512, 1040, 4096, 16 * 512 + 48])
def test_vectors_of_several_warps_keep_their_bits(n: int, kind: str, seed: int, tmp_path: Path) -> None:
    x, w = values(kind, 17 * 512, seed).half(), values("random", 17 * 512, seed + 1).half()
    kernel = kernel_from(LAYER_NORM, tmp_path)

    def run(without: str) -> tuple[torch.Tensor, torch.Tensor]:
        y, sums = torch.full((17 * 512,), 7.0).half(), torch.full((2,), 7.0)
        compiled = kernel[(1,)](x, y, w, sums[:1], sums[1:], n, 1e-5, BLOCK=512, num_warps=4, without=without)
        if compiled is not None and compiled.metadata.target.backend == "cuda":
            assert ("cp.async" in compiled.asm["ptx"]) == (SWITCH not in without)
        return bits(y), bits(sums)

    both(run)


@pytest.mark.share(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [BLOCK + 1, 60 * BLOCK + 5])
def test_cross_entropy_in_place_keeps_its_bits(n: int, kind: str, seed: int, tmp_path: Path) -> None:
    x = values(kind, 62 * BLOCK, seed)
    kernel = kernel_from(CROSS_ENTROPY, tmp_path)

    def run(without: str) -> tuple[torch.Tensor, torch.Tensor]:
        row, loss = x.clone(), torch.full((2,), 7.0)
        kernel[(1,)](row, loss, 3, n, BLOCK=BLOCK, num_warps=1, without=without)
        return bits(row), bits(loss)

    both(run)


ALIAS = """
@triton.jit
def kernel(X, Y, S, N, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        total += tl.load(X + cols, mask=cols < N, other=0.)
    tl.store(S, 7.0)
    tl.debug_barrier()
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        tl.store(Y + cols, tl.load(X + cols, mask=cols < N, other=0.) + total, mask=cols < N)
        tl.debug_barrier()
"""


@pytest.mark.share(6)
@pytest.mark.parametrize("at", [-3 * BLOCK, -BLOCK, -1, 0, 1, BLOCK, 2 * BLOCK, 3 * BLOCK])
def test_a_row_stored_over_the_one_that_is_read_is_read_again(at: int, tmp_path: Path) -> None:
    kernel, n = kernel_from(ALIAS, tmp_path), 3 * BLOCK
    memory, first = torch.arange(12 * BLOCK, dtype=torch.float32), 4 * BLOCK

    def run(without: str) -> tuple[torch.Tensor]:
        array = memory.clone()
        row, other = array[first:], array[first + at :]
        kernel[(1,)](row, other, array[10 * BLOCK :], n, BLOCK=BLOCK, num_warps=1, without=without)
        return (array,)

    both(run)


@pytest.mark.share(6)
@pytest.mark.parametrize("at", [-1, 0, BLOCK - 1, 2 * BLOCK + 1, 3 * BLOCK])
def test_an_element_stored_into_the_row_is_read_again(at: int, tmp_path: Path) -> None:
    kernel, n = kernel_from(ALIAS, tmp_path), 3 * BLOCK
    memory = torch.arange(8 * BLOCK, dtype=torch.float32)

    def run(without: str) -> tuple[torch.Tensor, torch.Tensor]:
        array, out = memory.clone(), torch.zeros(n)
        kernel[(1,)](array[BLOCK:], out, array[BLOCK + at :], n, BLOCK=BLOCK, num_warps=1, without=without)
        return array, out

    both(run)


@pytest.mark.share(10)
@pytest.mark.parametrize("number", range(12))
def test_random_loops_keep_their_bits(number: int, seed: int, tmp_path: Path) -> None:
    kernel = kernel_from(program(seed + number), tmp_path)
    x = values(KINDS[number % 2], 1300, seed)
    for n in (165, 1290):

        def run(without: str, n: int = n) -> tuple[torch.Tensor, torch.Tensor]:
            y, sums = torch.full((192,), 7.0), torch.full((4,), 7.0)
            kernel[(1,)](x, y, sums, n, BLOCK=64, num_warps=1, without=without)
            return bits(y), bits(sums)

        both(run)
