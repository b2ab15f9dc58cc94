"""Details of the language that programs in the wild rely on, each run against NumPy."""

from typing import NamedTuple

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.e2e import wrapping


@pytest.mark.parametrize("dim", [0, 1, -1, None])
def test_flip_along_any_dimension(dim):
    @tritium.jit
    def kernel(x, y, dim: tl.constexpr):
        at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
        tl.store(y + at, tl.flip(tl.load(x + at), dim))

    x = np.random.default_rng(0).integers(0, 100, (4, 8)).astype(np.int32)
    y = np.empty_like(x)
    kernel[(1,)](x, y, dim)
    np.testing.assert_array_equal(y, np.flip(x, -1 if dim is None else dim))


@pytest.mark.parametrize("descending", [False, True])
def test_topk_of_either_end(descending):
    @tritium.jit
    def kernel(x, y, descending: tl.constexpr):
        values = tl.load(x + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :])
        best = tl.topk(values, 4, descending=descending)
        tl.store(y + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], best)

    x = np.random.default_rng(1).standard_normal((4, 16)).astype(np.float32)
    y = np.empty((4, 4), np.float32)
    kernel[(1,)](x, y, descending)
    expected = np.sort(x, 1)
    np.testing.assert_array_equal(y, expected[:, ::-1][:, :4] if descending else expected[:, :4])


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "uint8", "int64", "uint32"])
@pytest.mark.parametrize(("rows", "columns", "k"), [(1, 1, 1), (2, 8, 1), (4, 64, 8), (1, 256, 16), (2, 16, 16)])
def test_topk_keeps_equal_elements_and_orders_nan_as_the_greatest(dtype, rows, columns, k):
    @tritium.jit
    def kernel(x, y, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
        values = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
        at = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
        tl.store(y + at, tl.topk(values, K))
        tl.store(y + M * K + at, tl.topk(values, K, descending=False))

    x = np.random.default_rng(columns).integers(0, 100, (rows, columns)).astype(dtype)
    if x.dtype.kind == "f" and columns > 8:
        x[0, [3, 7, 9]] = np.nan, np.inf, -np.inf
    y = np.full((2, rows, k), 77, dtype)
    kernel[(1,)](x, y, rows, columns, k)
    rising = np.sort(x, 1)  # NaNs last
    np.testing.assert_array_equal(y, [rising[:, ::-1][:, :k], rising[:, :k]])


def test_random_integers_of_wide_offsets_are_those_of_narrow_ones():
    @tritium.jit
    def kernel(narrow, wide, far):
        at = tl.arange(0, 64)
        tl.store(narrow + at, tl.randint(7, at))
        tl.store(wide + at, tl.randint(7, at.to(tl.int64)))
        tl.store(far + at, tl.randint(7, at.to(tl.int64) + (1 << 32)))

    narrow, wide, far = (np.empty(64, np.int32) for _ in range(3))
    kernel[(1,)](narrow, wide, far)
    np.testing.assert_array_equal(narrow, wide)  # the counter is the offset's two words
    assert (narrow != far).all()


def test_a_seed_is_an_integer():
    @tritium.jit
    def kernel(x):
        tl.store(x, tl.rand(1.5, tl.program_id(0)))

    with pytest.raises(tritium.CompilationError, match="seed"):
        kernel[(1,)](np.empty(1, np.float32))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_negation_turns_the_sign_of_zeros_and_nans(dtype):
    @tritium.jit
    def kernel(x, y):
        at = tl.arange(0, 4)
        tl.store(y + at, -tl.load(x + at))

    x = np.array([0.0, -0.0, np.nan, 2.0], dtype)
    y = np.empty_like(x)
    kernel[(1,)](x, y)
    np.testing.assert_array_equal(np.signbit(y), ~np.signbit(x))


def test_a_conditional_expression_of_calls_without_a_value():
    @tritium.jit
    def kernel(x):
        tl.store(x, 3) if tl.program_id(0) == 0 else tl.store(x + 1, 4)

    x = np.zeros(2, np.int32)
    kernel[(2,)](x)
    np.testing.assert_array_equal(x, [3, 4])


def test_integers_become_pointers_and_back():
    @tritium.jit
    def kernel(addresses, out):
        at = tl.arange(0, 2)
        pointers = tl.load(addresses + at).to(tl.pi32_t)
        tl.store(out + at, tl.load(pointers))
        tl.store(addresses + at, tl.where(at == 0, pointers + 1, pointers))

    a, b = np.array([5, 6], np.int32), np.array([7, 8], np.int32)
    addresses, out = np.array([a.ctypes.data, b.ctypes.data]), np.empty(2, np.int32)
    kernel[(1,)](addresses, out)
    np.testing.assert_array_equal(out, [5, 7])
    np.testing.assert_array_equal(addresses, [a.ctypes.data + 4, b.ctypes.data])


def test_the_type_of_a_compile_time_value():
    @tritium.jit
    def kernel(n: tl.constexpr):
        tl.static_assert(n.type == tl.constexpr_type(10))
        tl.static_assert(n.type != tl.constexpr_type(10.0))

    kernel[(1,)](10)


def test_bf16_atomic_add_by_many_programs():
    torch = pytest.importorskip("torch")

    @tritium.jit
    def kernel(x, old):
        at = tl.arange(0, 4)
        before = tl.atomic_add(x + at, 1.0, mask=at != 2)
        tl.store(old + tl.program_id(0) * 4 + at, before)

    x = torch.zeros(4, dtype=torch.bfloat16)
    old = torch.zeros(128, 4, dtype=torch.bfloat16)
    kernel[(128,)](x, old)
    assert x.tolist() == [128, 128, 0, 128]  # exact up to 256
    assert sorted(old[:, 0].tolist()) == list(range(128))


def test_constants_returned_from_functions_stay_constants():
    @tritium.jit
    def pick(flag):
        if flag < 0:
            return 0.5
        return 2

    @tritium.jit
    def kernel(x, flag):
        known: tl.constexpr = pick(-1)
        tl.static_assert(known == 0.5)
        half = tl.load(x) * pick(-1)  # a number adapts to the type beside it
        tl.static_assert(half.dtype == tl.float16)
        tl.store(x, half)
        tl.store(x + 1, signed(flag))

    @tritium.jit
    def signed(value):
        if value < 0:
            return -1
        else:
            return 1

    x = np.array([3, 0], np.float16)
    kernel[(1,)](x, -7)
    np.testing.assert_array_equal(x, [1.5, -1])


def test_optional_arguments_of_a_tuned_kernel_may_be_none():
    @tritium.autotune(
        [tritium.Config({"B": 16}), tritium.Config({"B": 32})], ["n"], reset_to_zero=["x"], rep=1, warmup=1
    )
    @tritium.jit
    def kernel(x, y, n, B: tl.constexpr):
        if x is not None:
            tl.atomic_add(x, 1)
        tl.store(y + tl.program_id(0), n)

    y = np.zeros(2, np.int32)
    kernel[(2,)](None, y, 3)
    np.testing.assert_array_equal(y, 3)


@tritium.must_use_result("It is pure.")
@tritium.jit
def cube(x):
    return x * x * x


@tritium.aggregate
class Square:
    x: tl.tensor

    @tritium.must_use_result
    @tritium.constexpr_function
    def power(self):
        return 2


@pytest.mark.shows("tritium.must_use_result")
def test_results_that_must_be_used():
    @tritium.jit
    def good(x):
        value = cube(tl.load(x))
        square = Square(value)
        tl.store(x, value + square.power())

    @tritium.jit
    def lost(x):
        cube(tl.load(x))

    @tritium.jit
    def lost_method(x):
        square = Square(tl.load(x))
        square.power()

    x = np.array([3], np.int32)
    good[(1,)](x)
    assert x[0] == 29
    with pytest.raises(tritium.CompilationError, match="The result of cube is not being used. It is pure."):
        lost[(1,)](x)
    with pytest.raises(tritium.CompilationError, match="The result of square.power is not being used."):
        lost_method[(1,)](x)


class Shape(NamedTuple):
    rows: tl.constexpr
    columns: tl.constexpr


@tritium.constexpr_function
def transposed(shape):
    return Shape(shape.columns, shape.rows)


def test_named_tuples_pass_through_compile_time_functions():
    @tritium.jit
    def kernel(x):
        tl.store(x, transposed(Shape(3, 4)).rows)

    x = np.zeros(1, np.int32)
    kernel[(1,)](x)
    assert x[0] == 4


def test_expected_zeros_are_asserted_in_debug_mode_only():
    @tritium.jit
    def kernel(x, y):
        at = tl.arange(0, 4)
        tl.store(y + at, tl.expect_zero(tl.load(x + at), at < 2))

    x = np.array([0, 5, 6, 7], np.float32)
    y = np.zeros_like(x)
    kernel[(1,)](x, y)
    np.testing.assert_array_equal(y, x)
    with pytest.raises(tritium.runtime.DeviceAssertError, match="expect_zero"):
        kernel[(1,)](x, y, debug=True)
    x[1] = 0
    kernel[(1,)](x, y, debug=True)
    np.testing.assert_array_equal(y, x)


def test_debug_mode_asserts_that_integers_do_not_overflow():
    @tritium.jit
    def kernel(x, y, n):
        tl.store(y, tl.load(x) + n.to(tl.int8))

    x, y = np.array([120], np.int8), np.zeros(1, np.int8)
    kernel[(1,)](x, y, 100)
    assert y[0] == -36
    kernel[(1,)](x, y, 7, debug=True)
    assert y[0] == 127
    with pytest.raises(tritium.runtime.DeviceAssertError, match="int8 overflow"):
        kernel[(1,)](x, y, 8, debug=True)
    kernel[(1,)](x, y, 8, debug=True, sanitize_overflow=False)
    assert y[0] == -128


def test_a_scalar_becomes_a_block_by_new_dimensions():
    @tritium.jit
    def kernel(x):
        pointer = x[None, None, :]
        tl.static_assert(pointer.shape == [1, 1])
        tl.store(pointer, tl.full([1, 1], 7, tl.int32))

    x = np.zeros(1, np.int32)
    kernel[(1,)](x)
    assert x[0] == 7


def test_blocks_may_be_passed_to_parameters_annotated_constexpr():
    """The attention of the tutorials does."""

    @tritium.jit
    def causal(x, rows: tl.constexpr, columns: tl.constexpr, STAGE: tl.constexpr):
        return tl.where(rows[:, None] >= columns[None, :], x, 0.0) if STAGE == 2 else x

    @tritium.jit
    def kernel(x, y, N: tl.constexpr):
        at = tl.arange(0, N)
        where = at[:, None] * N + at[None, :]
        tl.store(y + where, causal(tl.load(x + where), at, at, N // 4))

    x = np.random.default_rng(0).random((8, 8), np.float32)
    y = np.empty_like(x)
    kernel[(1,)](x, y, 8)
    np.testing.assert_array_equal(y, np.tril(x))


@pytest.mark.parametrize("a, b, c", [(5, 2, 7), (2**31 - 1, -5, 2**40 + 1), (-(2**31), 2**31 - 1, -(2**62))])
def test_strides_of_loops_and_of_symbols_add_up(a, b, c) -> None:
    """What wraps around in one type is extended to another, and added to what does not."""
    x = np.arange(1024, dtype=np.int32) * 7919
    out = np.zeros(1024, np.int64)
    wrapping.sums_of_strides[(1,)](x, out, a, b, c, BLOCK=1024)
    np.testing.assert_array_equal(out, wrapping.expected(x, a, b, c))


@tritium.jit
def _affine(scale, shift, other_scale, other_shift):
    return scale * other_scale, shift * other_scale + other_shift


@tritium.jit
def _last(a, b):
    return b


@tritium.jit
def whole_kernel(x, y, counts, n, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(y, tl.argmax(v, None))
    _, shift = tl.reduce((v, v + 1), None, _affine)
    tl.store(y + 1, shift)
    tl.store(y + 2, tl.reduce(v, None, _last))
    tl.store(counts + tl.arange(0, 16), tl.histogram(tl.ravel(v) & 15, 16, mask=tl.arange(0, M * N) < n))
    tl.store(counts + 16 + tl.arange(0, 16), tl.histogram(tl.ravel(v), 16, mask=tl.arange(0, M * N) < n))


@pytest.mark.share(1)
def test_all_elements_of_a_block_in_their_order():
    """The places of elements count for indices, masks, and functions that do not commute: none may be reordered."""
    x = np.random.default_rng(2).permutation(64 * 16).astype(np.int32)
    y, counts = np.zeros(3, np.int32), np.zeros(32, np.int32)
    whole_kernel[(1,)](x, y, counts, 500, 64, 16)
    shift = 0
    for v in x.tolist():
        shift = (shift * v + v + 1) & 0xFFFFFFFF
    np.testing.assert_array_equal(y.view(np.uint32), [x.argmax(), shift, x[-1]])
    want = [np.bincount(x[:500] & 15, minlength=16), np.bincount(x[:500], minlength=16)[:16]]
    np.testing.assert_array_equal(counts, np.concatenate(want))


def test_a_name_annotated_constexpr_may_hold_what_is_known_at_run_time_only():
    @tritium.jit
    def kernel(x, y, n):
        at: tl.constexpr = tl.arange(0, 8)
        most: tl.constexpr = tl.load(x + n)
        for i in range(2):
            total: tl.constexpr = most + i
            tl.store(y + i * 8 + at, -at + total)
        first: tl.constexpr = n
        first += 1
        tl.store(y + 16, first)
        other: tl.constexpr
        other = tl.constexpr(first)
        if other > n:
            tl.store(y + 17, other)

    x, y = np.arange(10, 20, dtype=np.int32), np.full(18, -1, np.int32)
    kernel[(1,)](x, y, 5)
    np.testing.assert_array_equal(y, [*(15 - np.arange(8)), *(16 - np.arange(8)), 6, 6])


@tl.constexpr
def width_and_type(dtype, more: tl.constexpr, times=1):
    """Asks for what is inside of a constexpr, as functions written for Triton do."""
    more = more.value if isinstance(more, tl.constexpr) else more
    return (dtype.primitive_bitwidth + more) * times, tl.int64 if more > 2 else tl.int16


def test_constexpr_above_a_function_makes_one_of_compile_time():
    @tritium.jit
    def kernel(x, y, MORE: tl.constexpr, FUNCTION: tl.constexpr):
        width, kind = width_and_type(x.dtype.element_ty, MORE)
        tl.static_assert(kind == tl.int64)
        n: tl.constexpr = width_and_type(x.dtype.element_ty, 0, times=2)[0]
        at = tl.arange(0, n)
        tl.store(y + at, width + FUNCTION(n, 1))

    x, y = np.zeros(4, np.float16), np.full(40, -1, np.int32)
    kernel[(1,)](x, y, 3, max)
    np.testing.assert_array_equal(y, [19 + 32] * 32 + [-1] * 8)
    kernel[(1,)](x, y, 4, min)
    np.testing.assert_array_equal(y, [20 + 1] * 32 + [-1] * 8)

    @tritium.jit
    def wrong(y, n):
        tl.store(y, width_and_type(y.dtype.element_ty, n)[0])

    with pytest.raises(tritium.CompilationError, match="function width_and_type got a int32 only known at run time"):
        wrong[(1,)](y, 5)


@tritium.constexpr_function
def element_of(value):
    """Python may ask a run-time value for its type: of a pointer, a block of them, a descriptor, a number."""
    if isinstance(value, tl.tensor_descriptor):
        return value.dtype
    assert isinstance(value, tl.tensor)
    return value.dtype.element_ty if value.dtype.is_ptr() else value.dtype


@tritium.constexpr_function
def computes(value, n):
    return value.shape[0] + n if n else value * 2


@tritium.jit
def asks_for_types(x, y, n, AXES: tl.constexpr):
    described = tl.make_tensor_descriptor(x, [n, 16], [16, 1], [4, 16])
    tl.static_assert(element_of(x) == tl.float16 and element_of(x + tl.arange(0, 4)) == tl.float16)
    tl.static_assert(element_of(described) == tl.float16)
    tl.static_assert(element_of(value=n) == tl.int32)
    tl.store(y, computes(tl.arange(0, 8), 3))
    if AXES:
        tl.store(y, computes(n, 0))


def test_constexpr_functions_ask_run_time_values_for_their_types():
    x, y = np.zeros((8, 16), np.float16), np.zeros(1, np.int32)
    asks_for_types[(1,)](x, y, 8, False)
    assert y[0] == 11
    with pytest.raises(tritium.CompilationError, match="function computes got a int32 only known at run time"):
        asks_for_types[(1,)](x, y, 8, True)


@tritium.jit
def greatest(dtype):
    inner = dtype.value
    if inner.is_floating():
        value: tl.constexpr = float("inf")
        return value
    width: tl.constexpr = inner.int_bitwidth
    value: tl.constexpr = 2 ** (width - 1) - 1
    return value


@pytest.mark.parametrize("dtype", [np.int32, np.int16, np.float32])
def test_types_have_a_value_as_other_compile_time_values_have(dtype):
    @tritium.jit
    def kernel(x, y, n, KIND: tl.constexpr, NOTHING: tl.constexpr):
        at = tl.arange(0, 8)
        if NOTHING.value is None:
            tl.store(y + at, tl.load(x + at, mask=at < n, other=greatest(x.dtype.element_ty)).to(KIND.value))

    x, y = np.arange(8).astype(dtype), np.zeros(8, np.float64)
    kernel[(1,)](x, y, 5, tl.float64, None)
    most = np.inf if dtype == np.float32 else np.iinfo(dtype).max
    np.testing.assert_array_equal(y, [0, 1, 2, 3, 4, most, most, most])


@pytest.mark.parametrize("steps", [40, 400])
def test_chains_of_operations_may_be_long(steps):
    """As unrolled loops make them: longer than calls of Python may be nested."""

    @tritium.jit
    def kernel(x, places, y, STEPS: tl.constexpr):
        at = tl.arange(0, 16)
        value, place = tl.load(x + at), at
        whole = tl.load(places + at)
        for i in tl.static_range(STEPS):
            value = tl.where(value > i, value * 0.5, value + 1.0)
            place = place + 1
            whole = (whole + place) ^ i
        tl.store(y + place - STEPS, value)
        tl.store(places + at, whole)

    x, y = np.arange(16, dtype=np.float32) * 9, np.full(16, np.nan, np.float32)
    places, at = np.arange(16, dtype=np.int32), np.arange(16)
    value, whole = x.copy(), places.copy()
    for i in range(steps):
        value = np.where(value > i, value * np.float32(0.5), value + np.float32(1))
        whole = (whole + at + i + 1) ^ i
    kernel[(1,)](x, places, y, steps)
    np.testing.assert_array_equal(y, value)
    np.testing.assert_array_equal(places, whole)
