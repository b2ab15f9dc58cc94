"""The evaluator itself: against NumPy, against known bit patterns, and that it touches nothing it must not."""

from __future__ import annotations

import numpy as np
import pytest

from tritium.interpreter.evaluator import AssertionFailed, OutOfBoundsError, TensorDesc, run
from tritium.interpreter.numbers import decode, encode
from tritium.ir import FLOATS, bits_float, float_bits, parse_module

ADD = """
tt.func public @add(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c64 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.splat %start : i32 -> tensor<64xi32>
  %i = arith.addi %s, %r : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %a = tt.load %xp, %m : tensor<64x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %b = tt.load %yp, %m : tensor<64x!tt.ptr<f32>>
  %c = arith.addf %a, %b : tensor<64xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %op, %c, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
"""


def body(text: str, arguments: str) -> str:
    return f"tt.func public @k({arguments}) {{\n{text}\n  tt.return\n}}"


@pytest.mark.parametrize("n", [0, 1, 63, 64, 130])
def test_masked_vector_add(n):
    x, y = np.random.default_rng(n).standard_normal((2, n)).astype(np.float32)
    out = np.full(n + 3, 7, np.float32)
    run(parse_module(ADD), (3,), [x, y, out[:n], n])
    np.testing.assert_array_equal(out[:n], x + y)
    assert (out[n:] == 7).all()


def test_access_outside_is_an_error():
    x = np.zeros(100, np.float32)
    with pytest.raises(OutOfBoundsError, match="400 bytes from the start of one of 400"):
        run(parse_module(ADD), (2,), [x, x, x, 128])


def test_reduce_argmax_and_scan():
    text = """
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %v = tt.load %xp : tensor<8x!tt.ptr<i32>>
  %best:2 = "tt.reduce"(%v, %r) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %i: i32, %b: i32, %j: i32):
    %less = arith.cmpi slt, %a, %b : i32
    %c = arith.select %less, %b, %a : i32
    %k = arith.select %less, %j, %i : i32
    tt.reduce.return %c, %k : i32, i32
  }) : (tensor<8xi32>, tensor<8xi32>) -> (i32, i32)
  %sums = "tt.scan"(%v) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.scan.return %c : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  %ss = tt.splat %s : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %sp = tt.addptr %ss, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %sp, %sums : tensor<8x!tt.ptr<i32>>
  tt.store %o, %best#1 : !tt.ptr<i32>"""
    x = np.array([3, 1, 9, 4, 9, 2, -5, 0], np.int32)
    sums, out = np.zeros(8, np.int32), np.zeros(1, np.int32)
    run(parse_module(body(text, "%x: !tt.ptr<i32>, %s: !tt.ptr<i32>, %o: !tt.ptr<i32>")), 1, [x, sums, out])
    assert out[0] == 2
    np.testing.assert_array_equal(sums, x[::-1].cumsum()[::-1])


def test_loops_branches_and_calls():
    text = """
tt.func private @twice(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %r = arith.muli %x, %c2 : i32
  tt.return %r : i32
}
tt.func public @k(%o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %odd = arith.andi %i, %c1 : i32
    %p = arith.cmpi ne, %odd, %c0 : i32
    %b = scf.if %p -> (i32) {
      %d = tt.call @twice(%i) : (i32) -> i32
      scf.yield %d : i32
    } else {
      scf.yield %c3 : i32
    }
    %c = arith.addi %a, %b : i32
    scf.yield %c : i32
  }
  %h = scf.while (%w = %s) : (i32) -> i32 {
    %go = arith.cmpi sgt, %w, %c3 : i32
    scf.condition(%go) %w : i32
  } do {
  ^bb0(%w: i32):
    %half = arith.shrui %w, %c1 : i32
    scf.yield %half : i32
  }
  tt.store %o, %s : !tt.ptr<i32>
  %o1 = tt.addptr %o, %c1 : !tt.ptr<i32>, i32
  tt.store %o1, %h : !tt.ptr<i32>
  tt.return
}"""
    out = np.zeros(2, np.int32)
    run(parse_module(text), 1, [out, 10])
    total = sum(2 * i if i % 2 else 3 for i in range(10))
    half = total
    while half > 3:
        half >>= 1
    assert out.tolist() == [total, half]


def test_atomics_see_each_other_in_program_order():
    text = """
  %c1 = arith.constant 1 : i32
  %pid = tt.get_program_id x : i32
  %old = tt.atomic_rmw add, acq_rel, gpu, %n, %c1 : (!tt.ptr<i32>, i32) -> i32
  %p = tt.addptr %o, %pid : !tt.ptr<i32>, i32
  tt.store %p, %old : !tt.ptr<i32>"""
    count, out = np.zeros(1, np.int32), np.full(5, -1, np.int32)
    run(parse_module(body(text, "%n: !tt.ptr<i32>, %o: !tt.ptr<i32>")), 5, [count, out])
    assert count[0] == 5
    assert out.tolist() == [0, 1, 2, 3, 4]


def test_atomic_sums_of_floats_keep_their_fractions():
    text = """
  %x = arith.constant 1.25 : f32
  %old = tt.atomic_rmw fadd, acq_rel, gpu, %n, %x : (!tt.ptr<f32>, f32) -> f32
  %pid = tt.get_program_id x : i32
  %p = tt.addptr %o, %pid : !tt.ptr<f32>, i32
  tt.store %p, %old : !tt.ptr<f32>"""
    total, out = np.full(1, 0.5, np.float32), np.zeros(3, np.float32)
    run(parse_module(body(text, "%n: !tt.ptr<f32>, %o: !tt.ptr<f32>")), 3, [total, out])
    assert total[0] == 4.25 and out.tolist() == [0.5, 1.75, 3.0]


def test_descriptor_pads_and_drops():
    text = """
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  tt.descriptor_store %e[%i, %i], %v : !tt.tensordesc<4x8xf32>, tensor<4x8xf32>"""
    types = "%d: !tt.tensordesc<4x8xf32>, %e: !tt.tensordesc<4x8xf32>, %i: i32"
    x = np.arange(30, dtype=np.float32).reshape(5, 6)
    out = np.full((3, 6), -1, np.float32)
    run(parse_module(body(text, types)), 1, [TensorDesc(x, (5, 6), (6, 1), "nan"), TensorDesc(out, (3, 5), (6, 1)), -2])
    expected = np.full((3, 6), -1, np.float32)
    expected[:2, :5] = x[:2, :5]
    np.testing.assert_array_equal(out, expected)


def test_assertions_and_prints():
    text = """
  %c1 = arith.constant 1 : i32
  tt.print " n =" {hex = false, isSigned = array<i32: 1>} : %n : i32
  %p = arith.cmpi sgt, %n, %c1 : i32
  tt.assert %p, "n is small" : i1"""
    module = parse_module(body(text, "%n: i32"))
    assert run(module, 1, [5]).printed == ["pid (0, 0, 0) n = 5"]
    with pytest.raises(AssertionFailed, match="n is small"):
        run(module, 1, [1])


@pytest.mark.parametrize("name", ["bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"])
def test_narrow_floats_agree_with_the_compilers_own(name):
    """Two independent implementations of every format: all patterns both ways, and numbers between them."""
    ty = FLOATS[name]
    patterns = np.arange(1 << ty.width, dtype=f"u{ty.width // 8}")
    values = decode(patterns, ty)
    mine = [bits_float(int(b), ty) for b in patterns]
    np.testing.assert_array_equal(values, np.array(mine, np.float32))
    rng = np.random.default_rng(3)
    finite = np.sort(values[np.isfinite(values)].astype(np.float64))
    middle = (finite[1:] + finite[:-1]) / 2
    samples = np.concatenate([finite, middle, np.nextafter(middle, np.inf), rng.standard_normal(500) * 100])
    samples = rng.permutation(samples)[:4000]
    bits = encode(samples, ty)
    np.testing.assert_array_equal(bits, [float_bits(float(x), ty) for x in samples])
