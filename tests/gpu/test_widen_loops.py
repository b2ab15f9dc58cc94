"""widen-loops: loops of pairs of iterations have the same bits as the loops as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from
from tests.gpu.test_one_trip_loops import bits
from tritium.compiler import ASTSource, GPUTarget, compile

torch = pytest.importorskip("torch")

KERNEL = """
@triton.jit
def kernel(q_ptr, k_ptr, m_ptr, o_ptr, blocks, stride, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    k_ptrs = k_ptr + j[None, :] * stride + d[:, None]
    start = 0
    for block in range(0, blocks):
        k = tl.load(k_ptrs)
        p = tl.exp2(tl.dot(q, k) - tl.load(m_ptr + (start + j))[None, :])
        p = tl.where(i[:, None] + 32 >= (start + j)[None, :], p, 0.0)
        acc = tl.dot(p.to(tl.float16), tl.trans(k), acc)
        k_ptrs += N * stride
        start += N
    tl.store(o_ptr + i[:, None] * D + d[None, :], acc)
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("special", [False, True], ids=["random", "special"])
@pytest.mark.parametrize("blocks", [0, 1, 2, 5])
def test_wide_loop_keeps_bits(blocks: int, special: bool, seed: int, tmp_path: Path) -> None:
    m, n, d = 64, 32, 64
    rng = torch.Generator().manual_seed(seed)
    q, k = (torch.randn((rows, d), generator=rng).half() for rows in (m, 5 * n))
    shift = torch.randn(5 * n, generator=rng)
    if special:
        q[seed % m, ::7], k[3, 5], k[40, 2], shift[33] = float("inf"), float("nan"), -0.0, float("inf")
    kernel = kernel_from(KERNEL, tmp_path)
    found = []
    for without in ("", "widen-loops"):
        out = torch.full((m, d), 7.0)
        kernel[(1,)](q, k, shift, out, blocks, d, M=m, N=n, D=d, num_warps=4, num_stages=4, without=without)
        found.append(bits(out))
    assert torch.equal(*found)


@pytest.mark.parametrize(
    ("columns", "stages", "widened"), [(32, 4, True), (16, 5, True), (64, 5, False), (32, 3, False)]
)
def test_loops_of_narrow_dots_are_widened(columns: int, stages: int, widened: bool, tmp_path: Path) -> None:
    types = {"q_ptr": "*fp16", "k_ptr": "*fp16", "m_ptr": "*fp32", "o_ptr": "*fp32", "blocks": "i32", "stride": "i32"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in (0, 1, 2, 3, 5)}
    source = ASTSource(kernel_from(KERNEL, tmp_path), types, {"M": 64, "N": columns, "D": 64}, aligned)
    options = {"num_warps": 4, "num_stages": stages}
    text = compile(source, target=GPUTarget("cuda", 90, 32), options=options, until="ttgir").asm["ttgir"]
    found = [line for line in text.splitlines() if "math.exp2" in line and f"tensor<64x{2 * columns}xf32" in line]
    assert bool(found) == widened
