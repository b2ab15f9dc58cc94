"""alignment-versions: a dot of matrices whose addresses come from memory has the same bits for any alignment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from
from tests.gpu.test_one_trip_loops import bits

torch = pytest.importorskip("torch")

KERNEL = """
@triton.jit
def kernel(addresses, extents, A, B, C, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    M, N, K = tl.load(extents), tl.load(extents + 1), tl.load(extents + 2)
    for tile in range(tl.program_id(0), tl.cdiv(N, BN), tl.num_programs(0)):
        stride_a, stride_b, stride_c = tl.load(extents + 3), tl.load(extents + 4), tl.load(extents + 5)
        a = tl.load(addresses).to(tl.pointer_type(tl.float16))
        b = tl.load(addresses + 1).to(tl.pointer_type(tl.float16))
        c = tl.load(addresses + 2).to(tl.pointer_type(tl.float16))
        rows, cols, ks = tl.arange(0, BM), tile * BN + tl.arange(0, BN), tl.arange(0, BK)
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = tl.load(a + rows[:, None] * stride_a + (k + ks)[None, :],
                        mask=(rows[:, None] < M) & (k + ks[None, :] < K), other=0.0)
            y = tl.load(b + (k + ks)[:, None] * stride_b + cols[None, :],
                        mask=(k + ks[:, None] < K) & (cols[None, :] < N), other=0.0)
            total = tl.dot(x, y, total)
        tl.store(c + rows[:, None] * stride_c + cols[None, :], total.to(tl.float16),
                 mask=(rows[:, None] < M) & (cols[None, :] < N))
"""

CASES = {  # M, N, K, the strides beyond N or K, the offsets of the matrices in elements
    "aligned": (13, 40, 40, (0, 0, 0), (0, 0, 0)),
    "padded-rows": (16, 32, 32, (8, 16, 8), (8, 0, 16)),
    "odd-columns": (16, 33, 40, (0, 7, 7), (0, 0, 0)),
    "odd-depth": (16, 32, 37, (3, 0, 0), (0, 0, 0)),
    "odd-stride": (16, 32, 32, (1, 0, 0), (0, 0, 0)),
    "odd-address-of-b": (16, 32, 32, (0, 0, 0), (0, 1, 0)),
    "address-of-c-at-8-bytes": (16, 32, 32, (0, 0, 0), (0, 0, 4)),
    "no-trip": (16, 32, 0, (32, 0, 0), (0, 0, 0)),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("special", [False, True], ids=["random", "special"])
@pytest.mark.parametrize("case", list(CASES))
def test_matmul_keeps_its_bits(device: str, case: str, special: bool, seed: int, tmp_path: Path) -> None:
    m, n, k, beyond, offsets = CASES[case]
    rng = torch.Generator().manual_seed(seed)
    strides = [wide + more for wide, more in zip((k, n, n), beyond)]
    memories = [
        torch.randn(rows * stride + 32, generator=rng).half() for rows, stride in zip((m, max(k, 1), m), strides)
    ]
    if special:
        for memory in memories[:2]:
            memory[:: 37 + seed % 5] = torch.tensor([float("inf"), float("nan"), -0.0])[seed % 3]
            memory[5::41] = float("-inf")
    a, b = (
        memory[at:].as_strided((rows, cols), (stride, 1))
        for memory, at, rows, cols, stride in zip(memories, offsets, (m, k), (k, n), strides)
    )
    kernel = kernel_from(KERNEL, tmp_path)
    found = []
    for without in ("", "alignment-versions"):
        where = "cuda" if device == "cuda" else "cpu"  # the launch copies arrays there, but not what addresses name
        matrices = [memory.clone().to(where) for memory in memories]
        addresses = torch.tensor([x.data_ptr() + 2 * at for x, at in zip(matrices, offsets)], device=where)
        extents = torch.tensor([m, n, k, *strides], dtype=torch.int32, device=where)
        kernel[(1,)](addresses, extents, *matrices, BM=16, BN=32, BK=32, num_warps=1, num_stages=2, without=without)
        found.append(matrices[2].cpu())
    assert torch.equal(*(bits(c) for c in found))
    if special:
        return
    result = found[0][offsets[2] :].as_strided((m, n), (strides[2], 1))
    assert torch.allclose(result.double(), a.double() @ b.double(), atol=2e-2, rtol=2e-3)
