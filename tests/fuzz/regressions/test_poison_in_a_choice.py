"""A function that returns a block pointer from inside a loop that never does: one place was taken for the only one, and a
mask for the same in eight rows."""

import pytest

import tritium
import tritium.language as tl
from tests.fuzz.kernels.compare import check


@tritium.jit
def place(x_i32, m, pid):
    if m:
        for i in range(1):
            if i:
                return tl.make_block_ptr(x_i32, (16, 64), (64, 1), (0, 0), (8, 64), (1, 0))
        return tl.make_block_ptr(x_i32 + pid, (16, 64), (64, 1), (15, 0), (8, 64), (1, 0))
    return tl.make_block_ptr(x_i32, (16, 64), (64, 1), (1, 0), (8, 64), (1, 0))


@tritium.jit
def kernel(x_i32, m, h1s8x64w64b8x64_i32):
    pid = tl.program_id(0)
    x = tl.load(place(x_i32, m, pid), boundary_check=(0, 1), padding_option="zero")
    h1s8x64w64b8x64_i32.store([0, 0], x)


@pytest.mark.parametrize("m", [0, 5])
def test_a_place_of_several(m):
    check(kernel, scalars={"m": m}, outputs={"h1s8x64w64b8x64_i32": 512}, targets=("interpreter", "emulated:90"))
