"""What other files test together with features that AMD GPUs lack, and what AMD GPUs have of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.gpu.amd import AMD
from tritium.language import core

pytestmark = pytest.mark.share(1)


@pytest.fixture(autouse=True)
def amd(device: str) -> str:
    """The emulated AMD GPU; the tests are not for others."""
    if device not in AMD:
        pytest.skip("for AMD GPUs")
    return device


# -- the target ---------------------------------------------------------------------------------------------------


@tritium.constexpr_function
def target_of_kernel() -> str:
    return f"{tl.target_info.current_target().backend} {tl.target_info.is_cuda()}"


@tritium.jit
def questions(y):
    tl.static_assert(target_of_kernel() == "hip False")
    tl.static_assert(tl.target_info.is_hip() and not tl.target_info.is_cuda())
    tl.static_assert(not tl.target_info.cuda_capability_geq(8))
    tl.static_assert(not tl.target_info.is_hip_cdna4() and not tl.target_info.is_hip_gfx1250())
    if tl.target_info.is_hip_cdna3():
        tl.store(y, tl.target_info.current_target().warp_size)
    else:
        tl.store(y, -tl.target_info.current_target().warp_size)


def test_target_info_in_kernels(amd: str) -> None:
    y = np.zeros(1, np.int32)
    questions[(1,)](y)
    assert y[0] == {"gfx942": 64, "gfx1100": -32}[amd]


# -- fp8 of AMD GPUs ----------------------------------------------------------------------------------------------


@tritium.jit
def round_trip_e4b8(x, out):
    at = tl.arange(0, 64)
    tl.store(out + at, tl.load(x + at).to(tl.float8e4b8).to(tl.float32))


@tritium.jit
def round_trip_e5b16(x, out):
    at = tl.arange(0, 64)
    tl.store(out + at, tl.load(x + at).to(tl.float8e5b16).to(tl.float32))


@pytest.mark.parametrize(("kernel", "digits"), [(round_trip_e4b8, 3), (round_trip_e5b16, 2)], ids=["e4b8", "e5b16"])
def test_fp8_of_gfx942(kernel: tritium.JITFunction, digits: int, amd: str) -> None:
    """A value of `digits` bits after the leading one is kept."""
    if amd != "gfx942":
        pytest.skip("fp8 of gfx942")
    rng = np.random.default_rng(0)
    x = (rng.integers(1 << digits, 2 << digits, 64) * 2.0 ** rng.integers(-6, 3, 64)).astype(np.float32)
    x[::2] *= -1
    x[0] = 0
    out = np.full(64, 7, np.float32)
    kernel[(1,)](x, out)
    np.testing.assert_array_equal(out, x)


# -- atomic loads and stores --------------------------------------------------------------------------------------


@tritium.jit
def load_and_store(p, out, sem: tl.constexpr, scope: tl.constexpr):
    at = tl.arange(0, 16)
    order: tl.constexpr = "release" if sem == "acquire" else sem
    tl.atomic_store(p + at, (at * 3).to(p.dtype.element_ty), mask=at < 11, sem=order, scope=scope)
    tl.debug_barrier()
    tl.store(out + at, tl.atomic_load(p + at, mask=at < 13, sem=sem, scope=scope), mask=at < 13)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float16", "int16"])
@pytest.mark.parametrize(("sem", "scope"), [("acquire", "gpu"), ("relaxed", "sys"), ("relaxed", "cta")])
def test_atomic_load_and_store(dtype: str, sem: str, scope: str) -> None:
    p, out = np.full(16, 100, dtype), np.full(16, 77, dtype)
    load_and_store[(1,)](p, out, sem, scope)
    at = np.arange(16)
    wanted = np.where(at < 11, at * 3, 100).astype(dtype)
    np.testing.assert_array_equal(p, wanted)
    np.testing.assert_array_equal(out, np.where(at < 13, wanted, 77))


@tritium.jit
def poll(flag, out, B: tl.constexpr):
    at = tl.arange(0, B)
    seen = tl.atomic_poll(flag + at, at, timeout_ns=1000000)
    tl.store(out + at, seen.to(tl.int32))


@tritium.jit
def wait_for_first(flag, data, out):
    if tl.program_id(0) == 0:
        tl.store(data, 42)
        tl.atomic_xchg(flag, 1, sem="release")
    else:
        seen = tl.atomic_poll(flag, 1, sem="acquire")
        tl.store(out + tl.program_id(0), tl.where(seen, tl.load(data), 0))


@pytest.mark.shows("tl.atomic_poll")
def test_atomic_poll_waits_for_a_value_or_a_timeout() -> None:
    flag, out = np.arange(64, dtype=np.int32), np.full(64, 7, np.int32)
    flag[[5, 60]] = 99
    poll[(1,)](flag, out, 64)
    np.testing.assert_array_equal(out, flag == np.arange(64))
    flag, data, out = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(4, np.int32)
    wait_for_first[(4,)](flag, data, out, launch_cooperative_grid=True)
    np.testing.assert_array_equal(out, [0, 42, 42, 42])


# -- libraries ----------------------------------------------------------------------------------------------------


@core.builtin
def hypotenuse(x, y, _semantic=None):
    """A function of OCML by its symbol, which is answered by our own."""
    table = {(tl.float32, tl.float32): ("__ocml_hypot_f32", tl.float32)}
    return core.extern_elementwise("ocml", "", [x, y], table, is_pure=True, _semantic=_semantic)


@tritium.jit
def lengths(x, y, out, again):
    at = tl.arange(0, 64)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, hypotenuse(a, b) + tl.expect_zero(at * 0, at < 8))
    tl.store(again + at, tl.extra.libdevice.hypot(a, b))


@pytest.mark.shows("tl.extern_elementwise")
def test_functions_of_ocml_by_symbol() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 64)).astype(np.float32)
    out, again = np.zeros((2, 64), np.float32)
    lengths[(1,)](x, y, out, again)
    np.testing.assert_allclose(out, np.hypot(x, y), rtol=3e-7)
    np.testing.assert_array_equal(out, again)


# -- Python -------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    low: object
    high: object


@tritium.jit
def total(*values):
    result = 0
    for value in values:
        result += value
    return result


@tritium.jit
def python(y, pair, name: tl.constexpr = "low", note: tl.constexpr = None):
    items = list((1, 2, 3))  # noqa: C410
    tl.store(y, len(items) + int(2.9) + total(*items))
    tl.store(y + 1, getattr(pair, name) if hasattr(pair, name) else 0)
    if note is None:
        tl.store(y + 2, +(2**5))
    if (double := pair.high * 2) > 3 and bool(1):
        tl.store(y + 3, double)
    tl.static_assert(f"{len(items)} items" == "3 items")
    assert pair.low < pair.high, "ordered"


def test_python_in_kernels() -> None:
    y = np.zeros(4, np.int32)
    python[(1,)](y, Pair(2, 5))
    np.testing.assert_array_equal(y, [3 + 2 + 6, 2, 32, 10])
