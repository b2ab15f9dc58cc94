"""The vendor's products through ctypes: what they ask for is checked here, what they give on a GPU."""

from __future__ import annotations

import ctypes

import pytest

from tritium.backends.nvidia import cublas
from tritium.support import OptionError, TritiumError

torch = pytest.importorskip("torch")


class _Fake:
    """A library that takes every call and notes its name."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str):
        def call(*arguments):
            self.calls.append(name)
            if name.endswith("GetHeuristic"):
                ctypes.cast(arguments[-1], ctypes.POINTER(ctypes.c_int))[0] = 1
            return 7 if name == "cublasLtMatmul" else 0

        return call


def test_a_product_is_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = _Fake()
    monkeypatch.setattr(cublas, "_library", lambda: fake)
    monkeypatch.setattr(cublas, "current_stream", lambda index: 0)
    blas = cublas.CublasLt(torch.empty(256, dtype=torch.uint8))
    a, b, c = torch.zeros(4, 8), torch.zeros(6, 8), torch.zeros(4, 6)
    for _ in range(2):
        with pytest.raises(TritiumError, match="cublasLtMatmul failed with status 7"):
            blas.matmul(a, b, c)
    assert fake.calls.count("cublasLtMatmulAlgoGetHeuristic") == 1
    with pytest.raises(OptionError, match=r"\(4, 8\) times the transpose of \(6, 8\) is not \(6, 4\)"):
        blas.matmul(a, b, c.T)
    with pytest.raises(OptionError, match="int32 are not supported"):
        blas.matmul(a.int(), b, c)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8_e4m3fn"])
def test_products_are_right(dtype: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    ty = getattr(torch, dtype)
    a, b = torch.randn(96, 64, device="cuda").to(ty), torch.randn(48, 64, device="cuda").to(ty)
    c = torch.zeros(96, 48, device="cuda").to(ty)
    cublas.CublasLt(torch.empty(1 << 20, dtype=torch.uint8, device="cuda")).matmul(a, b, c)
    expected = a.double() @ b.double().T
    worst = {"float32": 1e-2, "float8_e4m3fn": 0.07}.get(dtype, 1e-2)
    assert (c.double() - expected).abs().max() <= worst * expected.abs().max()
