"""Two loads whose addresses differ in the type of the elements alone, after strength reduction: LLVM 22 merged them."""

import pytest

import tritium
import tritium.language as tl
from tests.fuzz.kernels.compare import check

WARPS = [("80", 1), ("90", 2), ("gfx942", 1), ("gfx1100", 2)]


@tritium.jit
def halves(x_i16, o1_i16):
    t = tl.arange(0, 64)
    row = (t & 3) * 8
    wide = tl.load(x_i16 + row + ((t * 16) & 960))
    narrow = tl.load(x_i16 + ((t * 8) & 480) + row)
    tl.store(o1_i16 + t, wide)
    tl.store(o1_i16 + 64 + t, narrow)


@tritium.jit
def dot(x_bf16, o1_f32):
    i, j = tl.arange(0, 32)[:, None], tl.arange(0, 32)[None, :]
    n = tl.arange(0, 16)[None, :]
    tl.store(o1_f32 + i * 16 + n, tl.dot(tl.load(x_bf16 + i + j * 32), tl.load(x_bf16 + n * 32 + i)))


@pytest.mark.parametrize("gpu, warps", WARPS)
def test_loads_of_half_the_offset_are_not_merged(gpu, warps):
    check(halves, outputs={"o1_i16": 256}, targets=("interpreter", f"emulated:{gpu}"), num_warps=warps)


@pytest.mark.parametrize("gpu, warps", WARPS)
def test_operands_of_half_the_offset_are_not_merged(gpu, warps):
    check(dot, outputs={"o1_f32": 2048}, targets=("interpreter", f"emulated:{gpu}"), num_warps=warps)
