"""Blocks whose dimensions are no powers of two, against NumPy. Arrays have NaN (or the least integer) around them."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.e2e.uneven import Guarded
from tritium.tools.tensor_descriptor import TensorDescriptor

SIZES = [1, 3, 5, 7, 12, 33, 100]
SHAPES = [(3, 5), (1, 7), (6, 4), (7, 1), (12, 33)]


@tritium.jit
def vector_kernel(x, y, sums, n: tl.constexpr):
    at = tl.arange(0, n)
    v = tl.load(x + at)
    tl.store(y + at, v * 2)
    tl.store(y + n + at, tl.cumsum(v))
    tl.store(y + 2 * n + at, tl.cumsum(v, reverse=True))
    tl.store(sums, tl.sum(v))
    tl.store(sums + 1, tl.max(v))
    tl.store(sums + 2, tl.min(v))
    tl.store(sums + 3, tl.argmax(v, 0))
    tl.store(sums + 4, tl.argmin(v, 0))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n", SIZES)
def test_vectors(n, sign, rng):
    x = Guarded(sign * (rng.random(n) + 1).astype(np.float32))
    y, sums = Guarded(np.zeros(3 * n, np.float32)), Guarded(np.zeros(5, np.float32))
    vector_kernel[(1,)](x.array, y.array, sums.array, n)
    v = x.array
    y.check(np.concatenate([v * 2, np.cumsum(v), np.cumsum(v[::-1])[::-1]]), rtol=1e-5)
    sums.check([v.sum(), v.max(), v.min(), v.argmax(), v.argmin()], rtol=1e-5)


@tritium.jit
def rows_kernel(x, sums, greatest, first, numbers, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n)
    tl.store(sums + m, tl.sum(v, 1))
    tl.store(greatest + n, tl.max(v, 0))
    tl.store(first + m, tl.argmax(v, 1))
    tl.store(numbers, tl.sum(v))
    tl.store(numbers + 1, tl.min(v))
    tl.store(numbers + 2, tl.argmin(v, None))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_along_each_dimension(shape, rng):
    x = Guarded(rng.standard_normal(shape).astype(np.float32) - 9)
    m, n = shape
    out = [Guarded(np.zeros(k, np.float32)) for k in (m, n, m, 3)]
    rows_kernel[(1,)](x.array, *(o.array for o in out), m, n)
    v = x.array
    for o, want in zip(out, (v.sum(1), v.max(0), v.argmax(1), [v.sum(), v.min(), v.argmin()])):
        o.check(want, rtol=1e-5)


@tritium.jit
def _spread(mean, square, count, other_mean, other_square, other_count):
    total = count + other_count
    delta = other_mean - mean
    middle = mean + delta * other_count / total
    return middle, square + other_square + delta * delta * count * other_count / total, total


@tritium.jit
def _affine(scale, shift, other_scale, other_shift):
    return scale * other_scale, shift * other_scale + other_shift


@tritium.jit
def _least_odd(a, b):
    return tl.where(a % 2 == 0, b, tl.where(b % 2 == 0, a, tl.minimum(a, b)))


@tritium.jit
def combine_kernel(x, k, mean, variance, least, scanned, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    at = m[:, None] * N + n
    v = tl.load(x + at)
    one = tl.full((M, N), 1.0, tl.float32)
    middle, square, count = tl.reduce((v, one - 1, one), 1, _spread)
    tl.store(mean + m, middle)
    tl.store(variance + m, square / count)
    tl.store(least, tl.reduce(tl.load(k + at), None, _least_odd))
    _, shift = tl.associative_scan((v, v), 1, _affine, reverse=True)
    tl.store(scanned + at, shift)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_functions_of_the_user(shape, rng):
    x, k = Guarded(rng.random(shape).astype(np.float32)), Guarded(rng.integers(-90, 90, shape).astype(np.int32))
    m, n = shape
    mean, variance, scanned = (Guarded(np.zeros(s, np.float32)) for s in (m, m, shape))
    k.array[-1, -1] = 77
    least = Guarded(np.zeros(1, np.int32))
    combine_kernel[(1,)](x.array, k.array, mean.array, variance.array, least.array, scanned.array, m, n)
    mean.check(x.array.mean(1), rtol=1e-5)
    variance.check(x.array.var(1), rtol=1e-4, atol=1e-6)
    least.check([k.array[k.array % 2 != 0].min()])
    shift = np.zeros(shape)
    for i in reversed(range(n)):
        v = x.array[:, i]
        shift[:, i] = v if i == n - 1 else shift[:, i + 1] * v + v
    scanned.check(shift, rtol=1e-5)


@tritium.jit
def shapes_kernel(x, y, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    at = m[:, None] * N + n
    size: tl.constexpr = M * N
    v = tl.load(x + at)
    tl.store(y + n[:, None] * M + m, tl.trans(v))
    tl.store(y + size + tl.arange(0, size), tl.ravel(v))
    tl.store(y + 2 * size + n[:, None] * M + m, tl.reshape(v, N, M))
    tl.store(y + 3 * size + tl.arange(0, 2 * M)[:, None] * N + n, tl.cat(v, v + 1, dim=0))
    tl.store(y + 5 * size + tl.arange(0, 2 * size), tl.cat(tl.ravel(v), tl.ravel(v), can_reorder=False))
    tl.store(y + 7 * size + m[:, None] * (2 * N) + tl.arange(0, 2 * N), tl.interleave(v, -v))
    left, right = tl.split(tl.join(v, v * v))
    tl.store(y + 9 * size + at, left - right)
    three = tl.reshape(v, M, 1, N)
    tl.store(y + 10 * size + at, tl.sum(tl.broadcast_to(three, M, 3, N), 1))
    tl.static_assert(v.numel == M * N)
    tl.static_assert(three.shape[2] == N)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape, rng):
    x, size = Guarded(rng.integers(-50, 50, shape).astype(np.int32)), shape[0] * shape[1]
    y = Guarded(np.zeros(11 * size, np.int32))
    shapes_kernel[(1,)](x.array, y.array, *shape)
    v = x.array
    flat = [v.T, v, v, np.concatenate([v, v + 1]), v, v, np.stack([v, -v], -1), v - v * v, 3 * v]
    y.check(np.concatenate([a.ravel() for a in flat]))


@tritium.jit
def cube_kernel(x, y, total, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    at = (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :]
    v = tl.load(x + at)
    turned = tl.permute(v, (2, 0, 1))
    tl.store(y + (c[:, None, None] * A + a[None, :, None]) * B + b[None, None, :], turned)
    tl.store(y + A * B * C + tl.arange(0, A * B)[:, None] * C + c, tl.reshape(v, A * B, C))
    tl.store(total, tl.sum(v))


def test_three_dimensions(rng):
    x = Guarded(rng.integers(-50, 50, (6, 20, 7)).astype(np.int32))
    y, total = Guarded(np.zeros(2 * x.array.size, np.int32)), Guarded(np.zeros(1, np.int32))
    cube_kernel[(1,)](x.array, y.array, total.array, 6, 20, 7)
    y.check(np.concatenate([x.array.transpose(2, 0, 1).ravel(), x.array.ravel()]))
    total.check([x.array.sum()])


@tritium.jit
def lookup_kernel(x, y, counts, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BINS: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    v = tl.load(x + m[:, None] * N + tl.arange(0, N))
    index = (k[None, :] * 7 + m[:, None]) % N
    tl.store(y + m[:, None] * K + k, tl.gather(v, index, 1))
    tl.store(counts + tl.arange(0, BINS), tl.histogram(tl.ravel(v), BINS, mask=tl.ravel(v) != 2))


def test_gathers_and_histograms(rng):
    x, y = Guarded(rng.integers(0, 7, (6, 11)).astype(np.int32)), Guarded(np.zeros((6, 5), np.int32))
    counts = Guarded(np.zeros(10, np.int32))
    lookup_kernel[(1,)](x.array, y.array, counts.array, 6, 11, 5, 10)
    index = (np.arange(5)[None, :] * 7 + np.arange(6)[:, None]) % 11
    y.check(np.take_along_axis(x.array, index, 1))
    counts.check(np.bincount(x.array[x.array != 2], minlength=10))


@tritium.jit
def softmax_kernel(x, y, stride, N: tl.constexpr):
    at = tl.program_id(0) * stride + tl.arange(0, N)
    row = tl.load(x + at)
    numerator = tl.exp(row - tl.max(row))
    tl.store(y + at, numerator / tl.sum(numerator))


@tritium.jit
def norm_kernel(x, w, b, y, N: tl.constexpr):
    n = tl.arange(0, N)
    row = tl.load(x + tl.program_id(0) * N + n)
    mean = tl.sum(row) / N
    centred = row - mean
    scale = 1 / tl.sqrt(tl.sum(centred * centred) / N + 1e-5)
    tl.store(y + tl.program_id(0) * N + n, centred * scale * tl.load(w + n) + tl.load(b + n))


def test_softmax_and_layer_norm_of_whole_rows(rng):
    x, y = Guarded(rng.standard_normal((5, 100)).astype(np.float32) - 40), Guarded(np.zeros((5, 100), np.float32))
    w, b = (Guarded(rng.standard_normal(100).astype(np.float32)) for _ in range(2))
    softmax_kernel[(5,)](x.array, y.array, 100, 100)
    e = np.exp(x.array - x.array.max(1, keepdims=True))
    y.check(e / e.sum(1, keepdims=True), rtol=1e-5)
    norm_kernel[(5,)](x.array, w.array, b.array, y.array, 100)
    mean, var = x.array.mean(1, keepdims=True), x.array.var(1, keepdims=True)
    y.check((x.array - mean) / np.sqrt(var + 1e-5) * w.array + b.array, rtol=1e-3, atol=1e-4)


@tritium.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + i + k, mask=(m[:, None] < M) & (i + k < K))
        right = tl.load(b + (i + k)[:, None] * N + n)
        acc = tl.dot(left * 2, right, acc)
    tl.store(c + m[:, None] * N + n, acc, mask=m[:, None] < M)


@pytest.mark.parametrize("block", [(48, 80, 96), (16, 48, 32), (24, 16, 16), (33, 80, 24)], ids=str)
def test_products(block, rng):
    """The left operand has an infinity behind its rows; no other row and no zero meets it."""
    m, n, k = 66, 2 * block[1], 2 * block[2]
    a, b = (Guarded(rng.standard_normal(s).astype(np.float16)) for s in ((m, k), (k, n)))
    c = Guarded(np.zeros((m, n), np.float32))
    matmul_kernel[(-(-m // block[0]), 2)](a.array, b.array, c.array, m, n, k, *block)
    c.check(a.array.astype(np.float64) * 2 @ b.array.astype(np.float64), rtol=1e-2, atol=5e-2)


@tritium.jit
def atomic_kernel(x, total, old, lock, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.atomic_add(total + at % 3, tl.load(x + at))
    tl.store(old + at, tl.atomic_xchg(x + at, at))
    tl.store(old + n + at, tl.atomic_cas(lock + at, at, at + 50))


@pytest.mark.parametrize("n", [3, 12, 33])
def test_atomics(n, rng):
    """A compare-and-swap has no mask: the memory behind the array stays as it is all the same."""
    values = rng.integers(0, 9, n).astype(np.int32)
    x, total, old = Guarded(values.copy()), Guarded(np.zeros(3, np.int32)), Guarded(np.zeros(2 * n, np.int32))
    lock = Guarded(np.where(np.arange(n) % 2, np.arange(n), -1).astype(np.int32))
    before = lock.array.copy()
    atomic_kernel[(1,)](x.array, total.array, old.array, lock.array, n)
    x.check(np.arange(n))
    total.check([values[i::3].sum() for i in range(3)])
    old.check(np.concatenate([values, before]))
    lock.check(np.where(np.arange(n) % 2, np.arange(n) + 50, -1))


@tritium.jit
def elements_kernel(x, d, y, r, n: tl.constexpr):
    at = tl.arange(0, n)
    v, divisor = tl.load(x + at), tl.load(d + at)
    tl.store(y + at, v // divisor + v % divisor)
    tl.store(y + n + at, tl.where(at % 2 == 0, v, 1 << (v % 8)))
    tl.store(r + at, tl.rand(7, at))


@pytest.mark.parametrize("n", [3, 12, 33])
def test_elements(n, rng):
    """Nothing divides by what lies behind a block."""
    x, d = (Guarded(rng.integers(1, 99, n).astype(np.int32)) for _ in range(2))
    y, r, whole = Guarded(np.zeros(2 * n, np.int32)), Guarded(np.zeros(n, np.float32)), np.zeros(64, np.float32)
    elements_kernel[(1,)](x.array, d.array, y.array, r.array, n)
    v = x.array
    y.check(np.concatenate([v // d.array + v % d.array, np.where(np.arange(n) % 2 == 0, v, 1 << (v % 8))]))
    rand_kernel[(1,)](whole)
    r.check(whole[:n])


@tritium.jit
def asserting_kernel(x, y, n: tl.constexpr):
    at = tl.arange(0, n)
    v = tl.load(x + at)
    tl.device_assert(v > 0)
    tl.store(y + at, (v + at * 4096) * 4096)  # beyond 128 it overflows


def test_assertions_hold_behind_a_block(rng):
    x, y = Guarded(rng.integers(1, 9, 100).astype(np.int32)), Guarded(np.zeros(100, np.int32))
    asserting_kernel[(1,)](x.array, y.array, 100, debug=True)
    y.check((x.array + np.arange(100) * 4096) * 4096)


@tritium.jit
def rand_kernel(r):
    at = tl.arange(0, 64)
    tl.store(r + at, tl.rand(7, at))


@tritium.jit
def _halves(v, odd):
    if odd:
        return v * 3, tl.sum(v)
    return v, tl.max(v)


@tritium.jit
def flow_kernel(x, y, steps, n: tl.constexpr):
    at = tl.arange(0, n)
    acc, best = tl.zeros((n,), tl.float32), 0.0
    i = 0
    while i < steps:
        v = tl.load(x + i * n + at)
        more, one = _halves(v, i % 2 == 1)
        if i > 1:
            acc += more
            best = tl.maximum(best, one)
        else:
            acc = acc - more
        i += 1
    tl.store(y + at, acc + best)


def test_loops_branches_and_calls(rng):
    x, y = Guarded(rng.random((5, 7)).astype(np.float32)), Guarded(np.zeros(7, np.float32))
    flow_kernel[(1,)](x.array, y.array, 5, 7)
    v = x.array
    best = max(v[2].max(), v[3].sum(), v[4].max())
    y.check(-v[0] - 3 * v[1] + v[2] + 3 * v[3] + v[4] + best, rtol=1e-5)


@tritium.jit
def sort_kernel(x, y, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DESCENDING: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    at = m[:, None] * N + n
    size: tl.constexpr = M * N
    v = tl.load(x + at)
    tl.store(y + at, tl.sort(v, descending=DESCENDING))
    tl.store(y + size + at, tl.flip(v, 0))
    tl.store(y + 2 * size + at, tl.flip(v))
    tl.store(y + 3 * size + m[:, None] * K + tl.arange(0, K), tl.topk(v, K, descending=DESCENDING))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("dtype", "shape"), [(np.float32, (3, 5)), (np.int32, (4, 8)), (np.uint8, (1, 12))], ids=str)
def test_order(dtype, shape, descending, rng):
    """NaNs are the greatest, as for NumPy, and an infinity is no less than what fills a block."""
    x = Guarded((rng.standard_normal(shape) * 50).astype(dtype))
    if dtype is np.float32 and shape != (4, 8):
        x.array[0, 0], x.array[-1, -1], x.array[-1, 1] = np.nan, np.inf, -np.inf
    k = 3
    y = Guarded(np.zeros(3 * x.array.size + shape[0] * k, dtype))
    sort_kernel[(1,)](x.array, y.array, *shape, k, descending)
    ordered = np.sort(x.array, 1)[:, :: -1 if descending else 1]
    y.check(np.concatenate([a.ravel() for a in (ordered, x.array[::-1], x.array[:, ::-1], ordered[:, :k])]))


@tritium.jit
def tile_kernel(x, y, z, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_block_ptr(x, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    target = tl.make_block_ptr(y, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))
    desc = tl.make_tensor_descriptor(z, [M, N], [N, 1], [BM, BN])
    for i in range(0, N, BN):
        v = tl.load(source, boundary_check=(0, 1))
        tl.store(target, v + 1, boundary_check=(0, 1))
        desc.store([0, i], desc.load([0, i]) + v)
        source, target = tl.advance(source, (0, BN)), tl.advance(target, (0, BN))


@pytest.mark.parametrize("block", [(6, 20), (12, 12)], ids=str)
def test_block_pointers_and_descriptors(block, rng):
    x = Guarded(rng.random((10, 44)).astype(np.float32))
    y, z = (Guarded(np.zeros((10, 44), np.float32)) for _ in range(2))
    tile_kernel[(1,)](x.array, y.array, z.array, 10, 44, *block)
    rows = np.arange(10)[:, None] < block[0]
    y.check(np.where(rows, x.array + 1, 0))
    z.check(np.where(rows, x.array, 0))


@tritium.jit
def host_kernel(desc, even, y, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.arange(0, BM), tl.arange(0, BN)
    tl.store(y + m[:, None] * BN + n, desc.load([1, 4]))
    tl.store(y + BM * BN + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16), even.load([0, 0]))


def test_descriptors_of_the_host(rng):
    x = rng.random((10, 44)).astype(np.float32)
    y = Guarded(np.zeros(6 * 20 + 8 * 16, np.float32))
    uneven, even = (TensorDescriptor(x, [10, 44], [44, 1], block) for block in ([6, 20], [8, 16]))
    host_kernel[(1,)](uneven, even, y.array, 6, 20)
    y.check(np.concatenate([x[1:7, 4:24].ravel(), x[:8, :16].ravel()]))


@tritium.jit
def scaled_kernel(a, b, s, t, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    left, right = tl.load(a + m[:, None] * K + k), tl.load(b + k[:, None] * N + n)
    left_scale = tl.load(s + m[:, None] * (K // 32) + g)
    right_scale = tl.load(t + n[:, None] * (K // 32) + g)
    out = tl.dot_scaled(left, left_scale, "e5m2", right, right_scale, "e5m2")
    tl.store(c + m[:, None] * N + n, out)


def test_scaled_products(rng):
    """Scales of 255 are NaN: those behind a block meet zeros, and would make NaNs of them."""
    m, n, k = 24, 16, 96
    values = np.array([0x3C, 0x40, 0xBC, 0x38, 0x00], np.uint8)  # 1, 2, -1, 1/2, 0 in e5m2
    a, b = (Guarded(rng.choice(values, shape)) for shape in ((m, k), (k, n)))
    s, t = (Guarded(rng.integers(125, 130, (rows, 3)).astype(np.uint8)) for rows in (m, n))
    for scales in (s, t):
        scales.poison(255)
    c = Guarded(np.zeros((m, n), np.float32))
    scaled_kernel[(1,)](a.array, b.array, s.array, t.array, c.array, m, n, k)
    number = dict(zip(values.tolist(), (1.0, 2.0, -1.0, 0.5, 0.0)))
    left, right = (np.vectorize(number.get)(x.array) for x in (a, b))
    left = left * 2.0 ** (np.repeat(s.array.astype(int), 32, 1) - 127)
    right = right * 2.0 ** (np.repeat(t.array.astype(int), 32, 1) - 127).T
    c.check(left @ right, rtol=1e-6)


@tritium.jit
def batched_kernel(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + (i * M + m[None, :, None]) * K + k[None, None, :])
    right = tl.load(b + (i * K + k[None, :, None]) * N + n[None, None, :])
    tl.store(c + (i * M + m[None, :, None]) * N + n[None, None, :], tl.dot(left, right, input_precision="ieee"))


def test_batched_products(rng):
    a, b = (Guarded(rng.standard_normal(s).astype(np.float32)) for s in ((3, 20, 24), (3, 24, 17)))
    c = Guarded(np.zeros((3, 20, 17), np.float32))
    batched_kernel[(1,)](a.array, b.array, c.array, 3, 20, 17, 24)
    c.check(a.array @ b.array, rtol=1e-3, atol=1e-3)


@tritium.jit
def larger(a, b):
    return tl.maximum(a, b)


@tritium.jit
def larger_or_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tritium.jit
def nan_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n)
    tl.store(out + m, tl.max(v, 1))
    tl.store(out + M + m, tl.min(v, 1))
    tl.store(out + 2 * M + m, tl.reduce(v, 1, larger_or_nan))
    running = tl.associative_scan(v, 1, larger, reverse=True)
    tl.store(out + 3 * M + m[:, None] * N + n, running)


def test_extremes_of_nothing_but_nan_are_nan():
    nan, inf = np.nan, np.inf
    v = np.array([[nan, nan, nan], [nan, 1, 2], [inf, nan, -inf], [-inf, -inf, -inf], [3, -4, nan]], np.float32)
    x, out = Guarded(v), Guarded(np.zeros(3 * 5 + 15, np.float32))
    nan_kernel[(1,)](x.array, out.array, 5, 3)
    running = np.fmax.accumulate(v[:, ::-1], axis=1)[:, ::-1]
    out.check(
        np.concatenate([np.fmax.reduce(v, 1), np.fmin.reduce(v, 1), np.maximum.reduce(v, 1), running.reshape(-1)])
    )
