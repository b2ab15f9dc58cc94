"""What reductions and scans cost: shuffles, barriers, accesses; and functions of several operands."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.conversion.ttg_to_llvm.collective import NUMPY, Run
from tests.conversion.ttg_to_llvm.harness import both, on_gpu
from tests.conversion.ttg_to_llvm.test_reduce_scan import apply, single


def line(size=4, warps=4):
    return f"#ttg.blocked<{{sizePerThread = [{size}], threadsPerWarp = [32], warpsPerCTA = [{warps}], order = [0]}}>"


def counts(ptx):
    names = {
        "shfl": r"shfl\.sync",
        "bar": r"bar\.sync",
        "st": r"st\.shared",
        "ld": r"ld\.shared",
        "redux": r"redux\.sync",
    }
    return {k: len(re.findall(rf"^\s(?:@!?%p\d+ )?{v}", ptx, re.M)) for k, v in names.items()}


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_a_sum_takes_one_barrier(warps):
    x = np.random.default_rng(0).integers(-9, 9, 2048).astype(np.float32)
    (y,), ptx = apply("reduce", single("reduce", "arith.addf", "f32"), [x], ["f32"], line(4, warps), 0, warps)
    assert y == x.sum()
    found = counts(ptx)
    lanes = 5 if warps < 16 else 6  # sixteen partial results are shared by pairs of lanes
    assert found["shfl"] == lanes
    assert (found["bar"], found["st"]) == ((1, 1) if warps > 1 else (0, 0))
    assert found["ld"] == {1: 0, 2: 1, 4: 1, 8: 2, 16: 2}[warps]


def test_partial_results_that_stand_in_a_row_are_accessed_together():
    layout = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>"
    x = np.random.default_rng(0).integers(-9, 9, (32, 128)).astype(np.float32)
    (y,), ptx = apply("reduce", single("reduce", "arith.addf", "f32"), [x], ["f32"], layout, 0, 4)
    np.testing.assert_array_equal(y, x.sum(0))
    found = counts(ptx)
    assert found["st"] == len(re.findall(r"st\.shared\.v4\.b32", ptx)) == 2
    assert found["ld"] == len(re.findall(r"ld\.shared\.v4\.b32", ptx)) == 8


def test_rows_of_a_warp_take_no_barrier():
    layout = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
    x = np.random.default_rng(0).integers(-9, 9, (16, 64)).astype(np.float32)
    (y,), ptx = apply("reduce", single("reduce", "arith.addf", "f32"), [x], ["f32"], layout, 1, 4)
    np.testing.assert_array_equal(y, x.sum(1))
    assert counts(ptx) == {"shfl": 3, "bar": 0, "st": 0, "ld": 0, "redux": 0}


@pytest.mark.parametrize(
    "kind, element, fn",
    [
        ("arith.addi", "i32", np.sum),
        ("arith.maxsi", "i32", np.max),
        ("arith.minsi", "i16", np.min),
        ("arith.andi", "i8", np.bitwise_and.reduce),
        ("arith.ori", "i32", np.bitwise_or.reduce),
        ("arith.xori", "i16", np.bitwise_xor.reduce),
        ("arith.maxui", "i8", lambda a: np.max(a.view(np.uint8)).view(np.int8)),
    ],
)
def test_integers_take_one_instruction_a_warp(kind, element, fn):
    x = np.random.default_rng(1).integers(-100, 100, 256).astype(NUMPY[element])
    region = single("reduce", kind, element)
    (y,), ptx = apply("reduce", region, [x], [element], line(1), 0, 4)
    assert y == fn(x).astype(x.dtype)
    assert counts(ptx)["redux"] == 1 and counts(ptx)["shfl"] == 0
    (y,), ptx = apply("reduce", region, [x], [element], line(1), 0, 4, capability=75)
    assert y == fn(x).astype(x.dtype)
    assert counts(ptx)["redux"] == 0


@pytest.mark.parametrize("kind, nan", [("arith.maxnumf", False), ("arith.minimumf", True)])
def test_extremes_of_floats_take_one_instruction_on_blackwell(kind, nan):
    x = np.random.default_rng(1).standard_normal(256).astype(np.float32)
    x[17] = np.nan
    (y,), ptx = apply("reduce", single("reduce", kind, "f32"), [x], ["f32"], line(1), 0, 4, capability=100)
    assert np.isnan(y) if nan else y == np.nanmax(x)
    assert counts(ptx)["redux"] == 1 and counts(ptx)["shfl"] == 0


def test_halves_share_shuffles():
    layout = "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>"
    x = np.random.default_rng(0).integers(-9, 9, (16, 32)).astype(np.float16)
    (y,), ptx = apply("reduce", single("reduce", "arith.addf", "f16"), [x], ["f16"], layout, 1, 4)
    np.testing.assert_array_equal(y, x.sum(1))
    assert counts(ptx)["shfl"] == 10  # four rows in two words, five times


def test_a_running_sum_takes_one_barrier():
    x = np.random.default_rng(0).integers(-9, 9, 1024).astype(np.float32)
    (y,), ptx = apply("scan", single("scan", "arith.addf", "f32"), [x], ["f32"], line(), 0, 4)
    np.testing.assert_array_equal(y, np.cumsum(x))
    assert counts(ptx) == {"shfl": 12, "bar": 1, "st": 2, "ld": 2, "redux": 0}


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_of_columns_combines_totals_as_it_loads_them(reverse):
    """The totals of four columns come in one load; all at once, they would take 124 registers."""
    layout = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>"
    x = np.random.default_rng(0).integers(-9, 9, (64, 64)).astype(np.float32)
    (y,), ptx = apply("scan", single("scan", "arith.addf", "f32"), [x], ["f32"], layout, 0, 4, reverse)
    np.testing.assert_array_equal(y, np.cumsum(x[::-1], 0)[::-1] if reverse else np.cumsum(x, 0))
    steps = "".join(re.findall(r"^\s(?:@%p\d+ )?(ld\.shared|add\.f32)", ptx.split("bar.sync")[1], re.M))
    loads = [len(run) // len("ld.shared") for run in steps.split("add.f32")]
    assert max(loads) <= 5


@tritium.jit
def softmax(p, q, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    x = tl.load(p + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(q + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_softmax(warps):
    x = np.random.default_rng(0).standard_normal((3, 1000)).astype(np.float32)
    arguments = [x, np.zeros_like(x), 1000]
    cpu, gpu = both(softmax, 3, arguments, B=1024, num_warps=warps)
    np.testing.assert_allclose(gpu[1], cpu[1], rtol=1e-6)
    compiled = on_gpu(softmax, *arguments, B=1024, num_warps=warps)
    assert compiled.count("shfl") == 10
    assert compiled.count("bar.sync") == (3 if warps > 1 else 0)


@tritium.jit
def extremes(p, q, A: tl.constexpr, B: tl.constexpr, AXIS: tl.constexpr, N: tl.constexpr):
    x = tl.load(p + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    i = tl.arange(0, N)
    tl.store(q + i, tl.argmax(x, AXIS))
    tl.store(q + N + i, tl.argmin(x, AXIS))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_first_of_equal_extremes(axis, warps):
    x = np.random.default_rng(axis).integers(0, 4, (32, 64)).astype(np.float32)
    n = 64 if axis == 0 else 32
    out = np.zeros(2 * n, np.int32)
    on_gpu(extremes, x, out, A=32, B=64, AXIS=axis, N=n, num_warps=warps).launch(1, x, out)
    np.testing.assert_array_equal(out, [*x.argmax(axis), *x.argmin(axis)])


_CHOOSE = """^bb0(%va: f32, %ia: i32, %vb: f32, %ib: i32):
  %gt = arith.cmpf ogt, %va, %vb : f32
  %eq = arith.cmpf oeq, %va, %vb : f32
  %lt = arith.cmpi slt, %ia, %ib : i32
  %tie = arith.andi %eq, %lt : i1
  %c = arith.ori %gt, %tie : i1
  %v = arith.select %c, %va, %vb : f32
  %i = arith.select %c, %ia, %ib : i32
  tt.reduce.return %v, %i : f32, i32"""


@pytest.mark.parametrize("seed", range(6))
def test_holders_agree_on_nan(seed):
    """A comparison with NaN picks the right side, so f(a, b) is not f(b, a): still every thread has the same."""
    layout = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>"
    numbers = np.random.default_rng(seed)
    x = numbers.standard_normal((16, 32)).astype(np.float32)
    x[numbers.random(x.shape) < 0.2] = np.nan
    index = np.broadcast_to(np.arange(32, dtype=np.int32), x.shape).copy()
    (v, i), _ = apply("reduce", _CHOOSE, [x, index], ["f32", "i32"], layout, 1, 4)
    picked = np.take_along_axis(x, i[:, None], 1)[:, 0]
    np.testing.assert_array_equal(v, picked)
    clean = ~np.isnan(x).any(1)
    np.testing.assert_array_equal(i[clean], x[clean].argmax(1))


_WELFORD = """^bb0(%ma: f32, %sa: f32, %na: f32, %mb: f32, %sb: f32, %nb: f32):
  %d = arith.subf %mb, %ma : f32
  %n = arith.addf %na, %nb : f32
  %r = arith.divf %nb, %n : f32
  %dr = arith.mulf %d, %r : f32
  %m = arith.addf %ma, %dr : f32
  %dd = arith.mulf %d, %d : f32
  %w = arith.mulf %na, %r : f32
  %t = arith.mulf %dd, %w : f32
  %s0 = arith.addf %sa, %sb : f32
  %s = arith.addf %s0, %t : f32
  tt.reduce.return %m, %s, %n : f32, f32, f32"""


def test_mean_and_variance():
    x = (np.random.default_rng(0).standard_normal(2048) + 100).astype(np.float32)
    arrays = [x, np.zeros_like(x), np.ones_like(x)]
    (mean, squares, count), ptx = apply("reduce", _WELFORD, arrays, ["f32"] * 3, line(), 0, 4)
    assert count == 2048
    np.testing.assert_allclose(mean, x.mean(dtype=np.float64), rtol=1e-6)
    np.testing.assert_allclose(squares / 2048, x.var(dtype=np.float64), rtol=1e-5)
    assert counts(ptx)["shfl"] == 15  # not in order: it commutes, up to rounding


@tritium.jit
def larger(a, b):
    found = a
    if b > a:
        found = b
    return found


@tritium.jit
def log_sum(m0, s0, m1, s1):
    m = tl.maximum(m0, m1)
    return m, s0 * tl.exp(m0 - m) + s1 * tl.exp(m1 - m)


@tritium.jit
def functions(p, q, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(p + i)
    tl.store(q, tl.reduce(x, 0, larger))
    m, s = tl.reduce((x, x * 0 + 1.0), 0, log_sum)
    tl.store(q + 1, m + tl.log(s))
    tl.store(q + 2 + i, tl.associative_scan(x, 0, larger))
    m, s = tl.associative_scan((x, x * 0 + 1.0), 0, log_sum, reverse=True)
    tl.store(q + 2 + B + i, m + tl.log(s))


@pytest.mark.parametrize("warps", [1, 4])
def test_functions_with_branches_and_fused_products(warps):
    """The sum of two products rounds differently when its operands change places: lanes must agree still."""
    x = np.random.default_rng(0).standard_normal(512).astype(np.float32)
    cpu, gpu = both(functions, 1, [x, np.zeros(2 + 1024, np.float32)], B=512, num_warps=warps)
    np.testing.assert_allclose(gpu[1], cpu[1], rtol=2e-6, atol=1e-6)


def test_few_registers_are_left():
    """A tensor that fills the registers: lanes read one partial result each, and shuffle."""
    x = np.random.default_rng(0).integers(-9, 9, 65536).astype(np.float32)
    (y,), ptx = apply("reduce", single("reduce", "arith.addf", "f32"), [x], ["f32"], line(4, 32), 0, 32)
    assert y == x.sum()
    assert counts(ptx) == {"shfl": 10, "bar": 1, "st": 1, "ld": 1, "redux": 0}


@pytest.mark.parametrize("warps", [1, 4])
def test_products_are_not_fused_into_exchanges(warps):
    """Else each lane would round the other's product, not its own, and lanes would have different sums."""
    layout, run = line(1, warps), Run(warps)
    x, z = (np.random.default_rng(i).standard_normal(32 * warps).astype(np.float32) for i in range(2))
    run.take("x", x, "f32", layout)
    run.take("z", z, "f32", layout)
    kind = f"tensor<{32 * warps}xf32, {layout}>"
    region = single("reduce", "arith.addf", "f32")
    run.body = f"""%p = arith.mulf %x, %z : {kind}
    %y = "tt.reduce"(%p) <{{axis = 0 : i32}}> ({{\n{region}\n}}) : ({kind}) -> f32"""
    run.give("y", (), "f32", layout)
    (y,) = run()  # which checks that all threads agree
    assert "fma.rn" not in run.ptx
    np.testing.assert_allclose(y, (x.astype(np.float64) * z).sum(), rtol=1e-4)
