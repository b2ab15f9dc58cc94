"""The device library on the CPU against NumPy and SciPy in float64."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.language.extra import libdevice

special = pytest.importorskip("scipy.special")
N = 64

ONE = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: 10**x,
    "expm1": np.expm1,
    "log": lambda x: np.log(np.abs(x)),
    "log2": lambda x: np.log2(np.abs(x)),
    "log10": lambda x: np.log10(np.abs(x)),
    "log1p": lambda x: np.log1p(np.abs(x)),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": lambda x: np.arcsin(np.abs(x) / 8),
    "acos": lambda x: np.arccos(np.abs(x) / 8),
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": lambda x: np.arccosh(np.abs(x) + 1),
    "atanh": lambda x: np.arctanh(np.abs(x) / 8),
    "sqrt": lambda x: np.sqrt(np.abs(x)),
    "rsqrt": lambda x: 1 / np.sqrt(np.abs(x)),
    "cbrt": np.cbrt,
    "erf": special.erf,
    "erfc": special.erfc,
    "fabs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "rint": np.rint,
    "saturatef": lambda x: np.clip(x, 0, 1),
    "rcp_rn": lambda x: 1 / x,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "finitef": np.isfinite,
    "signbit": np.signbit,
    "llrint": np.rint,
    "float2int_rd": np.floor,
    "float2int_ru": np.ceil,
    "float2int_rz": np.trunc,
}
POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
EIGHTHS = ("asin", "acos", "atanh")
TWO = {
    "atan2": np.arctan2,
    "pow": lambda x, y: np.abs(x) ** y,
    "copysign": np.copysign,
    "fmod": np.fmod,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "add_rn": np.add,
    "div_rn": np.divide,
}
INTEGERS = {
    "popc": lambda x, y: np.array([int(v).bit_count() for v in x.view(np.uint32)]),
    "clz": lambda x, y: np.array([32 - int(v).bit_length() for v in x.view(np.uint32)]),
    "ffs": lambda x, y: np.array([(int(v) & -int(v)).bit_length() for v in x]),
    "mulhi": lambda x, y: (x.astype(np.int64) * y) >> 32,
    "hadd": lambda x, y: (x.astype(np.int64) + y) >> 1,
    "rhadd": lambda x, y: (x.astype(np.int64) + y + 1) >> 1,
}


@triton.jit
def apply_one(x_ptr, out_ptr, fn: tl.constexpr, how: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    if how == "positive":
        x = tl.abs(x)
    elif how == "eighths":
        x = tl.abs(x) / 8
    elif how == "above one":
        x = tl.abs(x) + 1
    tl.store(out_ptr + at, fn(x))


@triton.jit
def apply_two(x_ptr, y_ptr, out_ptr, fn: tl.constexpr, positive: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, fn(tl.abs(x) if positive else x, tl.load(y_ptr + at)))


@triton.jit
def apply_bits(x_ptr, out_ptr, fn: tl.constexpr):
    at = tl.arange(0, 64)
    tl.store(out_ptr + at, fn(tl.load(x_ptr + at)))


@pytest.mark.parametrize("name", ONE)
def test_one_argument(name, rng):
    x = (rng.standard_normal(N) * 2).clip(-7, 7).astype(np.float32)
    how = "positive" if name in POSITIVE else "eighths" if name in EIGHTHS else "above one" if name == "acosh" else ""
    out = np.zeros(N, np.float32)
    apply_one[(1,)](x, out, fn=getattr(libdevice, name), how=how)
    np.testing.assert_allclose(out, ONE[name](x.astype(np.float64)), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "sqrt", "cbrt", "atan"])
def test_double(name, rng):
    x = rng.uniform(0.1, 5, N)
    out = np.zeros(N)
    apply_one[(1,)](x, out, fn=getattr(libdevice, name), how="")
    np.testing.assert_allclose(out, ONE[name](x), rtol=1e-13)


@pytest.mark.parametrize("name", TWO)
def test_two_arguments(name, rng):
    x, y = (rng.standard_normal((2, N)) * 3).astype(np.float32)
    out = np.zeros(N, np.float32)
    apply_two[(1,)](x, y, out, fn=getattr(libdevice, name), positive=name == "pow")
    np.testing.assert_allclose(out, TWO[name](x.astype(np.float64), y.astype(np.float64)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, rng):
    x, y = rng.integers(-(2**31), 2**31, (2, N)).astype(np.int32)
    x[:3] = [0, -1, 1]
    out = np.zeros(N, np.int64)
    fn = getattr(libdevice, name)
    if name in ("popc", "clz", "ffs"):
        apply_bits[(1,)](x, out, fn=fn)
    else:
        apply_two[(1,)](x, y, out, fn=fn, positive=False)
    np.testing.assert_array_equal(out, INTEGERS[name](x, y))


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["exp", "log", "erf", "tanh", "rsqrt", "floor"])
def test_halves_are_computed_as_floats_and_rounded_once(name, kind, rng):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, kind)
    x = torch.from_numpy(rng.uniform(0.1, 5, N)).to(dtype)
    out = torch.full((N,), float("nan"), dtype=dtype)
    apply_one[(1,)](x, out, fn=getattr(libdevice, name), how="")
    exact = torch.from_numpy(ONE[name](x.double().numpy()))
    torch.testing.assert_close(out.double(), exact, rtol=torch.finfo(dtype).eps * 0.501, atol=1e-6)


def test_halves_that_stay_and_two_of_them(rng):
    torch = pytest.importorskip("torch")
    x, y = torch.from_numpy(rng.uniform(0.1, 5, (2, N))).half()
    out = torch.full((N,), float("nan"), dtype=torch.float16)
    apply_two[(1,)](x, y, out, fn=libdevice.pow, positive=False)
    torch.testing.assert_close(out.double(), x.double() ** y.double(), rtol=5e-4, atol=0)
    x[::3] = float("inf")
    bits = torch.full((N,), 7, dtype=torch.int32)
    apply_one[(1,)](x, bits, fn=libdevice.isinf, how="")
    assert torch.equal(bits.bool(), x.isinf())


def test_signatures_show_what_users_pass():
    shown = [str(inspect.signature(getattr(libdevice, name))) for name in ("exp", "isnan", "fmod", "fma")]
    assert shown == ["(arg0)", "(arg0)", "(arg0, arg1)", "(arg0, arg1, arg2)"]


def test_special_values():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 3e38, -1.0] * 8, np.float32)
    for name in ("isnan", "isinf", "finitef", "signbit"):
        out = np.zeros(N, np.int32)
        apply_one[(1,)](x, out, fn=getattr(libdevice, name), how="")
        np.testing.assert_array_equal(out, ONE[name](x), err_msg=name)


def test_bits():
    x = np.linspace(-3, 3, N, dtype=np.float32)
    out = np.zeros(N, np.int32)
    apply_bits[(1,)](x, out, fn=libdevice.float_as_int)
    np.testing.assert_array_equal(out, x.view(np.int32))
    back = np.zeros(N, np.float32)
    apply_bits[(1,)](out, back, fn=libdevice.int_as_float)
    np.testing.assert_array_equal(back, x)
