"""Bandwidth: vector add of 2^24 float32 against torch; a chain of 8 elementwise operations against torch and numba.

All write into buffers that exist, so that no peer pays for fresh pages.
"""

from __future__ import annotations

import importlib.util
import math

import torch
from measure import Row, against, example, main

import tritium as triton
import tritium.language as tl

add_kernel = example("vector_add").add_kernel
SIZE = 1 << 24
CHAIN_SIZE = 1 << 22


@triton.jit
def gelu_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """GELU in its tanh form, x (1 + tanh(u / 2)) / 2, written as x - x / (1 + exp(u)): eight elementwise operations."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    u = x * (1.5957691216057308 + 0.07135481282 * x * x)
    y = x - x / (1.0 + tl.exp(u))
    tl.store(output_ptr + offsets, y, mask=mask)


def gelu_torch(x: torch.Tensor) -> torch.Tensor:
    """The same eight operations in torch's eager mode."""
    u = x * (1.5957691216057308 + 0.07135481282 * x * x)
    return x - x / (1.0 + torch.exp(u))


def gelu_numba(threads: int):
    """The same loop by numba, parallel and with fast-math off, as our kernels are."""
    import numba

    numba.set_num_threads(threads)

    @numba.njit(parallel=True)
    def chain(x, out):
        for i in numba.prange(x.size):
            v = x[i]
            u = v * (numba.float32(1.5957691216057308) + numba.float32(0.07135481282) * v * v)
            out[i] = v - v / (numba.float32(1.0) + numba.float32(math.exp(u)))

    return chain


def vector_add() -> list[Row]:
    x, y, out = torch.rand(SIZE), torch.rand(SIZE), torch.empty(SIZE)
    grid = (triton.cdiv(SIZE, 8192),)
    peers = {"torch": (lambda: torch.add(x, y, out=out), 0.95)}
    return against("vector add 2^24 f32", lambda: add_kernel[grid](x, y, out, SIZE, BLOCK_SIZE=8192), peers)


def chain() -> list[Row]:
    x, out = torch.randn(CHAIN_SIZE), torch.empty(CHAIN_SIZE)
    grid = (triton.cdiv(CHAIN_SIZE, 4096),)
    peers = {"torch eager": (lambda: gelu_torch(x), 2.0)}
    if importlib.util.find_spec("numba"):
        compiled, x_numpy, out_numpy = gelu_numba(torch.get_num_threads()), x.numpy(), out.numpy()
        peers["numba"] = (lambda: compiled(x_numpy, out_numpy), 1.0)
    what = "GELU-like chain of 8 operations, 2^22 f32"
    rows = against(what, lambda: gelu_kernel[grid](x, out, CHAIN_SIZE, BLOCK_SIZE=4096), peers)
    gelu_kernel[grid](x, out, CHAIN_SIZE, BLOCK_SIZE=4096)
    assert torch.allclose(out, gelu_torch(x), rtol=1e-5, atol=1e-6)
    return rows


def measure() -> list[Row]:
    """The rows of this script."""
    return vector_add() + chain()


if __name__ == "__main__":
    main(measure)
