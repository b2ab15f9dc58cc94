"""Reductions within a thread keep few partial results live."""

from __future__ import annotations

import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tritium.compiler import ASTSource, GPUTarget, compile


@tritium.jit
def row_argmax(X, Y, N, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(X + tl.program_id(0) * N + i, mask=i < N, other=float("-inf"))
    tl.store(Y + tl.program_id(0), tl.argmax(x, 0))


@needs_ptxas
@pytest.mark.parametrize("capability", [80, 90])
def test_argmax_of_32_elements_per_thread_needs_few_registers(capability: int) -> None:
    """All pairs of the first level at once would take 32 registers for partial results alone."""
    signature = {"X": "*fp32", "Y": "*i32", "N": "i32", "BLOCK": "constexpr"}
    source = ASTSource(row_argmax, signature, {"BLOCK": 4096}, {(i,): [["tt.divisibility", 16]] for i in range(3)})
    kernel = compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4})
    assert kernel.metadata.n_regs <= 44 and kernel.metadata.n_spills == 0
