"""CPU programs (`ttcir`): what the evaluator makes of them is what their machine code does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.backends.cpu.target import named_target
from tritium.compiler import ASTSource, compile
from tritium.interpreter import AssertionFailed, Evaluator, OutOfBoundsError, run
from tritium.ir import parse_module

KINDS = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u32": np.uint32,
    "fp16": np.float16, "fp32": np.float32, "fp64": np.float64,
}  # fmt: skip


def compiled(fn: Any, types: dict[str, str], constants: dict[str, Any], target: Any = None, **options: Any) -> Any:
    signature = {name: types.get(name, "constexpr") for name in fn.arg_names}
    return compile(ASTSource(fn, signature, constants), target=target or named_target("host"), options=options)


def evaluate(kernel: Any, grid: tuple[int, ...], args: list[Any], target: Any = None) -> Evaluator:
    return run(parse_module(kernel.asm["ttcir"]), grid, args, target=target)


def both(kernel: Any, grid: tuple[int, ...], args: list[Any]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each array after the evaluator, and after the machine code."""
    one, two = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    evaluate(kernel, grid, one)
    kernel[grid](*two)
    return [(a, b) for a, b in zip(one, two) if isinstance(a, np.ndarray)]


def assert_same_bits(kernel: Any, grid: tuple[int, ...], args: list[Any]) -> None:
    for evaluated, expected in both(kernel, grid, args):
        np.testing.assert_array_equal(evaluated.view(f"u{evaluated.itemsize}"), expected.view(f"u{expected.itemsize}"))


def numbers(kind: str, count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(KINDS[kind])
    return rng.integers(0, 100, count).astype(dtype) if dtype.kind != "f" else rng.standard_normal(count).astype(dtype)


# -- kernels ----------------------------------------------------------------------------------------------------------


@tritium.jit
def masked(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + at, mask=at < n, other=3)
    b = tl.load(x + n - 1 - at, mask=at < n)  # backwards: a gather
    tl.store(y + at, a + b, mask=at < n)


@pytest.mark.parametrize("kind", KINDS)
def test_masked_loads_and_stores_of_every_type(kind):
    kernel = compiled(masked, {"x": f"*{kind}", "y": f"*{kind}", "n": "i32"}, {"B": 32})
    assert_same_bits(kernel, (3,), [numbers(kind, 75), np.zeros(80, KINDS[kind]), 75])


@tritium.jit
def rounded(x, y, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at).to(y.dtype.element_ty))


@pytest.mark.parametrize("kind", ["bf16", "fp8e4nv", "fp8e5"])
def test_narrow_floats_are_stored_as_their_bits(kind):
    size = np.uint16 if kind == "bf16" else np.uint8
    down = compiled(rounded, {"x": "*fp32", "y": f"*{kind}"}, {"B": 64})
    up = compiled(rounded, {"x": f"*{kind}", "y": "*fp32"}, {"B": 64})
    x, made = numbers("fp32", 64), np.zeros(64, size)
    evaluate(down, (1,), [x, made])
    back = np.zeros(64, np.float32)
    evaluate(up, (1,), [made, back])
    np.testing.assert_allclose(back, x, rtol=0.13, atol=0.01)
    if kind == "bf16":
        bits = x.view(np.uint32)
        np.testing.assert_array_equal(made, ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16))


@tritium.jit
def reduced(x, y, z, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(y + i, tl.sum(tile, 1))
    tl.store(y + M + j, tl.max(tile, 0))
    tl.store(z + i, tl.argmin(tile, 1))
    tl.store(y + M + N + j, tl.cumsum(tl.sum(tile, 0)))


@pytest.mark.parametrize("kind", ["i32", "i64", "fp32", "fp64"])
@pytest.mark.parametrize("shape", [(4, 32), (16, 8), (2, 64)])
def test_reductions_and_scans(kind, shape):
    m, n = shape
    kernel = compiled(reduced, {"x": f"*{kind}", "y": f"*{kind}", "z": "*i32"}, {"M": m, "N": n})
    args = [numbers(kind, m * n), np.zeros(m + 2 * n, KINDS[kind]), np.zeros(m, np.int32)]
    for evaluated, expected in both(kernel, (1,), args):
        np.testing.assert_allclose(evaluated, expected, rtol=1e-5, atol=1e-5)


@tritium.jit
def counted(x, bins, old, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n, other=0)
    tl.store(old + at, tl.atomic_add(bins + value % 7, value, mask=at < n), mask=at < n)
    tl.atomic_max(bins + 7, tl.max(value))
    tl.atomic_cas(bins + 8, 0, tl.program_id(0) + 5)


@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_atomics(kind):
    kernel = compiled(counted, {"x": f"*{kind}", "bins": f"*{kind}", "old": f"*{kind}", "n": "i32"}, {"B": 16})
    args = [numbers(kind, 40), np.zeros(9, KINDS[kind]), np.zeros(40, KINDS[kind]), 40]
    evaluated, expected = zip(*both(kernel, (3,), args))
    np.testing.assert_array_equal(evaluated[1][:8], expected[1][:8])
    assert evaluated[1][8] == 5  # programs run in order here
    np.testing.assert_array_equal(args[0], evaluated[0])


@tritium.jit
def multiplied(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j[None, :])
    at = c + i[:, None] * N + j[None, :]
    tl.store(at, tl.dot(x, y, tl.load(at), out_dtype=c.dtype.element_ty))


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4", "aarch64", "host"])
@pytest.mark.parametrize("kinds", [("fp32", "fp32"), ("fp16", "fp32"), ("i8", "i32"), ("fp64", "fp64")])
@pytest.mark.parametrize("shape", [(16, 16, 16), (16, 64, 32)])
def test_dots_in_the_layout_of_the_target(target, kinds, shape):
    m, n, k = shape
    kind, out = kinds
    cpu = named_target(target)
    sizes = {"M": m, "N": n, "K": k}
    kernel = compiled(multiplied, {"a": f"*{kind}", "b": f"*{kind}", "c": f"*{out}"}, sizes, cpu)
    assert "ttc.dot" in kernel.asm["ttcir"]
    a, b = numbers(kind, m * k, 1).reshape(m, k), numbers(kind, k * n, 2).reshape(k, n)
    c = numbers(out, m * n, 3).reshape(m, n)
    expected = a.astype(np.float64) @ b.astype(np.float64) + c
    evaluate(kernel, (1,), [a, b, c], cpu)
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


@tritium.jit
def told(x, B: tl.constexpr):
    value = tl.load(x + tl.arange(0, B))
    print("value", value)
    tl.device_assert(value < 9, "too large")


def test_prints_and_assertions():
    kernel = compiled(told, {"x": "*i32"}, {"B": 4}, debug=True)
    seen = evaluate(kernel, (1,), [np.arange(4, dtype=np.int32)])
    assert seen.printed == ["pid (0, 0, 0) value: [0, 1, 2, 3]"]
    with pytest.raises(AssertionFailed, match="too large"):
        evaluate(kernel, (1,), [np.arange(6, 10, dtype=np.int32)])


@tritium.jit
def formatted(x, B: tl.constexpr):
    value = tl.load(x)
    print(f"{value:>4}|{value > 1}")
    print("")


def test_formatted_and_empty_prints():
    kernel = compiled(formatted, {"x": "*i32"}, {"B": 4})
    seen = evaluate(kernel, (1,), [np.array([2], np.int32)])
    assert seen.printed[0] == "   2|True\n", seen.printed


def test_sanitized_access_outside_of_the_array():
    kernel = compiled(rounded, {"x": "*i32", "y": "*i32"}, {"B": 8}, sanitize=True)
    assert "ttc.check_bounds" in kernel.asm["ttcir"]
    with pytest.raises(OutOfBoundsError, match="load of 4 bytes"):
        evaluate(kernel, (1,), [np.zeros(7, np.int32), np.zeros(8, np.int32)])


# -- single operations ------------------------------------------------------------------------------------------------


def program(lines: str) -> Any:
    return parse_module(
        f"module {{ tt.func public @k(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {{\n{lines}\ntt.return }} }}", "k.ttcir"
    )


def test_vectors_are_shuffled_extracted_and_splat():
    x, out = np.array([10, 11, 12, 13], np.int32), np.zeros(8, np.int32)
    lines = """
    %v = ttc.load %p : !tt.ptr<i32> -> vector<4xi32>
    %e = ttc.extract %v {lane = 2 : i32} : vector<4xi32>
    %s = ttc.splat %e : i32 -> vector<4xi32>
    %w = ttc.shuffle %v, %s [3, 0, 4, 1, 7, 2, 2, 5] : vector<4xi32> -> vector<8xi32>
    ttc.store %o, %w : !tt.ptr<i32>, vector<8xi32>"""
    run(program(lines), 1, [x, out])
    assert out.tolist() == [13, 10, 12, 11, 12, 12, 12, 12]


def test_of_scattered_lanes_with_one_address_the_last_is_stored():
    x, out = np.array([5, 6, 7, 8], np.int32), np.zeros(4, np.int32)
    lines = """
    %v = ttc.load %p : !tt.ptr<i32> -> vector<4xi32>
    %at = arith.constant dense<[1, 3, 1, 0]> : vector<4xi32>
    %on = arith.constant dense<[true, true, true, false]> : vector<4xi1>
    %ps = ttc.offset_pointer %o, %at : !tt.ptr<i32>, vector<4xi32>
    ttc.scatter %ps, %v, %on : vector<4x!tt.ptr<i32>>, vector<4xi32>"""
    run(program(lines), 1, [x, out])
    assert out.tolist() == [0, 7, 0, 6]


def test_scratch_memory_is_undefined_again_in_every_program():
    out = np.zeros(1, np.int32)
    lines = """
    %b = ttc.alloc : !ttc.buf<4xi32>
    %i = arith.constant 2 : i32
    %q = ttc.address %b[%i] : !ttc.buf<4xi32>, i32
    %old = ttc.load %q : !tt.ptr<i32> -> i32
    ttc.store %o, %old : !tt.ptr<i32>, i32
    ttc.store %q, %i : !tt.ptr<i32>, i32"""
    run(program(lines), 2, [np.zeros(1, np.int32), out])
    assert out[0] == np.iinfo(np.int32).min
