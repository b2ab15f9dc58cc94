"""Loops over reductions, of all kinds and many layouts: partial results per thread give the same result."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.transforms.test_passes_random import SEED
from tritium.interpreter.evaluator import Evaluator
from tritium.ir import functions_of, parse_module, run_pipeline, verify
from tritium.ir.passes import Pass
from tritium.transforms.ttgir.layout.optimize_thread_locality import optimize_thread_locality

KINDS = {
    "addi": "i32", "muli": "i32", "andi": "i32", "ori": "i32", "xori": "i32", "maxsi": "i32", "minsi": "i32",
    "maxui": "i32", "minui": "i32", "addf": "f32", "mulf": "f32", "maximumf": "f32", "minimumf": "f32",
    "maxnumf": "f32", "minnumf": "f32",
}  # fmt: skip


def spread(rng: random.Random, total: int, rank: int) -> list[int]:
    out = [1] * rank
    while total > 1:
        out[rng.randrange(rank)] *= 2
        total //= 2
    return out


def program(rng: random.Random, name: str, element: str, rank: int) -> str:
    """A loop that accumulates a row-wise reduction, in a random layout."""
    shape = [rng.choice([8, 16, 32]) for _ in range(rank)]
    axis = rng.randrange(rank)
    order = list(range(rank))
    rng.shuffle(order)
    sizes = [rng.choice([1, 2, 4]) for _ in range(rank)]
    layout = (
        f"#ttg.blocked<{{sizePerThread = {sizes}, threadsPerWarp = {spread(rng, 32, rank)}, "
        f"warpsPerCTA = {spread(rng, 4, rank)}, order = {order}}}>"
    )
    left = "".join(f"{n}x" for d, n in enumerate(shape) if d != axis)
    row = f"tensor<{left}{element}, #row>" if rank > 1 else element
    tile = f"tensor<{''.join(f'{n}x' for n in shape)}{element}, #tile>"
    pair = "%acc, %s" if rng.random() < 0.5 else "%s, %acc"
    slice_of = f"#row = #ttg.slice<{{dim = {axis}, parent = #tile}}>\n" if rank > 1 else ""
    step = "arith.addi %at, %d" if element == "i32" else "arith.addf %at, %d"
    return f"""#tile = {layout}
{slice_of}module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @f(%x: {tile}, %d: {tile}, %zero: {row}, %n: i32) -> ({row}, {row}) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %x) -> ({row}, {tile}) : i32 {{
      %s = "tt.reduce"(%at) <{{axis = {axis} : i32}}> ({{
      ^bb0(%a: {element}, %b: {element}):
        %c = arith.{name} %a, %b : {element}
        tt.reduce.return %c : {element}
      }}) : ({tile}) -> {row}
      %sum = arith.{name} {pair} : {row}
      %next = {step} : {tile}
      scf.yield %sum, %next : {row}, {tile}
    }}
    tt.return %r#0, %r#0 : {row}, {row}
  }}
}}"""


def arguments(func, rng: np.random.Generator, trips: int):
    """Small integers, whose sums and products are exact, and some NaN where the order does not matter."""
    values = []
    for arg in func.entry.args[:-1]:
        shape = getattr(arg.type, "shape", ())
        whole = rng.integers(-2, 3, shape)
        values.append(whole.astype(np.float32 if "f32" in str(arg.type) else np.int32))
    return [*values, np.int32(trips)]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", KINDS)
def test_partial_results_match_the_reduction(name, rank):
    rng = random.Random(f"{SEED} {name} {rank}")
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    done = 0
    for _ in range(6):
        text = program(rng, name, KINDS[name], rank)
        module = parse_module(text)
        verify(module)
        (func,) = functions_of(module)
        tries = []
        for trips in (0, 1, 3):
            values = arguments(func, numbers, trips)
            if "f32" == KINDS[name] and name not in ("addf", "mulf"):
                values[0].flat[0] = np.nan
            tries.append((values, Evaluator(module, (1, 1, 1)).call(func, [v.copy() for v in values])))
        run_pipeline(module, [Pass("optimize-thread-locality", optimize_thread_locality, "")], verifier=verify)
        reductions = [op for op in func.walk() if op.name == "tt.reduce"]
        done += any(op.parent_op is func for op in reductions)
        for values, expected in tries:
            found = Evaluator(module, (1, 1, 1)).call(func, [v.copy() for v in values])
            for a, b in zip(expected, found):
                np.testing.assert_array_equal(a, b, err_msg=text)
    assert done, "in no layout did a row change hands"


def test_difference_is_not_carried_as_partial_results():
    """`acc - sum` is not the operation of the reduction."""
    text = program(random.Random(3), "addf", "f32", 2).replace("%sum = arith.addf", "%sum = arith.subf")
    module = parse_module(text)
    assert not optimize_thread_locality(module)
