"""A mask read from the sign bits of a register that the instruction cannot name (LLVM 22 on AVX-512): other lanes."""

import tritium
import tritium.language as tl
from tests.fuzz.kernels.compare import check


@tritium.jit
def kernel(r_bf16, x_i16, q, o25_i1, o27_i16):
    at1 = (tl.arange(0, 4) * 4 + tl.arange(0, 4)[None, :, None]) % 3
    v2 = tl.load(r_bf16 + at1)
    at3 = tl.arange(0, 4)
    v5 = tl.load(x_i16 + at3)
    v12 = v5 % 2
    v13 = v12.to(tl.int1)
    v18 = q < v13
    at26 = tl.arange(0, 4)
    tl.store(o25_i1 + at26, v18)
    at28 = tl.arange(0, 4)[None, :, None] + tl.arange(0, 4) ^ 63
    tl.store(o27_i16 + at28, v2, mask=v13)


def test_seed_7000130():
    check(kernel, grid=(1,), scalars={"q": 5}, outputs={"o25_i1": 256, "o27_i16": 256}, tolerances={}, seed=7000130)
