"""Stores to memory that the same program has loaded: the whole load comes before the whole store, whatever happens to the
tile in between."""

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def transposed_at_one_pointer(x, N: tl.constexpr):
    at = x + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(at, tl.trans(tl.load(at)))


@tritium.jit
def transposed_by_strides(x, y, s, t, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + i * t + j, tl.trans(tl.load(x + i * s + j)))


@tritium.jit
def added_to_transposed(x, N: tl.constexpr):
    at = x + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tl.load(at)
    tl.store(at, tile + tl.trans(tile))


@tritium.jit
def doubled_halves(x, N: tl.constexpr):
    tile = tl.load(x + tl.arange(0, N))
    tl.store(x + tl.arange(0, 2 * N), tl.cat(tile + 1, tile, can_reorder=True))


@tritium.jit
def reversed_in_place(x, N: tl.constexpr):
    at = x + tl.arange(0, N)
    tl.store(at, tl.flip(tl.load(at)))


@pytest.mark.parametrize("kind", [np.int8, np.float32])
@pytest.mark.parametrize("n", [2, 8, 32])
def test_squares_are_transposed_in_place(n: int, kind: type) -> None:
    x = (np.arange(n * n) * 7 % 50).astype(kind).reshape(n, n)
    for launch, wanted in (
        (lambda a: transposed_at_one_pointer[(1,)](a, n), x.T),
        (lambda a: transposed_by_strides[(1,)](a, a, n, n, n), x.T),
        (lambda a: added_to_transposed[(1,)](a, n), x + x.T),
    ):
        got = x.copy()
        launch(got)
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("n", [1, 8, 64])
def test_vectors_change_in_place(n: int) -> None:
    x = np.arange(2 * n, dtype=np.float32)
    doubled_halves[(1,)](x, n)
    np.testing.assert_array_equal(x, np.concatenate([np.arange(n) + 1, np.arange(n)]))
    reversed_in_place[(1,)](x, 2 * n)
    np.testing.assert_array_equal(x, np.concatenate([np.arange(n) + 1, np.arange(n)])[::-1])


@tritium.jit
def joined_ends(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + tl.arange(0, 2 * N), tl.cat(tl.load(x + i), tl.load(y + i), can_reorder=True))


@tritium.jit
def joined_rows(x, y, out, s, N: tl.constexpr, M: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, M)[None, :]
    whole = tl.cat(tl.load(x + i * s + j), tl.load(y + i * s + j), can_reorder=True)
    tl.store(out + tl.arange(0, 2 * N)[:, None] * M + j, whole)


@pytest.mark.parametrize("shift", [None, 0, 1, -1])
@pytest.mark.parametrize("n", [1, 2, 8, 16])
def test_small_tiles_are_concatenated(n: int, shift: int | None) -> None:
    """Chunks of a register hold elements of both tiles."""
    memory = np.arange(400, dtype=np.float32)
    x, y = memory[100 : 100 + n], memory[300 : 300 + n]
    wanted = np.concatenate([x, y])
    out = np.zeros(2 * n, np.float32) if shift is None else memory[100 + shift : 100 + shift + 2 * n]
    joined_ends[(1,)](x, y, out, n)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("columns, stride", [(1, 1), (2, 3), (8, 8)])
def test_small_rows_are_concatenated(columns: int, stride: int) -> None:
    memory = np.arange(400, dtype=np.int16)
    rows = [[memory[at + i * stride :][:columns] for i in range(4)] for at in (100, 300)]
    out = np.zeros((8, columns), np.int16)
    joined_rows[(1,)](memory[100:], memory[300:], out, stride, 4, columns)
    np.testing.assert_array_equal(out, np.concatenate(rows))
