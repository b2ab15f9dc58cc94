"""Floats that an integer type cannot hold are reported with `sanitize=True` or `check_conversions=True`, on every target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.support import settings

N = 32


@tritium.jit
def convert(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at).to(y.dtype.element_ty))


@pytest.fixture(params=["cpu", "emulated", "interpreted"])
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "emulated":
        driver.set_active(EmulatedCUDADriver(capability=90))
    with settings.runtime.scope():
        settings.runtime.interpret = request.param == "interpreted"
        yield request.param
    driver.reset_active()


@pytest.mark.parametrize("option", ["sanitize", "check_conversions"])
@pytest.mark.parametrize(
    ("source", "integer", "fits", "beyond"),
    [
        ("float32", "uint8", [255.5, -0.5], [256.0, -1.0, np.nan]),
        ("float32", "int32", [-(2.0**31), 2147483520.0], [2.0**31, -2147483904.0, np.inf]),
        ("float64", "int32", [-2147483648.5, 2147483647.5], [2147483648.0, -2147483649.0]),
        ("float64", "int64", [-(2.0**63), 2.0**62], [2.0**63, -np.inf]),
        ("float16", "int8", [127.5, -128.5], [128.0, -129.0]),
    ],
)
def test_floats_out_of_range_are_reported(
    target: str, source: str, integer: str, fits: list[float], beyond: list[float], option: str
) -> None:
    x, y, checked = np.resize(np.array(fits, source), N), np.zeros(N, integer), {option: True}
    convert[(1,)](x, y, N, **checked)
    assert y[:2].tolist() == [int(v) for v in fits]
    for number in beyond:
        x[5] = number
        with pytest.raises(Exception, match=rf"out of range of {integer}: the result is the nearest integer") as raised:
            convert[(1,)](x, y, N, **checked)
        assert type(raised.value).__name__ == "DeviceAssertError"
        assert "test_conversion_checks.py" in str(raised.value)
        convert[(1,)](x, y, N)  # not checked


def test_setting_sanitize_checks_conversions() -> None:
    x, y = np.full(N, -1, np.float32), np.zeros(N, np.uint8)
    convert[(1,)](x, y, N)
    with settings.runtime.scope():
        settings.runtime.sanitize = True
        with pytest.raises(Exception, match="out of range of uint8"):
            convert[(1,)](x, y, N)


def test_conversions_to_booleans_and_between_floats_are_not_checked(target: str) -> None:
    @tritium.jit
    def others(x, y, N: tl.constexpr):
        at = tl.arange(0, N)
        a = tl.load(x + at)
        tl.store(y + at, a.to(tl.int1).to(tl.float32) + a.to(tl.float16).to(tl.float32))

    x, y = np.full(N, 1e30, np.float32), np.zeros(N, np.float32)
    others[(1,)](x, y, N, sanitize=True)
    assert np.isinf(y).all()


def test_check_conversions_is_part_of_the_key() -> None:
    x, y = np.full(N, -1, np.float32), np.zeros(N, np.uint8)
    kernels: list[Any] = [convert.warmup(x, y, N, grid=(1,), check_conversions=on) for on in (False, True)]
    assert ["tt.assert" in kernel.asm["ttir"] for kernel in kernels] == [False, True]
