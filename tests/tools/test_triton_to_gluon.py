"""`tools.triton_to_gluon_translator`: rewritten kernels compute what those of the Triton language do."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.tools.tensor_descriptor import TensorDescriptor
from tritium.tools.triton_to_gluon_translator.nvidia_helpers import convert_host_descriptor
from tritium.tools.triton_to_gluon_translator.target import TranslatorTarget
from tritium.tools.triton_to_gluon_translator.translator import (
    TranslationError,
    convert_triton_to_gluon,
    main,
    translate_paths,
)

random = np.random.default_rng(7)
OFFSET = tl.constexpr(3)


@pytest.fixture(params=[80, 90], ids=["sm_80", "sm_90"])
def capability(request: pytest.FixtureRequest) -> Iterator[int]:
    driver.set_active(EmulatedCUDADriver(request.param))
    yield request.param
    driver.reset_active()


def rewritten(kernel: Any, folder: Path, capability: int) -> Any:
    """The kernel in Gluon."""
    path = folder / "rewritten.py"
    path.write_text(convert_triton_to_gluon([kernel], TranslatorTarget(f"sm{capability}")))
    spec = importlib.util.spec_from_file_location("rewritten", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, kernel.__name__)


def check(kernel: Any, folder: Path, capability: int, output: np.ndarray, *args: Any) -> None:
    """Equal outputs of both kernels, whose first parameter is the output."""
    want, found = output.copy(), output.copy()
    kernel[(1,)](want, *args)
    rewritten(kernel, folder, capability)[(1,)](found, *args)
    assert np.array_equal(found, want, equal_nan=True)


@tritium.jit
def _halves(x):
    return x.reshape(x.shape[0] // 2, 2).split()


@tritium.jit
def mixed(out, x, n, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + rows[:, None] * N + columns[None, :], mask=columns[None, :] < n, other=-float("inf"))
    v = tl.softmax(v, dim=1) + tl.zeros((M, N), tl.float32)
    for i in tl.range(0, 2):
        v += i
    a, b = _halves(tl.sum(v.trans(), axis=0) + OFFSET)
    tl.store(out + tl.arange(0, M), tl.cat(tl.sigmoid(a), tl.maximum(b, v.T.max(0).min()), can_reorder=True))


def test_reductions_views_and_called_functions(capability, tmp_path):
    x = random.standard_normal((16, 64)).astype(np.float32)
    kernel = rewritten(mixed, tmp_path, capability)
    out = np.zeros(16, np.float32)
    kernel[(1,)](out, x, 50, 16, 64)
    e = np.exp(x[:, :50] - x[:, :50].max(1, keepdims=True))
    v = np.zeros((16, 64), np.float32)
    v[:, :50] = e / e.sum(1, keepdims=True)
    a, b = np.split((v + 1).sum(1).reshape(8, 2) + 3, 2, axis=1)
    want = np.concatenate([1 / (1 + np.exp(-a[:, 0])), np.maximum(b[:, 0], (v + 1).max(1).min())])
    assert np.allclose(out, want, atol=1e-4)


@tritium.jit
def matmul(out, a, b, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + k + inner[None, :])
        acc = tl.dot(x, tl.load(b + (k + inner)[:, None] * N + columns[None, :]), acc, input_precision=PRECISION)
    tl.store(out + rows[:, None] * N + columns[None, :], acc)


@pytest.mark.parametrize(("dtype", "precision"), [(np.float16, "tf32"), (np.float32, "tf32"), (np.float32, "ieee")])
def test_dots_have_the_same_bits(capability, tmp_path, dtype, precision):
    a, b = (random.standard_normal(s).astype(dtype) for s in ((64, 64), (64, 32)))
    out = np.zeros((64, 32), np.float32)
    if dtype is np.float32 and capability == 90 and precision == "tf32":
        found = out.copy()
        rewritten(matmul, tmp_path, capability)[(1,)](found, a, b, 64, 64, 32, 32, precision)
        assert np.allclose(found, a @ b, atol=0.1)  # the compiler adds up in another order by `wgmma`
        return
    check(matmul, tmp_path, capability, out, a, b, 64, 64, 32, 32, precision)


@tritium.jit
def copy(target, source, y, V: tl.constexpr):
    inner = tl.make_tensor_descriptor(y, [32, 64], [64, 1], [32, 64])
    inner.store([0, 0], source.load([0, 0]) + V)
    target.store([0, 0], source.load([0, 0]))


def test_descriptors_are_copied_by_tma(tmp_path):
    driver.set_active(EmulatedCUDADriver(90))
    try:
        x = random.standard_normal((32, 64)).astype(np.float16)
        target, y = np.zeros_like(x), np.zeros_like(x)
        described = [convert_host_descriptor(TensorDescriptor.from_tensor(v, [32, 64])) for v in (target, x)]
        kernel = rewritten(copy, tmp_path, 90)[(1,)](*described, y, 1.0)
        assert np.array_equal(target, x)
        assert np.array_equal(y, x + np.float16(1))
        assert "cp.async.bulk.tensor" in kernel.asm["ptx"]
    finally:
        driver.reset_active()


@tritium.jit
def scaled(out, a, b, s, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + rows[:, None] * (K // 2) + tl.arange(0, K // 2)[None, :])
    scale = tl.load(s + rows[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    y = tl.load(b + inner[:, None] * N + columns[None, :])
    tl.store(out + rows[:, None] * N + columns[None, :], tl.dot_scaled(x, scale, "e2m1", y, None, "fp16"))


def test_scaled_dots_are_close(capability, tmp_path):
    a = random.integers(0, 256, (64, 32)).astype(np.uint8)
    b = random.standard_normal((64, 16)).astype(np.float16)
    scales = random.integers(120, 130, (64, 2)).astype(np.uint8)
    want, found = (np.zeros((64, 16), np.float32) for _ in range(2))
    scaled[(1,)](want, a, b, scales, 64, 16, 64)
    rewritten(scaled, tmp_path, capability)[(1,)](found, a, b, scales, 64, 16, 64)
    assert np.allclose(found, want, rtol=1e-3, atol=1e-2)


def test_paths_and_the_command_write_the_same(tmp_path):
    path = f"{__name__}:matmul"
    main([path], str(tmp_path / "out.py"), "sm90")
    text = (tmp_path / "out.py").read_text()
    assert text == translate_paths([path], TranslatorTarget.SM90)
    assert "helpers.tl_dot(" in text
    assert "hopper_helpers as helpers" in text


def test_what_has_no_form_in_gluon_is_named():
    with pytest.raises(TranslationError, match=r"line 3 of the kernel: tl has no attribute 'nothing'"):
        convert_triton_to_gluon([blocked], "sm90")
    with pytest.raises(TranslationError, match="gfx942 yet"):
        convert_triton_to_gluon([matmul], "gfx942")
    with pytest.raises(TranslationError, match="has no kernel 'nothing'"):
        translate_paths([f"{__name__}:nothing"], "sm90")
    with pytest.raises(TranslationError, match="3 is no kernel"):
        convert_triton_to_gluon([3], "sm90")


@tritium.jit
def blocked(x):
    tl.store(x, tl.nothing())
