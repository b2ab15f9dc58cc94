"""ptxas serializes no WGMMA (C7510, C7511, C7514) of persistent matmuls, whatever their epilogue does with f32 sums.

The kernels are those of Triton's persistent matmul tutorial with their configurations: tiles, warps, stages, epilogues
in one or two halves, output rounded once or (as the tutorial does for bf16) to f16 first.
`python -m tests.conformance.tutorial_registers` compiles the tutorials themselves, from a checkout.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.runtime.driver import driver
from tritium.runtime.emulated import EmulatedCUDADriver

SERIALIZED = ("C7510", "C7511", "C7514", "C7602")


@tt.jit
def _stored(c, acc, row, column, EPILOGUE: tl.constexpr):
    if EPILOGUE == "rounded twice":
        c.store([row, column], acc.to(tl.float16))
    elif EPILOGUE == "towards zero":
        c.store([row, column], acc.to(tl.float16, fp_downcast_rounding="rtz") * 2.0)
    elif EPILOGUE == "residual":
        c.store([row, column], (acc.to(tl.float16) + c.load([row, column]).to(tl.float16)).to(c.dtype))
    else:
        c.store([row, column], acc.to(c.dtype))


@tt.jit
def persistent(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HALVES: tl.constexpr, EPILOGUE: tl.constexpr
):
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, 132, flatten=True):
        row, column = tile // columns * BM, tile % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(a.load([row, k * BK]), b.load([column, k * BK]).T, acc)
        if HALVES:
            left, right = acc.reshape(BM, 2, BN // 2).permute(0, 2, 1).split()
            _stored(c, left, row, column, EPILOGUE)
            _stored(c, right, row, column + BN // 2, EPILOGUE)
        else:
            _stored(c, acc, row, column, EPILOGUE)


@tt.jit
def rounded(x, y, out, raw, ROUNDING: tl.constexpr):
    i, j = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    acc = tl.dot(tl.load(x + i * 64 + j), tl.load(y + i * 64 + j))
    tl.store(raw + i * 64 + j, acc)
    tl.store(out + i * 64 + j, acc.to(tl.float16, fp_downcast_rounding=ROUNDING).to(tl.float32))


def compiled(dtype: str, tile: tuple[int, int, int], halves: bool, epilogue: str, **more: Any) -> Any:
    m, n, k = tile
    constants = {"BM": m, "BN": n, "BK": k, "HALVES": halves, "EPILOGUE": epilogue}
    types = {name: f"tensordesc<{dtype}[{r},{s}]>" for name, r, s in (("a", m, k), ("b", n, k))}
    types["c"] = f"tensordesc<{dtype}[{m},{n // 2 if halves else n}]>"
    signature = {name: "constexpr" if name in constants else types.get(name, "i32") for name in persistent.arg_names}
    attrs = {(i,): [["tt.divisibility", 16]] for i in (3, 4, 5)}
    source = ASTSource(persistent, signature, constants, attrs)
    until = more.pop("until", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, target=GPUTarget("cuda", 90, 32), options=more, **({"until": until} if until else {}))


@needs_ptxas
@pytest.mark.sample(24)
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp8e4nv"])
@pytest.mark.parametrize("tile", [(128, 128, 64), (128, 256, 64), (128, 256, 32)], ids=str)
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("epilogue", ["once", "rounded twice", "towards zero", "residual"])
def test_persistent_matmul_has_no_serialized_wgmma(
    dtype: str, tile: tuple[int, int, int], halves: bool, warps: int, epilogue: str
) -> None:
    kernel = compiled(dtype, tile, halves, epilogue, num_warps=warps, num_stages=2)
    assert "wgmma.mma_async" in kernel.asm["ptx"]
    assert not [text for text in kernel.metadata.remarks if any(code in text for code in SERIALIZED)]


def test_accumulators_used_as_f16_are_rounded_in_pairs() -> None:
    """`cvt.rn.f16.f32` of an accumulator is what ptxas moves across the wait for WGMMAs."""
    ptx = compiled("bf16", (128, 128, 64), False, "rounded twice", until="ptx").asm["ptx"]
    assert ptx.count("cvt.rn.f16x2.f32") == 64 and "cvt.rn.f16.f32" not in ptx


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
def test_accumulators_rounded_in_pairs_have_the_bits_of_single_ones(
    rounding: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same accumulators, once rounded alone and used as f16, once widened and stored as they are."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 4, (2, 64, 64)).astype(np.float16)
    x[0, 0], x[1, 1], y[2, 3], x[4], x[5] = np.inf, np.nan, -np.inf, -0.0, 3e4
    out, raw = np.full((64, 64), 7, np.float32), np.full((64, 64), 7, np.float32)
    driver.set_active(EmulatedCUDADriver(90))
    try:
        made = rounded[(1,)](x, y, out, raw, ROUNDING=rounding, num_warps=4)
    finally:
        driver.reset_active()
    assert "wgmma.mma_async" in made.asm["ptx"] and "f16x2.f32" in made.asm["ptx"]
    with np.errstate(all="ignore"):
        wanted = raw.astype(np.float16)
        if rounding == "rtz":
            beyond = np.abs(wanted.astype(np.float32)) > np.abs(raw)
            toward_zero = (wanted.view(np.uint16) - 1).view(np.float16)
            wanted = np.where(beyond, toward_zero, wanted)
    wide = wanted.astype(np.float32)
    assert np.isinf(wide).any() and np.isnan(wide).any()
    same = (out.view(np.uint32) == wide.view(np.uint32)) | (np.isnan(out) & np.isnan(wide))
    assert same.all()
