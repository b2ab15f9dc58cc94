"""What users rely on without reading it anywhere, one by one: signs, widths, NaN, promotion, addresses, control flow.

Everything here gives the same on every target; docs/semantics.md says so, and what is undefined.
"""

from __future__ import annotations

import ctypes
import mmap
import random

import numpy as np
import pytest

import tritium
import tritium.language as tl

N = 32
SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]


def edges(rng, dtype):
    """Numbers of a type with its ends in front."""
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, N, dtype, endpoint=True)
    x[:6] = [info.min, info.max, 0, 1, info.max // 2, info.min // 2]
    return x


# -- integers -----------------------------------------------------------------------------------------------------


@tritium.jit
def extremes_of_negated(x, y, z, out):
    at = tl.arange(0, 32)
    a, b, c = tl.load(x + at), tl.load(y + at), tl.load(z + at)
    tl.store(out + at, tl.maximum(tl.maximum(a, -b), c))
    tl.store(out + 32 + at, tl.minimum(c, tl.minimum(a, -b)))
    tl.store(out + 64 + at, tl.maximum(tl.maximum(b, -b), c))
    tl.store(out + 96 + at, tl.minimum(tl.minimum(-a, -b), -c))
    tl.store(out + 128 + at, tl.maximum(tl.maximum(a, -tl.abs(b)), c))
    tl.store(out + 160 + at, tl.max(0 - tl.load(x + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :])))
    tl.store(out + 192 + at, tl.min(-tl.load(x + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :])))


@pytest.mark.parametrize("dtype", SIGNED)
def test_extremes_of_negated_numbers(rng, dtype):
    """Two in a row are one instruction of newer GPUs, whose assembler loses the sign of an operand."""
    for _ in range(8):
        x, y, z = (edges(rng, dtype)[rng.permutation(N)] for _ in range(3))
        out = np.full(7 * N, 77, dtype)
        extremes_of_negated[(1,)](x, y, z, out)
        with np.errstate(over="ignore"):
            neg = -y
            wanted = [
                np.maximum(np.maximum(x, neg), z),
                np.minimum(z, np.minimum(x, neg)),
                np.maximum(np.maximum(y, neg), z),
                np.minimum(np.minimum(-x, neg), -z),
                np.maximum(np.maximum(x, -np.abs(y)), z),
                np.full(N, (-x).max()),
                np.full(N, (-x).min()),
            ]
        np.testing.assert_array_equal(out.reshape(7, N), wanted)


@tritium.jit
def signs_that_wrap(x, y, out):
    at = tl.arange(0, 32)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, (-a).to(tl.int64))
    tl.store(out + 32 + at, tl.abs(a).to(tl.int64))
    tl.store(out + 64 + at, (tl.abs(a) < 0).to(tl.int64))
    tl.store(out + 96 + at, (-a < b).to(tl.int64))
    tl.store(out + 128 + at, (-a >> 3).to(tl.int64))
    tl.store(out + 160 + at, (tl.abs(a) >> 3).to(tl.int64))
    tl.store(out + 192 + at, tl.maximum(tl.abs(a), b).to(tl.int64))
    tl.store(out + 224 + at, (-a).to(tl.float32).to(tl.int64))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_signs_of_the_least_number_wrap_around(dtype, rng):
    """-x and |x| of it are the number itself, whatever reads them; an assembler of GPUs has it otherwise."""
    x, y = edges(rng, dtype), edges(rng, dtype)[rng.permutation(N)]
    out = np.full(8 * N, 77, np.int64)
    signs_that_wrap[(1,)](x, y, out)
    with np.errstate(over="ignore"):
        neg, size = -x, np.abs(x)
        floats = neg.astype(np.float32).astype(np.int64)
        wanted = [neg, size, size < 0, neg < y, neg >> 3, size >> 3, np.maximum(size, y), floats]
    np.testing.assert_array_equal(out.reshape(8, N), np.array([w.astype(np.int64) for w in wanted]))


@tritium.jit
def divide(x, y, q, r):
    at = tl.arange(0, 32)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(q + at, a // b)
    tl.store(r + at, a % b)


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_division_rounds_towards_zero_and_the_rest_has_the_sign_of_the_dividend(dtype, rng):
    x, y = edges(rng, dtype), rng.integers(1, 100, N).astype(dtype)
    if dtype in SIGNED:
        y[::2] = -y[::2]
        x[x == np.iinfo(dtype).min] += 1  # by -1 it would overflow, which is undefined
    q, r = np.zeros((2, N), dtype)
    divide[(1,)](x, y, q, r)
    whole = [(abs(int(a)) // abs(int(b))) * (-1 if (a < 0) != (b < 0) else 1) for a, b in zip(x, y)]
    np.testing.assert_array_equal(q, np.array(whole, dtype))
    np.testing.assert_array_equal(r, np.array([int(a) - int(b) * w for a, b, w in zip(x, y, whole)], dtype))


@tritium.jit
def constant_division(y):
    n: tl.constexpr = -7
    tl.store(y, n // 2)
    tl.store(y + 1, n % 2)


def test_constants_are_divided_as_by_python():
    y = np.zeros(2, np.int32)
    constant_division[(1,)](y)
    np.testing.assert_array_equal(y, [-4, 1])


@tritium.jit
def shift(x, n, left, right):
    at = tl.arange(0, 32)
    a, b = tl.load(x + at), tl.load(n + at)
    tl.store(left + at, a << b)
    tl.store(right + at, a >> b)


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_shifts_to_the_right_keep_the_sign_of_signed_integers(dtype, rng):
    x = edges(rng, dtype)
    n = (np.arange(N) % np.iinfo(dtype).bits).astype(dtype)
    left, right = np.zeros((2, N), dtype)
    shift[(1,)](x, n, left, right)
    bits = np.iinfo(dtype).bits
    np.testing.assert_array_equal(right, [int(a) >> int(b) for a, b in zip(x, n)])
    wrapped = [(int(a) << int(b)) & ((1 << bits) - 1) for a, b in zip(x, n)]
    np.testing.assert_array_equal(left.view(f"u{bits // 8}"), np.array(wrapped, f"u{bits // 8}"))


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_shifts_by_the_width_or_more_shift_everything_out(dtype, rng):
    """Triton leaves them undefined."""
    x, bits = edges(rng, dtype), np.iinfo(dtype).bits
    n = np.resize(np.array([bits, bits + 1, 2 * bits - 1, 100], dtype), N)
    left, right = np.zeros((2, N), dtype)
    shift[(1,)](x, n, left, right)
    assert (left == 0).all()
    np.testing.assert_array_equal(right, np.where(x < 0, -1, 0).astype(dtype))


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_division_by_zero_gives_the_dividend_and_no_rest(dtype, rng):
    """Triton leaves it undefined."""
    x, y = edges(rng, dtype), np.zeros(N, dtype)
    y[::3] = 5
    q, r = np.zeros((2, N), dtype)
    divide[(1,)](x, y, q, r)
    zero = y == 0
    np.testing.assert_array_equal(q[zero], x[zero])
    np.testing.assert_array_equal(r[zero], 0)


@tritium.jit
def by_itself(x, out):
    at = tl.arange(0, 32)
    a, b = tl.load(x + at), tl.load(x + 2)
    tl.store(out + at, a // a)
    tl.store(out + 32 + at, a % a)
    tl.store(out + 64 + at, b // b)
    tl.store(out + 96 + at, b % b)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "uint64"])
def test_numbers_divided_by_themselves_are_one_unless_they_are_zero(dtype, rng):
    x, out = edges(rng, dtype), np.full((4, N), 77, dtype)
    by_itself[(1,)](x, out)
    assert x[2] == 0
    np.testing.assert_array_equal(out, [x != 0, 0 * x, 0 * x, 0 * x])


@pytest.mark.parametrize("dtype", SIGNED)
def test_the_least_integer_divided_by_minus_one_is_itself(dtype):
    x, y = np.full(N, np.iinfo(dtype).min, dtype), np.full(N, -1, dtype)
    q, r = np.ones((2, N), dtype)
    divide[(1,)](x, y, q, r)
    assert (q == x).all() and (r == 0).all()


@tritium.jit
def overflow(x, y, added, times, negated):
    at = tl.arange(0, 32)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(added + at, a + b)
    tl.store(times + at, a * b)
    tl.store(negated + at, -a)


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_overflow_wraps(dtype, rng):
    x, y = edges(rng, dtype), edges(rng, dtype)[::-1].copy()
    added, times, negated = np.zeros((3, N), dtype)
    overflow[(1,)](x, y, added, times, negated)
    bits = np.iinfo(dtype).bits

    def wrap(values):
        return np.array([v & ((1 << bits) - 1) for v in values], f"u{bits // 8}").view(dtype)

    np.testing.assert_array_equal(added, wrap(int(a) + int(b) for a, b in zip(x, y)))
    np.testing.assert_array_equal(times, wrap(int(a) * int(b) for a, b in zip(x, y)))
    np.testing.assert_array_equal(negated, wrap(-int(a) for a in x))


@tritium.jit
def mixed(x, y, total, less, kind: tl.constexpr):
    at = tl.arange(0, 32)
    z = tl.load(x + at) + tl.load(y + at)
    tl.static_assert(z.dtype == kind)
    tl.store(total + at, z)
    tl.store(less + at, (tl.load(x + at) < tl.load(y + at)).to(tl.int8))


#: C's rules for what is at hand: the wider type; of two as wide, the unsigned one; nothing becomes `int` first.
MIXED = [
    ("int32", "uint32", "uint32"), ("int8", "uint8", "uint8"), ("int64", "uint32", "int64"), ("uint64", "int32", "uint64"),
    ("int16", "uint8", "int16"), ("int8", "int64", "int64"), ("uint16", "int16", "uint16"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "kind"), MIXED)
def test_mixed_signs(a, b, kind, rng):
    x, y = edges(rng, a), edges(rng, b)[::-1].copy()
    total, less = np.zeros(N, kind), np.zeros(N, np.int8)
    mixed[(1,)](x, y, total, less, getattr(tl, kind))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(total, x.astype(kind) + y.astype(kind))
    np.testing.assert_array_equal(less, x.astype(kind) < y.astype(kind))


@tritium.jit
def bools(x, y, out):
    at = tl.arange(0, 32)
    a, b = tl.load(x + at) > 0, tl.load(y + at) > 0
    tl.store(out + at, (a & b).to(tl.int32))
    tl.store(out + 32 + at, (a | b).to(tl.int32))
    tl.store(out + 64 + at, (a ^ b).to(tl.int32))
    tl.store(out + 96 + at, (~a).to(tl.int32))
    tl.store(out + 128 + at, a * 3 + b)
    tl.store(out + 160 + at, tl.sum(a.to(tl.int32)) + tl.sum(b))
    tl.store(out + 192 + at, tl.where(a == b, 5, 6))
    tl.store(out + 224 + at, (a * tl.load(x + at)))


def test_arithmetic_of_bools(rng):
    x, y = rng.integers(-3, 3, (2, N)).astype(np.int32)
    out = np.zeros((8, N), np.int32)
    bools[(1,)](x, y, out)
    a, b = x > 0, y > 0
    wanted = [a & b, a | b, a ^ b, ~a, a * 3 + b, a.sum() + b.sum() + 0 * x, np.where(a == b, 5, 6), a * x]
    np.testing.assert_array_equal(out, np.array(wanted, np.int32))


# -- floats -------------------------------------------------------------------------------------------------------


@tritium.jit
def extremes(x, y, out):
    at = tl.arange(0, 32)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.maximum(a, b))
    tl.store(out + 32 + at, tl.minimum(a, b))
    tl.store(out + 64 + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 96 + at, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 128 + at, tl.clamp(a, -0.5, 0.5, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 160 + at, tl.where(a > b, a, b))
    tl.store(out + 192 + at, tl.max(a, 0))
    tl.store(out + 224 + at, tl.min(a, 0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_in_minimum_and_maximum(dtype, rng):
    x, y = rng.standard_normal((2, N)).astype(dtype)
    x[[1, 5]], y[[2, 5]] = np.nan, np.nan
    x[7], y[8] = np.inf, -np.inf
    out = np.zeros((8, N), dtype)
    extremes[(1,)](x, y, out)
    clamped = np.clip(x, np.array(-0.5, dtype), np.array(0.5, dtype))
    wanted = [
        np.fmax(x, y), np.fmin(x, y), np.maximum(x, y), np.minimum(x, y), clamped, np.where(x > y, x, y),
        np.full(N, np.nanmax(x)), np.full(N, np.nanmin(x)),
    ]  # fmt: skip
    np.testing.assert_array_equal(out, np.array(wanted))


@tritium.jit
def converted(x, y):
    at = tl.arange(0, 32)
    tl.store(y + at, tl.load(x + at).to(y.dtype.element_ty))


@pytest.mark.parametrize("target", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"])
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_floats_within_range_become_integers_towards_zero(source, target, rng):
    low, high = (0 if target in UNSIGNED else -120), 120
    x, y = rng.uniform(low, high, N).astype(source), np.zeros(N, target)
    converted[(1,)](x, y)
    np.testing.assert_array_equal(y, x.astype(target))


@pytest.mark.parametrize("target", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_floats_out_of_range_become_the_nearest_integer(source, target):
    """Triton leaves them undefined."""
    info = np.iinfo(target)
    numbers = [np.nan, np.inf, -np.inf, -0.5, -1.0, 128.0, 256.0, 300.0, -300.0, 65000.0, -65000.0]
    if source != "float16":
        numbers += [1e30, -1e30, 1e20, -1e20, 70000.0, 2.0**31, -(2.0**31), 2.0**32, 2.0**63, 2.0**64]
    x, y = np.zeros(N, source), np.zeros(N, target)
    x[: len(numbers)] = numbers
    converted[(1,)](x, y)
    kept = [0 if v != v else int(min(max(v, -1e40), 1e40)) for v in map(float, x)]
    np.testing.assert_array_equal(y, np.array([min(max(v, info.min), info.max) for v in kept], target))


# -- addresses ----------------------------------------------------------------------------------------------------


@tritium.jit
def masked(x, y, n, far):
    at = tl.arange(0, 32)
    spread = tl.where(at < n, at.to(tl.int64), far + at * 4096)
    value = tl.load(x + spread, mask=at < n, other=-1)
    tl.store(y + at, value)
    tl.store(x + spread, value + 1, mask=at < n)
    tl.atomic_add(x + spread, 1, mask=at < n)


@pytest.mark.parametrize("far", [0, 1 << 12, 1 << 33, -(1 << 33)])
@pytest.mark.parametrize("n", [0, 1, 16, 31])
def test_masked_off_addresses_are_never_touched(n, far):
    """The array ends where its page ends; the next page may not be read."""
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None, use_errno=True)
    guard = ctypes.c_void_p(start + mmap.PAGESIZE)
    assert libc.mprotect(guard, mmap.PAGESIZE, 0) == 0
    try:
        x = np.frombuffer((ctypes.c_char * (4 * n)).from_address(start + mmap.PAGESIZE - 4 * n), np.int32)
        x[:] = np.arange(n)
        y = np.full(N, 7, np.int32)
        masked[(1,)](x, y, n, far if far else mmap.PAGESIZE)
        np.testing.assert_array_equal(y, np.where(np.arange(N) < n, np.arange(N), -1))
        np.testing.assert_array_equal(x, np.arange(n) + 2)
    finally:
        assert libc.mprotect(guard, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) == 0


@tritium.jit
def masked_without_other(x, out, total, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value)
    tl.store(total, tl.sum(value, 0))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8", "bool"])
@pytest.mark.parametrize("n", [0, 1, 7, N])
def test_masked_off_elements_are_zero(n, dtype):
    x, out, total = np.ones(N, dtype), np.ones(N, dtype), np.ones(1, np.int32)
    masked_without_other[(1,)](x, out, total, n, BLOCK=N)
    assert out.tolist() == [1] * n + [0] * (N - n) and total[0] == n


@tritium.jit
def far_and_back(x, y, far):
    at = tl.arange(0, 32)
    base = x - far
    tl.store(y + at, tl.load(base + (at + far)))
    scalar = x + far
    tl.store(y + 32, tl.load(scalar - far + 3))


@pytest.mark.parametrize("far", [(1 << 31) + 5, 1 << 33, -(1 << 40) + 1])
def test_offsets_of_64_bits(far):
    x, y = np.arange(N, dtype=np.int32), np.zeros(N + 1, np.int32)
    far_and_back[(1,)](x, y, far)
    np.testing.assert_array_equal(y, [*x, 3])


@tritium.jit
def narrow_offset(x, y, big):
    offset = big * 65536  # 32 bits, which wrap: here to 0
    tl.store(y, tl.load(x + offset))


def test_offsets_of_32_bits_wrap():
    x, y = np.array([42, 43], np.int32), np.zeros(1, np.int32)
    narrow_offset[(1,)](x, y, 65536)
    assert y[0] == 42


@tritium.jit
def strided(x, y, rows, columns, sx, sy):
    i = tl.arange(0, 4)[:, None]
    j = tl.arange(0, 8)[None, :]
    tl.store(y + i * 8 + j, tl.load(x + i * sx + j * sy))


@pytest.mark.parametrize(("down", "right"), [(-1, 1), (1, -1), (-1, -1), (1, 0)])
def test_negative_and_zero_strides(down, right):
    x = np.arange(32, dtype=np.int32).reshape(4, 8)
    view = x[::down, ::right] if right else np.broadcast_to(x[:, :1], x.shape)
    y = np.zeros((4, 8), np.int32)
    strided[(1,)](view, y, 4, 8, view.strides[0] // 4, view.strides[1] // 4)
    np.testing.assert_array_equal(y, view)


@tritium.jit
def count(totals, old):
    at = tl.arange(0, 32)
    tl.atomic_add(totals + at % 3, 1)
    tl.store(old + tl.program_id(0), tl.atomic_add(totals + 3, 1))


def test_atomics_of_many_programs_on_one_place():
    totals, old = np.zeros(4, np.int32), np.zeros(40, np.int32)
    count[(40,)](totals, old)
    np.testing.assert_array_equal(totals, [40 * 11, 40 * 11, 40 * 10, 40])
    np.testing.assert_array_equal(np.sort(old), np.arange(40))


# -- control flow -------------------------------------------------------------------------------------------------


@tritium.jit
def sign(n):
    if n > 0:
        return 1
    if n < 0:
        return -1
    return 0


@tritium.jit
def flow(y, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    tl.store(y + pid * 4, sign(pid - 1))
    total = tl.zeros([BLOCK], tl.int32)
    for i in range(5, pid):  # runs for programs from 6 on
        total += i
    for i in range(pid, 0, 1):  # never runs, except for 0: not then either
        total += 100
    tl.store(y + pid * 4 + 1, tl.sum(total))
    k = pid
    while k > 3:  # zero times for the first programs
        k -= 2
    tl.store(y + pid * 4 + 2, k)
    down = 0
    for i in range(3, -1, -1):
        down = down * 10 + i
    tl.store(y + pid * 4 + 3, down)


def test_early_returns_empty_loops_and_zero_trip_whiles():
    y = np.full((10, 4), -9, np.int32)
    flow[(10,)](y, 8, BLOCK=16)
    wanted = np.full((10, 4), -9, np.int32)
    for pid in range(8):
        k = pid
        while k > 3:
            k -= 2
        wanted[pid] = [np.sign(pid - 1), 16 * sum(range(5, pid)), k, 3210]
    np.testing.assert_array_equal(y, wanted)


@tritium.jit
def row_sums_among_flags(a, x, y, flags, notes, M, N, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    on, off = tl.load(flags), tl.load(flags + 1)
    at = tl.arange(0, BLOCK)
    if on:
        tl.store(notes + at, at, mask=(at < 4) & (pid == 0))
    row = tl.load(a + pid * N + at, mask=at < N, other=0.0)
    if off:
        tl.store(notes, 99)
        return
    total = tl.sum(row * tl.load(x + at, mask=at < N, other=0.0))
    if on:
        tl.store(y + pid, total, mask=pid < M)
    both = tl.sum(tl.trans(tl.reshape(row, (BLOCK // 8, 8))), 0)
    if off:
        return
    tl.store(y + M + pid * (BLOCK // 8) + tl.arange(0, BLOCK // 8), both)


@pytest.mark.parametrize("block", [32, 128, 1024])
def test_reductions_among_stores_and_returns_that_flags_decide(block):
    """All threads of a warp are together again for what they do together (triton-lang/triton#11153)."""
    m, n = 5, block - 3
    a = np.arange(m * n, dtype=np.float32).reshape(m, n) % 7
    x = np.arange(n, dtype=np.float32) % 3
    y, notes = np.full(m + m * block // 8, -1, np.float32), np.full(8, -1, np.int32)
    row_sums_among_flags[(m,)](a, x, y, np.array([1, 0], np.int32), notes, m, n, block)
    np.testing.assert_array_equal(y[:m], a @ x)
    full = np.pad(a, ((0, 0), (0, block - n)))
    np.testing.assert_array_equal(y[m:].reshape(m, -1), full.reshape(m, block // 8, 8).sum(2))
    np.testing.assert_array_equal(notes, [0, 1, 2, 3, -1, -1, -1, -1])


@pytest.mark.parametrize("grid", [(0,), (0, 3), (3, 0), (2, 3, 0)])
def test_grids_without_programs_run_nothing(grid):
    y = np.full((10, 4), -9, np.int32)
    flow[grid](y, 8, BLOCK=16)
    assert (y == -9).all()


def bf16_bits(number: int) -> int:
    """The bits of the bf16 that is nearest to an integer, to the even one of two."""
    drop = max(0, abs(number).bit_length() - 8)
    kept, rest = divmod(abs(number), 1 << drop)
    half = (1 << drop) // 2
    kept += rest > half or (rest == half and drop > 0 and kept % 2)
    bits = int(np.float32(kept * 2.0**drop).view(np.uint32)) >> 16
    return bits | 0x8000 if number < 0 else bits


@tritium.jit
def integers_as_bf16(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at).to(tl.bfloat16).to(tl.int16, bitcast=True))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_become_bf16_with_one_rounding(dtype):
    size, limits = 512, np.iinfo(dtype)
    rng = random.Random(dtype)
    numbers = [0, 1, limits.min, limits.max, limits.max - 1]
    while len(numbers) < size:  # at and beside the midpoints of two bf16
        drop = rng.randrange(max(1, limits.bits - 8))
        number = (rng.randrange(128, 256) << drop) + (1 << drop >> 1) + rng.choice([-1, 0, 0, 1])
        number = -number if limits.min < 0 and rng.random() < 0.5 else number
        if limits.min <= number <= limits.max:
            numbers.append(number)
    out = np.full(size, 77, np.int16)
    integers_as_bf16[(1,)](np.array(numbers, dtype), out, size)
    assert (out.view(np.uint16)).tolist() == [bf16_bits(n) for n in numbers]


@tritium.jit
def quotients_of_small_floats(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b, n = tl.load(x + at).to(tl.float8e5), tl.load(y + at).to(tl.float8e5), tl.load(y + at).to(tl.int32)
    tl.store(out + at, a / b)
    tl.store(out + N + at, a % b)
    tl.store(out + 2 * N + at, a / 3)
    tl.store(out + 3 * N + at, n / a)


def test_quotients_of_8_bit_floats_are_fp32():
    x, y = np.array([1, 5, -7, 3], np.float32), np.array([3, 2, 4, -6], np.float32)
    out = np.full((4, 4), 77, np.float32)
    quotients_of_small_floats[(1,)](x, y, out, 4)
    np.testing.assert_allclose(out, [x / y, np.fmod(x, y), x / 3, y / x], rtol=3e-7)  # two roundings of GPUs
