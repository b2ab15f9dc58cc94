"""Rows divided by one number each: the reciprocal of a divisor that elements share is computed once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.e2e.kernels import kernel_from
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.runtime.driver import driver
from tritium.runtime.emulated import EmulatedCUDADriver

ROWS, COLUMNS = 32, 64

KERNEL = """
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    y = tl.load(y_ptr + i)[:, None] if ROWS else tl.load(y_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + i[:, None] * N + j[None, :], x / y)
"""


@pytest.fixture(autouse=True)
def emulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    driver.set_active(EmulatedCUDADriver(90))
    yield
    driver.reset_active()


def divided(x: np.ndarray, y: np.ndarray, folder: Path) -> tuple[np.ndarray, Any]:
    out = np.full_like(x, 7)
    kernel = kernel_from(KERNEL, folder)
    compiled = kernel[(1,)](x, y, out, M=ROWS, N=COLUMNS, ROWS=y.ndim == 1, num_warps=1)
    return out, compiled


def near(found: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Within two units in the last place, the least of which is that of the least normal number."""
    with np.errstate(all="ignore"):
        wanted = x.astype(np.float64) / y.astype(np.float64)
        nearest = wanted.astype(x.dtype).astype(np.float64)
        unit = np.spacing(np.maximum(np.abs(nearest), np.finfo(x.dtype).tiny).astype(x.dtype)).astype(np.float64)
        away = np.abs(found.astype(np.float64) - wanted) / unit
    exact = np.isinf(nearest) | np.isnan(nearest) | (nearest == 0)
    same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    bad = ~np.where(exact, same | (away <= 2), away <= 2)
    assert not bad.any(), f"{x[bad][:5]} / {np.broadcast_to(y, x.shape)[bad][:5]} gave {found[bad][:5]}"


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_ordinary_rows(dtype: type, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-9, 9, (ROWS, COLUMNS)).astype(dtype), rng.uniform(0.1, 9, ROWS).astype(dtype)
    found, compiled = divided(x, y, tmp_path)
    near(found, x, y[:, None])
    assert "div.full" not in compiled.asm["ptx"]
    of_a_thread = ROWS * COLUMNS // 32
    assert 1 <= compiled.asm["ptx"].count("rcp.approx.ftz.f32") <= of_a_thread // 2


def test_divisors_that_elements_do_not_share(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(0.1, 9, (ROWS, COLUMNS)).astype(np.float32) for _ in range(2))
    found, compiled = divided(x, y, tmp_path)
    near(found, x, y)
    assert "rcp" not in compiled.asm["ptx"]


def test_the_largest_and_the_smallest(tmp_path: Path) -> None:
    """Divisors whose reciprocals are not normal, or not there; x of the same magnitudes."""
    powers = [2.0**e for e in (-149, -148, -140, -127, -126, -125, -100, -1, 0, 1, 100, 125, 126, 127)]
    numbers = [0.0, *powers, *(1.75 * p for p in powers), 2.0**126 * (1 + 2**-23), np.inf, np.nan]
    y = np.array((numbers + [1.0] * ROWS)[:ROWS], np.float32)
    signed = np.array(numbers + [-v for v in numbers], np.float32)
    x = np.stack([np.roll(signed, i)[:COLUMNS] for i in range(ROWS)])
    x = np.pad(x, ((0, 0), (0, COLUMNS - x.shape[1])), constant_values=3)
    found, _ = divided(x, y, tmp_path)
    near(found, x, y[:, None])
    found, _ = divided(x, -y, tmp_path)
    near(found, x, -y[:, None])


def test_rows_that_fill_the_registers(tmp_path: Path) -> None:
    """Of 1024 threads each has 64, and holds 64 elements."""
    kernel = kernel_from(KERNEL, tmp_path)
    signature = {
        "x_ptr": "*fp32",
        "y_ptr": "*fp32",
        "out_ptr": "*fp32",
        **dict.fromkeys(("M", "N", "ROWS"), "constexpr"),
    }
    for columns, shares in ((32768, True), (65536, False)):
        source = ASTSource(kernel, signature, {"M": 1, "N": columns, "ROWS": True}, {})
        ptx = compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 32}, until="ptx").asm["ptx"]
        assert (ptx.count("div.full") == 0) is shares and ("rcp.approx.ftz.f32" in ptx) is shares
