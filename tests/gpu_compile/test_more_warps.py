"""Kernels whose sums of products have no room in the registers of their warps are compiled for more of them."""

from __future__ import annotations

from typing import Any

import pytest

import tritium as tt
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.ir import listening


@tt.jit
def gradients(a, b, c, d, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, ASKS: tl.constexpr):
    """Two sums of M x D, carried through a loop, and a product of M x N in it, as of attention's gradients."""
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    own = tl.load(a + i[:, None] * D + k[None, :])
    first = tl.zeros((M, D), tl.float32)
    second = tl.zeros((M, D), tl.float32)
    for at in range(0, n, N):
        other = tl.load(b + (at + j)[:, None] * D + k[None, :])
        weights = tl.dot(own, other.T).to(tl.float16)
        first = tl.dot(weights, other, first)
        second = tl.dot(weights + weights, other, second)
    if ASKS:
        first += tl.extra.cuda.num_warps()
    tl.store(c + i[:, None] * D + k[None, :], first)
    tl.store(d + i[:, None] * D + k[None, :], second)


@tt.jit
def summed(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A sum of products of 8-bit floats: each is a product of its own, which is then added."""
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for at in range(0, n, K):
        x = tl.load(a + i[:, None] * n + (at + k)[None, :])
        y = tl.load(b + j[:, None] * n + (at + k)[None, :])
        total += tl.dot(x, y.T)
    tl.store(c + i[:, None] * N + j[None, :], total)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")


def compiled(m: int, n: int, d: int, arch: int = 90, until: str = "llir", asks: bool = False, **options: Any) -> Any:
    constants = {"M": m, "N": n, "D": d, "ASKS": asks}
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "d": "*fp32", "n": "i32"}
    signature = {name: "constexpr" if name in constants else types[name] for name in gradients.arg_names}
    attrs = {(i,): [["tt.divisibility", 16]] for i in range(5)}
    source = ASTSource(gradients, signature, constants, attrs)
    return compile(source, target=GPUTarget("cuda", arch, 32), options=options, until=until)


@pytest.mark.parametrize(
    ("tile", "asked", "warps"),
    [
        ((128, 32, 64), 4, 4),  # 64 + 64 + 32 registers
        ((128, 32, 128), 4, 8),  # 128 + 128 + 32
        ((128, 32, 128), 8, 8),
        ((64, 32, 128), 4, 4),  # 64 + 64 + 16
        ((128, 64, 128), 2, 8),
        ((256, 64, 128), 4, 16),  # 256 + 256 + 128, then half of it, which are too many
        ((64, 64, 256), 4, 4),  # 128 + 128 + 32, but only 64 rows for as many warps
    ],
)
@pytest.mark.parametrize("arch", [80, 90])
def test_warps(tile: tuple[int, int, int], asked: int, warps: int, arch: int) -> None:
    told: list[Any] = []
    with listening(told.append):
        kernel = compiled(*tile, arch, until="ttgir", num_warps=asked)
    assert f'"ttg.num-warps" = {warps} : i32' in kernel.asm["ttgir"]
    assert kernel.metadata.num_warps == warps
    remarks = [d.message for d in told if "warps" in d.message]
    assert len(remarks) == (warps != asked)
    assert all(f"with {asked} warps" in text and f"for {warps} warps" in text for text in remarks)


@pytest.mark.parametrize(
    "options",
    [{"without": "warps-for-accumulators"}, {"maxnreg": 168}, {"asks": True}, {"arch": 75}, {"num_ctas": 2}],
    ids=lambda options: next(iter(options)),
)
def test_requested_warps_are_kept(options: dict[str, Any]) -> None:
    """Where somebody counts on it, has set a limit, or nothing was counted, it stays."""
    kernel = compiled(128, 32, 128, until="ttgir", **{"num_warps": 4, **options})
    assert '"ttg.num-warps" = 4 : i32' in kernel.asm["ttgir"] and kernel.metadata.num_warps == 4


@needs_ptxas
@pytest.mark.parametrize("arch", [80, 90])
def test_nothing_is_spilled(arch: int) -> None:
    kernel = compiled(128, 32, 128, arch, until="cubin", num_warps=4, num_stages=3)
    assert kernel.n_spills == 0 and kernel.metadata.stack_size == 0
    assert kernel.metadata.n_max_threads == 256 and ".reqntid 256" in kernel.asm["ptx"]


@needs_ptxas
@pytest.mark.parametrize(("ty", "warps"), [("*fp8e4nv", 8), ("*fp16", 4)])
def test_a_product_beside_its_sum(ty: str, warps: int) -> None:
    """Of 8-bit floats a product and the sum that it is added to have registers of their own; of others it is one sum."""
    constants = {"M": 128, "N": 128, "K": 64}
    signature = {"a": ty, "b": ty, "c": "*fp32", "n": "i32"} | dict.fromkeys(constants, "constexpr")
    attrs = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    kernel = compile(ASTSource(summed, signature, constants, attrs), target=GPUTarget("cuda", 90, 32))
    assert kernel.metadata.num_warps == warps
    assert kernel.n_spills == 0 and kernel.metadata.stack_size == 0
