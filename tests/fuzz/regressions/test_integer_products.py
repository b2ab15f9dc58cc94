"""What is added to a product of integers wraps around, although `mma.sync` can stop at the largest number."""

import pytest

import tritium
import tritium.language as tl
from tests.fuzz.kernels.compare import check


@tritium.jit
def added(x_i8, o1_i32, o2_i32):
    i, k = tl.arange(0, 16), tl.arange(0, 32)
    a = tl.load(x_i8 + i[:, None] * 32 + k[None, :])
    b = tl.load(x_i8 + k[:, None] * 16 + i[None, :])
    tl.store(o1_i32 + i[:, None] * 16 + i[None, :], tl.dot(a, b) + 2147483647)
    tl.store(o2_i32 + i[:, None] * 16 + i[None, :], tl.dot(a, b, tl.full((16, 16), -2147483648, tl.int32)))


@pytest.mark.parametrize("target", ["cpu", "emulated:80", "emulated:90"])
def test_sums_of_products_wrap_around(target):
    check(added, outputs={"o1_i32": 256, "o2_i32": 256}, targets=("interpreter", target))
