"""Histograms and gathers over random layouts against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.collective import NUMPY, Run, random_layout


def tensor(shape, element, layout):
    return f"tensor<{'x'.join(map(str, shape))}x{element}, {layout}>"


@pytest.mark.parametrize("seed", range(24))
def test_histogram(seed):
    rng = random.Random(seed)
    size, bins, warps = 2 ** rng.randrange(0, 11), 2 ** rng.randrange(0, 9), rng.choice([1, 2, 4, 8])
    element, masked = rng.choice(["i8", "i16", "i32", "i64"]), rng.random() < 0.5
    ctas = rng.choice([1, 1, 2])
    low, high = -3, min(bins + 5, 127 if element == "i8" else 10**6)
    numbers = np.random.default_rng(seed)
    x, mask = numbers.integers(low, high, size).astype(NUMPY[element]), numbers.integers(0, 2, size).astype(np.uint8)
    source, target = random_layout(rng, (size,), warps, ctas), random_layout(rng, (bins,), warps, ctas)
    run = Run(warps, 90, ctas)
    run.take("x", x, element, source)
    run.take("m", mask, "i1", source)
    operands = "%x, %m" if masked else "%x"
    kind = tensor((size,), element, source)
    run.body = f"%y = tt.histogram {operands} : {kind} -> {tensor((bins,), 'i32', target)}"
    run.give("y", (bins,), "i32", target)
    (y,) = run(assemble=seed % 4 == 0)
    counted = x[(x >= 0) & (x < bins) & (mask.astype(bool) | (not masked))]
    np.testing.assert_array_equal(y, np.bincount(counted, minlength=bins))
    assert "red.shared.add.u32" in run.ptx and (ctas > 1 or run.ptx.count("bar.sync") == 2)


@pytest.mark.parametrize("seed", range(36))
def test_gather(seed):
    rng = random.Random(seed)
    rank, warps = rng.choice([1, 2, 2, 3]), rng.choice([1, 2, 4])
    shape = tuple(2 ** rng.randrange(0, [9, 5, 4][rank - 1]) for _ in range(rank))
    axis = rng.randrange(rank)
    wanted = tuple(2 ** rng.randrange(0, 6) if d == axis else n for d, n in enumerate(shape))
    element, index = rng.choice(["i8", "f16", "f32", "i64"]), rng.choice(["i16", "i32", "i64"])
    numbers = np.random.default_rng(seed)
    x = numbers.integers(-100, 100, shape).astype(NUMPY[element])
    i = numbers.integers(0, shape[axis], wanted).astype(NUMPY[index])
    source, target = random_layout(rng, shape, warps), random_layout(rng, wanted, warps)
    if shape == wanted and rng.random() < 0.5:
        target = source
    run = Run(warps)
    run.take("x", x, element, source)
    run.take("i", i, index, target)
    types = f"({tensor(shape, element, source)}, {tensor(wanted, index, target)}) -> {tensor(wanted, element, target)}"
    run.body = f"%y = tt.gather %x[%i] {{axis = {axis} : i32}} : {types}"
    run.give("y", wanted, element, target)
    (y,) = run(assemble=seed % 6 == 0)
    np.testing.assert_array_equal(y, np.take_along_axis(x, i.astype(np.int64), axis))


def row_layout(warps):
    return f"#ttg.blocked<{{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>"


def test_rows_of_a_warp_are_gathered_by_shuffles():
    layout, run = row_layout(4), Run(4)
    numbers = np.random.default_rng(0)
    x, i = numbers.standard_normal((4, 64)).astype(np.float32), numbers.integers(0, 64, (4, 64)).astype(np.int32)
    run.take("x", x, "f32", layout)
    run.take("i", i, "i32", layout)
    of = lambda element: tensor((4, 64), element, layout)  # noqa: E731
    run.body = f"%y = tt.gather %x[%i] {{axis = 1 : i32}} : ({of('f32')}, {of('i32')}) -> {of('f32')}"
    run.give("y", (4, 64), "f32", layout)
    (y,) = run()
    np.testing.assert_array_equal(y, np.take_along_axis(x, i.astype(np.int64), 1))
    assert run.ptx.count("shfl.sync.idx") == 4
    assert "bar.sync" not in run.ptx and "st.shared" not in run.ptx


def test_indices_beyond_the_row_stay_within_it():
    layout, run = row_layout(1), Run(1)
    x, i = np.arange(64, dtype=np.float32)[None], np.full((1, 64), -1, np.int32)
    i[0, :4] = 64, 1000, -64, 1 << 30
    run.take("x", x, "f32", layout)
    run.take("i", i, "i32", layout)
    of = lambda element: tensor((1, 64), element, layout)  # noqa: E731
    run.body = f"%y = tt.gather %x[%i] {{axis = 1 : i32}} : ({of('f32')}, {of('i32')}) -> {of('f32')}"
    run.give("y", (1, 64), "f32", layout)
    (y,) = run()
    np.testing.assert_array_equal(y, x[0, i % 64])


@pytest.mark.parametrize("seed", range(10))
def test_gather_from_other_blocks(seed):
    rng, ctas = random.Random(seed), 2 if seed % 2 else 4
    size, wanted = 2 ** rng.randrange(0, 9), 2 ** rng.randrange(0, 9)
    element = rng.choice(["i8", "f16", "f32", "i64"])
    numbers = np.random.default_rng(seed)
    x = numbers.integers(-100, 100, size).astype(NUMPY[element])
    i = numbers.integers(0, size, wanted).astype(np.int32)
    source, target = random_layout(rng, (size,), 2, ctas), random_layout(rng, (wanted,), 2, ctas)
    run = Run(2, 90, ctas)
    run.take("x", x, element, source)
    run.take("i", i, "i32", target)
    types = f"({tensor((size,), element, source)}, {tensor((wanted,), 'i32', target)})"
    run.body = f"%y = tt.gather %x[%i] {{axis = 0 : i32}} : {types} -> {tensor((wanted,), element, target)}"
    run.give("y", (wanted,), element, target)
    (y,) = run(assemble=True)
    np.testing.assert_array_equal(y, x[i])
