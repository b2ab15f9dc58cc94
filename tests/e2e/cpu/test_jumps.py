"""`break`, `continue` and `return` inside loops, compiled: each kernel stores what it stores as Python."""

from __future__ import annotations

from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.e2e.kernels import kernel_from
from tests.e2e.loop_else import PROGRAMS


@tritium.jit
def position(x, n, wanted):
    """Where `wanted` stands among the first n numbers up to a zero; -1 without it, -2 where there is a zero."""
    for i in range(n):
        value = tl.load(x + i)
        if value == wanted:
            return i
        if value == 0:
            return -2
    return -1


@tritium.jit
def positions(x, out, n, m):
    for k in range(m):
        tl.store(out + k, position(x, n, k))


def test_a_function_returns_from_its_loop():
    x, out = np.array([4, 3, 3, 7, 0, 5], np.int32), np.full(8, 77, np.int32)
    positions[(1,)](x, out, 6, 8)
    assert out.tolist() == [4, -2, -2, 1, 0, -2, -2, 3]
    positions[(1,)](x, out, 3, 8)
    assert out.tolist() == [-1, -1, -1, 1, 0, -1, -1, -1]


@tritium.jit
def nested(out, n):
    seen = 0
    for i in range(n):
        if i == 2:
            continue
        for j in tl.range(i, n):
            seen += 1
            if j == 5:
                break
            if i * j == 12:
                tl.store(out, i * 10 + j)
                tl.store(out + 1, seen)
                return
        else_seen = seen
        seen = else_seen + 100
    tl.store(out, -1)
    tl.store(out + 1, seen)


def reference_of_nested(n):
    seen = 0
    for i in range(n):
        if i == 2:
            continue
        for j in range(i, n):
            seen += 1
            if j == 5:
                break
            if i * j == 12:
                return [i * 10 + j, seen]
        seen += 100
    return [-1, seen]


@pytest.mark.parametrize("n", range(8))
def test_loops_in_loops(n):
    out = np.full(2, 77, np.int32)
    nested[(1,)](out, n)
    assert out.tolist() == reference_of_nested(n)


@tritium.jit
def past_the_end(x, out, n):
    """The condition reads memory: it must not be asked again behind a break."""
    i = 0
    while tl.load(x + i) >= 0:
        i += 1
        if i == n:
            break
    tl.store(out, i)


def test_a_condition_is_not_asked_behind_a_break():
    x, out = np.array([1, 2, 3, -1], np.int32), np.zeros(1, np.int32)
    past_the_end[(1,)](x[:3].copy(), out, 3, sanitize=True)
    assert out[0] == 3
    past_the_end[(1,)](x, out, 9)
    assert out[0] == 3


@tritium.jit
def edges(out, first, end, STEP: tl.constexpr, WIDE: tl.constexpr):
    count = 0
    last = first
    for i in range(first, end, STEP):
        last = i
        count += 1
        if count == 5:
            break
    tl.store(out, last.to(tl.int64))
    tl.store(out + 1, count)


@pytest.mark.parametrize("step", [1, 3, 2**30, -1, -(2**30)])
@pytest.mark.parametrize("bounds", [(-(2**31), 2**31 - 1), (2**31 - 1, -(2**31)), (3, 3), (4, 3), (2**33, 2**33 + 2)])
def test_bounds_at_the_edges_of_their_type(bounds, step):
    out = np.zeros(2, np.int64)
    edges[(1,)](out, *bounds, STEP=step, WIDE=False)
    passed = list(range(*bounds, step))[:5] if abs(step) > 3 else [i for i, _ in zip(range(*bounds, step), range(5))]
    assert out.tolist() == [passed[-1] if passed else bounds[0], len(passed)]


@tritium.jit
def constant_bounds(out, FIRST: tl.constexpr, END: tl.constexpr, STEP: tl.constexpr):
    count = 0
    for i in range(FIRST, END, STEP):
        tl.store(out + count, i)
        count += 1
    tl.store(out + 7, count)


@pytest.mark.parametrize(
    "bounds",
    [(3, -1, -1), (-2, 2, 1), (-4, 3, 2), (-5, -1, 1), (0, 5, 2), (-1, -6, -2), (2**31 - 5, 2**31 - 1, 3),
     (-(2**31), -(2**31) + 6, 2), (-(2**31), 2**31 - 1, 2**30), (-(2**40), 2**40, 2**39), (2**63 - 5, 2**63 - 1, 4)],
)  # fmt: skip
def test_counters_with_constant_bounds_pass_through_zero_and_reach_the_edges(bounds):
    out = np.full(8, 99, np.int64)
    constant_bounds[(1,)](out, *bounds)
    passed = list(range(*bounds))
    assert out.tolist() == passed + [99] * (7 - len(passed)) + [len(passed)]


@tritium.jit
def of_blocks(x, out, n, limit, BLOCK: tl.constexpr):
    """Sums of blocks until one is too large."""
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        block = tl.load(x + k * BLOCK + tl.arange(0, BLOCK))
        largest = tl.max(block)
        if largest > limit:
            break
        if largest < 0:
            continue
        total += block
    tl.store(out + tl.arange(0, BLOCK), total)


@pytest.mark.parametrize("limit", [0.5, 1.5, 9])
def test_blocks(limit):
    x = np.random.default_rng(3).uniform(0, 1, (6, 16)).astype(np.float32)
    x[1] -= 2
    x[4] += 1
    out = np.full(16, np.nan, np.float32)
    of_blocks[(1,)](x, out, 6, limit, BLOCK=16)
    stop = next((k for k in range(6) if x[k].max() > limit), 6)
    np.testing.assert_allclose(out, x[[k for k in range(stop) if k != 1]].sum(0), rtol=1e-6)


@tritium.jit
def first_above(x, n, limit, BLOCK: tl.constexpr):
    """The first block with a number above the limit, doubled, its addresses and its number; or the last one's."""
    pointers = x + tl.arange(0, BLOCK)
    for k in range(n):
        block = tl.load(pointers)
        if tl.max(block) > limit:
            return block * 2, pointers, k
        pointers += BLOCK
    return tl.load(pointers - BLOCK), pointers - BLOCK, -1


@tritium.jit
def found_blocks(x, out, found, n, limit, BLOCK: tl.constexpr):
    block, pointers, k = first_above(x, n, limit, BLOCK)
    tl.store(out + tl.arange(0, BLOCK), block - tl.load(pointers))
    tl.store(found, k)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32])
@pytest.mark.parametrize("n, limit", [(4, 20), (4, 40), (4, 99), (1, 20), (2, 5)])
def test_a_function_returns_blocks_from_its_loop(n, limit, dtype):
    x = np.arange(64).reshape(4, 16).astype(dtype)
    out, found = np.full(16, 77, dtype), np.full(1, 77, np.int32)
    found_blocks[(1,)](x, out, found, n, limit, BLOCK=16)
    wanted = next((k for k in range(n) if x[k].max() > limit), -1)
    assert found[0] == wanted
    np.testing.assert_array_equal(out, x[wanted] if wanted >= 0 else 0)


@tritium.jit
def stepped(x, n):
    """Returns from a loop in a branch, a loop in a loop, and a loop that may not run."""
    if n > 3:
        for i in range(n):
            for j in range(i):
                x = x * 3 + j
                if i + j == 6:
                    return x
        return x ^ 1
    while n < 3:
        n += 1
        if n == 2:
            return x + 100
        x = x - n
    return -x


@tritium.jit
def steps(x, out, n, m, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    block = tl.load(x + at)
    for k in range(m):
        block = stepped(block, n + k)
    tl.store(out + at, block)


@pytest.mark.parametrize("block", [32, 25])
@pytest.mark.parametrize("m", [0, 1, 3])
@pytest.mark.parametrize("n", range(7))
def test_blocks_from_loops_in_branches_and_loops(n, m, block):
    x, out = np.arange(-8, block - 8, dtype=np.int32), np.zeros(block, np.int32)
    steps[(1,)](x, out, n, m, BLOCK=block)
    wanted = x
    for k in range(m):
        wanted = stepped.fn(wanted, n + k)
    np.testing.assert_array_equal(out, wanted)


@tritium.jit
def multiplied(x, limit, wanted):
    """Nothing stands behind a loop that only a `return` ends."""
    i = 0
    while True:
        i += 1
        while True:
            x = x * 3
            if i < 3:
                break
            if tl.sum(x) > limit:
                return x, i
            i += 1
        if i == wanted:
            return x - i, i


@tritium.jit
def endless(x, out, count, limit, wanted):
    block, i = multiplied(tl.load(x + tl.arange(0, 8)), limit, wanted)
    tl.store(out + tl.arange(0, 8), block)
    tl.store(count, i)


@pytest.mark.parametrize("limit, wanted, expected, count", [(100, 2, 7, 2), (100, 5, 27, 3), (1000, 0, 243, 5)])
def test_a_loop_that_only_returns_end(limit, wanted, expected, count):
    x, out, counted = np.ones(8, np.int32), np.zeros(8, np.int32), np.zeros(1, np.int32)
    endless[(1,)](x, out, counted, limit, wanted)
    assert out.tolist() == [expected] * 8 and counted[0] == count


@tritium.jit
def window(x, n, wanted):
    """Rows of a matrix of 16 columns: a block pointer and a descriptor, of the row that is wanted or of the first."""
    for i in range(n):
        if i == wanted:
            pointer = tl.make_block_ptr(x + i * 16, (16, 16), (16, 1), (0, 0), (8, 16), (1, 0))
            return pointer, tl.make_tensor_descriptor(x + i * 16, [16, 16], [16, 1], [8, 16])
    pointer = tl.make_block_ptr(x, (16, 16), (16, 1), (0, 0), (8, 16), (1, 0))
    return pointer, tl.make_tensor_descriptor(x, [16, 16], [16, 1], [8, 16])


@tritium.jit
def windows(x, out, n, wanted):
    pointer, descriptor = window(x, n, wanted)
    at = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, tl.load(pointer, boundary_check=(0, 1)))
    tl.store(out + 128 + at, descriptor.load([0, 0]))


@pytest.mark.parametrize("n, wanted", [(0, 0), (2, 5), (4, 3), (7, 6)])
def test_block_pointers_and_descriptors_from_a_loop(n, wanted):
    x, out = np.arange(32 * 16, dtype=np.int32).reshape(32, 16), np.zeros((2, 8, 16), np.int32)
    windows[(1,)](x, out, n, wanted)
    first = wanted if wanted < n else 0
    np.testing.assert_array_equal(out, np.stack([x[first : first + 8]] * 2))


@tritium.jit
def unrolled(out, n, N: tl.constexpr):
    total = 0
    for i in tl.static_range(8):
        if i == N:
            break
        if i % 2:
            continue
        if i == n:
            tl.store(out + 1, i)
            return
        total += i
    for name in (1, 20, 300):
        if name == n:
            break
        total += name
    tl.store(out, total)


@pytest.mark.parametrize("n", [2, 7, 20])
@pytest.mark.parametrize("stop", [1, 5, 9])
def test_unrolled_loops(n, stop):
    out = np.full(2, -1, np.int32)
    unrolled[(1,)](out, n, N=stop)
    even = list(range(0, min(stop, 8), 2))
    expected = [-1, n] if n in even else [sum(even) + {20: 1}.get(n, 321), -1]
    assert out.tolist() == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_else_of_loops(name, tmp_path):
    body = PROGRAMS[name]
    names = {"tl": SimpleNamespace(static_range=range)}
    exec(dedent(f"def program(n, m):\n    seen = 0{body}return seen"), names)
    text = f"""
@triton.jit
def program(n, m):
    seen = 0{body}return seen

@triton.jit
def kernel(out, k):
    for n in range(k):
        for m in range(k):
            tl.store(out + n * k + m, program(n, m))
"""
    out = np.full((9, 9), 77, np.int32)
    kernel_from(text, tmp_path)[(1,)](out, 9)
    assert out.tolist() == [[names["program"](n, m) for m in range(9)] for n in range(9)]
