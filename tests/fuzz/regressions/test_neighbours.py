"""Functions of neighbouring elements got others where the threads of a GPU do not hold neighbours side by side."""

import pytest

import tritium
import tritium.language as tl
from tests.fuzz.kernels.compare import check


@tritium.jit
def of_two(a, b, c, d):
    if a > c:
        return a * 3, b + d
    else:
        return c - 1, b


@tritium.jit
def of_four(a, b, c, d):
    if a > b:
        return d, c, b, a
    else:
        return a + d, b, c, a * 2


@tritium.jit
def kernel(x_i32, o1_i32, o2_i32, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x, y = tl.load(x_i32 + at), tl.load(x_i32 + 7 + at)
    tl.store(o1_i32 + at, tl.map_elementwise(of_two, x, y, pack=2)[0])
    tl.store(o2_i32 + at, tl.map_elementwise(of_four, x, pack=4)[0])


@pytest.mark.parametrize("target", ["cpu", "emulated:80", "emulated:90"])
@pytest.mark.parametrize("rows, columns", [(1, 4), (1, 64), (1, 128), (64, 8), (4, 256), (3, 12)])
def test_functions_get_neighbours(rows, columns, target):
    sizes = {"ROWS": rows, "COLUMNS": columns}
    outputs = dict.fromkeys(("o1_i32", "o2_i32"), rows * columns)
    assert len(check(kernel, scalars=sizes, outputs=outputs, targets=("interpreter", target))) == 2
