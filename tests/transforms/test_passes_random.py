"""Random programs mean the same before and after every pass, and after the whole table; bit for bit, but for NaN."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from tests.filetests.runner import passes
from tests.interpreter.programs import buffers, random_program
from tests.transforms.tile_passes import TILE_PASSES
from tritium.dialects import arith, ub
from tritium.interpreter.evaluator import run
from tritium.ir import Builder, Pass, element_type, f32, functions_of, i32, run_pipeline, verify
from tritium.transforms.canonicalize import canonicalize
from tritium.transforms.ttir import TTIR_PIPELINE

SEED = int(os.environ.get("TRITIUM_TEST_SEED", "1"))
PROGRAMS = 60


def outcome(module, seed):
    """What the output buffers hold after a launch of two programs."""
    arrays = buffers(seed)
    run(module, 2, [*arrays, 1000 + seed, seed % 2])
    return arrays


def assert_same(a, b, text):
    for x, y in zip(a, b):
        both_nan = np.isnan(x) & np.isnan(y) if x.dtype.kind == "f" else False
        same = (x.view(np.int32) == y.view(np.int32)) | both_nan
        assert same.all(), f"{text}: {np.flatnonzero(~same)}: {x[~same]} became {y[~same]}"


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_every_pass_keeps_the_meaning(seed):
    module = random_program(seed)
    verify(module)
    before = outcome(module, seed)
    source = str(module)
    for p in TTIR_PIPELINE:
        run_pipeline(module, [p], verifier=verify)
        assert_same(before, outcome(module, seed), f"seed {seed}, after {p.name}, of\n{source}\nwhich is now\n{module}")


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_canonicalize_twice_is_canonicalize(seed):
    module = random_program(seed, 40)
    canonicalize(module)
    once = str(module)
    assert not canonicalize(module), f"seed {seed}: it says that it changed something"
    assert str(module) == once


@pytest.mark.parametrize("name", sorted(TILE_PASSES))
def test_each_pass_by_itself_keeps_the_meaning(name):
    """On programs that no other pass has been over."""
    for seed in range(SEED + 1000, SEED + 1020):
        module = random_program(seed)
        before, source = outcome(module, seed), str(module)
        run_pipeline(module, [Pass(name, TILE_PASSES[name], "")], verifier=verify)
        assert_same(before, outcome(module, seed), f"seed {seed}, after {name}, of\n{source}\nwhich is now\n{module}")


@pytest.mark.parametrize("seed", range(SEED + 2000, SEED + 2000 + PROGRAMS // 2))
def test_passes_in_any_order_keep_the_meaning(seed):
    """Twelve passes, chosen with repetition."""
    module = random_program(seed, 35)
    before, source = outcome(module, seed), str(module)
    chosen = random.Random(seed).choices(sorted(TILE_PASSES), k=12)
    for i, name in enumerate(chosen):
        run_pipeline(module, [Pass(name, TILE_PASSES[name], "")], verifier=verify)
        done = ", ".join(chosen[: i + 1])
        assert_same(before, outcome(module, seed), f"seed {seed}, after {done}, of\n{source}\nwhich is now\n{module}")


@pytest.mark.sample(2, "seed")
@pytest.mark.parametrize("seed", range(SEED + 3000, SEED + 3000 + PROGRAMS // 2))
def test_layouts_keep_the_meaning(seed):
    """The passes that give tensors layouts, and those behind that work on tensors with layouts."""
    module = random_program(seed)
    before, source = outcome(module, seed), str(module)
    table = passes()  # those of conversions too
    for name in ("convert-triton-to-tritongpu", "coalesce", "canonicalize", "cse", "licm", "dce"):
        run_pipeline(module, [Pass(name, table[name], "")], verifier=verify)
        assert_same(before, outcome(module, seed), f"seed {seed}, after {name}, of\n{source}\nwhich is now\n{module}")


def poison_some(module, seed):
    """Make some values select(p, value, poison) or the other way round, for a p that says which is which."""
    rng = random.Random(seed)
    (kernel,) = [f for f in functions_of(module) if f.sym_name == "k"]
    found = [r for op in kernel.walk() for r in op.results if r.users and element_type(r.type) in (i32, f32)]
    for value in rng.sample(found, min(8, len(found))):
        b = Builder()
        b.after(value.owner)
        poison = b.add(ub.Poison(result=value.type))
        flag, number = kernel.entry.args[5], kernel.entry.args[4]
        sure = rng.choice([lambda: b.add(arith.CmpI(arith.CmpIPredicate.eq, number, number)), lambda: flag])()
        other = value if sure is flag else poison  # the flag may be either
        chosen = b.insert(arith.Select(sure, value, other))
        users = [u for u in value.users if u is not chosen and not u.is_ancestor_of(chosen)]
        for user in users:
            user.set_operands([chosen.result if v is value else v for v in user.operands])
        b.after(chosen)
        unused = b.add(arith.AddI(poison, poison) if element_type(value.type) is i32 else arith.AddF(poison, poison))
        unused.hint = "unused"
    return module


@pytest.mark.parametrize("seed", range(SEED + 4000, SEED + 4000 + PROGRAMS // 2))
def test_poison_that_is_not_chosen_does_not_show(seed):
    module = poison_some(random_program(seed), seed)
    verify(module)
    assert any(op.name == "ub.poison" for op in module.walk())
    before, source = outcome(module, seed), str(module)
    chosen = random.Random(seed).choices(sorted(TILE_PASSES), k=8)
    for i, name in enumerate(chosen):
        run_pipeline(module, [Pass(name, TILE_PASSES[name], "")], verifier=verify)
        done = ", ".join(chosen[: i + 1])
        assert_same(before, outcome(module, seed), f"seed {seed}, after {done}, of\n{source}\nwhich is now\n{module}")
