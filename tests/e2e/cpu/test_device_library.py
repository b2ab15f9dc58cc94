"""The rest of the device library against exact arithmetic, mpmath and NumPy (`test_libdevice.py` has what NumPy and SciPy have)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.e2e.directed_rounding import directed
from tritium.language.extra import libdevice

mpmath = pytest.importorskip("mpmath")
N = 64


@pytest.fixture
def kernels_for_gpus():
    """Not here: GPUs have a library of their own."""


@triton.jit
def apply(x_ptr, y_ptr, z_ptr, w_ptr, out_ptr, fn: tl.constexpr, count: tl.constexpr):
    at = tl.arange(0, 64)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    if count == 1:
        r = fn(x)
    elif count == 2:
        r = fn(x, y)
    elif count == 3:
        r = fn(x, y, tl.load(z_ptr + at))
    else:
        r = fn(x, y, tl.load(z_ptr + at), tl.load(w_ptr + at))
    tl.store(out_ptr + at, r)


def run(name, out, *args):
    """The device library's `name` on arrays of N numbers, as an array of the type `out`."""
    args = [np.ascontiguousarray(a) for a in args]
    result = np.empty(N, out)
    given = (args + args[:1] * 3)[:4]
    apply[(1,)](*given, result, fn=getattr(libdevice, name), count=len(args))
    return result


def spread(rng, dtype, low=-40, high=40):
    """Numbers of many sizes, of both signs, and special ones."""
    x = (rng.choice([-1, 1], N) * 2.0 ** rng.uniform(low, high, N)).astype(dtype)
    x[:6] = [0.0, -0.0, 1.0, -1.0, 3.0, 0.1]
    return x


# -- rounding -----------------------------------------------------------------------------------------------------

EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z,
}
COUNT = {"rcp": 1, "fma": 3}
MODES = ["rn", "rz", "rd", "ru"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", EXACT)
def test_directed_arithmetic(name, mode, dtype, rng):
    args = [spread(rng, dtype) for _ in range(COUNT.get(name, 2))]
    if name in ("div", "rcp"):
        args[-1][args[-1] == 0] = 7
    if name in ("add", "sub", "fma"):
        args[-1][20:30] = args[0][20:30]
    out = run(f"{name}_{mode}", dtype, *args)
    wanted = [directed(EXACT[name](*map(Fraction, map(float, row))), dtype, mode) for row in zip(*args)]
    np.testing.assert_array_equal(out, np.array(wanted, dtype))


@triton.jit
def product_and_sum(x, y, z, out, plain, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b, c = tl.load(x + at), tl.load(y + at), tl.load(z + at)
    tl.store(out + at, libdevice.add_rn(libdevice.mul_rn(a, b), c))
    tl.store(plain + at, libdevice.add_rn(a * b, c))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounded_operations_are_not_contracted(dtype, rng):
    """The sum of a product and its opposite is 0; of an FMA it would be the product's rounding error."""
    x, y = rng.standard_normal((2, 64)).astype(dtype)
    out, plain = np.ones((2, 64), dtype)
    product_and_sum[(1,)](x, y, -(x * y), out, plain, N=64, enable_fp_fusion=True)
    np.testing.assert_array_equal(out, 0)
    np.testing.assert_array_equal(plain, 0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_directed_roots(mode, dtype, rng):
    x = np.abs(spread(rng, dtype, -100, 100))
    out = run(f"sqrt_{mode}", dtype, x)
    wanted = [directed(Fraction(float(v)), dtype, mode, root=True) for v in x]
    np.testing.assert_array_equal(out, np.array(wanted, dtype))


@pytest.mark.parametrize("name", ["add", "mul", "div"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_directed_at_the_ends(name, dtype):
    """Overflow and underflow: the largest finite number, the smallest one, or zero."""
    top, least = float(np.finfo(dtype).max), float(np.finfo(dtype).smallest_subnormal)
    pairs = [
        (top, top),
        (-top, top),
        (least, least),
        (least, -least),
        (top, least),
        (least, top),
        (np.inf, 2.0),
        (1.0, 3.0),
    ]
    x, y = np.resize(np.array(pairs, dtype), (N, 2)).T
    for mode in ("rz", "rd", "ru"):
        out = run(f"{name}_{mode}", dtype, x, y)
        for a, b, r in zip(x[:8], y[:8], out):
            if np.isinf(a):
                assert r == np.inf
            else:
                wanted = directed(EXACT[name](Fraction(float(a)), Fraction(float(b))), dtype, mode)
                assert r == wanted, (name, mode, a, b, r, wanted)


@pytest.mark.parametrize("mode", MODES)
def test_double_to_float(mode, rng):
    x = spread(rng, np.float64)
    wanted = [directed(Fraction(v), "float32", mode) for v in x.tolist()]
    np.testing.assert_array_equal(run(f"double2float_{mode}", np.float32, x), np.array(wanted, np.float32))


KINDS = {
    "int": np.int32,
    "uint": np.uint32,
    "ll": np.int64,
    "ull": np.uint64,
    "float": np.float32,
    "double": np.float64,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", ["float", "double"])
@pytest.mark.parametrize("source", ["int", "uint", "ll", "ull"])
def test_integers_to_floats(source, target, mode, rng):
    if source in ("int", "uint") and target == "double" and mode != "rn":
        pytest.skip("exact: there is no such function")
    info = np.iinfo(KINDS[source])
    x = rng.integers(info.min, info.max, N, KINDS[source], endpoint=True)
    x[:4] = [info.min, info.max, 1, info.max // 3]
    wanted = [directed(Fraction(int(v)), np.dtype(KINDS[target]).name, mode) for v in x]
    out = run(f"{source}2{target}_{mode}", KINDS[target], x)
    np.testing.assert_array_equal(out, np.array(wanted, KINDS[target]))


ROUNDED = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", ["int", "uint", "ll", "ull"])
@pytest.mark.parametrize("source", ["float", "double"])
def test_floats_to_integers(source, target, mode, rng):
    low = 0 if target.startswith("u") else -(2.0**30)
    x = rng.uniform(low, 2.0**30, N).astype(KINDS[source])
    x[:5] = [0.5, 1.5, 2.5, 7.25, 0.75]
    np.testing.assert_array_equal(
        run(f"{source}2{target}_{mode}", KINDS[target], x), ROUNDED[mode](x).astype(KINDS[target])
    )


# -- special functions --------------------------------------------------------------------------------------------

SPECIAL = {
    "erfcinv": (lambda y: mpmath.erfinv(1 - y), 0.01, 1.99),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), -4, 20),
    "erfinv": (mpmath.erfinv, -0.999, 0.999),
    "normcdf": (mpmath.ncdf, -9, 5),
    "normcdfinv": (lambda p: -mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * p), 0.001, 0.999),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), 0.05, 50),
    "tgamma": (mpmath.gamma, -5.7, 20),
    "j0": (lambda x: mpmath.besselj(0, x), -40, 40),
    "j1": (lambda x: mpmath.besselj(1, x), -40, 40),
    "y0": (lambda x: mpmath.bessely(0, x), 0.001, 40),
    "y1": (lambda x: mpmath.bessely(1, x), 0.001, 40),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), -40, 40),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), -40, 40),
    "sinpi": (mpmath.sinpi, -20, 20),
    "cospi": (mpmath.cospi, -20, 20),
    "rcbrt": (lambda x: mpmath.sign(x) / mpmath.cbrt(abs(x)), -90, 90),
}
OSCILLATE = ("j0", "j1", "y0", "y1")  # beside their zeros the error is one of their size elsewhere


def exactly(fn, *args):
    """`fn` of mpmath on rows of arguments, as fp64."""
    with mpmath.workdps(30):
        return np.array([float(fn(*(mpmath.mpf(float(v)) for v in row))) for row in zip(*args)])


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name, rng):
    dtype, units = ("float64", 24) if len(name) % 2 else ("float32", 12)  # each goes through fp64
    fn, low, high = SPECIAL[name]
    x = rng.uniform(low, high, N).astype(dtype)
    wanted = exactly(fn, x)
    size = np.maximum(np.abs(wanted), 0.1) if name in (*OSCILLATE, "lgamma") else np.abs(wanted)
    if name in OSCILLATE:
        units = 2**15 if dtype == "float64" else 2**8  # NVIDIA's library says 5e-12 and 2.2e-6 of these
    assert (np.abs(run(name, dtype, x) - wanted) <= units * np.finfo(dtype).eps * size).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_any_order(name, dtype, rng):
    n = rng.integers(0, 12, N).astype(np.int32)
    x = rng.uniform(0.5, 30, N).astype(dtype)
    fn = mpmath.besselj if name == "jn" else mpmath.bessely
    wanted = exactly(lambda order, v: fn(int(order), v), n, x)
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(run(name, dtype, n, x), wanted, rtol=tolerance, atol=tolerance)


SPECIAL_VALUES = {
    "j0": [1, 0, 0], "j1": [0, 0, 0], "erfcx": [1, 0, np.inf], "normcdf": [0.5, 1, 0], "cyl_bessel_i0": [1, np.inf, np.inf],
    "cyl_bessel_i1": [0, np.inf, -np.inf], "lgamma": [np.inf] * 3, "sinpi": [0, np.nan, np.nan], "cospi": [1, np.nan, np.nan],
    "logb": [-np.inf, np.inf, np.inf], "rcbrt": [np.inf, 0, 0],
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL_VALUES)
def test_special_functions_of_special_values(name):
    """0, inf, -inf, NaN."""
    x = np.resize(np.array([0, np.inf, -np.inf, np.nan]), N)
    np.testing.assert_allclose(run(name, np.float64, x)[:4], [*SPECIAL_VALUES[name], np.nan], rtol=1e-15)


# -- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms(dtype, rng):
    a, b, c, d = (spread(rng, dtype, -30, 30) for _ in range(4))
    a[0] = 2
    for name, args in (("hypot", (a, b)), ("norm3d", (a, b, c)), ("norm4d", (a, b, c, d))):
        wanted = exactly(lambda *row: mpmath.sqrt(sum(v * v for v in row)), *args)
        np.testing.assert_allclose(run(name, dtype, *args), wanted, rtol=4 * np.finfo(dtype).eps, err_msg=name)
    for name, args in (("rhypot", (a, b)), ("rnorm3d", (a, b, c)), ("rnorm4d", (a, b, c, d))):
        args = [np.where(v == 0, np.array(1, dtype), v) for v in args]
        wanted = exactly(lambda *row: 1 / mpmath.sqrt(sum(v * v for v in row)), *args)
        np.testing.assert_allclose(run(name, dtype, *args), wanted, rtol=4 * np.finfo(dtype).eps, err_msg=name)


def test_norms_do_not_overflow():
    x = np.full(N, 1e200)
    x[:32] = 1e-200
    np.testing.assert_allclose(run("norm3d", np.float64, x, x, x), np.sqrt(3) * x, rtol=1e-15)
    np.testing.assert_allclose(run("norm4d", np.float64, x, x, x, x), 2 * x, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_two(dtype, rng):
    most = 80 if dtype == "float32" else 300  # NVIDIA's library flushes subnormal fp32
    x, n = spread(rng, dtype), rng.integers(-most, most, N).astype(np.int32)
    for name in ("ldexp", "scalbn"):
        with np.errstate(over="ignore", under="ignore"):
            np.testing.assert_array_equal(run(name, dtype, x, n), np.ldexp(x, n), err_msg=name)
    y = np.where(x == 0, np.array(1, dtype), x)
    np.testing.assert_array_equal(run("ilogb", np.int32, y), np.floor(np.log2(np.abs(y.astype(np.longdouble)))))
    np.testing.assert_array_equal(run("logb", dtype, y), np.floor(np.log2(np.abs(y.astype(np.longdouble)))))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_neighbours_and_remainders(dtype, rng):
    x, y = spread(rng, dtype, -8, 8), spread(rng, dtype, -8, 8)
    y[20:30] = x[20:30]
    np.testing.assert_array_equal(run("nextafter", dtype, x, y), np.nextafter(x, y))
    y[y == 0] = 0.3
    wanted = [
        float(Fraction(float(a)) - Fraction(float(b)) * round(Fraction(float(a)) / Fraction(float(b))))
        for a, b in zip(x, y)
    ]
    np.testing.assert_array_equal(run("remainder", dtype, x, y), np.array(wanted, dtype))


# -- integers and bits --------------------------------------------------------------------------------------------


def test_integers(rng):
    x, y, z = rng.integers(-(2**31), 2**31, (3, N)).astype(np.int32)
    u, v, w = (a.view(np.uint32) for a in (x, y, z))
    reverse = [int(f"{int(a):032b}"[::-1], 2) for a in u]
    np.testing.assert_array_equal(run("brev", np.int32, x), np.array(reverse, np.uint32).view(np.int32))
    wide = rng.integers(-(2**63), 2**63 - 1, N)
    reverse = [int(f"{int(a):064b}"[::-1], 2) for a in wide.view(np.uint64)]
    np.testing.assert_array_equal(run("brev", np.int64, wide), np.array(reverse, np.uint64).view(np.int64))
    low = (
        [((int(a) & 0xFFFFFF) ^ 0x800000) - 0x800000 for a in x],
        [((int(a) & 0xFFFFFF) ^ 0x800000) - 0x800000 for a in y],
    )
    product = np.array([a * b & 0xFFFFFFFF for a, b in zip(*low)], np.uint32)
    np.testing.assert_array_equal(run("mul24", np.int32, x, y), product.view(np.int32))
    product = [(int(a) & 0xFFFFFF) * (int(b) & 0xFFFFFF) & 0xFFFFFFFF for a, b in zip(u, v)]
    np.testing.assert_array_equal(run("mul24", np.uint32, u, v), np.array(product, np.uint32))
    gaps = np.array([abs(int(a) - int(b)) + int(c) & 0xFFFFFFFF for a, b, c in zip(x, y, w)], np.uint32)
    np.testing.assert_array_equal(run("sad", np.int32, x, y, w).view(np.uint32), gaps)
    np.testing.assert_array_equal(run("abs", np.int32, x), np.abs(x))


def test_bytes_are_chosen(rng):
    x, y = rng.integers(-(2**31), 2**31, (2, N)).astype(np.int32)
    s = sum(rng.integers(0, 8, N) << (4 * i) for i in range(4)).astype(np.int32)
    both = np.stack([x, y], 1).view(np.uint8).reshape(N, 8)
    wanted = np.stack([both[np.arange(N), (s >> (4 * i)) & 7] for i in range(4)], 1)
    np.testing.assert_array_equal(
        run("byte_perm", np.int32, x, y, s), np.ascontiguousarray(wanted).view(np.int32)[:, 0]
    )


def test_bits_of_floats(rng):
    x = spread(rng, np.float64)
    words = x.view(np.int32).reshape(N, 2)
    np.testing.assert_array_equal(run("double2loint", np.int32, x), words[:, 0])
    np.testing.assert_array_equal(run("double2hiint", np.int32, x), words[:, 1])
    np.testing.assert_array_equal(
        run("hiloint2double", np.float64, words[:, 1], words[:, 0]).view(np.int64), x.view(np.int64)
    )
    np.testing.assert_array_equal(run("double_as_longlong", np.int64, x), x.view(np.int64))
    np.testing.assert_array_equal(
        run("longlong_as_double", np.float64, x.view(np.int64)).view(np.int64), x.view(np.int64)
    )
    y = x.astype(np.float32)
    np.testing.assert_array_equal(run("float_as_uint", np.uint32, y), y.view(np.uint32))
    np.testing.assert_array_equal(
        run("uint_as_float", np.float32, y.view(np.uint32)).view(np.uint32), y.view(np.uint32)
    )
    z = np.where(x == 0, 1, x)
    np.testing.assert_allclose(run("rcp64h", np.float64, z), 1 / z, rtol=2e-6)
    np.testing.assert_array_equal(
        run("isfinited", np.int32, np.resize([1.0, np.inf, -np.inf, np.nan], N))[:4], [1, 0, 0, 0]
    )


# -- other spellings ----------------------------------------------------------------------------------------------

FAST = {
    "fast_cosf": np.cos, "fast_sinf": np.sin, "fast_tanf": np.tan, "fast_tanhf": np.tanh, "fast_expf": np.exp,
    "fast_exp10f": lambda x: 10**x, "fast_logf": np.log, "fast_log2f": np.log2, "fast_log10f": np.log10,
    "rsqrt_rn": lambda x: 1 / np.sqrt(x), "nearbyint": np.rint, "llround": lambda x: np.floor(x + 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", FAST)
def test_quick_functions(name, rng):
    x = rng.uniform(0.1, 1.4, N).astype(np.float32)
    np.testing.assert_allclose(run(name, np.float32, x), FAST[name](x.astype(np.float64)), rtol=2e-5, atol=1e-6)


def test_quick_functions_of_two(rng):
    x, y = rng.uniform(0.5, 2, (2, N)).astype(np.float32)
    np.testing.assert_allclose(run("fast_dividef", np.float32, x, y), x / y, rtol=1e-6)
    np.testing.assert_allclose(run("fast_powf", np.float32, x, y), x**y, rtol=2e-5)
    np.testing.assert_array_equal(
        run("fma", np.float64, *(v.astype(np.float64) for v in (x, y, x))), x.astype(float) * y + x
    )
