"""Scans by well-known operations: along rows in vectors, along columns, both ways, in every type, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def larger(a, b):
    return tl.maximum(a, b)


@tritium.jit
def either(a, b):
    return a ^ b


@tritium.jit
def scans(x, y, columns, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    value = tl.load(x + at, mask=(tl.arange(0, N) < columns)[None, :], other=0)
    tl.store(y + at, tl.cumsum(value, AXIS, reverse=REVERSE, dtype=value.dtype))
    tl.store(y + M * N + at, tl.associative_scan(value, AXIS, larger, reverse=REVERSE))
    if value.dtype.is_int():
        tl.store(y + 2 * M * N + at, tl.associative_scan(value, AXIS, either, reverse=REVERSE))


def scanned(function, x, axis, reverse):
    if reverse:
        return np.flip(function(np.flip(x, axis), axis=axis, dtype=x.dtype), axis)
    return function(x, axis=axis, dtype=x.dtype)


@pytest.mark.sample(4)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 8), (4, 64), (64, 4), (1, 1024), (16, 32)])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "float32", "float64"])
def test_scans(dtype, shape, axis, reverse, rng):
    columns = max(1, shape[1] - 3)
    # few enough that sums of floats are exact in any order
    x = rng.integers(-3 if dtype != "uint16" else 0, 4, shape).astype(dtype)
    y = np.full((3, *shape), 77, dtype)
    scans[(1,)](x, y, columns, *shape, axis, reverse)
    x[:, columns:] = 0
    np.testing.assert_array_equal(y[0], scanned(np.add.accumulate, x, axis, reverse))
    np.testing.assert_array_equal(y[1], scanned(np.maximum.accumulate, x, axis, reverse))
    if x.dtype.kind != "f":
        np.testing.assert_array_equal(y[2], scanned(np.bitwise_xor.accumulate, x, axis, reverse))


@tritium.jit
def row_sums(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.cumsum(tl.load(x + at), 0))


@pytest.mark.parametrize("special", [np.nan, np.inf, -0.0])
def test_sums_of_special_numbers(special):
    x = np.full(64, -0.0, np.float32)
    x[37] = special
    y = np.full(64, 7, np.float32)
    row_sums[(1,)](x, y, 64)
    expected = np.cumsum(x)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(np.signbit(y[:37]), np.ones(37, bool))


def test_rounding_is_at_most_that_of_sums_from_left_to_right(rng):
    x, y = rng.uniform(0, 1, 4096).astype(np.float32), np.full(4096, 7, np.float32)
    row_sums[(1,)](x, y, 4096)
    exact = np.cumsum(x.astype(np.float64))
    bound = np.arange(1, 4097) * np.finfo(np.float32).eps / 2 * exact  # n - 1 roundings of what is added up
    assert (np.abs(y - exact) <= bound).all()


@tritium.jit
def sums_of_a_part(x, y, columns, M: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, N)[None, :]
    rows = tl.arange(0, M)[:, None] * N
    tl.store(y + rows + at, tl.cumsum(tl.load(x + rows + at, mask=at < columns, other=0), 1, reverse=REVERSE))


@tritium.jit
def counts(y, columns, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.cumsum(at < columns, 0, dtype=tl.int64))


@pytest.mark.parametrize("columns", [0, 1, 5, 16, 17, 32, 48, 100, 127, 128])
def test_a_scan_goes_on_where_its_mask_ends(columns, rng):
    x = rng.integers(-9, 9, (3, 2, 128))
    for number, dtype in enumerate((np.int32, np.float32, np.int64)):
        for reverse in (False, True):
            here, out = x[number].astype(dtype), np.full((2, 128), 77, dtype)
            sums_of_a_part[(1,)](here, out, columns, 2, 128, reverse)
            here[:, columns:] = 0
            np.testing.assert_array_equal(out, scanned(np.add.accumulate, here, 1, reverse))
    out = np.full(128, 77, np.int64)
    counts[(1,)](out, columns, 128)
    np.testing.assert_array_equal(out, np.minimum(np.arange(1, 129), columns))
