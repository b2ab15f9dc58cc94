"""Texts that Triton wrote, `ttir` and `ttgir`, compile from there to machine code, and compute what they should."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tritium.compiler import CompiledKernel, GPUTarget, compile
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver

FOLDER = Path(__file__).parent / "triton-3.9"
_NAME = re.compile(r"(.*)\.sm(80|90)\.(ttir|ttgir)\.mlir")
FILES = [(path, m) for path in sorted(FOLDER.glob("*.mlir")) if (m := _NAME.fullmatch(path.name))]


def compiled(name: str, folder: Path, until: str | None = None) -> CompiledKernel:
    """A file of the corpus, compiled for the chip it was made for."""
    found = _NAME.fullmatch(f"{name}.mlir")
    assert found is not None
    path = folder / f"kernel.{found[3]}"
    path.write_text((FOLDER / f"{name}.mlir").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spills: Triton's choices of layouts are not judged here
        return compile(path, GPUTarget("cuda", int(found[2]), 32), until=until)


@pytest.mark.sample(3, "name")
@needs_ptxas
@pytest.mark.parametrize("name", [path.name.removesuffix(".mlir") for path, _ in FILES])
def test_a_text_of_triton_becomes_a_cubin(name: str, tmp_path: Path) -> None:
    kernel = compiled(name, tmp_path)
    assert kernel.kernel[:4] == b"\x7fELF" and kernel.n_regs > 0
    assert list(kernel.asm)[0] == name.rpartition(".")[2]
    assert f".target sm_{_NAME.fullmatch(name + '.mlir')[2]}" in kernel.asm["ptx"]  # type: ignore[index]


def test_the_corpus_has_both_stages_of_all_examples() -> None:
    stages: dict[str, set[str]] = {}
    for _, found in FILES:
        stages.setdefault(found[1], set()).add(found[3])
    assert len(stages) > 25 and all(found == {"ttir", "ttgir"} for found in stages.values())


# ---- what they compute ----------------------------------------------------------------------------------------------


@pytest.fixture(params=[80, 90])
def capability(request: pytest.FixtureRequest) -> Iterator[int]:
    driver.set_active(EmulatedCUDADriver(request.param))
    yield request.param
    driver.reset_active()


@pytest.fixture
def numbers() -> np.random.Generator:
    return np.random.default_rng(7)


def test_vector_add(capability: int, tmp_path: Path, numbers: np.random.Generator) -> None:
    kernel = compiled(f"vector_add.add_kernel.sm{capability}.ttgir", tmp_path)
    x, y = (numbers.random(2064, np.float32) for _ in "xy")
    out = np.full(2064, np.nan, np.float32)
    kernel[(3,)](x, y, out, 2000)
    np.testing.assert_array_equal(out[:2000], x[:2000] + y[:2000])
    assert np.isnan(out[2000:]).all()


def test_softmax(capability: int, tmp_path: Path, numbers: np.random.Generator) -> None:
    kernel = compiled(f"fused_softmax.softmax_kernel.sm{capability}.ttgir", tmp_path)
    x = numbers.standard_normal((3, 800)).astype(np.float32)
    out = np.full((3, 800), np.nan, np.float32)
    kernel[(2,)](out, x, 800, 800, 3, 777)
    wide = np.exp(x[:, :777].astype(np.float64) - x[:, :777].max(axis=1, keepdims=True))
    np.testing.assert_allclose(out[:, :777], wide / wide.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-9)
    assert np.isnan(out[:, 777:]).all()


def test_a_product_that_triton_pipelined(capability: int, tmp_path: Path, numbers: np.random.Generator) -> None:
    """mma.sync with cp.async, or wgmma; numbers are whole, so that sums are exact."""
    kernel = compiled(f"matmul.matmul_kernel.fp16-leaky_relu.sm{capability}.ttgir", tmp_path)
    assert ("wgmma.mma_async" if capability == 90 else "mma.sync") in kernel.asm["ptx"]
    m, n, k = 160, 144, 208
    a, b = (numbers.integers(-4, 5, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float16)
    kernel[(4,)](a, b, c, m, n, k, k, n, n)
    product = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(
        c, np.where(product >= 0, product, 0.01 * product.astype(np.float32)).astype(np.float16)
    )


def test_layer_norm(tmp_path: Path, numbers: np.random.Generator) -> None:
    driver.set_active(EmulatedCUDADriver(90))
    try:
        kernel = compiled("layer_norm.layer_norm_fwd_fused.forward.sm90.ttgir", tmp_path)
        x = numbers.standard_normal((2, 1152)).astype(np.float16)
        w, b = (numbers.random(1152).astype(np.float16) for _ in "wb")
        y, mean, rstd = np.zeros_like(x), np.zeros(2, np.float32), np.zeros(2, np.float32)
        kernel[(2,)](x, y, w, b, mean, rstd, 1152, 1152, 1e-5)
    finally:
        driver.reset_active()
    wide = x.astype(np.float64)
    np.testing.assert_allclose(mean, wide.mean(axis=1), atol=1e-6)
    normal = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, normal * w.astype(np.float64) + b.astype(np.float64), rtol=2e-3, atol=2e-3)
