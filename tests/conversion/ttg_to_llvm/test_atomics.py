"""Atomic operations: once for each element whoever holds it, results for all holders, order, and instructions."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.conversion.ttg_to_llvm.collective import NUMPY, Run, random_layout
from tests.conversion.ttg_to_llvm.harness import both, on_gpu
from tritium.compiler import GPUTarget

WRAP = {"add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
        "max": np.maximum, "min": np.minimum, "exch": lambda a, b: b, "fadd": np.add,
        "umax": None, "umin": None}  # fmt: skip


def expected(op, x, v):
    if op in ("umax", "umin"):
        unsigned = x.dtype.str.replace("i", "u")
        return (np.maximum if op == "umax" else np.minimum)(x.view(unsigned), v.view(unsigned)).view(x.dtype)
    with np.errstate(over="ignore"):
        return WRAP[op](x, v)


def tensors(shape, layout):
    dims = "x".join(map(str, shape))
    return lambda element: f"tensor<{dims}x{element}, {layout}>"


def atomic_case(seed, ctas=1):
    rng = random.Random(seed)
    rank = rng.choice([1, 2])
    shape = tuple(2 ** rng.randrange(0, [9, 5][rank - 1]) for _ in range(rank))
    warps = rng.choice([1, 2, 4])
    return rng, shape, warps, random_layout(rng, shape, warps, ctas)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("op", ["add", "and", "or", "xor", "max", "min", "umax", "umin", "exch", "fadd"])
@pytest.mark.parametrize("used", [True, False])
def test_every_element_is_changed_once(op, capability, used):
    rng, shape, warps, layout = atomic_case(f"{op} {capability} {used}")
    floats = ["f16", "f32", "f64"]
    element = rng.choice(floats if op == "fadd" else ["i32", "i64"])
    numbers = np.random.default_rng(rng.randrange(1000))
    x, v = (numbers.integers(-100, 100, shape).astype(NUMPY[element]) for _ in range(2))
    before, of = x.copy(), tensors(shape, layout)
    sem, scope = rng.choice(["relaxed", "acquire", "release", "acq_rel"]), rng.choice(["gpu", "cta", "sys"])
    mask = numbers.integers(0, 2, shape).astype(np.uint8)
    run = Run(warps, capability)
    run.take("x", x, element, layout)
    run.take("v", v, element, layout)
    run.take("m", mask, "i1", layout)
    types = f"({of(f'!tt.ptr<{element}>')}, {of(element)}, {of('i1')}) -> {of(element)}"
    run.body = f"%y = tt.atomic_rmw {op}, {sem}, {scope}, %xa, %v, %m : {types}"
    if used:
        run.give("y", shape, element, layout)
    results = run(assemble=(capability == 80) == used)
    np.testing.assert_array_equal(x, np.where(mask, expected(op, before, v), before))
    if used:
        np.testing.assert_array_equal(np.where(mask, results[0], 0), np.where(mask, before, 0))
    else:
        reduces = op != "exch" and (sem in ("relaxed", "release") or "fence" in run.ptx)
        assert ("red." in run.ptx) == reduces
    assert f".{scope}." in run.ptx


@pytest.mark.parametrize("seed", range(12))
def test_compare_and_swap(seed):
    rng, shape, warps, layout = atomic_case(f"cas {seed}")
    element = rng.choice(["i16", "i32", "i64", "f32", "f16"])
    numbers = np.random.default_rng(seed)
    x, c, v = (numbers.integers(0, 3, shape).astype(NUMPY[element]) for _ in range(3))
    before, of = x.copy(), tensors(shape, layout)
    run = Run(warps, rng.choice([80, 90]))
    for name, array in (("x", x), ("c", c), ("v", v)):
        run.take(name, array, element, layout)
    types = f"({of(f'!tt.ptr<{element}>')}, {of(element)}, {of(element)}) -> {of(element)}"
    run.body = f"%y = tt.atomic_cas acq_rel, gpu, %xa, %c, %v : {types}"
    run.give("y", shape, element, layout)
    (y,) = run(assemble=seed < 4)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(x, np.where(before == c, v, before))


@pytest.mark.parametrize("seed", range(8))
def test_ordered_loads_stores_and_polls(seed):
    rng, shape, warps, layout = atomic_case(f"load {seed}")
    element = rng.choice(["i16", "i32", "i64"])
    numbers = np.random.default_rng(seed)
    x, w = (numbers.integers(0, 2, shape).astype(NUMPY[element]) for _ in range(2))
    out, of = np.zeros(shape, NUMPY[element]), tensors(shape, layout)
    run = Run(warps)
    for name, array in (("x", x), ("w", w), ("o", out)):
        run.take(name, array, element, layout)
    ptr = of(f"!tt.ptr<{element}>")
    run.body = f"""%y = tt.atomic_load acquire, gpu, %xa : ({ptr}) -> {of(element)}
    tt.atomic_store release, sys, %oa, %y : {ptr}
    %limit = arith.constant 1000 : i64
    %z = tt.atomic_poll acquire, gpu, %xa, %w timeout %limit : {ptr}, {of(element)} -> {of("i1")}"""
    run.give("y", shape, element, layout)
    run.give("z", shape, "i1", layout)
    y, z = run(assemble=seed < 4)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(out, x)
    np.testing.assert_array_equal(z, x == w)


@tritium.jit
def tickets(counter, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.atomic_add(counter + i * 0, 1))


def test_contention():
    counter, out = np.zeros(1, np.int32), np.zeros(4 * 256, np.int32)
    on_gpu(tickets, counter, out, B=256).launch(4, counter, out)
    assert counter[0] == out.size
    assert sorted(out) == list(range(out.size))


@tritium.jit
def scalars(p, o, B: tl.constexpr):
    a = tl.atomic_add(p, 1)
    b = tl.atomic_max(p + 1, a)
    c = tl.atomic_cas(p + 2, 0, 7)
    d = tl.atomic_xchg(p + 3, a, sem="release")
    tl.atomic_add(p + 4, 2, sem="relaxed", scope="cta")
    e = tl.atomic_add(p + 4, 0, sem="acquire")
    i = tl.arange(0, B)
    tl.store(o + i, i + a + b + c + d + e)


@pytest.mark.parametrize("warps", [1, 4])
def test_scalars_reach_all_threads(warps):
    arrays = [np.array([3, 9, 0, 5, 6, 0], np.int32), np.zeros(256, np.int32)]
    cpu, gpu = both(scalars, 1, arrays, B=256, num_warps=warps)
    for a, b in zip(cpu, gpu):
        np.testing.assert_array_equal(a, b)


def test_adding_nothing_is_an_ordered_load():
    compiled = on_gpu(scalars, np.zeros(6, np.int32), np.zeros(256, np.int32), B=256, capability=90)
    assert compiled.count("ld.acquire.gpu.global.b32") == 1
    assert compiled.count("red.global.cta.relaxed.add.u32") == 1


@tritium.jit
def guard(lock, total, n):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + n)
    tl.atomic_xchg(lock, 0)


def test_lock():
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    on_gpu(guard, lock, total, 5).launch(6, lock, total, 5)
    assert total[0] == 30 and lock[0] == 0


@tritium.jit
def extremes(p, x, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.atomic_max(p + i % 4, v)
    tl.atomic_min(p + 4 + i % 4, v)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.uint32])
def test_extremes(kind):
    numbers = np.random.default_rng(0).standard_normal(256) * 1000
    x = np.abs(numbers).astype(kind) if kind == np.uint32 else numbers.astype(kind)
    cpu, gpu = both(extremes, 1, [np.zeros(8, kind), x], B=256)
    np.testing.assert_array_equal(cpu[0], gpu[0])


@tritium.jit
def scatter(p, q, x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(p + i, tl.load(x + i), sem="relaxed")
    tl.atomic_add(p + tl.load(q + i), tl.load(x + i), sem="relaxed")


@pytest.mark.parametrize(
    "kind, capability, instruction, count",
    [
        (np.float32, 90, "red.global.gpu.relaxed.add.v4.f32", 2),
        (np.float16, 90, "red.global.gpu.relaxed.add.noftz.v4.f16x2", 1),
        (np.float16, 80, "red.global.gpu.relaxed.add.noftz.f16x2", 4),
        (np.float32, 80, "red.global.gpu.relaxed.add.f32", 16),
    ],
)
def test_neighbours_go_together(kind, capability, instruction, count):
    numbers = np.random.default_rng(0)
    x, q = numbers.integers(-4, 5, 1024).astype(kind), numbers.integers(0, 1024, 1024).astype(np.int32)
    arrays = [np.zeros(1024, kind), q, x]
    cpu, gpu = both(scatter, 1, arrays, B=1024, capability=capability)
    np.testing.assert_array_equal(cpu[0], gpu[0])
    compiled = on_gpu(scatter, *arrays, B=1024, capability=capability)
    assert compiled.count(instruction.replace(".", r"\.") + "$") == count


@pytest.mark.parametrize("sem", ["relaxed", "acq_rel"])
@pytest.mark.parametrize(
    "op, element", [("add", "i16"), ("umax", "i8"), ("exch", "f16"), ("xor", "i8"), ("min", "i16")]
)
def test_narrow_elements(op, element, sem):
    rng, shape, warps, layout = atomic_case(f"narrow {op}")
    x, v = (np.random.default_rng(i).integers(-100, 100, shape).astype(NUMPY[element]) for i in range(2))
    before, of = x.copy(), tensors(shape, layout)
    run = Run(warps, rng.choice([80, 90]))
    run.take("x", x, element, layout)
    run.take("v", v, element, layout)
    types = f"({of(f'!tt.ptr<{element}>')}, {of(element)}) -> {of(element)}"
    run.body = f"%y = tt.atomic_rmw {op}, {sem}, gpu, %xa, %v : {types}"
    run.give("y", shape, element, layout)
    (y,) = run(assemble=True)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(x, expected(op, before, v))
    assert ("fence.acq_rel.gpu" in run.ptx) == (sem == "acq_rel")


@pytest.mark.parametrize("capability", [80, 90])
def test_bf16(capability):
    rng, shape, warps, layout = atomic_case("bf16")
    x = np.zeros(shape, np.uint16)
    run = Run(warps, capability)
    run.take("x", x, "bf16", layout)
    of = tensors(shape, layout)
    run.body = f"""%v = arith.constant dense<1.5> : {of("bf16")}
    %y = tt.atomic_rmw fadd, relaxed, gpu, %xa, %v : ({of("!tt.ptr<bf16>")}, {of("bf16")}) -> {of("bf16")}"""
    run.give("y", shape, "bf16", layout)
    (y,) = run(assemble=True)
    assert (x == 0x3FC0).all() and not y.any()


@pytest.mark.parametrize("seed", range(12))
def test_blocks_of_a_cluster_share_results(seed):
    ctas = 2 if seed % 3 else 4
    _, shape, warps, layout = atomic_case(f"cluster {seed}", ctas)
    x = np.random.default_rng(seed).integers(-100, 100, shape).astype(np.int32)
    before, of = x.copy(), tensors(shape, layout)
    run = Run(warps, 90, ctas)
    run.take("x", x, "i32", layout)
    last = run.pointer(np.full(1, 41, np.int32), "i32")
    run.body = f"""%v = arith.constant dense<1> : {of("i32")}
    %y = tt.atomic_rmw add, acq_rel, gpu, %xa, %v : ({of("!tt.ptr<i32>")}, {of("i32")}) -> {of("i32")}
    %one = arith.constant 1 : i32
    %s = tt.atomic_rmw add, acq_rel, gpu, %{last}, %one : (!tt.ptr<i32>, i32) -> i32"""
    run.give("y", shape, "i32", layout)
    run.give("s", (), "i32", layout)
    y, s = run(assemble=True)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(x, before + 1)
    assert s == 41 and run.arrays[1][0] == 42


@tritium.jit
def swap_one(lock, output, B: tl.constexpr):
    tl.store(output + tl.arange(0, B), tl.atomic_cas(lock, 0, 1))


@tritium.jit
def swap_many(lock, output, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(output + i, tl.atomic_cas(lock + i, tl.zeros((B,), tl.int32), tl.full((B,), 1, tl.int32)))


@pytest.mark.parametrize("size", [1, 16, 512])
def test_results_of_kernels_in_clusters(size):
    for kernel, lock in ((swap_one, np.full(1, 7, np.int32)), (swap_many, np.arange(7, size + 7, dtype=np.int32))):
        cpu, gpu = both(kernel, 1, [lock, np.zeros(size, np.int32)], B=size, num_ctas=4, capability=90)
        np.testing.assert_array_equal(cpu[1], gpu[1])


ADDS = """\
module {{
  tt.func public @changes(%p: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %v: {element}) {{
    %m = arith.constant true
    %old = tt.atomic_rmw {op}, {sem}, gpu, %p, %v, %m : (!tt.ptr<{element}>, {element}, i1) -> {element}
    tt.return
  }}
}}
"""


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("op, element", [("add", "i32"), ("max", "i64"), ("fadd", "f32"), ("fadd", "bf16")])
def test_what_nobody_reads_is_written_as_triton_does(op, element, sem, triton_oracle, tmp_path):
    """`red` where the order allows it, `atom` else."""
    text = ADDS.format(op=op, element=element, sem=sem)
    file = tmp_path / "changes.ttir"
    file.write_text(text)
    ours = tritium.compile(str(file), target=GPUTarget("cuda", 90, 32), until="ptx").asm["ptx"]
    theirs = triton_oracle.compile_text(text, "cuda:90")["ptx"]
    words = re.findall(r"\b(?:atom|red)\.global\S*", theirs)
    assert words and re.findall(r"\b(?:atom|red)\.global\S*", ours) == words
