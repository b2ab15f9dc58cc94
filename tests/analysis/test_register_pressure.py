"""Registers of a loop's loads, and the occupancy that they are worth."""

from __future__ import annotations

import pytest

import tritium as tt
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget, compile


@tt.jit
def decayed_states(x, n, M: tl.constexpr, N: tl.constexpr):
    """Carries M x N numbers through a loop that loads as many in each iteration."""
    at = x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    state = tl.zeros((M, N), tl.float32)
    for _ in range(n):
        loaded = tl.load(at)
        tl.store(at, state)
        state = 0.5 * state + loaded
        at += M * N
    tl.store(at, state)


@tt.jit
def matmul(a, n, M: tl.constexpr):
    at = a + tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :]
    total = tl.zeros((M, M), tl.float32)
    for _ in range(n):
        total = tl.dot(tl.load(at), tl.load(at + 1), total)
        at += M * M
    tl.store(at, total.to(tl.float16))


def ptx_of(kernel, types, constants, **options):
    attributes = {(0,): [["tt.divisibility", 16]]}
    source = ASTSource(kernel, types, constants, attributes)
    return compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"]


@pytest.mark.parametrize(
    "rows, options, limited",
    [
        (16, {}, True),  # 64 registers of the state and 64 of the loads
        (8, {}, False),  # 32 and 32
        (16, {"num_warps": 2}, False),
        (256, {"num_warps": 16}, False),  # 64 and 64, at which an SM has one CTA of 512 threads
        (16, {"maxnreg": 168}, False),  # the user's limit
    ],
)
def test_occupancy_yields_to_loads_in_flight(rows, options, limited) -> None:
    ptx = ptx_of(decayed_states, {"x": "*fp32", "n": "i32"}, {"M": rows, "N": 128}, **{"num_warps": 1, **options})
    assert (".minnctapersm" in ptx) == limited


def test_occupancy_of_dot_kernels_is_left_to_the_assembler() -> None:
    assert ".minnctapersm" not in ptx_of(matmul, {"a": "*fp16", "n": "i32"}, {"M": 32}, num_warps=1)
