"""-0.0 is less than 0.0 for minima and maxima, equal to it for comparisons, and a select keeps the sign of what it takes.

docs/semantics.md says so for every target; the references are NumPy's comparisons and sign bits.
"""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.e2e.kernels import kernel_from

DTYPES = ["float32", "float16", "bfloat16", "float64"]
SMALL = "float8e5"  # converted to a wider type and back; infinity becomes the largest number
EDGES = np.array([0.0, -0.0, 1.5, -1.5, np.nan, np.inf, -np.inf, 2.0], np.float32)
LEFT, RIGHT = np.repeat(EDGES, 8), np.tile(EDGES, 8)
N = len(LEFT)


def operands(dtype):
    """All pairs of the edges that a type has."""
    if dtype == SMALL:
        return [np.where(np.isinf(v), np.copysign(np.float32(4.0), v), v) for v in (LEFT, RIGHT)]
    return LEFT, RIGHT


def greater(a, b):
    """The maximum of two arrays: the other one of a NaN, and 0.0 of both zeros."""
    larger = np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, larger))


def less(a, b):
    return -greater(-a, -b)


def with_nan(fn):
    """The same function, whose result is NaN where an operand is."""
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan, fn(a, b)).astype(np.float32)


def assert_same_signs(found, wanted):
    """Equal, zeros with their signs; NaN for NaN."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    same = ((found == wanted) & (np.signbit(found) == np.signbit(wanted))) | (np.isnan(found) & np.isnan(wanted))
    assert same.all(), f"at {np.argwhere(~same)[:8].tolist()}: {found[~same][:8]}, not {wanted[~same][:8]}"


# -- elementwise --------------------------------------------------------------------------------------------------


@tritium.jit
def extremes_of_two(x, y, out, N: tl.constexpr, D: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at).to(D), tl.load(y + at).to(D)
    tl.store(out + at, tl.maximum(a, b).to(tl.float32))
    tl.store(out + N + at, tl.minimum(a, b).to(tl.float32))
    tl.store(out + 2 * N + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL).to(tl.float32))
    tl.store(out + 3 * N + at, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL).to(tl.float32))
    tl.store(out + 4 * N + at, tl.clamp(a, b, tl.abs(b)).to(tl.float32))
    tl.store(out + 5 * N + at, tl.clamp(a, b, tl.abs(b), propagate_nan=tl.PropagateNan.ALL).to(tl.float32))


@pytest.mark.parametrize("dtype", [*DTYPES, SMALL])
def test_minimum_maximum_and_clamp_order_zeros(dtype):
    (x, y), out = operands(dtype), np.full((6, N), 77, np.float32)
    extremes_of_two[(1,)](x, y, out, N, getattr(tl, dtype))
    wanted = [greater(x, y), less(x, y), with_nan(greater)(x, y), with_nan(less)(x, y)]
    wanted += [less(greater(x, y), np.abs(y)), with_nan(less)(with_nan(greater)(x, y), np.abs(y))]
    assert_same_signs(out, wanted)


@tritium.jit
def extremes_with_constants(x, out, N: tl.constexpr, D: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at).to(D)
    tl.store(out + at, tl.maximum(a, 0.0).to(tl.float32))
    tl.store(out + N + at, tl.minimum(a, 0.0).to(tl.float32))
    tl.store(out + 2 * N + at, tl.maximum(-0.0, a).to(tl.float32))
    tl.store(out + 3 * N + at, tl.minimum(a, -0.0).to(tl.float32))
    tl.store(out + 4 * N + at, tl.clamp(a, -0.0, 0.0).to(tl.float32))
    tl.store(out + 5 * N + at, tl.clamp(a, 0.0, 1.0).to(tl.float32))
    tl.store(out + 6 * N + at, tl.maximum(a, 1.0).to(tl.float32))


@pytest.mark.parametrize("dtype", [*DTYPES, SMALL])
def test_minimum_maximum_and_clamp_by_constants_order_zeros(dtype):
    x, out = operands(dtype)[0], np.full((7, N), 77, np.float32)
    extremes_with_constants[(1,)](x, out, N, getattr(tl, dtype))
    zero, one = np.zeros_like(x), np.ones_like(x)
    wanted = [greater(x, zero), less(x, zero), greater(x, -zero), less(x, -zero)]
    wanted += [less(greater(x, -zero), zero), less(greater(x, zero), one), greater(x, one)]
    assert_same_signs(out, wanted)


@tritium.jit
def extremes_of_scalars(x, y, out, N: tl.constexpr, D: tl.constexpr):
    for i in range(N):
        a, b = tl.load(x + i).to(D), tl.load(y + i).to(D)
        tl.store(out + i, tl.maximum(a, b).to(tl.float32))
        tl.store(out + N + i, tl.minimum(a, b).to(tl.float32))
        tl.store(out + 2 * N + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL).to(tl.float32))
        tl.store(out + 3 * N + i, tl.clamp(a, b, tl.abs(b)).to(tl.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_minimum_and_maximum_of_scalars_order_zeros(dtype):
    out = np.full((4, N), 77, np.float32)
    extremes_of_scalars[(1,)](LEFT, RIGHT, out, N, getattr(tl, dtype))
    bounded = less(greater(LEFT, RIGHT), np.abs(RIGHT))
    assert_same_signs(out, [greater(LEFT, RIGHT), less(LEFT, RIGHT), with_nan(greater)(LEFT, RIGHT), bounded])


# -- reductions, scans, atomics -----------------------------------------------------------------------------------


@tritium.jit
def extremes_of_rows_and_columns(x, rows, columns, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + j[None, :]).to(D)
    tl.store(rows + i, tl.max(a, 1).to(tl.float32))
    tl.store(rows + M + i, tl.min(a, 1).to(tl.float32))
    greatest, _ = tl.max(a, 1, return_indices=True)
    tl.store(rows + 2 * M + i, greatest.to(tl.float32))
    tl.store(columns + j, tl.max(a, 0).to(tl.float32))
    tl.store(columns + N + j, tl.min(a, 0).to(tl.float32))


def rows_of_zeros(rows, columns, seed):
    """Rows of zeros of one sign, some with another zero, NaN or infinity in between."""
    rng = np.random.default_rng(seed)
    x = np.repeat(rng.choice(np.array([0.0, -0.0], np.float32), (rows, 1)), columns, 1)
    others = np.array([0.0, -0.0, np.nan, -np.inf, np.inf, -1.0], np.float32)
    at = rng.integers(0, columns, rows)
    x[np.arange(rows), at] = rng.choice(others[:2], rows)
    x[::3, 0] = rng.choice(others, len(x[::3]))
    x[1] = np.nan
    x[2] = np.where(np.arange(columns) % 2, -0.0, np.nan)
    return x


@pytest.mark.parametrize("columns", [2, 8, 64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_max_and_min_reductions_order_zeros(dtype, columns):
    x = rows_of_zeros(16, columns, columns)
    rows, down = np.full((3, 16), 77, np.float32), np.full((2, columns), 77, np.float32)
    extremes_of_rows_and_columns[(1,)](x, rows, down, 16, columns, getattr(tl, dtype))
    assert_same_signs(rows, [reduce(greater, x.T), reduce(less, x.T), reduce(greater, x.T)])
    assert_same_signs(down, [reduce(greater, x), reduce(less, x)])


@tritium.jit
def larger(a, b):
    return tl.maximum(a, b)


@tritium.jit
def smaller(a, b):
    return tl.minimum(a, b)


@tritium.jit
def running_extremes(x, out, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    a = tl.load(x + at).to(D)
    tl.store(out + at, tl.associative_scan(a, 1, larger).to(tl.float32))
    tl.store(out + M * N + at, tl.associative_scan(a, 0, smaller).to(tl.float32))


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_scans_by_maximum_and_minimum_order_zeros(dtype):
    x = rows_of_zeros(16, 32, 5)
    out = np.full((2, 16, 32), 77, np.float32)
    running_extremes[(1,)](x, out, 16, 32, getattr(tl, dtype))
    along = np.stack(list(itertools.accumulate(x.T, greater)), 1)
    assert_same_signs(out, [along, np.stack(list(itertools.accumulate(x, less)))])


@tritium.jit
def atomic_extremes(x, value, old, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(old + at, tl.atomic_max(x + at, tl.load(value + at)))
    tl.atomic_min(x + N + at, tl.load(value + at))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_atomic_max_and_min_order_zeros(dtype):
    numbers = np.array([0.0, -0.0, 1.5, -1.5], dtype)
    before, value = np.repeat(numbers, 4), np.tile(numbers, 4)
    x, old = np.concatenate([before, before]), np.full(16, 77, dtype)
    atomic_extremes[(1,)](x, value, old, 16)
    assert_same_signs(x, np.concatenate([greater(before, value), less(before, value)]))
    assert_same_signs(old, before)


@tritium.jit
def descriptor_extremes(greatest, least, value, N: tl.constexpr):
    more = tl.load(value + tl.arange(0, N))
    tl.make_tensor_descriptor(greatest, [N], [1], [N]).atomic_max([0], more)
    tl.make_tensor_descriptor(least, [N], [1], [N]).atomic_min([0], more)


def test_atomics_through_descriptors_order_zeros():
    numbers = np.array([0.0, -0.0, 1.5, -1.5], np.float16)
    before, value = np.repeat(numbers, 4), np.tile(numbers, 4)
    up, down = before.copy(), before.copy()
    descriptor_extremes[(1,)](up, down, value, 16)
    assert_same_signs(up, greater(before, value))
    assert_same_signs(down, less(before, value))


@tritium.jit
def sum_and_masked_load(x, total, copy, n, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(total, tl.sum(tl.load(x + at)))
    tl.store(copy + at, tl.load(x + at, mask=at < n))


def test_sums_of_negative_zeros_and_masked_elements_keep_their_signs():
    """A sum begins with -0.0, and an element that is masked off is 0.0."""
    x, total, copy = np.full(32, -0.0, np.float32), np.ones(1, np.float32), np.ones(32, np.float32)
    sum_and_masked_load[(1,)](x, total, copy, 20, 32)
    assert_same_signs(total, [-0.0])
    assert_same_signs(copy, np.where(np.arange(32) < 20, np.float32(-0.0), np.float32(0.0)))


# -- selects ------------------------------------------------------------------------------------------------------


def selects():
    """Choices between two operands by a comparison of them, in every order, with predicates and their negations."""
    predicates = ["<", "<=", ">", ">=", "==", "!="]
    for predicate, (a, b) in itertools.product(predicates, [("x", "0.0"), ("x", "-0.0"), ("x", "1.5"), ("x", "y")]):
        for compared, chosen in itertools.product([(a, b), (b, a)], [(a, b), (b, a)]):
            condition = f"{compared[0]} {predicate} {compared[1]}"
            yield f"where({condition}, {chosen[0]}, {chosen[1]})"
            if b == "0.0":
                yield f"where(({condition}) == 0, {chosen[0]}, {chosen[1]})"


FORMS = list(selects())
SELECTS = """
@triton.jit
def kernel(x_ptr, y_ptr, out, N: tl.constexpr):
    at = tl.arange(0, N)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
""" + "".join(f"    tl.store(out + {n} * N + at, tl.{form}.to(x.dtype))\n" for n, form in enumerate(FORMS))


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_select_of_compared_operands_keeps_the_sign_of_zero(dtype, tmp_path):
    """LLVM would make a minimum or maximum of some of them, which orders zeros otherwise."""
    x, y = LEFT.astype(dtype), RIGHT.astype(dtype)
    out = np.full((len(FORMS), N), 77, dtype)
    kernel_from(SELECTS, tmp_path)[(1,)](x, y, out, N)
    for found, form in zip(out, FORMS):
        wanted = eval(form, {"where": np.where, "x": x, "y": y}).astype(dtype)
        same = ((found == wanted) & (np.signbit(found) == np.signbit(wanted))) | (np.isnan(found) & np.isnan(wanted))
        assert same.all(), f"{form} of x = {x[~same]}, y = {y[~same]}: {found[~same]}, not {wanted[~same]}"
