"""register-operands: dots with a loop-invariant operand have the same bits from registers as from shared memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from
from tests.gpu.test_one_trip_loops import bits
from tritium.compiler import ASTSource, GPUTarget, compile

torch = pytest.importorskip("torch")

KERNEL = """
@triton.jit
def kernel(q_ptr, k_ptr, o_ptr, blocks, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    for block in range(0, blocks):
        k = tl.load(k_ptr + (block * N + j)[:, None] * D + d[None, :])
        p = tl.dot(q, k.T)
        acc = tl.dot((p * 0.125).to(tl.float16), k, acc)
    tl.store(o_ptr + i[:, None] * D + d[None, :], acc)
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("special", [False, True], ids=["random", "special"])
@pytest.mark.parametrize("blocks", [0, 1, 4])
def test_dot_keeps_its_bits(blocks: int, special: bool, seed: int, tmp_path: Path) -> None:
    m, n, d = 64, 16, 64
    rng = torch.Generator().manual_seed(seed)
    q, k = (torch.randn((rows, d), generator=rng).half() for rows in (m, 4 * n))
    if special:
        q[seed % m, ::7], k[3, 5], k[9, 2] = float("inf"), float("nan"), -0.0
    kernel = kernel_from(KERNEL, tmp_path)
    found = []
    for without in ("", "register-operands"):
        out = torch.full((m, d), 7.0)
        kernel[(1,)](q, k, out, blocks, M=m, N=n, D=d, num_warps=4, num_stages=2, without=without)
        found.append(bits(out))
    assert torch.equal(*found)


@pytest.mark.parametrize(("columns", "registers"), [(32, 2), (64, 1)])
def test_operand_stays_in_registers_for_narrow_dots_only(columns: int, registers: int, tmp_path: Path) -> None:
    """The second dot's operand is computed, so always in registers."""
    types = {"q_ptr": "*fp16", "k_ptr": "*fp16", "o_ptr": "*fp32", "blocks": "i32"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    source = ASTSource(kernel_from(KERNEL, tmp_path), types, {"M": 64, "N": columns, "D": 64}, aligned)
    text = compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4}, until="ttgir").asm["ttgir"]
    loop = text[text.index("scf.for") :]
    dots = [line for line in loop.splitlines() if "ttng.warp_group_dot " in line and "isAsync" in line]
    assert sum(": tensor<" in line for line in dots) == registers, dots
    assert "ttg.local_load" not in loop
