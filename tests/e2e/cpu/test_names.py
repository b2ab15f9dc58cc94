"""Names of the language that few kernels use, each against NumPy: types, small functions, questions about the target."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import tritium
import tritium.language as tl

N = 16
INTS = ["int32", "int64", "uint32", "uint64"]


def arange(dtype=np.int32):
    return np.arange(N, dtype=dtype)


# -- types and values ---------------------------------------------------------------------------------------------


@tritium.jit
def kinds(x: tl.const, y, n: tl.constexpr):
    at = tl.arange(0, n)
    block = tl.load(x + at)
    tl.static_assert(isinstance(block, tl.tensor))
    tl.static_assert(isinstance(block.type, tl.block_type))
    tl.static_assert(isinstance(block.dtype, tl.dtype))
    tl.static_assert(isinstance(x.dtype, tl.pointer_type))
    tl.static_assert(isinstance((block, n), tl.tuple))
    tl.static_assert(tl.constexpr(n) == n)
    tl.static_assert(n <= tl.TRITON_MAX_TENSOR_NUMEL)
    tl.static_assert(isinstance((block, 2).type, tl.tuple_type))
    tl.static_print("kinds of", n)
    tl.store(y + at, block)


@pytest.mark.shows("tl.TRITON_MAX_TENSOR_NUMEL", "tl.const", "tl.constexpr")
def test_types_of_values(capfd):
    y = np.zeros(N, np.int32)
    kinds[(1,)](arange(), y, N)
    np.testing.assert_array_equal(y, arange())


@pytest.mark.shows("tl.void", "tl.str_to_ty")
def test_types_by_their_names():
    for text, ty in {"i32": tl.int32, "fp32": tl.float32, "fp8e4nv": tl.float8e4nv, "u1": tl.int1}.items():
        assert tl.str_to_ty(text, None) == ty
    assert tl.str_to_ty("*fp16", None) == tl.pointer_type(tl.float16)
    assert str(tl.void) == "void" and tl.void.is_void()


@tritium.jit
def small_functions(x, y):
    at = tl.arange(0, 16)
    a = tl.cast(tl.load(x + at), tl.float32)
    b, c = tl.broadcast(tl.expand_dims(a, 1), tl.to_tensor(2.0))
    d = tl.squeeze(tl.unsqueeze(tl.squeeze(b * c, 1), 0), 0)
    e = tl.view(d, [4, 4])
    f = tl.reshape(e, [16]) + tl.item(tl.full([1], 3.0, tl.float32))
    f = tl.max_constancy(f, 1)
    tl.store(y + at, f)


def test_cast_broadcast_squeeze_view_item_max_constancy():
    y = np.zeros(N, np.float32)
    small_functions[(1,)](arange(), y)
    np.testing.assert_array_equal(y, arange() * 2.0 + 3)


@tritium.jit
def arithmetic(x, y, z):
    at = tl.arange(0, 16)
    a = tl.load(x + at)
    b = tl.add(a, 5, sanitize_overflow=False)
    c = tl.mul(tl.sub(b, 1), 3)
    tl.store(y + at, c)
    f = a.to(tl.float32)
    f = tl.where(a == 3, float("nan"), f)
    keeps = tl.maximum(f, 7.0, propagate_nan=tl.PropagateNan.ALL)
    drops = tl.minimum(f, 7.0, propagate_nan=tl.PropagateNan.NONE)
    tl.store(z + at, keeps)
    tl.store(z + 16 + at, drops)
    tl.store(z + 32 + at, tl.math.max(a, 7).to(tl.float32))
    tl.store(z + 48 + at, tl.math.min(a, 7).to(tl.float32))


def test_add_sub_mul_PropagateNan_max_min():
    y, z = np.zeros(N, np.int32), np.zeros((4, N), np.float32)
    arithmetic[(1,)](arange(), y, z)
    np.testing.assert_array_equal(y, (arange() + 4) * 3)
    f = arange(np.float32)
    f[3] = np.nan
    wanted = [np.maximum(f, 7), np.fmin(f, 7), np.maximum(arange(), 7), np.minimum(arange(), 7)]
    np.testing.assert_array_equal(z, np.array(wanted, np.float32))


@tritium.jit
def merge(x, y, descending: tl.constexpr):
    at = tl.arange(0, 16)
    tl.store(y + at, tl.bitonic_merge(tl.load(x + at), descending=descending))


@pytest.mark.parametrize("descending", [False, True])
def test_bitonic_merge(descending, rng):
    rise, fall = np.sort(rng.integers(0, 50, (2, 8)))
    x, y = np.concatenate([rise, fall[::-1]]).astype(np.int32), np.zeros(N, np.int32)
    merge[(1,)](x, y, descending)
    np.testing.assert_array_equal(y, np.sort(x)[:: -1 if descending else 1])


# -- functions of elements ----------------------------------------------------------------------------------------


@tritium.jit
def either(a, b):
    if a > 3:
        return a * 2
    else:
        return b - 1


@tritium.jit
def fold(a, b):
    r = a
    while r > b:
        r = r - 3
    return r, a + b


@tritium.jit
def paired(a0, a1, b0, b1):
    return a0 + b0, a1 + b1, a0 * 1.0, b1 * 1.0


@tritium.jit
def mapped(x, y, u):
    at = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    a = tl.load(x + at)
    b = a // 2
    tl.store(y + at, tl.map_elementwise(either, a, b))
    r, s = tl.map_elementwise(fold, a, b)
    tl.store(y + 16 + at, r)
    tl.store(y + 32 + at, s)
    p, q = tl.map_elementwise(paired, a, b, pack=2)
    tl.store(y + 48 + at, p)
    tl.store(u + at, q)


def test_map_elementwise():
    y, u = np.zeros((4, N), np.int32), np.zeros(N, np.float32)
    mapped[(1,)](arange(), y, u)
    a, b = arange(), arange() // 2
    r = a.copy()
    while (r > b).any():
        r = np.where(r > b, r - 3, r)
    np.testing.assert_array_equal(y, [np.where(a > 3, a * 2, b - 1), r, a + b, a + b])
    assert ((u == a) | (u == b)).all()


# -- atomics ------------------------------------------------------------------------------------------------------


@tritium.jit
def at_once(p, flag, out, seen, sem: tl.constexpr, scope: tl.constexpr):
    at = tl.arange(0, 16)
    tl.atomic_store(
        p + at, (at * 3).to(p.dtype.element_ty), mask=at < 11, sem="release" if sem == "acquire" else sem, scope=scope
    )
    tl.debug_barrier()
    value = tl.atomic_load(p + at, mask=at < 13, sem=sem, scope=scope)
    tl.store(out + at, value, mask=at < 13)
    reached = tl.atomic_poll(flag + at, at, sem=sem, scope=scope, timeout_ns=1000000)
    tl.store(seen + at, reached.to(tl.int32))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "float32", "float64", "float16", "int16"])
@pytest.mark.parametrize(("sem", "scope"), [("acquire", "gpu"), ("relaxed", "sys"), ("relaxed", "cta")])
def test_atomic_load_store_poll(dtype, sem, scope):
    p, out = np.full(N, 100, dtype), np.full(N, 77, dtype)
    flag, seen = arange(), np.full(N, -1, np.int32)
    flag[[2, 9]] = 99
    at_once[(1,)](p, flag, out, seen, sem, scope)
    wanted = np.where(arange() < 11, arange() * 3, 100).astype(dtype)
    np.testing.assert_array_equal(p, wanted)
    np.testing.assert_array_equal(out, np.where(arange() < 13, wanted, 77))
    np.testing.assert_array_equal(seen, flag == arange())


@tritium.jit
def several_atomics(p, old, op: tl.constexpr, sem: tl.constexpr, scope: tl.constexpr):
    at = tl.arange(0, 16)
    where = p + at // 4
    value = (at + 1).to(p.dtype.element_ty)
    if op == "add":
        before = tl.atomic_add(where, value, mask=at < 14, sem=sem, scope=scope)
    elif op == "max":
        before = tl.atomic_max(where, value, mask=at < 14, sem=sem, scope=scope)
    elif op == "min":
        before = tl.atomic_min(where, value, mask=at < 14, sem=sem, scope=scope)
    elif op == "and":
        before = tl.atomic_and(where, value, mask=at < 14, sem=sem, scope=scope)
    elif op == "or":
        before = tl.atomic_or(where, value, mask=at < 14, sem=sem, scope=scope)
    elif op == "xor":
        before = tl.atomic_xor(where, value, mask=at < 14, sem=sem, scope=scope)
    elif op == "xchg":
        before = tl.atomic_xchg(where, value, mask=at < 14, sem=sem, scope=scope)
    else:
        before = tl.atomic_cas(where, (at * 0 + 6).to(p.dtype.element_ty), value, sem=sem, scope=scope)
    tl.store(old + at, before, mask=at < 14)


COMBINE = {
    "add": np.add.reduce, "max": np.maximum.reduce, "min": np.minimum.reduce, "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce, "xor": np.bitwise_xor.reduce,
}  # fmt: skip
KINDS = dict.fromkeys(COMBINE, INTS)
KINDS |= {
    "add": [*INTS, "float16", "float32", "float64"],
    "max": [*INTS, "float32", "float64"],
    "min": [*INTS, "float32", "float64"],
}
KINDS |= {"xchg": [*INTS, "float32", "float64"], "cas": ["int32", "int64", "uint32", "uint64", "int16", "uint16"]}
ORDERS = [("acq_rel", "gpu"), ("relaxed", "sys"), ("acquire", "cta"), ("release", "gpu")]


@pytest.mark.parametrize(("op", "dtype"), [(op, dtype) for op, dtypes in KINDS.items() for dtype in dtypes])
def test_duplicate_atomics(op, dtype):
    """Four elements of a block on each place: all count, the old values are those of some order."""
    sem, scope = ORDERS[(len(op) + len(dtype)) % 4]
    p, old = np.full(4, 6, dtype), np.zeros(N, dtype)
    several_atomics[(1,)](p, old, op, sem, scope)
    values = [[k + 1 for k in range(16) if k // 4 == i and (k < 14 or op == "cas")] for i in range(4)]
    if op in COMBINE:
        wanted = [COMBINE[op](np.array([6, *v], dtype)) for v in values]
        np.testing.assert_array_equal(p, np.array(wanted, dtype))
    else:
        for i, v in enumerate(values):
            assert p[i] in v and (old[4 * i : 4 * i + 4] == 6).sum() >= 1, (i, p, old)


# -- the target ---------------------------------------------------------------------------------------------------


@tritium.constexpr_function
def answers():
    """What Python asks on behalf of a kernel, and nothing of the machine: the kernel may be for another."""
    target = tl.target_info.current_target()
    return f"{target.backend} {tl.target_info.is_cuda()} {target.warp_size} {tl.target_info.cuda_capability_geq(8)}"


@tritium.jit
def questions(y):
    if tl.target_info.is_cuda():
        tl.static_assert(tl.target_info.current_target().backend == "cuda")
        tl.static_assert(tl.target_info.current_target().arch >= 80)
        tl.static_assert(answers() == "cuda True 32 True")
        tl.store(y, 1 if tl.target_info.cuda_capability_geq(8, 0) else 2)
    else:
        tl.static_assert(tl.target_info.current_target().backend == "cpu")
        tl.static_assert(answers() == "cpu False 1 False")
        tl.static_assert(not tl.target_info.cuda_capability_geq(8, 0))
        tl.store(y, 3)
    tl.static_assert(not tl.target_info.is_hip())
    tl.static_assert(not tl.target_info.is_hip_cdna3() and not tl.target_info.is_hip_cdna4())
    tl.static_assert(not tl.target_info.is_hip_gfx1250())
    tl.store(y + 1, tl.extra.cuda.num_warps())
    tl.store(y + 2, tl.extra.cuda.num_threads() // tl.extra.cuda.num_warps())
    tl.extra.cuda.gdc_wait()
    tl.extra.cuda.gdc_launch_dependents()


@pytest.mark.nvidia
def test_target_info_num_warps_num_threads_gdc():
    y = np.zeros(3, np.int32)
    questions[(1,)](y, num_warps=2)
    assert y[0] in (1, 3) and y[1] == 2 and y[2] in (1, 32)


# -- Python -------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    low: object
    high: object


@tritium.jit
def total(*values):
    result = 0
    for value in values:
        result += value
    return result


@tritium.jit
def python(y, pair, name: tl.constexpr = "low", note: tl.constexpr = None):
    items = list((1, 2, 3))  # noqa: C410
    tl.store(y, len(items) + int(2.9) + total(*items))
    tl.store(y + 1, getattr(pair, name) if hasattr(pair, name) else 0)
    squares = [i * i for i in (1, 2, 3) if i != 2]
    tl.store(y + 2, squares[0] + squares[1])
    if note is None:
        tl.store(y + 3, +(2**5))
    if (double := pair.high * 2) > 3 and bool(1):
        tl.store(y + 4, double)
    tl.static_assert(f"{len(items)} items" == "3 items")
    assert pair.low < pair.high, "ordered"
    print("python", pair.low)


@pytest.mark.shows("builtins.print")
def test_python_in_kernels(capfd):
    y = np.zeros(5, np.int32)
    python[(1,)](y, Pair(2, 5))
    np.testing.assert_array_equal(y, [3 + 2 + 6, 2, 10, 32, 10])


@tritium.aggregate
class Span:
    low: tl.tensor
    high: tl.tensor

    @tritium.constexpr_function
    def __init__(self, low, high):
        self.low = low
        self.high = high

    @tritium.jit
    def length(self):
        return self.high - self.low


@tritium.constexpr_function
def next_odd(n):
    return n + 1 - n % 2


@tritium.jit
def aggregates(x, y):
    span = Span(tl.load(x), tl.load(x + 1))
    tl.store(y, span.length())
    wider = tl.aggregate_replace(span, high=tl.load(x + 2))
    tl.store(y + 1, wider.length() + next_odd(4))
    i = 0
    while tl.condition(i < 3, disable_licm=True):
        i += 1
    tl.store(y + 2, i)


@pytest.mark.shows("tl.constexpr_function", "tritium.aggregate", "tritium.constexpr_function", "tl.condition")
def test_aggregate_replace_constexpr_function_condition():
    y = np.zeros(3, np.int32)
    aggregates[(1,)](np.array([3, 10, 50], np.int32), y)
    np.testing.assert_array_equal(y, [7, 52, 3])


# -- random numbers -----------------------------------------------------------------------------------------------


@tritium.jit
def random(y, z):
    at = tl.arange(0, 16)
    zero = (at * 0).to(tl.uint32)
    a, b, _, _ = tl.philox_impl(at.to(tl.uint32), zero, zero, zero, zero + 7, zero)
    c, d, _, _ = tl.philox(7, at.to(tl.uint32), zero, zero, zero)
    tl.store(y + at, a)
    tl.store(y + 16 + at, c)
    u, v = tl.uint_to_uniform_float(a), tl.uint_to_uniform_float(b)
    m, n = tl.pair_uniform_to_normal(u, v)
    tl.store(z + at, u)
    tl.store(z + 16 + at, v)
    tl.store(z + 32 + at, m)
    tl.store(z + 48 + at, n)


def test_philox_impl_pair_uniform_to_normal():
    y, z = np.zeros((2, N), np.uint32), np.zeros((4, N), np.float32)
    random[(1,)](y, z)
    np.testing.assert_array_equal(y[0], y[1])
    u, v = z[:2].astype(np.float64)
    radius = np.sqrt(-2 * np.log(np.maximum(u, 1e-7)))
    np.testing.assert_allclose(z[2], radius * np.cos(2 * np.pi * v), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(z[3], radius * np.sin(2 * np.pi * v), rtol=1e-4, atol=1e-5)


# -- descriptors, managers, fp8 -----------------------------------------------------------------------------------


@tritium.jit
def moved(x, y, sums, rows_ptr, seen, m, n):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [8, 16])
    b = tl.make_tensor_descriptor(y, [m, n], [n, 1], [8, 16])
    tl.static_assert(isinstance(a, tl.tensor_descriptor) and isinstance(a.type, tl.tensor_descriptor_type))
    b.store([0, 0], a.load([8, 16]) + 1)
    tl.store_tensor_descriptor(b, [8, 0], tl.load_tensor_descriptor(a, [0, 16]))
    rows = tl.load(rows_ptr + tl.arange(0, 8))
    one = tl.make_tensor_descriptor(x, [m, n], [n, 1], [1, 16])
    two = tl.make_tensor_descriptor(y, [m, n], [n, 1], [1, 16])
    two.scatter(one.gather(rows, 16), rows, 16)
    block = tl.full([8, 16], 5, tl.int32)
    for k in tl.static_range(6):
        s = tl.make_tensor_descriptor(sums + k * 128, [8, 16], [16, 1], [8, 16])
        if k == 0:
            s.atomic_add([0, 0], block)
        elif k == 1:
            s.atomic_min([0, 0], block)
        elif k == 2:
            s.atomic_max([0, 0], block)
        elif k == 3:
            s.atomic_and([0, 0], block)
        elif k == 4:
            s.atomic_or([0, 0], block)
        else:
            s.atomic_xor([0, 0], block)
    tl.store(seen, a.shape[0])
    tl.store(seen + 1, a.strides[0].to(tl.int32))


def test_descriptor_load_store_gather_scatter_atomic():
    x, y = np.arange(512, dtype=np.int32).reshape(16, 32), np.full((16, 32), -1, np.int32)
    rows = np.array([9, 3, 15, 0, 7, 7, 2, 11], np.int32)
    sums, seen = np.tile(np.arange(128, dtype=np.int32), (6, 1)), np.zeros(2, np.int32)
    old = sums[0].copy()
    moved[(1,)](x, y, sums, rows, seen, 16, 32)
    wanted = np.full((16, 32), -1, np.int32)
    wanted[:8, :16], wanted[8:, :16] = x[8:, 16:] + 1, x[:8, 16:]
    wanted[rows, 16:] = x[rows, 16:]
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(sums, [old + 5, np.minimum(old, 5), np.maximum(old, 5), old & 5, old | 5, old ^ 5])
    np.testing.assert_array_equal(seen, [16, 32])


class Manager:
    """A context manager of the user's, at compile time."""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *error):
        return None


@tl.core.builtin
def scope(value, _semantic=None):
    return Manager(value)


@tritium.jit
def managed(y):
    with scope(6) as value:
        tl.store(y, value)


def test_with():
    y = np.zeros(1, np.int32)
    managed[(1,)](y)
    assert y[0] == 6


@tritium.jit
def narrow(x, y):
    at = tl.arange(0, 16)
    v = tl.load(x + at)
    a = tl.extra.cuda.convert_custom_float8_sm80(v, tl.float8e4b15)
    b = tl.extra.cuda.convert_custom_float8_sm70(a, tl.float16)
    tl.store(y + at, b)
    tl.device_print("seen", tl.sum(b.to(tl.float32), 0))


def test_convert_custom_float8_and_device_print(capfd):
    x, y = np.arange(N, dtype=np.float16) / 16, np.zeros(N, np.float16)  # what 4 bits of exponent, 3 of mantissa hold
    narrow[(1,)](x, y)
    np.testing.assert_allclose(y, x, rtol=1 / 16)


@tritium.jit
def extremes(x, least, most, m, n):
    at = tl.program_id(0) * 8
    block = tl.make_tensor_descriptor(x, [m, n], [n, 1], [8, 16]).load([at, 0])
    tl.make_tensor_descriptor(least, [8, n], [n, 1], [8, 16]).atomic_min([0, 0], block)
    tl.make_tensor_descriptor(most, [8, n], [n, 1], [8, 16]).atomic_max([0, 0], block)


def test_descriptor_extremes_of_halves():
    x = np.random.default_rng(3).standard_normal((64, 16)).astype(np.float16)
    least, most = np.full((8, 16), np.inf, np.float16), np.full((8, 16), -np.inf, np.float16)
    least[0], most[1] = -9, 9
    tiles = x.reshape(8, 8, 16)
    wanted = np.minimum(tiles.min(0), least), np.maximum(tiles.max(0), most)
    extremes[(8,)](x, least, most, 64, 16)
    np.testing.assert_array_equal(least, wanted[0])
    np.testing.assert_array_equal(most, wanted[1])
