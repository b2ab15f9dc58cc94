"""Groups of rows through one descriptor: what is outside of a group is neither read nor written."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tritium  # noqa: E402
import tritium.language as tl  # noqa: E402
from tritium.tools.ragged_tma import (  # noqa: E402
    atomic_add_ragged,
    create_ragged_descriptor,
    load_ragged,
    store_ragged,
)

POISON = -77.0


@tritium.jit
def copies(X, Y, offset, size, row, M: tl.constexpr, N: tl.constexpr):
    x = load_ragged(X, offset, size, [row, 0])
    store_ragged(Y, offset, size, [row, 0], x + 1)


@tritium.jit
def adds(X, Y, offset, size, row, M: tl.constexpr, N: tl.constexpr):
    atomic_add_ragged(Y, offset, size, [row, 0], load_ragged(X, offset, size, [row, 0]))


@tritium.jit
def copies_in_the_middle(X, Y, offset, size, row):
    x = load_ragged(X, offset, size, [1, row, 0], ragged_dim=1)
    store_ragged(Y, offset, size, [1, row, 0], x + 1, ragged_dim=1)


@pytest.mark.parametrize(("offset", "size", "row"), [(0, 3, 0), (5, 6, 0), (5, 6, 4), (9, 4, 0), (2, 0, 0), (3, 16, 3)])
@pytest.mark.parametrize("kernel", [copies, adds])
def test_rows_of_a_group(kernel, offset: int, size: int, row: int, rng) -> None:
    x = rng.normal(size=(32, 16)).astype(np.float32)
    y = np.full_like(x, POISON)
    first, last = offset + row, min(offset + size, offset + row + 8)
    expected = y.copy()
    expected[first:last] = x[first:last] + (1 if kernel is copies else POISON)
    found = torch.from_numpy(y)
    X, Y = (create_ragged_descriptor(t, [8, 16]) for t in (torch.from_numpy(x), found))
    kernel[(1,)](X, Y, offset, size, row, M=8, N=16)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_the_dimension_in_the_middle(rng) -> None:
    x = rng.normal(size=(2, 16, 16)).astype(np.float32)
    y = torch.full(x.shape, POISON)
    X, Y = (create_ragged_descriptor(t, [1, 4, 16], ragged_dim=-2) for t in (torch.from_numpy(x), y))
    copies_in_the_middle[(1,)](X, Y, 3, 5, 2)
    expected = np.full_like(x, POISON)
    expected[1, 5:8] = x[1, 5:8] + 1
    np.testing.assert_array_equal(y.numpy(), expected)


@pytest.mark.parametrize(
    ("shape", "block", "axis", "message"),
    [
        ((8, 16), [4, 16], 1, "last dimension cannot be ragged"),
        ((2, 2, 8, 16), [1, 1, 4, 16], 0, "at most 3 dimensions"),
        ((8, 16), [4], 0, "same length"),
    ],
)
def test_invalid_descriptors_are_errors(shape, block, axis, message) -> None:
    with pytest.raises(ValueError, match=message):
        create_ragged_descriptor(torch.zeros(shape), block, axis)
