"""Elements and slices of blocks, compiled, against NumPy: `x[i]`, `x[a:b]`, and assignment to them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.e2e.indexing import check, subscript
from tritium.runtime import DeviceAssertError

SHAPES = [(1,), (2,), (8,), (64,), (4, 8), (16, 2), (1, 32), (2, 4, 8), (4, 1, 4, 2), (7,), (5, 6), (3, 4, 5)]
DTYPES = "int1 uint8 int16 uint32 int64 float16 bfloat16 float64 float8e5"
READ = ["x[0]", "x[-1, :]", "x[:, 5]", "x[i, j]", "x[2:4, ::2]", "x[:, 7:3:-1]", "x[k - 1:k - 1 + 2, -3]"]


@pytest.mark.parametrize("dtype", DTYPES.split())
def test_every_type_is_read(dtype: str, tmp_path: Path) -> None:
    check((4, 8), dtype, [], READ, tmp_path)


WRITTEN = [
    "x[0] = 1",
    "x[:, 3] = x[:, 4]",
    "x[i, j] = x[3, 7]",
    "x[2:4, ::2] = x[0:2, 4:]",
    "x[:, s:s + 2] = x[:, 0:2]",
]


@pytest.mark.parametrize("dtype", DTYPES.split())
def test_every_type_is_assigned_to(dtype: str, tmp_path: Path) -> None:
    check((4, 8), dtype, WRITTEN, ["x"], tmp_path)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reading(shape: tuple[int, ...], tmp_path: Path) -> None:
    random = Random(str(shape))
    check(shape, "int32", [], [f"x[{subscript(random, shape)}]" for _ in range(12)], tmp_path)


def assignment(random: Random, shape: tuple[int, ...]) -> str:
    """A statement that changes some elements of `x`: to a number, to others, by what they are, by a row."""
    where = f"x[{subscript(random, shape)}]"
    first = f"x[{subscript(random, shape[:1], False)}]"
    forms = [
        f"{where} = {random.randrange(8)}",
        f"{where} {random.choice('+-*')}= {random.randrange(4)}",
        f"{where} = {where} + x[{', '.join('0' for _ in shape)}]",
        f"{where} += {where}",
        f"{first} = x[0]",
        f"{first} += x[-1]",
        f"{first} //= 2",
    ]
    return random.choice(forms)


@pytest.mark.parametrize(
    "number", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_assignment(shape: tuple[int, ...], number: int, tmp_path: Path) -> None:
    random = Random(f"{shape}{number}")
    statements = [f"{assignment(random, shape)}; x %= 8" for _ in range(5)]
    check(shape, "uint8", statements, ["x"], tmp_path)


# -- values and names ---------------------------------------------------------------------------------------------


@tritium.jit
def first_set(x):
    x[0] = 9
    return x


@tritium.jit
def aliases(p, out, n):
    at = tl.arange(0, 4)
    x = tl.load(p + at)
    y = z = x
    y[1] += 5
    w = first_set(x)
    for i in range(n):
        z[i] = x[i - 1]
        if i == 2:
            z[i] = 50
            continue
        z[3] += 1
    tl.store(out + at, x)
    tl.store(out + 4 + at, y)
    tl.store(out + 8 + at, z)
    tl.store(out + 12 + at, w)


def test_blocks_are_values():
    out = np.zeros((4, 4), np.int32)
    aliases[(1,)](np.array([1, 2, 3, 4], np.int32), out, 3)
    assert out.tolist() == [[1, 2, 3, 4], [1, 7, 3, 4], [4, 1, 50, 6], [9, 2, 3, 4]]


@tritium.jit
def sorting(p, n, N: tl.constexpr):
    """Insertion by exchange, in registers."""
    x = tl.load(p + tl.arange(0, N))
    for i in range(1, n):
        j = i
        while j > 0:
            a, b = x[j - 1], x[j]
            if a <= b:
                break
            x[j - 1], x[j] = b, a
            j -= 1
    tl.store(p + tl.arange(0, N), x)


def test_elements_are_exchanged_in_loops():
    x = np.array([5, 3, 8, 1, 9, 2, 7, 4], np.int64)
    sorting[(1,)](x, 6, 8)
    assert x.tolist() == [1, 2, 3, 5, 8, 9, 7, 4]


@tritium.jit
def looked_up(p, q, out, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(p + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :])
    idx = tl.load(q + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :])
    flat = tl.ravel(x)[idx * M]
    tl.store(out + tl.arange(0, 4), tl.ravel(flat))
    tl.store(out + 4 + tl.arange(0, 4 * M), tl.ravel(x[idx]))
    tl.store(out + 4 + 4 * M + tl.arange(0, 4 * N), tl.ravel(x[:, idx]))


@pytest.mark.parametrize("kind", ["int8", "int64", "uint32"])
def test_a_block_of_integers_looks_up(kind):
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    idx = np.array([[3, 0], [1, 2]], kind)
    out = np.full(4 + 16 + 32, 77, np.float32)
    looked_up[(1,)](x, idx, out, 8, 4)
    wanted = [x.ravel()[idx * 4].ravel(), x[idx].ravel(), x[:, idx].ravel()]
    assert out.tolist() == np.concatenate(wanted).tolist()


@tritium.jit
def beyond(p, out, i, s, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(p + at)
    tl.store(out, x[i])
    tl.store(out + 1 + tl.arange(0, 4), x[s : s + 4])
    x[i] = 0
    x[s : s + 2] += 20
    tl.store(out + 8 + at, x)


@pytest.mark.parametrize("n", [8, 7])
@pytest.mark.parametrize("i", [-9, 8, 2**40 + 3, -(2**31)])
def test_an_index_beyond_a_block_comes_round_again(i, n):
    x, out = np.arange(1, n + 1, dtype=np.int16), np.zeros(8 + n, np.int16)
    beyond[(1,)](x, out, i, n - 1, n)
    assert out[:5].tolist() == [x[i % n], n, 1, 2, 3]
    x[i % n] = 0
    x[[n - 1, 0]] += 20
    assert out[8:].tolist() == x.tolist()


@pytest.mark.parametrize("i, s, inside", [(-8, 4, True), (8, 0, False), (-9, 0, False), (7, -1, False), (0, 5, False)])
def test_debug_stops_what_is_out_of_bounds(i, s, inside):
    x, out = np.arange(8, dtype=np.int16), np.zeros(16, np.int16)
    if inside:
        beyond[(1,)](x, out, i, s, 8, debug=True)
        return
    with pytest.raises(DeviceAssertError, match="out of bounds"):
        beyond[(1,)](x, out, i, s, 8, debug=True)


@tritium.jit
def numbers(out):
    x = tl.zeros([2], tl.float64)
    x[0] = y = 0.1
    x[1], z = y, x[0]
    tl.store(out + tl.arange(0, 2), x)
    tl.store(out + 2, z)


def test_a_number_is_as_exact_as_the_block():
    out = np.zeros(3)
    numbers[(1,)](out)
    assert out.tolist() == [0.1, float(np.float32(0.1)), 0.1]
