"""Where the lowering takes a shortcut, its results are those of the long way: division, wrapping sums, masks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.kernels import Kernel, elementwise, poisoned


def test_division_by_one_number_is_exact() -> None:
    """Correctly rounded for every divisor and dividend, in range or not."""
    text = elementwise("arith.divf", "f32", 256, 2)
    text = text.replace(
        "%b = tt.load %yp, %mask : tensor<256x!tt.ptr<f32>>",
        """%s = tt.load %yq : !tt.ptr<f32>
      %b = tt.splat %s : f32 -> tensor<256xf32>""",
    )
    text = text.replace("%ys = ", "%yq = tt.addptr %y, %pid : !tt.ptr<f32>, i32\n      %ys = ")
    rng = np.random.default_rng(7)
    n = 256 * 4000
    x = rng.integers(0, 2**32, n, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x[: n // 2] = rng.standard_normal(n // 2) * np.exp2(rng.uniform(-20, 20, n // 2))
    x[::97], x[::89] = 0, -0.0
    divisors = (rng.standard_normal(4000) * np.exp2(rng.uniform(-35, 35, 4000))).astype(np.float32)
    divisors[:4] = [0, np.inf, np.nan, 1e-42]
    divisors[4:200] = np.nextafter(np.exp2(rng.integers(-20, 20, 196)), -np.inf).astype(np.float32)
    out = poisoned(n, np.float32)
    Kernel(text)((4000,), x, divisors, out, n)
    with np.errstate(all="ignore"):
        want = x / divisors.repeat(256)
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(np.signbit(out[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("start", [0, 5, 2**31 - 300, 2**31 - 100, 2**31 - 1])
def test_sums_wrap_around_in_their_own_type(start: int) -> None:
    """(start + arange) * 3 in 32 bits, extended to 64: the same as NumPy's, also where the sum leaves the range."""
    text = """
    tt.func public @k(%o: !tt.ptr<i64>, %start: i32) {
      %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
      %s = tt.splat %start : i32 -> tensor<256xi32>
      %a = arith.addi %s, %r : tensor<256xi32>
      %three = arith.constant dense<3> : tensor<256xi32>
      %m = arith.muli %a, %three : tensor<256xi32>
      %e = arith.extsi %m : tensor<256xi32> to tensor<256xi64>
      %os = tt.splat %o : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
      %op = tt.addptr %os, %r : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
      tt.store %op, %e : tensor<256x!tt.ptr<i64>>
      tt.return
    }"""
    out = poisoned(256, np.int64)
    Kernel(text)((1,), out, start)
    want = ((np.int64(start) + np.arange(256)) * 3).astype(np.int32).astype(np.int64)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("start", [0, 2**31 - 300, 2**31 - 100, -(2**31), -(2**31) + 100])
@pytest.mark.parametrize("predicate", ["slt", "sge"])
@pytest.mark.parametrize("step", [1, -1])
def test_masks_of_sums_that_wrap_around(predicate: str, step: int, start: int) -> None:
    text = f"""
    tt.func public @k(%o: !tt.ptr<i32>, %start: i32, %n: i32) {{
      %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
      %k = arith.constant dense<{step}> : tensor<256xi32>
      %rk = arith.muli %r, %k : tensor<256xi32>
      %s = tt.splat %start : i32 -> tensor<256xi32>
      %a = arith.addi %s, %rk : tensor<256xi32>
      %ns = tt.splat %n : i32 -> tensor<256xi32>
      %mask = arith.cmpi {predicate}, %a, %ns : tensor<256xi32>
      %os = tt.splat %o : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
      %op = tt.addptr %os, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
      tt.store %op, %a, %mask : tensor<256x!tt.ptr<i32>>
      tt.return
    }}"""
    kernel = Kernel(text)
    for n in (0, 5, 2**31 - 1, -(2**31)):
        out = poisoned(256, np.int32)
        kernel((1,), out, start, n)
        a = (np.int64(start) + step * np.arange(256)).astype(np.int32)
        want = np.where(a < n if predicate == "slt" else a >= n, a, 113)
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("predicate", ["slt", "sle"])
@pytest.mark.parametrize("n", [-3, 0, 1, 15, 16, 63, 64, 65, 200, 255, 256, 300])
def test_masked_reductions(n: int, predicate: str) -> None:
    """A sum and a maximum of what a mask leaves of a row, and the row scaled by both."""
    reduce = """<{axis = 0 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %s = OP %p, %q : f32
        tt.reduce.return %s : f32
      }) : (tensor<256xf32>) -> f32"""
    text = f"""
    tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {{
      %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
      %ns = tt.splat %n : i32 -> tensor<256xi32>
      %mask = arith.cmpi {predicate}, %r, %ns : tensor<256xi32>
      %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      %low = arith.constant dense<-7.0> : tensor<256xf32>
      %a = tt.load %xp, %mask, %low : tensor<256x!tt.ptr<f32>>
      %most = "tt.reduce"(%a) {reduce.replace("OP", "arith.maxnumf")}
      %m = tt.splat %most : f32 -> tensor<256xf32>
      %z = arith.subf %a, %m : tensor<256xf32>
      %e = math.exp2 %z : tensor<256xf32>
      %total = "tt.reduce"(%e) {reduce.replace("OP", "arith.addf")}
      %t = tt.splat %total : f32 -> tensor<256xf32>
      %y = arith.divf %e, %t : tensor<256xf32>
      %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
      %op = tt.addptr %os, %r : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      tt.store %op, %y, %mask : tensor<256x!tt.ptr<f32>>
      tt.return
    }}"""
    x = np.random.default_rng(8).standard_normal(256).astype(np.float32)
    out = poisoned(256, np.float32)
    Kernel(text)((1,), x, out, n)
    kept = np.arange(256) < n if predicate == "slt" else np.arange(256) <= n
    a = np.where(kept, x, np.float32(-7))
    e = np.exp2((a - a.max()).astype(np.float64))
    np.testing.assert_allclose(out, np.where(kept, e / e.sum(), 113), rtol=1e-6)


@pytest.mark.parametrize("cast", ["extsi", "extui"])
@pytest.mark.parametrize(("a", "b"), [(-1, 0), (2**31 - 1, 6), (5, 7)])
def test_constants_are_extended_from_their_own_bits(cast: str, a: int, b: int) -> None:
    text = f"""
    tt.func public @k(%o: !tt.ptr<i64>) {{
      %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
      %a = arith.constant dense<{a}> : tensor<64xi32>
      %b = arith.constant dense<{b}> : tensor<64xi32>
      %s = arith.addi %a, %b : tensor<64xi32>
      %e = arith.{cast} %s : tensor<64xi32> to tensor<64xi64>
      %os = tt.splat %o : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
      %op = tt.addptr %os, %r : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
      tt.store %op, %e : tensor<64x!tt.ptr<i64>>
      tt.return
    }}"""
    out = poisoned(64, np.int64)
    Kernel(text)((1,), out)
    total = (a + b) & 0xFFFFFFFF
    want = total - 2**32 if cast == "extsi" and total >> 31 else total
    np.testing.assert_array_equal(out, np.full(64, want))
