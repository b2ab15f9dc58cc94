"""What the usual version of a loop takes for granted is checked, for all dimensions of the tile."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.kernels import Kernel, poisoned
from tests.conversion.test_tt_to_ttc import run_tile, sample, tile

ROWS = """
    tt.func public @k(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32, %start: i32) {
      %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %c = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
      %s = tt.splat %start : i32 -> tensor<32xi32>
      %a = arith.addi %r, %s : tensor<32xi32>
      %d = tt.splat %n : i32 -> tensor<32xi32>
      %m = arith.remsi %a, %d : tensor<32xi32>
      %w = arith.extsi %m : tensor<32xi32> to tensor<32xi64>
      %w1 = tt.expand_dims %w {axis = 1 : i32} : tensor<32xi64> -> tensor<32x1xi64>
      %w2 = tt.broadcast %w1 : tensor<32x1xi64> -> tensor<32x16xi64>
      %l = arith.constant dense<16> : tensor<32x16xi64>
      %w3 = arith.muli %w2, %l : tensor<32x16xi64>
      %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %c2 = tt.broadcast %c1 : tensor<1x16xi32> -> tensor<32x16xi32>
      %xs = tt.splat %x : !tt.ptr<i32> -> tensor<32x16x!tt.ptr<i32>>
      %p = tt.addptr %xs, %w3 : tensor<32x16x!tt.ptr<i32>>, tensor<32x16xi64>
      %q = tt.addptr %p, %c2 : tensor<32x16x!tt.ptr<i32>>, tensor<32x16xi32>
      %v = tt.load %q : tensor<32x16x!tt.ptr<i32>>
      %k = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
      %k2 = tt.reshape %k : tensor<512xi32> -> tensor<32x16xi32>
      %os = tt.splat %o : !tt.ptr<i32> -> tensor<32x16x!tt.ptr<i32>>
      %op = tt.addptr %os, %k2 : tensor<32x16x!tt.ptr<i32>>, tensor<32x16xi32>
      tt.store %op, %v : tensor<32x16x!tt.ptr<i32>>
      tt.return
    }"""


@pytest.mark.parametrize("n", [1, 5, 20, 32, 40])
@pytest.mark.parametrize("start", [0, 3, 39])
def test_rows_that_wrap_around(n: int, start: int) -> None:
    """A remainder along another dimension than the vectors', below an extension."""
    x = np.arange(40 * 16, dtype=np.int32).reshape(40, 16)
    out = poisoned((32, 16), np.int32)
    Kernel(ROWS)((1,), x, out, n, start)
    np.testing.assert_array_equal(out, x[(start + np.arange(32)) % n])


SUM = """
    tt.func public @k(%o: !tt.ptr<i32>, %n: i32, %start: i32) {
      %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
      %s = tt.splat %start : i32 -> tensor<64xi32>
      %a = arith.addi %r, %s : tensor<64xi32>
      %d = tt.splat %n : i32 -> tensor<64xi32>
      %m = arith.remsi %a, %d : tensor<64xi32>
      %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
      %op = tt.addptr %os, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
      tt.store %op, %m : tensor<64x!tt.ptr<i32>>
      tt.return
    }"""


@pytest.mark.parametrize("n", [1000, 2**31 - 1])
@pytest.mark.parametrize("start", [0, 990, 2**31 - 30, 2**31 - 3, -5])
def test_remainder_of_a_sum_that_wraps_around(n: int, start: int) -> None:
    """Past 2^31 the sum is negative, and so is its remainder."""
    out = poisoned(64, np.int32)
    Kernel(SUM)((1,), out, n, start)
    a = (np.int64(start) + np.arange(64)).astype(np.int32)
    np.testing.assert_array_equal(out, np.fmod(a, np.int32(n)))


@pytest.mark.parametrize("kind", ["group", "loop"])
def test_gather_of_a_tile_of_its_own_loop(kind: str) -> None:
    """What is gathered at random must be whole before: in the same group of loops, and in the tile a loop carries."""
    t = "tensor<64xi32>"
    head = f"""
    tt.func public @k(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {{
      %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : {t}
      %e = arith.constant dense<63> : {t}
      %i = arith.subi %e, %r : {t}
      %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
      %xp = tt.addptr %xs, %r : tensor<64x!tt.ptr<i32>>, {t}
      %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
      %op = tt.addptr %os, %r : tensor<64x!tt.ptr<i32>>, {t}
      %v = tt.load %xp : tensor<64x!tt.ptr<i32>>"""
    gather = f"{{axis = 0 : i32}} : ({t}, {t}) -> {t}"
    if kind == "group":
        body = f"""
      %w = arith.addi %v, %v : {t}
      %g = tt.gather %w[%i] {gather}
      %f = "tt.reduce"(%g) <{{axis = 0 : i32}}> ({{
      ^bb0(%p: i32, %q: i32):
        %z = arith.addi %p, %q : i32
        tt.reduce.return %z : i32
      }}) : ({t}) -> i32
      %u = tt.splat %f : i32 -> {t}"""
    else:
        body = f"""
      %lo = arith.constant 0 : i32
      %hi = arith.constant 3 : i32
      %one = arith.constant 1 : i32
      %u = scf.for %n = %lo to %hi step %one iter_args(%w = %v) -> ({t}) : i32 {{
        %g = tt.gather %w[%i] {gather}
        scf.yield %g : {t}
      }}"""
    x = np.arange(64, dtype=np.int32) ** 2
    out = poisoned(64, np.int32)
    Kernel(f"{head}{body}\n tt.store %op, %u : tensor<64x!tt.ptr<i32>>\n tt.return\n }}")((1,), x, out)
    np.testing.assert_array_equal(out, np.full(64, 2 * x.sum()) if kind == "group" else x[::-1])


def test_checked_access_outside_of_an_inner_loop() -> None:
    """A load that is the same for a whole row is done, and checked, once a row."""
    text = """
    tt.func public @k(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
      %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
      %e = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
      %b = tt.broadcast %e : tensor<4x1xi32> -> tensor<4x64xi32>
      %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x64x!tt.ptr<i32>>
      %xp = tt.addptr %xs, %b : tensor<4x64x!tt.ptr<i32>>, tensor<4x64xi32>
      %v = tt.load %xp : tensor<4x64x!tt.ptr<i32>>
      %k = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
      %k2 = tt.reshape %k : tensor<256xi32> -> tensor<4x64xi32>
      %os = tt.splat %o : !tt.ptr<i32> -> tensor<4x64x!tt.ptr<i32>>
      %op = tt.addptr %os, %k2 : tensor<4x64x!tt.ptr<i32>>, tensor<4x64xi32>
      tt.store %op, %v : tensor<4x64x!tt.ptr<i32>>
      tt.return
    }"""
    x, out = np.arange(4, dtype=np.int32), poisoned((4, 64), np.int32)
    bounds = np.array([(a.ctypes.data, a.ctypes.data + a.nbytes) for a in (x, out)], np.uint64)
    assert Kernel(text, sanitize=True)((1,), x, out, bounds=bounds.ctypes.data) is None
    np.testing.assert_array_equal(out, np.repeat(x, 64).reshape(4, 64))


@pytest.mark.parametrize("kind", ["uniform", "indexed", "atomic"])
def test_loads_come_before_stores_to_the_same_elements(kind: str) -> None:
    """All lanes read what was there before any of them writes, even where many share an address."""
    t, p = "tensor<256xi32>", "tensor<256x!tt.ptr<i32>>"
    offsets = {
        "uniform": f"%i = arith.constant dense<0> : {t}",
        "indexed": f"%three = arith.constant dense<3> : {t}\n %i = arith.andi %r, %three : {t}",
        "atomic": f"%i = arith.addi %r, %one : {t}",
    }[kind]
    store = f"tt.store %p, %w : {p}"
    if kind == "atomic":
        store = f"%old = tt.atomic_rmw add, acq_rel, gpu, %q, %v : ({p}, {t}) -> {t}"
    text = f"""
    tt.func public @k(%x: !tt.ptr<i32>) {{
      %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : {t}
      %one = arith.constant dense<1> : {t}
      {offsets}
      %xs = tt.splat %x : !tt.ptr<i32> -> {p}
      %q = tt.addptr %xs, %i : {p}, {t}
      %p = tt.addptr %xs, {"%r" if kind == "atomic" else "%i"} : {p}, {t}
      %v = tt.load %p : {p}
      %w = arith.addi %v, %one : {t}
      {store}
      tt.return
    }}"""
    x = np.arange(257, dtype=np.int32)
    want = x.copy()
    if kind == "atomic":
        want[1:] += x[:-1]
    else:
        want[: {"uniform": 1, "indexed": 4}[kind]] += 1
    Kernel(text)((1,), x)
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("trips", [0, 1, 2])
def test_what_a_loop_that_may_not_run_hands_on_is_still_itself_afterwards(trips: int) -> None:
    """The loop carries %v, made before it, into a tile that another carried tile reads turned around."""
    t = "tensor<16x16xf32>"
    body = f"""%c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %n = arith.constant {trips} : i32
      %v = arith.negf %a : {t}
      %w:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %a) -> ({t}, {t}) : i32 {{
        %s = tt.trans %p {{order = array<i32: 1, 0>}} : {t} -> {t}
        scf.yield %v, %s : {t}, {t}
      }}
      %d = arith.addf %w#0, %w#1 : {t}
      %r = arith.addf %d, %v : {t}"""
    a = sample(16, 16)
    p = q = a
    for _ in range(trips):
        p, q = -a, p.T
    np.testing.assert_array_equal(run_tile(tile(16, 16, body), a, (16, 16)), (p + q) - a)
