"""Lowerings of the copy engine that whole kernels on Hopper do not come to: rows by number (sm_100), refusals."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.conversion.ttg_to_llvm.harness import aligned, from_ttgir, on_gpu
from tritium.emulator import EmulationError
from tritium.support import UnsupportedOperation


@tritium.jit
def move_rows(x, y, indices, m, n, column, N: tl.constexpr, C: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [1, C])
    b = tl.make_tensor_descriptor(y, [m, n], [n, 1], [1, C])
    rows = tl.load(indices + tl.arange(0, N))
    b.scatter(a.gather(rows, column * 16), rows, column * 16)


@pytest.mark.parametrize(
    ("dtype", "rows", "columns", "warps", "numbers"),
    [
        (np.float32, 8, 32, 4, np.int32),
        (np.float16, 64, 128, 4, np.int16),
        (np.uint8, 512, 64, 8, np.int32),
        (np.float32, 16, 256, 1, np.int32),
        (np.int16, 32, 16, 2, np.int32),
    ],
)
def test_rows_by_number(dtype, rows, columns, warps, numbers) -> None:
    """Those that are not there are zeros, and not written."""
    rng = np.random.default_rng(rows)
    m, n = rows + 10, columns + 32
    x, y = aligned(rng.integers(1, 100, (m, n)).astype(dtype), 128), aligned(np.zeros((m, n), dtype), 128)
    indices = rng.permutation(m + 3)[:rows].astype(numbers)
    gpu = on_gpu(move_rows, x, y, indices, m, n, 1, N=rows, C=columns, capability=100, num_warps=warps)
    assert gpu.count(r".*tile::gather4") == gpu.count(r".*tile::scatter4") > 0
    gpu.launch(1, x, y, indices, m, n, 1)
    expected = np.zeros_like(y)
    for row in indices[indices < m]:
        expected[row, 16 : 16 + columns] = x[row, 16 : 16 + columns]
    np.testing.assert_array_equal(y, expected)


HEAD = """
#a = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #one, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
"""  # noqa: E501

ROWS = """
  tt.func public @k(%d: !tt.tensordesc<1x32xf32, #shared>, %r: !tt.ptr<i32>, %j: i32, %true: i1) {
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x32xf32, #shared, #smem, mutable>
    %m = ttg.local_alloc : () -> !bar
    ttng.async_tma_gather %d[%rows, %j] %b, %m, %true : !tt.tensordesc<1x32xf32, #shared>, tensor<64xi32, #a>, i32, !bar, !ttg.memdesc<64x32xf32, #shared, #smem, mutable>, i1
    tt.return
  }
}
"""  # noqa: E501


def test_chips_without_rows() -> None:
    with pytest.raises(
        UnsupportedOperation, match="ttng.async_tma_gather needs sm_100 to sm_119; this is compiled for sm_90"
    ):
        from_ttgir(HEAD + ROWS, 90)


WINDOWS = """
  tt.func public @k(%d: !ttng.tensordesc_im2col<2048x32xf32, #shared>, %i: i32, %o: i16, %true: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<2048x32xf32, #shared, #smem, mutable>
    %m = ttg.local_alloc : () -> !bar
    ttng.async_tma_copy_global_to_local %d[%i, %i, %i, %i] offsets = [%o, %o] %b, %m, %true : !ttng.tensordesc_im2col<2048x32xf32, #shared>, !bar -> !ttg.memdesc<2048x32xf32, #shared, #smem, mutable>
    tt.return
  }
}
"""  # noqa: E501


def test_windows_of_more_pixels_than_one_copy_are_refused() -> None:
    with pytest.raises(UnsupportedOperation, match="a block of 2048 pixels is more than the 1024 of one load"):
        from_ttgir(HEAD + WINDOWS, 90)


@pytest.mark.parametrize("capability", [75, 80])
def test_chips_without_the_engine(capability) -> None:
    text = HEAD + "  tt.func public @k(%d: !tt.tensordesc<64x32xf32, #shared>) { tt.return }\n}\n"
    with pytest.raises(UnsupportedOperation, match="takes a tensor descriptor, .* which needs sm_90"):
        from_ttgir(text, capability)


@tritium.jit
def first_tile(x, out, n):
    a = tl.make_tensor_descriptor(x, [8, n], [n, 1], [8, 16])
    at = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, a.load([0, 0]))


@pytest.mark.parametrize(("n", "checks", "fits"), [(32, 0, True), (40, 1, True), (36, 1, False)])
def test_rows_that_begin_inside_of_16_bytes(n, checks, fits) -> None:
    """The engine would read elsewhere: where sizes are not known to fit, the kernel looks, and stops."""
    x, out = aligned(np.arange(8 * n).reshape(8, n).astype(np.float16), 128), np.zeros((8, 16), np.float16)
    gpu = on_gpu(first_tile, x, out, n, capability=90)
    assert (gpu.count("trap"), gpu.count(r"cp\.async\.bulk\.tensor")) == (checks, 1)
    if fits:
        gpu.launch(1, x, out, n)
        np.testing.assert_array_equal(out, x[:, :16])
    else:
        with pytest.raises(EmulationError, match="trap"):
            gpu.launch(1, x, out, n)
