"""Rows are kept in the shared memory that costs no occupancy, and only where asynchronous copies can load them."""

from __future__ import annotations

from typing import Any

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.hardware.nvidia import nvidia_gpu
from tritium.hardware.occupancy import occupancy


@tritium.jit
def variance(X, Y, N, BLOCK: tl.constexpr):
    row = X + tl.program_id(0) * N
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(row + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / N
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(row + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        squares += x * x
    tl.store(Y + tl.program_id(0), tl.sum(squares, 0) / N)


def compiled(capability: int, block: int, warps: int, aligned: bool = True, **options: object) -> Any:
    signature = {"X": "*fp16", "Y": "*fp32", "N": "i32", "BLOCK": "constexpr"}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(3 if aligned else 2)}
    source = ASTSource(variance, signature, {"BLOCK": block}, attributes)
    return compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps, **options})


@needs_ptxas
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize(("block", "warps"), [(1024, 4), (8192, 16)])
def test_as_many_ctas_per_sm_as_without(capability: int, block: int, warps: int) -> None:
    kernels = compiled(capability, block, warps), compiled(capability, block, warps, without="keep-rows")
    assert ["cp.async" in kernel.asm["ptx"] for kernel in kernels] == [True, False]
    found = [kernel.metadata for kernel in kernels]
    assert found[0].shared >= 2 * 2 * block and found[0].n_spills == 0
    kept, plain = (occupancy(nvidia_gpu(capability), m.n_regs, m.num_warps, m.shared).ctas for m in found)
    assert kept >= plain


@pytest.mark.filterwarnings("ignore::tritium.backends.errors.PerformanceWarning")  # spills of 65536 elements
@pytest.mark.parametrize(("capability", "block", "aligned"), [(75, 1024, True), (90, 1024, False), (90, 65536, True)])
def test_nothing_is_kept(capability: int, block: int, aligned: bool) -> None:
    """No asynchronous copies; elements of two bytes each; fewer than two blocks fit."""
    kernel = compiled(capability, block, 4 if block == 1024 else 16, aligned)
    assert "cp.async" not in kernel.asm["ptx"] and kernel.metadata.shared < 1024
