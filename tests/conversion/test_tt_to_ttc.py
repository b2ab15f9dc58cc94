"""Tile programs lowered to CPU code, run, and compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.kernels import Kernel, elementwise, poisoned

NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32}
NUMPY["i64"] = np.int64


@pytest.mark.parametrize("block", [1, 2, 8, 64, 256])
@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_masked_elementwise(block: int, n: int) -> None:
    rng = np.random.default_rng(block * 1000 + n)
    x, y = rng.standard_normal((2, n + 5)).astype(np.float32)
    out = poisoned(n + 5, np.float32)
    Kernel(elementwise("arith.addf", "f32", block))((-(-n // block),), x, y, out, n)
    np.testing.assert_array_equal(out[:n], x[:n] + y[:n])
    assert (out[n:] == 113).all()


@pytest.mark.parametrize("ty", NUMPY)
def test_element_types(ty: str) -> None:
    dtype = NUMPY[ty]
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((2, 1000)) * 50).astype(dtype)
    out = poisoned(1000, dtype)
    Kernel(elementwise("arith.muli" if ty[0] == "i" else "arith.mulf", ty, 256))((4,), x, y, out, 1000)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, x * y)


@pytest.mark.parametrize("ty", ["f16", "f32", "f64"])
def test_remainder_is_exact(ty: str) -> None:
    """arith.remf, of our own vector function: LLVM's frem would be a library call for every lane."""
    rng = np.random.default_rng(2)
    x, y = (rng.standard_normal((2, 1000)) * [[500], [3]]).astype(NUMPY[ty])
    y[::100], x[1::100] = 0, np.inf
    out = poisoned(1000, NUMPY[ty])
    Kernel(elementwise("arith.remf", ty, 256))((4,), x, y, out, 1000)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(out, np.fmod(x, y))


INTEGERS = {
    "arith.divsi": lambda a, b: np.trunc(a / b),
    "arith.remsi": np.fmod,
    "arith.divui": lambda a, b: a.view(np.uint32) // b.view(np.uint32),
    "arith.remui": lambda a, b: a.view(np.uint32) % b.view(np.uint32),
    "arith.floordivsi": np.floor_divide,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.maxsi": np.maximum,
    "arith.minui": lambda a, b: np.minimum(a.view(np.uint32), b.view(np.uint32)),
    "arith.shli": lambda a, b: np.where(b.view(np.uint32) < 32, a << (b & 31), 0),
    "arith.shrsi": lambda a, b: a >> np.minimum(b.view(np.uint32), 31).astype(np.int32),
    "arith.shrui": lambda a, b: np.where(b.view(np.uint32) < 32, a.view(np.uint32) >> (b & 31).view(np.uint32), 0),
}


@pytest.mark.parametrize("op", INTEGERS)
def test_integer_ops(op: str) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(-(2**31), 2**31, 512, dtype=np.int64).astype(np.int32)
    y = rng.integers(-(2**31), 2**31, 512, dtype=np.int64).astype(np.int32)
    y[::3] = rng.integers(1, 40, len(y[::3]))
    y[y == 0] = 5
    y[y == -1] = 3
    out = poisoned(512, np.int32)
    Kernel(elementwise(op, "i32", 128))((4,), x, y, out, 512)
    want = np.asarray(INTEGERS[op](x, y)).astype(np.int64).astype(np.int32)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("op", ["arith.divsi", "arith.remsi", "arith.divui", "arith.remui"])
@pytest.mark.parametrize("ty", ["i8", "i32", "i64"])
def test_division_never_traps(op: str, ty: str) -> None:
    least = np.iinfo(NUMPY[ty]).min
    x = np.array([5, least, 0, least], NUMPY[ty]).repeat(16)
    y = np.array([0, -1, 0, 0], NUMPY[ty]).repeat(16)
    out = poisoned(64, NUMPY[ty])
    Kernel(elementwise(op, ty, 64))((1,), x, y, out, 64)


def test_sixteen_bit_arithmetic_rounds_each_time() -> None:
    x = np.linspace(-3, 3, 256).astype(np.float16)
    y = np.linspace(1, 2, 256).astype(np.float16)
    out = poisoned(256, np.float16)
    Kernel(elementwise("arith.divf", "f16", 256))((1,), x, y, out, 256)
    np.testing.assert_array_equal(out, x / y)


@pytest.mark.parametrize("shift", [-1000, -3, -1, 0, 1, 5, 64, 255, 256, 1000])
def test_a_store_that_overlaps_a_load_comes_after_all_of_it(shift: int) -> None:
    rng = np.random.default_rng(3)
    memory = rng.standard_normal(4000).astype(np.float32)
    y = rng.standard_normal(256).astype(np.float32)
    want = memory.copy()
    want[2000 + shift : 2256 + shift] = memory[2000:2256] + y
    x, out = memory[2000:2256], memory[2000 + shift : 2256 + shift]
    Kernel(elementwise("arith.addf", "f32", 256))((1,), x, y, out, 256)
    np.testing.assert_array_equal(memory, want)


def tile(rows: int, cols: int, body: str, ty: str = "f32", result: str = "", out_type: str = "") -> str:
    """Loads %a, a rows x cols tile at %x, runs `body`, stores %r (of type `result`, row-major) at %o."""
    out_type = out_type or ty
    result = result or f"tensor<{rows}x{cols}x{out_type}>"
    t, p = f"tensor<{rows}x{cols}x{ty}>", f"tensor<{rows}x{cols}x!tt.ptr<{ty}>>"
    i = f"tensor<{rows}x{cols}xi32>"
    shape = [int(s) for s in result.removeprefix("tensor<").split("x")[:-1]]
    return f"""
    tt.func public @k(%x: !tt.ptr<{ty}>, %o: !tt.ptr<{out_type}>) {{
      %rows = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
      %cols = tt.make_range {{end = {cols} : i32, start = 0 : i32}} : tensor<{cols}xi32>
      %r1 = tt.expand_dims %rows {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
      %col1 = tt.expand_dims %cols {{axis = 0 : i32}} : tensor<{cols}xi32> -> tensor<1x{cols}xi32>
      %width = arith.constant dense<{cols}> : tensor<{rows}x1xi32>
      %r2 = arith.muli %r1, %width : tensor<{rows}x1xi32>
      %r3 = tt.broadcast %r2 : tensor<{rows}x1xi32> -> {i}
      %c3 = tt.broadcast %col1 : tensor<1x{cols}xi32> -> {i}
      %offs = arith.addi %r3, %c3 : {i}
      %xs = tt.splat %x : !tt.ptr<{ty}> -> {p}
      %xp = tt.addptr %xs, %offs : {p}, {i}
      %a = tt.load %xp : {p}
      {body}
      {_store(shape, result, out_type)}
      tt.return
    }}"""


def _store(shape: list[int], result: str, ty: str) -> str:
    if not shape:
        return f"tt.store %o, %r : !tt.ptr<{ty}>"
    n = int(np.prod(shape))
    tail = "x".join(map(str, shape))
    index = f"tensor<{tail}xi32>"
    p = f"tensor<{tail}x!tt.ptr<{ty}>>"
    return f"""
      %flat = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
      %where = tt.reshape %flat : tensor<{n}xi32> -> {index}
      %os = tt.splat %o : !tt.ptr<{ty}> -> {p}
      %op = tt.addptr %os, %where : {p}, {index}
      tt.store %op, %r : {p}"""


def run_tile(text: str, a: np.ndarray, shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    out = poisoned(max(1, int(np.prod(shape))), dtype)
    assert Kernel(text)((1,), np.ascontiguousarray(a), out) is None
    return out.reshape(shape)


def sample(rows: int, cols: int, dtype: type = np.float32) -> np.ndarray:
    rng = np.random.default_rng(rows * 100 + cols)
    return (rng.standard_normal((rows, cols)) * 20).astype(dtype)


REDUCTIONS = {
    "arith.addf": ("f32", np.sum),
    "arith.maxnumf": ("f32", np.max),
    "arith.minimumf": ("f32", np.min),
    "arith.mulf": ("f32", np.prod),
    "arith.addi": ("i32", np.sum),
    "arith.xori": ("i32", np.bitwise_xor.reduce),
    "arith.minsi": ("i32", np.min),
    "arith.maxui": ("i32", lambda a, axis: np.max(a.view(np.uint32), axis=axis).view(np.int32)),
}


@pytest.mark.parametrize("shape", [(1, 1), (1, 32), (4, 2), (16, 64), (128, 16), (2, 512)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op: str, axis: int, shape: tuple[int, int]) -> None:
    ty, reference = REDUCTIONS[op]
    rows, cols = shape
    rest = shape[1 - axis]
    body = f"""%r = "tt.reduce"(%a) <{{axis = {axis} : i32}}> ({{
      ^bb0(%p: {ty}, %q: {ty}):
        %s = {op} %p, %q : {ty}
        tt.reduce.return %s : {ty}
      }}) : (tensor<{rows}x{cols}x{ty}>) -> tensor<{rest}x{ty}>"""
    a = sample(rows, cols, NUMPY[ty])
    if op == "arith.mulf":
        a = (1 + a / 400).astype(np.float32)
    got = run_tile(tile(rows, cols, body, ty, f"tensor<{rest}x{ty}>"), a, (rest,), NUMPY[ty])
    want = reference(a.astype(np.float64) if ty == "f32" else a, axis=axis)
    if ty == "f32":  # a sum of n terms of size s errs by at most about log2(n) eps n s
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
    else:
        np.testing.assert_array_equal(got, want.astype(np.int32))


@pytest.mark.parametrize("shape", [(2, 64), (32, 8)])
@pytest.mark.parametrize("axis", [0, 1])
def test_argmax_takes_the_first_of_equals(axis: int, shape: tuple[int, int]) -> None:
    rows, cols = shape
    rest, n = shape[1 - axis], shape[axis]
    other = "1" if axis == 0 else "0"
    e = f"tensor<{n}x1xi32>" if axis == 0 else f"tensor<1x{n}xi32>"
    body = f"""
      %k = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
      %k1 = tt.expand_dims %k {{axis = {other} : i32}} : tensor<{n}xi32> -> {e}
      %k2 = tt.broadcast %k1 : {e} -> tensor<{rows}x{cols}xi32>
      %v:2 = "tt.reduce"(%a, %k2) <{{axis = {axis} : i32}}> ({{
      ^bb0(%p: f32, %i: i32, %q: f32, %j: i32):
        %gt = arith.cmpf ogt, %p, %q : f32
        %eq = arith.cmpf oeq, %p, %q : f32
        %lt = arith.cmpi slt, %i, %j : i32
        %tie = arith.andi %eq, %lt : i1
        %take = arith.ori %gt, %tie : i1
        %best = arith.select %take, %p, %q : f32
        %where = arith.select %take, %i, %j : i32
        tt.reduce.return %best, %where : f32, i32
      }}) : (tensor<{rows}x{cols}xf32>, tensor<{rows}x{cols}xi32>) -> (tensor<{rest}xf32>, tensor<{rest}xi32>)
      %r = arith.addi %v#1, %v#1 : tensor<{rest}xi32>"""
    a = np.round(sample(rows, cols) / 8).astype(np.float32)
    got = run_tile(tile(rows, cols, body, "f32", f"tensor<{rest}xi32>", "i32"), a, (rest,), np.int32)
    np.testing.assert_array_equal(got, 2 * np.argmax(a, axis))


def test_softmax_of_rows() -> None:
    region = """<{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %s = OP %p, %q : f32
        tt.reduce.return %s : f32
      }) : (tensor<8x128xf32>) -> tensor<8xf32>"""
    body = f"""
      %m = "tt.reduce"(%a) {region.replace("OP", "arith.maxnumf")}
      %m1 = tt.expand_dims %m {{axis = 1 : i32}} : tensor<8xf32> -> tensor<8x1xf32>
      %m2 = tt.broadcast %m1 : tensor<8x1xf32> -> tensor<8x128xf32>
      %z = arith.subf %a, %m2 : tensor<8x128xf32>
      %e = math.exp %z : tensor<8x128xf32>
      %t = "tt.reduce"(%e) {region.replace("OP", "arith.addf")}
      %t1 = tt.expand_dims %t {{axis = 1 : i32}} : tensor<8xf32> -> tensor<8x1xf32>
      %t2 = tt.broadcast %t1 : tensor<8x1xf32> -> tensor<8x128xf32>
      %r = arith.divf %e, %t2 : tensor<8x128xf32>"""
    a = sample(8, 128)
    e = np.exp((a - a.max(1, keepdims=True)).astype(np.float64))
    np.testing.assert_allclose(
        run_tile(tile(8, 128, body), a, (8, 128)), e / e.sum(1, keepdims=True), rtol=1e-6, atol=1e-37
    )


@pytest.mark.parametrize("shape", [(4, 4), (16, 32), (64, 2), (1, 16)])
def test_transposition(shape: tuple[int, int]) -> None:
    m, n = shape
    body = f"%r = tt.trans %a {{order = array<i32: 1, 0>}} : tensor<{m}x{n}xf32> -> tensor<{n}x{m}xf32>"
    a = sample(m, n)
    got = run_tile(tile(m, n, body, result=f"tensor<{n}x{m}xf32>"), a, (n, m))
    np.testing.assert_array_equal(got, a.T)


@pytest.mark.parametrize("shape", [(4, 32, 4), (512,), (256, 2), (4, 4, 4, 8), (1, 512)])
def test_reshape(shape: tuple[int, ...]) -> None:
    result = f"tensor<{'x'.join(map(str, shape))}xf32>"
    body = f"""%n = arith.negf %a : tensor<16x32xf32>
      %r = tt.reshape %n : tensor<16x32xf32> -> {result}"""
    a = sample(16, 32)
    np.testing.assert_array_equal(run_tile(tile(16, 32, body, result=result), a, shape), -a.reshape(shape))


@pytest.mark.parametrize("shape", [(4, 16), (2, 4)])
def test_join_split_cat(shape: tuple[int, int]) -> None:
    m, n = shape
    t = f"tensor<{m}x{n}xf32>"
    body = f"""%b = arith.mulf %a, %a : {t}
      %j = tt.join %a, %b : {t} -> tensor<{m}x{n}x2xf32>
      %s, %u = tt.split %j : tensor<{m}x{n}x2xf32> -> {t}
      %d = arith.subf %u, %s : {t}
      %r = tt.cat %d, %b : {t} -> tensor<{2 * m}x{n}xf32>"""
    a = sample(m, n)
    got = run_tile(tile(m, n, body, result=f"tensor<{2 * m}x{n}xf32>"), a, (2 * m, n))
    np.testing.assert_allclose(got, np.concatenate([a * a - a, a * a]), rtol=1e-6)
    body = f"""%b = arith.mulf %a, %a : {t}
      %r = tt.join %a, %b : {t} -> tensor<{m}x{n}x2xf32>"""
    got = run_tile(tile(m, n, body, result=f"tensor<{m}x{n}x2xf32>"), a, (m, n, 2))
    np.testing.assert_array_equal(got, np.stack([a, a * a], -1))


@pytest.mark.parametrize("axis", [0, 1])
def test_gather(axis: int) -> None:
    n = (8, 32)[axis]
    body = f"""%f = arith.fptosi %a : tensor<8x32xf32> to tensor<8x32xi32>
      %m = arith.constant dense<{n - 1}> : tensor<8x32xi32>
      %i = arith.andi %f, %m : tensor<8x32xi32>
      %e = math.exp2 %a : tensor<8x32xf32>
      %r = tt.gather %e[%i] {{axis = {axis} : i32}} : (tensor<8x32xf32>, tensor<8x32xi32>) -> tensor<8x32xf32>"""
    a = sample(8, 32)
    index = a.astype(np.int32) & (n - 1)
    want = np.take_along_axis(np.exp2(a), index, axis)
    np.testing.assert_allclose(run_tile(tile(8, 32, body), a, (8, 32)), want, rtol=1e-6)


def test_carried_tiles_may_swap_and_turn() -> None:
    body = """%c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %z = arith.constant dense<1.0> : tensor<16x16xf32>
      %v:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%p = %a, %q = %z) -> (tensor<16x16xf32>, tensor<16x16xf32>) : i32 {
        %t = tt.trans %p {order = array<i32: 1, 0>} : tensor<16x16xf32> -> tensor<16x16xf32>
        %s = arith.addf %t, %q : tensor<16x16xf32>
        scf.yield %s, %p : tensor<16x16xf32>, tensor<16x16xf32>
      }
      %r = arith.subf %v#0, %v#1 : tensor<16x16xf32>"""
    a = sample(16, 16)
    p, q = a, np.ones_like(a)
    for _ in range(5):
        p, q = p.T + q, p
    np.testing.assert_array_equal(run_tile(tile(16, 16, body), a, (16, 16)), p - q)


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_while_with_tiles(trips: int) -> None:
    t = "tensor<4x32xf32>"
    body = f"""%c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %n = arith.constant {trips} : i32
      %w:2 = scf.while (%i = %c0, %p = %a) : (i32, {t}) -> (i32, {t}) {{
        %more = arith.cmpi slt, %i, %n : i32
        scf.condition(%more) %i, %p : i32, {t}
      }} do {{
      ^bb0(%i: i32, %p: {t}):
        %d = arith.addf %p, %p : {t}
        %j = arith.addi %i, %c1 : i32
        scf.yield %j, %d : i32, {t}
      }}
      %r = arith.addf %w#1, %a : {t}"""
    a = sample(4, 32)
    np.testing.assert_array_equal(run_tile(tile(4, 32, body), a, (4, 32)), a * 2**trips + a)


@pytest.mark.parametrize("flag", [0, 1])
def test_if_with_tiles(flag: int) -> None:
    t = "tensor<4x32xf32>"
    body = f"""%c = arith.constant {"true" if flag else "false"}
      %r = scf.if %c -> ({t}) {{
        %e = math.exp2 %a : {t}
        scf.yield %e : {t}
      }} else {{
        scf.yield %a : {t}
      }}"""
    a = sample(4, 32)
    want = np.exp2(a) if flag else a
    np.testing.assert_allclose(run_tile(tile(4, 32, body), a, (4, 32)), want, rtol=1e-6)


@pytest.mark.parametrize("ty", ["f32", "f64", "f16", "i8"])
@pytest.mark.parametrize("size", [(16, 16), (32, 64), (4, 128)])
def test_dot(ty: str, size: tuple[int, int]) -> None:
    m, k = size
    acc = {"f16": "f32", "i8": "i32"}.get(ty, ty)
    body = f"""%t = tt.trans %a {{order = array<i32: 1, 0>}} : tensor<{m}x{k}x{ty}> -> tensor<{k}x{m}x{ty}>
      %c = arith.constant dense<{"3" if ty == "i8" else "3.0"}> : tensor<{m}x{m}x{acc}>
      %r = tt.dot %a, %t, %c : tensor<{m}x{k}x{ty}> * tensor<{k}x{m}x{ty}> -> tensor<{m}x{m}x{acc}>"""
    a = (sample(m, k) / 4).astype(NUMPY[ty])
    text = tile(m, k, body, ty, f"tensor<{m}x{m}x{acc}>", acc)
    got = run_tile(text, a, (m, m), NUMPY[acc])
    want = a.astype(np.float64) @ a.T.astype(np.float64) + 3
    if ty == "i8":
        np.testing.assert_array_equal(got, want.astype(np.int32))
    else:  # products are exact or rounded once, sums have k terms
        np.testing.assert_allclose(got, want, rtol=1e-12 if ty == "f64" else 1e-5, atol=1e-4)


def test_dot_keeps_an_accumulator_that_is_read_later() -> None:
    t = "tensor<16x16xf32>"
    body = f"""%e = math.exp2 %a : {t}
      %d = tt.dot %a, %a, %e : {t} * {t} -> {t}
      %r = arith.subf %d, %e : {t}"""
    a = sample(16, 16) / 20
    np.testing.assert_allclose(run_tile(tile(16, 16, body), a, (16, 16)), a @ a, rtol=1e-5, atol=1e-5)


def test_branches_between_blocks() -> None:
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {
      %pid = tt.get_program_id x : i32
      %late = arith.cmpi sge, %pid, %n : i32
      cf.cond_br %late, ^bb1, ^bb2
    ^bb1:
      tt.return
    ^bb2:
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %c8 = arith.constant 8 : i32
      %s = arith.muli %pid, %c8 : i32
      %ss = tt.splat %s : i32 -> tensor<8xi32>
      %offs = arith.addi %ss, %r : tensor<8xi32>
      %f = arith.sitofp %offs : tensor<8xi32> to tensor<8xf32>
      %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %xp = tt.addptr %xs, %offs : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      tt.store %xp, %f : tensor<8x!tt.ptr<f32>>
      tt.return
    }"""
    out = poisoned(80, np.float32)
    Kernel(text)((10,), out, 6)
    np.testing.assert_array_equal(out, [*range(48), *[113] * 32])


def test_atomics_of_duplicate_addresses() -> None:
    body = """%f = arith.fptosi %a : tensor<4x64xf32> to tensor<4x64xi32>
      %m = arith.constant dense<7> : tensor<4x64xi32>
      %i = arith.andi %f, %m : tensor<4x64xi32>
      %os = tt.splat %o : !tt.ptr<f32> -> tensor<4x64x!tt.ptr<f32>>
      %op = tt.addptr %os, %i : tensor<4x64x!tt.ptr<f32>>, tensor<4x64xi32>
      %one = arith.constant dense<1.0> : tensor<4x64xf32>
      %all = arith.constant dense<true> : tensor<4x64xi1>
      %old = tt.atomic_rmw fadd, acq_rel, gpu, %op, %one, %all : (tensor<4x64x!tt.ptr<f32>>, tensor<4x64xf32>, tensor<4x64xi1>) -> tensor<4x64xf32>
      %r = arith.constant 0.0 : f32"""
    text = tile(4, 64, body).split("%flat")[0] + "tt.return\n}"
    a, out = sample(4, 64), np.zeros(8, np.float32)
    Kernel(text)((3,), a, out)
    np.testing.assert_array_equal(out, 3 * np.bincount((a.astype(np.int32) & 7).ravel(), minlength=8))


@pytest.mark.parametrize("shape", [(1, 64), (8, 32), (64, 2), (4, 1)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", ["false", "true"])
def test_scans(axis: int, reverse: str, shape: tuple[int, int]) -> None:
    m, n = shape
    t = f"tensor<{m}x{n}xi32>"
    body = f"""%r = "tt.scan"(%a) <{{axis = {axis} : i32, reverse = {reverse}}}> ({{
      ^bb0(%p: i32, %q: i32):
        %s = arith.addi %p, %q : i32
        tt.scan.return %s : i32
      }}) : ({t}) -> {t}"""
    a = sample(m, n, np.int32)
    got = run_tile(tile(m, n, body, "i32"), a, shape, np.int32)
    turned = np.flip(a, axis) if reverse == "true" else a
    want = np.cumsum(turned, axis)
    np.testing.assert_array_equal(got, np.flip(want, axis) if reverse == "true" else want)


def test_histogram() -> None:
    body = """%f = tt.reshape %a : tensor<8x32xi32> -> tensor<256xi32>
      %r = tt.histogram %f : tensor<256xi32> -> tensor<16xi32>"""
    a = sample(8, 32, np.int32)
    got = run_tile(tile(8, 32, body, "i32", "tensor<16xi32>"), a, (16,), np.int32)
    np.testing.assert_array_equal(got, np.bincount(a[(a >= 0) & (a < 16)], minlength=16))


def test_calls_with_early_returns_inside_loops() -> None:
    t = "tensor<4x32xf32>"
    body = f"""%c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c4 = arith.constant 4 : i32
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %a) -> ({t}) : i32 {{
        %q = tt.call @step(%p, %i) : ({t}, i32) -> {t}
        scf.yield %q : {t}
      }}"""
    callee = f"""
    tt.func private @step(%p: {t}, %i: i32) -> {t} attributes {{noinline = true}} {{
      %c2 = arith.constant 2 : i32
      %late = arith.cmpi sge, %i, %c2 : i32
      cf.cond_br %late, ^bb1, ^bb2
    ^bb1:
      %n = arith.negf %p : {t}
      tt.return %n : {t}
    ^bb2:
      %d = arith.addf %p, %p : {t}
      tt.return %d : {t}
    }}"""
    a = sample(4, 32)
    np.testing.assert_array_equal(run_tile(tile(4, 32, body) + callee, a, (4, 32)), 4 * a)


def test_tiles_that_nothing_depends_on() -> None:
    """Carried, and chosen against: -a, which the loop puts in the place of what nobody reads."""
    t = "tensor<4x32xf32>"
    body = f"""%c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %zero = arith.constant dense<0.0> : {t}
      %none = ub.poison : {t}
      %s = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %none) -> ({t}) : i32 {{
        %first = arith.cmpi eq, %i, %c0 : i32
        %n = scf.if %first -> ({t}) {{
          scf.yield %zero : {t}
        }} else {{
          %d = arith.subf %p, %a : {t}
          scf.yield %d : {t}
        }}
        scf.yield %n : {t}
      }}
      %same = arith.cmpf oeq, %a, %a : {t}
      %r = arith.select %same, %s, %none : tensor<4x32xi1>, {t}"""
    a = sample(4, 32)
    np.testing.assert_array_equal(run_tile(tile(4, 32, body), a, (4, 32)), -a)


_SHAPE_CHAINS = {
    "trans": """%e{i} = tt.trans %v{i} {{order = array<i32: 1, 0>}} : tensor<4x8xf32> -> tensor<8x4xf32>
      %f{i} = arith.negf %e{i} : tensor<8x4xf32>
      %v{n} = tt.trans %f{i} {{order = array<i32: 1, 0>}} : tensor<8x4xf32> -> tensor<4x8xf32>""",
    "expand_dims": """%e{i} = tt.expand_dims %v{i} {{axis = 0 : i32}} : tensor<4x8xf32> -> tensor<1x4x8xf32>
      %f{i} = arith.negf %e{i} : tensor<1x4x8xf32>
      %v{n} = tt.reshape %f{i} : tensor<1x4x8xf32> -> tensor<4x8xf32>""",
    "join": """%e{i} = tt.join %v{i}, %a : tensor<4x8xf32> -> tensor<4x8x2xf32>
      %f{i} = arith.negf %e{i} : tensor<4x8x2xf32>
      %v{n}, %u{i} = tt.split %f{i} : tensor<4x8x2xf32> -> tensor<4x8xf32>""",
}


@pytest.mark.parametrize("kind", _SHAPE_CHAINS)
def test_chains_of_shape_operations_may_be_longer_than_calls_may_be_nested(kind: str) -> None:
    steps = 1001
    lines = ["%v0 = arith.negf %a : tensor<4x8xf32>"]
    lines += [_SHAPE_CHAINS[kind].format(i=i, n=i + 1) for i in range(steps)]
    lines.append(f"%r = arith.negf %v{steps} : tensor<4x8xf32>")
    a = sample(4, 8)
    np.testing.assert_array_equal(run_tile(tile(4, 8, "\n".join(lines)), a, (4, 8)), -a)
