"""Kernels of low occupancy are assembled for one more CTA per SM; all others are assembled once."""

from __future__ import annotations

from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tritium.backends.nvidia.assembler import Assembler
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.hardware.nvidia import nvidia_gpu
from tritium.hardware.occupancy import occupancy

pytestmark = needs_ptxas


@tritium.jit
def outer_softmax(Y, X, N, K, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    k = tl.program_id(1) * TILE_K + tl.arange(0, TILE_K)
    row = tl.program_id(0) * N * K
    m = tl.full([TILE_N, TILE_K], float("-inf"), tl.float32)
    z = tl.zeros([TILE_N, TILE_K], tl.float32)
    for start in range(0, N, TILE_N):
        n = start + tl.arange(0, TILE_N)
        mask = (n[:, None] < N) & (k < K)
        x = tl.load(X + row + n[:, None] * K + k, mask=mask, other=float("-inf"))
        new = tl.maximum(m, x)
        z = tl.where(new == float("-inf"), z, z * tl.exp(m - new) + tl.exp(x - new))
        m = new
    top = tl.max(m, 0)
    z = tl.sum(z * tl.exp(m - top[None, :]), 0)
    for start in range(0, N, TILE_N):
        n = start + tl.arange(0, TILE_N)
        mask = (n[:, None] < N) & (k < K)
        x = tl.load(X + row + n[:, None] * K + k, mask=mask, other=float("-inf"))
        tl.store(Y + row + n[:, None] * K + k, tl.exp(x - top[None, :]) / z[None, :], mask=mask)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The PTX texts that are assembled; nothing comes from the cache."""
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    texts: list[str] = []
    finish = Assembler.finish
    monkeypatch.setattr(Assembler, "finish", lambda self, ptx, kernel: texts.append(ptx) or finish(self, ptx, kernel))
    return texts


def compiled(tile: tuple[int, int] = (256, 32), warps: int = 16, **options: object) -> Any:
    signature = {"Y": "*fp16", "X": "*fp16", "N": "i32", "K": "i32", "TILE_N": "constexpr", "TILE_K": "constexpr"}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    source = ASTSource(outer_softmax, signature, {"TILE_N": tile[0], "TILE_K": tile[1]}, attributes)
    return compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps, **options})


def ctas(kernel: Any) -> int:
    meta = kernel.metadata
    return occupancy(nvidia_gpu(90), meta.n_regs, meta.num_warps, meta.shared + meta.static_shared).ctas


def test_a_kernel_of_one_cta_per_sm_gets_two(runs: list[str]) -> None:
    kernel, plain = compiled(), compiled(without="one-more-cta")
    assert (ctas(plain), ctas(kernel)) == (1, 2)
    assert kernel.metadata.n_spills == 0 and kernel.asm["ptx"] == plain.asm["ptx"]
    assert ["minnctapersm" in text for text in runs] == [False, True, False]


def test_registers_limited_by_the_user_are_not_reduced(runs: list[str]) -> None:
    assert ctas(compiled(maxnreg=80)) == 1
    assert ctas(compiled(ptx_options="--maxrregcount=80")) == 1
    assert len(runs) == 2


def test_a_kernel_of_many_ctas_is_assembled_once(runs: list[str]) -> None:
    assert ctas(compiled((32, 32), 4)) > 2
    assert len(runs) == 1
