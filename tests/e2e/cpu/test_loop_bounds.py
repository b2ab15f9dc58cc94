"""What a loop over a range visits, for bounds of either sign: known and unknown ones, of 32 and 64 bits, up and down."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.cpu import host_target
from tritium.compiler import ASTSource

MIDDLE, SEEN = 64, 48

# across zero, up to it, from it, below it, and none
RANGES = [
    (-2, 2, 1),
    (-7, 8, 3),
    (-1, 0, 1),
    (-20, 0, 4),
    (-9, -1, 2),
    (0, 5, 2),
    (3, 11, 1),
    (3, -1, -1),
    (8, -9, -4),
    (-1, -12, -3),
    (0, -3, -1),
    (2, -2, 1),
    (-2, 2, -1),
]


@tritium.jit
def known(
    out, x, LOWER: tl.constexpr, UPPER: tl.constexpr, STEP: tl.constexpr, STATIC: tl.constexpr, WIDE: tl.constexpr
):
    n = 0
    if STATIC:
        for i in tl.static_range(LOWER, UPPER, STEP):
            tl.store(out + n, tl.load(x + i) + i)
            n += 1
    elif WIDE:
        for i in range(tl.full((), LOWER, tl.int64), tl.full((), UPPER, tl.int64), STEP):
            tl.store(out + n, tl.load(x + i) + i)
            n += 1
    else:
        for i in tl.range(LOWER, UPPER, STEP):
            tl.store(out + n, tl.load(x + i) + i)
            n += 1
    tl.store(out + 47, n)


@tritium.jit
def unknown(out, x, lower, upper, STEP: tl.constexpr, WIDE: tl.constexpr):
    if WIDE:
        lower, upper = tl.cast(lower, tl.int64), tl.cast(upper, tl.int64)
    n = 0
    for i in range(lower, upper, STEP):
        tl.store(out + n, tl.load(x + i) + i)
        n += 1
    tl.store(out + 47, n)


def visited(bounds):
    """What the kernels store: 10 i + 1000 + i for each i, their number at the end; the rest untouched."""
    want = np.full(SEEN, -99, np.int64)
    numbers = list(range(*bounds))
    want[: len(numbers)] = [11 * i + 1000 for i in numbers]
    want[-1] = len(numbers)
    return want


def arrays():
    """(out, a view of which element i, for i of either sign, is 10 i + 1000)."""
    return np.full(SEEN, -99, np.int64), (10 * np.arange(-MIDDLE, MIDDLE) + 1000)[MIDDLE:]


@pytest.mark.parametrize("form", ["known", "known and wide", "static"])
@pytest.mark.parametrize("bounds", RANGES, ids=str)
def test_known_bounds(bounds, form):
    out, x = arrays()
    known[(1,)](out, x, *bounds, STATIC=form == "static", WIDE=form == "known and wide")
    np.testing.assert_array_equal(out, visited(bounds))


@pytest.mark.parametrize("wide", [False, True], ids=["int32", "int64"])
@pytest.mark.parametrize("bounds", RANGES, ids=str)
def test_unknown_bounds(bounds, wide):
    out, x = arrays()
    unknown[(1,)](out, x, *bounds, WIDE=wide)
    np.testing.assert_array_equal(out, visited(bounds))


@tritium.jit
def rows(out, x, LOWER: tl.constexpr, UPPER: tl.constexpr, STEP: tl.constexpr):
    """The sum of products over rows of a matrix, which loops on GPUs load ahead."""
    at = tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for i in tl.range(LOWER, UPPER, STEP, num_stages=3):
        a = tl.load(x + (i * 16 + at)[:, None] * 16 + at[None, :])
        total = tl.dot(a, a, total) * 0.5
    tl.store(out + at[:, None] * 16 + at[None, :], total)


@pytest.mark.parametrize("bounds", [(-3, 2, 1), (2, -3, -1), (-4, 3, 3), (-4, -1, 1)], ids=str)
def test_loads_ahead_begin_below_zero(bounds, rng):
    x, out = rng.standard_normal((8, 16, 16)).astype(np.float16), np.full((16, 16), np.nan, np.float32)
    rows[(1,)](out, x[4:], *bounds)
    want = np.zeros((16, 16))
    for i in range(*bounds):
        tile = x[4 + i].astype(np.float64)
        want = (want + tile @ tile) / 2
    np.testing.assert_allclose(out, want, atol=1e-3)


TOLD = {
    (0, 5, 1): "add nuw nsw",
    (3, 9, 2): "add nuw nsw",
    (-2, 2, 1): "add nsw",
    (3, -1, -1): "add nsw",
    (-9, -1, 2): "add nsw",
    (0, 2**31 - 1, 1): "add nuw nsw",
    (0, 2**31 - 1, 2): "add",
}


@pytest.mark.parametrize("bounds", TOLD, ids=str)
def test_llvm_is_told_only_of_counters_that_cannot_wrap(bounds):
    """From below zero to it is a step from the largest unsigned number to the smallest."""
    names = {"LOWER": bounds[0], "UPPER": bounds[1], "STEP": bounds[2], "STATIC": False, "WIDE": False}
    signature = {"out": "*i64", "x": "*i64", **dict.fromkeys(names, "constexpr")}
    source = ASTSource(known, signature, names)
    text = tritium.compile(source, target=host_target(), options={"opt_level": 0}).asm["llir"]
    found = re.search(rf"(add[ a-z]*) i32 %t0, {abs(bounds[2])}\b", text)
    assert found and found[1] == TOLD[bounds], text
