"""Reductions and scans over random layouts against NumPy, every thread's result looked at."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.collective import NUMPY, Run, named_layouts, random_layout

COMPOSE = """^bb0(%a0: i32, %b0: i32, %a1: i32, %b1: i32):
  %a = arith.muli %a0, %a1 : i32
  %m = arith.muli %b0, %a1 : i32
  %b = arith.addi %m, %b1 : i32
  tt.{op}.return %a, %b : i32, i32"""
"""x -> a * x + b, one map behind the other: associative, and not commutative."""


def single(op: str, kind: str, element: str) -> str:
    return f"""^bb0(%u: {element}, %v: {element}):
  %c = {kind} %u, %v : {element}
  tt.{op}.return %c : {element}"""


def tensor(shape, element, layout) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}, {layout}>" if shape else element


def without(shape, axis):
    return shape[:axis] + shape[axis + 1 :]


def apply(op, region, arrays, elements, layout, axis, warps, reverse=False, capability=90, ctas=1, assemble=False):
    """The results of `tt.reduce` or `tt.scan` for arrays of one shape, and the PTX."""
    run = Run(warps, capability, ctas)
    shape = arrays[0].shape
    names = [f"x{i}" for i in range(len(arrays))]
    for name, array, element in zip(names, arrays, elements):
        run.take(name, array, element, layout)
    after, out = (
        (without(shape, axis), f"#ttg.slice<{{dim = {axis}, parent = {layout}}}>")
        if op == "reduce"
        else (shape, layout)
    )
    flags = f"axis = {axis} : i32" + (f", reverse = {str(reverse).lower()}" if op == "scan" else "")
    takes, gives = (", ".join(tensor(s, el, l) for el in elements) for s, l in ((shape, layout), (after, out)))
    sources = ", ".join(f"%{n}" for n in names)
    run.body = f'%y:{len(arrays)} = "tt.{op}"({sources}) <{{{flags}}}> ({{\n{region}\n}}) : ({takes}) -> ({gives})'
    for i, element in enumerate(elements):
        run.give(f"y#{i}", after, element, out)
    run.tail = [re.sub(r"%y#(\d)([ot])", r"%y\2\1", text) for text in run.tail]
    results = run(assemble)
    return results, run.ptx


def random_case(seed: int, largest=(9, 6, 4), ctas=1):
    rng = random.Random(seed)
    rank = rng.choice([1, 2, 2, 3])
    shape = tuple(2 ** rng.randrange(0, largest[rank - 1]) for _ in range(rank))
    warps = rng.choice([1, 2, 4, 8, 16])
    return rng, shape, rng.randrange(rank), warps, random_layout(rng, shape, warps, ctas)


def composed(a, b, axis, reverse):
    """The maps one behind the other, up to each."""
    am, bm = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    if reverse:
        am, bm = am[::-1], bm[::-1]
    sa, sb = am.copy(), bm.copy()
    with np.errstate(over="ignore"):
        for i in range(1, len(am)):
            sa[i], sb[i] = sa[i - 1] * am[i], sb[i - 1] * am[i] + bm[i]
    return [np.moveaxis(s[::-1] if reverse else s, 0, axis) for s in (sa, sb)]


@pytest.mark.parametrize("seed", range(36))
def test_sums_of_any_layout(seed):
    rng, shape, axis, warps, layout = random_case(seed)
    element = rng.choice(["f32", "i32", "f16", "f64", "i64", "i8"])
    x = np.random.default_rng(seed).integers(-4, 5, shape).astype(NUMPY[element])
    region = single("reduce", "arith.addf" if element[0] == "f" else "arith.addi", element)
    (y,), _ = apply("reduce", region, [x], [element], layout, axis, warps)
    np.testing.assert_array_equal(y, x.sum(axis).astype(x.dtype))


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("op", ["reduce", "scan"])
def test_order_is_kept_where_it_matters(op, seed):
    rng, shape, axis, warps, layout = random_case(1000 + seed)
    numbers = np.random.default_rng(seed)
    a, b = (numbers.integers(-4, 5, shape).astype(np.int32) for _ in range(2))
    a |= 1
    reverse = op == "scan" and rng.random() < 0.5
    (ya, yb), _ = apply(op, COMPOSE.format(op=op), [a, b], ["i32"] * 2, layout, axis, warps, reverse, assemble=seed < 4)
    want = composed(a, b, axis, reverse)
    if op == "reduce":
        want = [w.take(-1, axis) for w in want]
    np.testing.assert_array_equal(ya, want[0])
    np.testing.assert_array_equal(yb, want[1])


@pytest.mark.parametrize("seed", range(20))
def test_running_sums_use_the_neutral_element(seed):
    rng, shape, axis, warps, layout = random_case(2000 + seed)
    element = rng.choice(["f32", "i32", "f16", "i64"])
    x = np.random.default_rng(seed).integers(-3, 4, shape).astype(NUMPY[element])
    if element == "f32":
        x[...] = -0.0
    region = single("scan", "arith.addf" if element[0] == "f" else "arith.addi", element)
    reverse = rng.random() < 0.5
    (y,), _ = apply("scan", region, [x], [element], layout, axis, warps, reverse)
    want = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse else np.cumsum(x, axis)
    want = want.astype(x.dtype)
    assert y.tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.sample(3)
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("number", range(9))
def test_layouts_of_the_compiler(number, axis, warps):
    layout = named_layouts(warps)[number]
    x = np.random.default_rng(number).integers(-4, 5, (64, 32)).astype(np.float16)
    (y,), _ = apply("reduce", single("reduce", "arith.addf", "f16"), [x], ["f16"], layout, axis, warps)
    np.testing.assert_array_equal(y, x.sum(axis))
    (y,), _ = apply("scan", single("scan", "arith.addf", "f16"), [x], ["f16"], layout, axis, warps)
    np.testing.assert_array_equal(y, np.cumsum(x, axis))


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("op", ["reduce", "scan"])
def test_blocks_of_a_cluster(op, seed):
    ctas = 2 if seed % 3 else 4
    _, shape, axis, warps, layout = random_case(3000 + seed, ctas=ctas)
    a, b = (np.random.default_rng(seed).integers(-4, 5, shape).astype(np.int32) for _ in range(2))
    reverse = op == "scan" and seed % 2 == 0
    types = ["i32"] * 2
    (ya, yb), _ = apply(
        op, COMPOSE.format(op=op), [a, b], types, layout, axis, warps, reverse, ctas=ctas, assemble=seed < 4
    )
    want = composed(a, b, axis, reverse)
    if op == "reduce":
        want = [w.take(-1, axis) for w in want]
    np.testing.assert_array_equal(ya, want[0])
    np.testing.assert_array_equal(yb, want[1])


@pytest.mark.parametrize("seed", range(8))
def test_bits(seed):
    rng, shape, axis, warps, layout = random_case(4000 + seed)
    x = np.random.default_rng(seed).integers(0, 2, shape).astype(np.uint8)
    (y,), _ = apply("reduce", single("reduce", "arith.ori", "i1"), [x], ["i1"], layout, axis, warps)
    np.testing.assert_array_equal(y, x.max(axis))
    (y,), _ = apply("scan", single("scan", "arith.xori", "i1"), [x], ["i1"], layout, axis, warps)
    np.testing.assert_array_equal(y, np.bitwise_xor.accumulate(x, axis))
