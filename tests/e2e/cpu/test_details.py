"""Details of the language that programs in the wild rely on, each run against NumPy."""

import numpy as np
import pytest

import tritium
import tritium.language as tl


@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_flip_along_any_dimension(dim):
    @tritium.jit
    def kernel(x, y, dim: tl.constexpr):
        at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
        tl.store(y + at, tl.flip(tl.load(x + at), dim))

    x = np.random.default_rng(0).integers(0, 100, (4, 8)).astype(np.int32)
    y = np.empty_like(x)
    kernel[(1,)](x, y, dim)
    np.testing.assert_array_equal(y, np.flip(x, -1 if dim is None else dim))


@pytest.mark.parametrize("descending", [False, True])
def test_topk_of_either_end(descending):
    @tritium.jit
    def kernel(x, y, descending: tl.constexpr):
        values = tl.load(x + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :])
        best = tl.topk(values, 4, descending=descending)
        tl.store(y + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], best)

    x = np.random.default_rng(1).standard_normal((4, 16)).astype(np.float32)
    y = np.empty((4, 4), np.float32)
    kernel[(1,)](x, y, descending)
    expected = np.sort(x, 1)
    np.testing.assert_array_equal(y, expected[:, ::-1][:, :4] if descending else expected[:, :4])
