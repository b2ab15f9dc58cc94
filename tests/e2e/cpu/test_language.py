"""Functions of the language on the CPU against NumPy: what kernels get from each of them."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl

N = 64
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def run(kernel, dtype, *inputs, size=N, grid=(1,), **meta):
    """What `kernel(*inputs, out)` writes to `size` zeros of `dtype`."""
    out = np.zeros(size, dtype)
    kernel[grid](*inputs, out, **meta)
    return out


@pytest.fixture
def x(rng):
    return rng.standard_normal(N).astype(np.float32)


@pytest.fixture
def n(rng):
    return rng.integers(-1000, 1000, N).astype(np.int32)


# -- casts and arithmetic -----------------------------------------------------------------------------------------


@triton.jit
def convert(x_ptr, out_ptr):
    at = tl.arange(0, 64)
    tl.store(out_ptr + at, tl.load(x_ptr + at))


def samples(rng, dtype):
    if np.dtype(dtype).kind == "f":
        return (rng.standard_normal(N) * 30).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, N, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("source", [*INTS, *FLOATS])
def test_casts(source, rng):
    for target in [*INTS, *FLOATS]:
        x = samples(rng, source)
        if np.dtype(source).kind == "f" and np.dtype(target).kind == "u":
            x = np.abs(x)  # a negative float has no unsigned value
        with np.errstate(over="ignore"):
            expected = x.astype(target)
        np.testing.assert_array_equal(run(convert, target, x), expected, err_msg=f"{source} to {target}")


def test_double_to_half_rounds_once():
    """Values just beside the middle of two halves: fp32 on the way would move them onto it."""
    base = np.ldexp(1.0 + np.arange(16) / 1024, np.arange(16) - 8)
    middle = base + np.ldexp(0.5 / 1024, np.arange(16) - 8)
    nudge = np.ldexp(1.0, np.arange(16) - 55)
    x = np.concatenate([middle, middle + nudge, middle - nudge, -(middle + nudge)])
    np.testing.assert_array_equal(run(convert, np.float16, x), x.astype(np.float16))
    special = np.array([np.inf, -np.inf, np.nan, 1e300, -65519.9, 65520.0, 1e-300, -0.0] * 8)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run(convert, np.float16, special), special.astype(np.float16))


@triton.jit
def arithmetic(x_ptr, y_ptr, out_ptr, op: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    if op == "add":
        z = x + y
    elif op == "sub":
        z = x - y
    elif op == "mul":
        z = x * y
    elif op == "div":
        z = x // y
    elif op == "mod":
        z = x % y
    elif op == "max":
        z = tl.maximum(x, y)
    else:
        z = x < y
    tl.store(out_ptr + at, z)


def promoted(a, b):
    """C's conversions of two integer dtypes."""
    x, y = np.dtype(a), np.dtype(b)
    if x.itemsize != y.itemsize:
        return max(x, y, key=lambda d: d.itemsize)
    return x if x.kind == "u" else y


def expected_integer(op, x, y):
    kind = promoted(x.dtype, y.dtype)
    with np.errstate(over="ignore"):
        x, y = x.astype(kind), y.astype(kind)
        if op in ("div", "mod"):
            pairs = [(abs(int(a)) // abs(int(b)), (int(a) < 0) != (int(b) < 0)) for a, b in zip(x, y)]
            quotient = [-q if negative else q for q, negative in pairs]
            if op == "div":
                return np.array([q & ((1 << 64) - 1) for q in quotient], np.uint64).astype(kind)
            return np.array([int(a) - q * int(b) for a, q, b in zip(x, quotient, y)], kind)
        return {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "lt": np.less}[op](x, y)


def test_integer_arithmetic(rng, seed):
    """A sample of operators over pairs of dtypes; division of different signedness does not exist."""
    cases = [
        case
        for case in itertools.product(("add", "sub", "mul", "div", "mod", "max", "lt"), INTS, INTS)
        if case[0] not in ("div", "mod") or case[1].startswith("u") == case[2].startswith("u")
    ]
    for op, a, b in random.Random(seed).sample(cases, 40):
        x, y = samples(rng, a), samples(rng, b)
        y[y == 0] = 1
        out = run(arithmetic, bool if op == "lt" else promoted(a, b), x, y, op=op)
        np.testing.assert_array_equal(out, expected_integer(op, x, y), err_msg=f"{a} {op} {b}")


# -- reductions and scans -----------------------------------------------------------------------------------------


@triton.jit
def reductions(x_ptr, out_ptr, op: tl.constexpr):
    rows = tl.arange(0, 4)
    x = tl.load(x_ptr + rows[:, None] * 16 + tl.arange(0, 16)[None, :])
    if op == "sum":
        y = tl.sum(x, 1)
    elif op == "max":
        y = tl.max(x, axis=1)
    elif op == "min":
        y = x.min(-1)
    elif op == "argmax":
        y = tl.argmax(x, 1)
    elif op == "argmin":
        y = tl.argmin(x, axis=1, tie_break_left=True)
    elif op == "xor":
        y = tl.xor_sum(x, 1)
    elif op == "or":
        y = tl.reduce_or(x, 1)
    elif op == "kept":
        y = tl.reshape(tl.sum(x, 1, keep_dims=True), (4,))
    else:
        value, index = tl.max(x, 1, return_indices=True)
        y = value.to(tl.int32) * 100 + index
    tl.store(out_ptr + rows, y)


REDUCTIONS = {
    "sum": lambda x: x.sum(1),
    "max": lambda x: x.max(1),
    "min": lambda x: x.min(1),
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(1),
    "xor": lambda x: np.bitwise_xor.reduce(x, 1),
    "or": lambda x: np.bitwise_or.reduce(x, 1),
    "kept": lambda x: x.sum(1),
    "pair": lambda x: x.max(1) * 100 + x.argmax(1),
}


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "float32"])
def test_reductions(op, dtype, rng):
    if op in ("xor", "or") and dtype == "float32":
        with pytest.raises(triton.CompilationError, match="only supported for integers"):
            run(reductions, np.int64, np.zeros(N, dtype), op=op)
        return
    x = rng.integers(0, 9, (4, 16)).astype(dtype)  # small: ties, and no overflow of 32 bits
    np.testing.assert_array_equal(run(reductions, np.int64, x, op=op, size=4), REDUCTIONS[op](x.astype(np.int64)))


@triton.jit
def sums_and_products(a0, a1, b0, b1):
    return a0 + b0, a1 * b1


@triton.jit
def several(x_ptr, out_ptr, scan: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    if scan:
        s, p = tl.associative_scan((x, x + 1), 0, sums_and_products)
    else:
        s, p = tl.reduce((x, x + 1), 0, sums_and_products)
    tl.store(out_ptr + at, s)
    tl.store(out_ptr + 64 + at, p)


def test_several_values_at_once(rng):
    x = (rng.standard_normal(N) / 50).astype(np.float32)
    out = run(several, np.float32, x, size=2 * N, scan=False)
    np.testing.assert_allclose(out[:N], np.full(N, x.sum()), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(out[N:], np.full(N, np.prod(x + 1)), rtol=1e-5)
    out = run(several, np.float32, x, size=2 * N, scan=True)
    np.testing.assert_allclose(out, np.concatenate([np.cumsum(x), np.cumprod(x + 1)]), rtol=1e-4, atol=1e-5)


@triton.jit
def everything(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :])
    value, index = tl.min(x, axis=None, return_indices=True)
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1, value)
    tl.store(out_ptr + 2, index)
    tl.store(out_ptr + 3, tl.sum(x > 0))


def test_without_an_axis(n):
    assert list(run(everything, np.int32, n, size=4)) == [n.sum(), n.min(), n.argmin(), (n > 0).sum()]


@triton.jit
def scans(x_ptr, out_ptr, op: tl.constexpr):
    at = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + at)
    if op == "sum":
        y = tl.cumsum(x, 1)
    elif op == "columns":
        y = tl.cumsum(x, 0)
    elif op == "reverse":
        y = tl.cumsum(x, 1, reverse=True)
    else:
        y = tl.cumprod(x, 1)
    tl.store(out_ptr + at, y)


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("sum", lambda x: np.cumsum(x, 1)),
        ("columns", lambda x: np.cumsum(x, 0)),
        ("reverse", lambda x: np.cumsum(x[:, ::-1], 1)[:, ::-1]),
        ("product", lambda x: np.cumprod(x, 1)),
    ],
)
def test_scans(op, reference, rng):
    x = rng.integers(-2, 3, (4, 16)).astype(np.int32)
    np.testing.assert_array_equal(run(scans, np.int32, x, op=op), reference(x).ravel())


# -- order and shape ----------------------------------------------------------------------------------------------


@triton.jit
def ordering(x_ptr, out_ptr, op: tl.constexpr):
    at = tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + at)
    if op == "sort":
        tl.store(out_ptr + at, tl.sort(x))
    elif op == "down":
        tl.store(out_ptr + at, tl.sort(x, descending=True))
    elif op == "flip":
        tl.store(out_ptr + at, tl.flip(x))
    else:
        tl.store(out_ptr + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 4)[None, :], tl.topk(x, 4))


@pytest.mark.parametrize("dtype", ["int32", "float32", "int8", "float16"])
def test_sort(dtype, rng):
    x = samples(rng, dtype).reshape(4, 16)
    up = np.sort(x, 1)
    np.testing.assert_array_equal(run(ordering, dtype, x, op="sort"), up.ravel())
    np.testing.assert_array_equal(run(ordering, dtype, x, op="down"), up[:, ::-1].ravel())
    np.testing.assert_array_equal(run(ordering, dtype, x, op="flip"), x[:, ::-1].ravel())
    np.testing.assert_array_equal(run(ordering, dtype, x, op="topk").reshape(4, 16)[:, :4], up[:, ::-1][:, :4])


@triton.jit
def shapes(x_ptr, out_ptr, op: tl.constexpr):
    half = tl.arange(0, 32)
    at = tl.arange(0, 64)
    a = tl.load(x_ptr + half)
    b = tl.load(x_ptr + 32 + half)
    x = tl.load(x_ptr + at)
    if op == "interleave":
        y = tl.interleave(a, b)
    elif op == "cat":
        y = tl.cat(b, a)
    elif op == "transpose":
        y = tl.ravel(tl.trans(x.reshape(4, 16)))
    elif op == "permute":
        y = x.reshape(4, 2, 8).permute(2, 0, 1).reshape(64)
    elif op == "T":
        y = x.reshape(4, 16).T.reshape(64)
    elif op == "split":
        first, second = x.reshape(32, 2).split()
        y = tl.cat(first, second, can_reorder=False)
    elif op == "broadcast":
        y = tl.ravel(tl.broadcast_to(tl.load(x_ptr + tl.arange(0, 16))[None, :], (4, 16)))
    else:
        y = tl.gather(x, 63 - at, 0)
    tl.store(out_ptr + at, y)


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("interleave", lambda x: x.reshape(2, 32).T),
        ("cat", lambda x: np.roll(x, 32)),
        ("transpose", lambda x: x.reshape(4, 16).T),
        ("T", lambda x: x.reshape(4, 16).T),
        ("permute", lambda x: x.reshape(4, 2, 8).transpose(2, 0, 1)),
        ("split", lambda x: x.reshape(32, 2).T),
        ("broadcast", lambda x: np.tile(x[:16], 4)),
        ("gather", lambda x: x[::-1]),
    ],
)
def test_shapes(op, reference, x):
    np.testing.assert_array_equal(run(shapes, np.float32, x, op=op), reference(x).ravel())


@triton.jit
def swizzle(out_ptr):
    at = tl.arange(0, 64)
    i, j = tl.swizzle2d(at // 8, at % 8, 8, 8, 4)
    tl.store(out_ptr + at, i * 8 + j)


def test_swizzle():
    """Groups of four rows are walked column by column."""
    order = run(swizzle, np.int32)
    assert list(order[:8]) == [0, 8, 16, 24, 1, 9, 17, 25]
    assert sorted(order) == list(range(64))


# -- memory -------------------------------------------------------------------------------------------------------


@triton.jit
def block_pointers(x_ptr, out_ptr, rows, columns, stride):
    source = tl.make_block_ptr(x_ptr, (rows, columns), (stride, 1), (-2, 0), (8, 4), (1, 0))
    target = tl.make_block_ptr(out_ptr, (8, 8), (8, 1), (0, 0), (8, 4), (1, 0))
    for _ in range(2):
        tl.store(target, tl.load(source, boundary_check=(0, 1), padding_option="zero"))
        source = tl.advance(source, (0, 4))
        target = tl.advance(target, [0, 4])


@triton.jit
def descriptors(x_ptr, out_ptr, rows, columns, stride):
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [stride, 1], [8, 8])
    target = tl.make_tensor_descriptor(out_ptr, [8, 8], [8, 1], [8, 8])
    target.store([0, 0], source.load([-2, 0]))


@pytest.mark.parametrize("kernel", [block_pointers, descriptors], ids=["block pointer", "descriptor"])
@pytest.mark.parametrize(("rows", "columns"), [(4, 5), (6, 8), (1, 1), (8, 3)])
def test_boundaries(kernel, rows, columns, rng):
    """Blocks that begin outside: what is there reads as zero."""
    x = rng.standard_normal((8, 8)).astype(np.float32)
    out = np.full((8, 8), 7, np.float32)
    kernel[(1,)](x, out, rows, columns, 8)
    expected = np.zeros((8, 8), np.float32)
    seen = min(rows, 6)
    expected[2 : 2 + seen, :columns] = x[:seen, :columns]
    np.testing.assert_array_equal(out, expected)


@triton.jit
def atomics(x_ptr, out_ptr, op: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    if op == "add":
        tl.atomic_add(out_ptr + tl.arange(0, 64), x, mask=x > 0)
    elif op == "max":
        tl.atomic_max(out_ptr + tl.arange(0, 64), x)
    else:
        tl.atomic_min(out_ptr + tl.arange(0, 64), x, sem="relaxed")


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("add", lambda x: np.where(x > 0, x, 0)),
        ("max", lambda x: np.maximum(x, 0)),
        ("min", lambda x: np.minimum(x, 0)),
    ],
)
def test_atomics(op, reference, dtype, x, n):
    x = n if dtype is np.int32 else x
    np.testing.assert_array_equal(run(atomics, dtype, x, op=op), reference(x))


# -- what published kernels do besides ----------------------------------------------------------------------------


@triton.jit
def greater(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def habits(x_ptr, n, out_ptr, BLOCK: tl.constexpr, DTYPE: tl.constexpr):
    """Spellings met in the wild: keyword forms, dtypes from pointers, methods, tuples, shapes from values."""
    offs = tl.max_contiguous(tl.multiple_of(tl.arange(0, BLOCK), BLOCK), BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=-float("inf"), cache_modifier=".cg", eviction_policy="evict_first")
    x = x.to(DTYPE).to(x_ptr.dtype.element_ty)
    top = tl.reduce(x, axis=0, combine_fn=greater)
    same = tl.reduce(x, 0, tl.maximum)
    acc = tl.zeros_like(x) + tl.full(x.shape, 1, x.dtype)
    acc += tl.zeros([x.shape[0]], dtype=tl.float32)
    pair = (top, same)
    address = out_ptr.to(tl.int64) + BLOCK * 4
    again = address.to(tl.pointer_type(out_ptr.dtype.element_ty))
    tl.store(again, pair[0] + pair[1] + tl.max(acc) + x.numel)
    tl.store(out_ptr + offs, tl.where(offs[None, :] < n, x[None, :], 0.0).reshape(BLOCK), mask=offs < n)
    tl.debug_barrier()
    if isinstance(x, tl.tensor):
        tl.static_assert(x.dtype.is_fp32() and x.type.is_block())


def test_habits(x):
    out = run(habits, np.float32, x, 40, BLOCK=N, DTYPE=tl.float32, size=N + 1)
    np.testing.assert_array_equal(out[:40], x[:40])
    assert not out[40:N].any()
    np.testing.assert_allclose(out[N], 2 * x[:40].max() + 1 + N, rtol=1e-6)


@triton.jit
def tiny(x_ptr, out_ptr, KIND: tl.constexpr, op: tl.constexpr):
    at = tl.arange(0, 256)
    x = tl.load(x_ptr + at).to(KIND, bitcast=True)
    if op == "decode":
        y = x
    elif op == "sum":
        y = x + x * 0.5
    elif op == "less":
        y = tl.where(x < 1.0, 1.0, 0.0)
    elif op == "max":
        y = tl.maximum(x, 1.0)
    else:
        y = tl.abs(-x)
    tl.store(out_ptr + at, y.to(tl.float32))


@pytest.mark.parametrize("kind", [tl.float8e5, tl.float8e4nv, tl.float8e4b15, tl.float8e4b8, tl.float8e5b16], ids=str)
def test_arithmetic_of_8_bits(kind):
    """Each operation is computed as if exactly and rounded once: every result is a value of the type."""
    codes = np.arange(256, dtype=np.uint8)

    def get(op):
        return run(tiny, np.float32, codes, KIND=kind, op=op, size=256)

    x = get("decode")
    finite = np.isfinite(x)
    values = np.unique(x[finite])
    small = finite & (np.abs(x) < values.max() / 4)
    half = np.abs(values[None, :] - (x[small] / 2)[:, None]).min(1)  # the product is rounded first
    total, exact = get("sum")[small], 1.5 * x[small]
    assert np.isin(total, values).all()
    gap = np.abs(values[None, :] - exact[:, None]).min(1)
    assert (np.abs(total - exact) <= half + 2 * gap + np.abs(exact) * 2.0**-kind.fp_mantissa_width).all()
    np.testing.assert_array_equal(get("less")[finite], x[finite] < 1)
    np.testing.assert_array_equal(get("max")[finite], np.maximum(x[finite], 1))
    np.testing.assert_array_equal(get("abs")[finite], np.abs(x[finite]))


@triton.jit
def comprehended(x, out, N: tl.constexpr):
    n = tl.load(x)
    multiples = [n * i for i in tl.static_range(1, N, 2)]
    for i in tl.static_range(len(multiples)):
        tl.store(out + i, multiples[i])


def test_a_comprehension_over_a_static_range():
    x, out = np.array([7], np.int32), np.zeros(4, np.int32)
    comprehended[(1,)](x, out, N=6)
    assert out.tolist() == [7, 21, 35, 0]
