"""Kernels that ask for `warp_specialize`: products and attention through descriptors, against float64."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.kernels import kernel_from, module_from
from tritium.runtime import TensorDescriptor

torch = pytest.importorskip("torch")

PRODUCT = """
@triton.jit
def kernel(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    acc = tl.zeros((M, N), tl.float32)
    for k in tl.range(0, K, BLOCK, warp_specialize=True):
        acc = tl.dot(a.load([0, k]), b.load([0, k]).T, acc)
    c.store([0, 0], acc.to(tl.float16))
"""

PERSISTENT = """
@triton.jit
def kernel(a, b, c, rows, columns, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, FLATTEN: tl.constexpr):
    down, across = tl.cdiv(rows, M), tl.cdiv(columns, N)
    for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=FLATTEN, warp_specialize=True):
        i, j = tile % down * M, tile // down * N
        acc = tl.zeros((M, N), tl.float32)
        for k in range(tl.cdiv(K, BLOCK)):
            acc = tl.dot(a.load([i, k * BLOCK]), b.load([j, k * BLOCK]).T, acc)
        c.store([i, j], acc.to(tl.float16))
"""

ATTENTION = """
@triton.jit
def inner(acc, total, top, q, k, v, scale, row, begin, lo, hi, M: tl.constexpr, N: tl.constexpr, MASK: tl.constexpr):
    for j in tl.range(lo, hi, N, warp_specialize=True):
        s = tl.dot(q, k.load([begin + j, 0]).T)
        if MASK:
            s = tl.where((row + tl.arange(0, M))[:, None] >= (j + tl.arange(0, N))[None, :], s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.math.exp2(s * scale - new[:, None])
        alpha = tl.math.exp2(top - new)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), v.load([begin + j, 0]), acc * alpha[:, None])
        top = new
    return acc, total, top


@triton.jit
def kernel(q_of, k, v, o, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    row, begin = tl.program_id(0) * M, tl.program_id(1) * length
    acc = tl.zeros((M, D), tl.float32)
    total = tl.zeros((M,), tl.float32)
    top = tl.full((M,), float("-inf"), tl.float32)
    q = q_of.load([begin + row, 0])
    if CAUSAL:
        acc, total, top = inner(acc, total, top, q, k, v, scale, row, begin, 0, row, M, N, False)
        acc, total, top = inner(acc, total, top, q, k, v, scale, row, begin, row, row + M, M, N, True)
    else:
        acc, total, top = inner(acc, total, top, q, k, v, scale, row, begin, 0, length, M, N, False)
    o.store([begin + row, 0], (acc / total[:, None]).to(tl.float16))
"""


def described(x: Any, *block: int) -> TensorDescriptor:
    return TensorDescriptor.from_tensor(x, list(block))


def randoms(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float32).half()


def check_specialized(made: Any, wanted: bool = True) -> None:
    if "ptx" in made.asm:  # NVIDIA GPUs alone have warps of their own for loads
        assert (made.asm["ttgir"].count("partition0") == 1) is wanted


@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 128, 64), (128, 64, 128), (256, 128, 64)], ids=str)
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.share(4)
def test_dots(shape, warps, stages, tmp_path):
    m, n, block = shape
    if m < 16 * warps:
        pytest.skip("rows for fewer warps")
    kernel = kernel_from(PRODUCT, tmp_path)
    for trips in (0, 1, 2, 3, 5, 7):
        depth = max(block * trips - 8, 8)
        a, b, c = randoms(m, depth, seed=1), randoms(n, depth, seed=2), torch.full((m, n), 7.0, dtype=torch.float16)
        at = described(a, m, block), described(b, n, block), described(c, m, n)
        steps = depth if trips else 0
        made = kernel[(1,)](*at, steps, M=m, N=n, BLOCK=block, num_warps=warps, num_stages=stages)
        want = (a.double() @ b.double().T) * bool(trips)
        assert (c.double() - want).abs().max() <= 2e-3 * want.abs().max()
        check_specialized(made)


@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("programs", [1, 3])
@pytest.mark.share(2)
def test_persistent_dots(flatten, programs, tmp_path):
    m, n, block = 128, 128, 64
    kernel = kernel_from(PERSISTENT, tmp_path)
    for rows, columns, depth in [(256, 128, 64), (200, 264, 200), (512, 256, 320), (128, 256, 0)]:
        a, b = randoms(rows, max(depth, 64), seed=3), randoms(columns, max(depth, 64), seed=4)
        c = torch.ones((rows, columns), dtype=torch.float16)
        at = described(a, m, block), described(b, n, block), described(c, m, n)
        made = kernel[(programs,)](
            *at, rows, columns, depth, M=m, N=n, BLOCK=block, FLATTEN=flatten,
            num_warps=8, num_stages=3,
        )  # fmt: skip
        want = a.double() @ b.double().T * bool(depth)
        assert (c.double() - want).abs().max() <= 2e-3 * want.abs().max()
        check_specialized(made)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("m", "n", "d", "warps"), [(128, 64, 64, 8), (128, 128, 128, 8), (64, 64, 64, 4)])
@pytest.mark.parametrize("without", ["", "ping-pong", "intra-warpgroup-overlap", "wgmma-in-flight"])
@pytest.mark.share(4)
def test_attention(causal, m, n, d, warps, without, tmp_path):
    kernel = module_from(ATTENTION, tmp_path).kernel
    heads, length = 2, 256
    q, k, v = (randoms(heads * length, d, seed=s) for s in range(3))
    o = torch.zeros_like(q)
    at = described(q, m, d), described(k, n, d), described(v, n, d), described(o, m, d)
    options = {"num_warps": warps, "num_stages": 2, "without": without}
    scale = d**-0.5 * 1.4426950408889634
    made = kernel[(length // m, heads)](*at, length, scale, M=m, N=n, D=d, CAUSAL=causal, **options)
    rows = [x.double().view(heads, length, d) for x in (q, k, v)]
    s = rows[0] @ rows[1].transpose(1, 2) * d**-0.5
    if causal:
        s = s.masked_fill(~torch.ones(length, length).tril().bool(), float("-inf"))
    want = (s.softmax(-1) @ rows[2]).reshape(-1, d)
    assert (o.double() - want).abs().max() < 4e-3
    check_specialized(made)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("m", "n", "d", "warps"), [(256, 64, 64, 8), (128, 64, 64, 4)])
@pytest.mark.parametrize("without", ["", "multicast", "warp-specialization"])
@pytest.mark.share(3)
def test_attention_by_clusters(causal, m, n, d, warps, without, tmp_path):
    """Two blocks have half of the rows each, and the same keys and values."""
    kernel = module_from(ATTENTION, tmp_path).kernel
    heads, length = 2, 256
    q, k, v = (randoms(heads * length, d, seed=s) for s in range(3))
    o = torch.zeros_like(q)
    at = described(q, m, d), described(k, n, d), described(v, n, d), described(o, m, d)
    options = {"num_warps": warps, "num_stages": 2, "num_ctas": 2, "without": without}
    scale = d**-0.5 * 1.4426950408889634
    made = kernel[(length // m, heads)](*at, length, scale, M=m, N=n, D=d, CAUSAL=causal, **options)
    rows = [x.double().view(heads, length, d) for x in (q, k, v)]
    s = rows[0] @ rows[1].transpose(1, 2) * d**-0.5
    if causal:
        s = s.masked_fill(~torch.ones(length, length).tril().bool(), float("-inf"))
    want = (s.softmax(-1) @ rows[2]).reshape(-1, d)
    assert (o.double() - want).abs().max() < 4e-3
    check_specialized(made, without != "warp-specialization")
    if "ptx" in made.asm:
        assert ("multicast::cluster" in made.asm["ptx"]) is (not without)


MIXED = """
@triton.jit
def kernel(a, b, c, weights, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    acc = tl.zeros((M, N), tl.float32)
    for k in tl.range(0, K, BLOCK, warp_specialize=True):
        w = tl.load(weights + k // BLOCK * N + tl.arange(0, N))
        part = tl.dot(a.load([0, k]), b.load([0, k]).T)
        acc += part * w[None, :]
    c.store([0, 0], acc.to(tl.float16))
"""


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.share(1)
def test_loads_by_pointers_beside_descriptors(warps, tmp_path):
    m, n, block = 128, 64, 64
    kernel = kernel_from(MIXED, tmp_path)
    for trips in (1, 2, 5):
        a, b = randoms(m, block * trips, seed=1), randoms(n, block * trips, seed=2)
        weights, c = randoms(trips, n, seed=3).float(), torch.zeros((m, n), dtype=torch.float16)
        at = described(a, m, block), described(b, n, block), described(c, m, n)
        made = kernel[(1,)](*at, weights, block * trips, M=m, N=n, BLOCK=block, num_warps=warps, num_stages=3)
        parts = [slice(block * i, block * i + block) for i in range(trips)]
        want = sum(a[:, p].double() @ b[:, p].double().T * weights[i].double() for i, p in enumerate(parts))
        assert (c.double() - want).abs().max() <= 2e-3 * want.abs().max()
        check_specialized(made)
