"""The fuzzer finds what is wrong: a planted wrong operation, a write around an array; and cuts the program down."""

import argparse
import ast
import re
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.fuzz.__main__ import kinds_of
from tests.fuzz.kernels import compare, reduce, reference, unnest
from tests.fuzz.kernels.elements import TYPES
from tests.fuzz.kernels.generate import NOT_IN_NUMPY, generate
from tests.fuzz.kernels.writer import FEATURES, Case, Wishes
from tritium.interpreter import evaluator
from tritium.support import UnsupportedOperation

TEXT = """import tritium
import tritium.language as tl

@tritium.jit
def kernel(x_i32, o1_i32, o2_i32):
    pid = tl.program_id(0)
    at = tl.arange(0, 64)
    a = tl.load(x_i32 + at)
    b = a * 3
    for i in range(2):
        b = b + 1
    c = (b ^ a) + b
    tl.store(o1_i32 + pid * 64 + at, c)
    tl.store(o2_i32 + pid * 64 + at, b)
"""
NEST = """import tritium
import tritium.language as tl

@tritium.jit
def inner(f, pid):
    for i in range(3):
        while pid < 2:
            pid += 1
            if pid > 1:
                f = f + 1
                break
        if i == 1:
            continue
        f = f + i
    return f

@tritium.jit
def unused(a):
    return a

@tritium.jit
def kernel(x_i32, o1_i32):
    pid = tl.program_id(0)
    at = tl.arange(0, 64)
    a = tl.load(x_i32 + at)
    if pid < 5:
        for j in range(2):
            c = inner(a, pid)
            if j == 0:
                a = c ^ a
                continue
            a = a + j
    tl.store(o1_i32 + pid * 64 + at, a)
"""
CASE = Case(5, TEXT, (2,), {}, {"o1_i32": 128, "o2_i32": 128}, {}, {"num_warps": 8})


def test_a_planted_wrong_operation_is_found_and_cut_out(monkeypatch, tmp_path):
    targets = ("interpreter", "numpy")
    assert reduce.failure_of(CASE, targets, tmp_path) is None
    monkeypatch.setitem(evaluator.OPERATIONS, "arith.xori", lambda ev, op, a, b: a | b)
    assert reduce.failure_of(CASE, targets, tmp_path) == "interpreter and numpy"
    small = reduce.reduced(CASE, targets, 60)
    assert reduce.failure_of(small, targets, tmp_path) == "interpreter and numpy"
    assert "^" in small.text and "for" not in small.text and len(small.text) < len(TEXT) * 0.7, small.text
    assert small.grid == (1,) and small.options == {}


def test_loops_branches_and_calls_around_a_wrong_operation_are_cut_away(monkeypatch, tmp_path):
    targets = ("interpreter", "numpy")
    case = Case(5, NEST, (2,), {}, {"o1_i32": 128}, {}, {})
    assert reduce.failure_of(case, targets, tmp_path) is None
    monkeypatch.setitem(evaluator.OPERATIONS, "arith.xori", lambda ev, op, a, b: a | b)
    small = reduce.reduced(case, targets, 60)
    assert reduce.failure_of(small, targets, tmp_path) == "interpreter and numpy"
    assert "^" in small.text and not re.search("for|while|if|break|inner|unused", small.text), small.text


NUMBERED = """
def kernel(x_i32):
    for i in range(4):
        for j in range(2):
            if j: break
        if i: continue
        else: f(i)
    while f(x_i32):
        for j in range(2): break
        break
"""


def test_a_loop_that_becomes_what_stands_in_it_takes_its_own_jumps_along():
    texts = [ast.unparse(t) for t in unnest.flattened(ast.parse(NUMBERED))]
    for text in texts:
        compile(text, "flattened", "exec")
    assert any("while" not in text and text.count("break") == 2 for text in texts)
    heads = [ast.unparse(t) for t in unnest.shortened(ast.parse(NUMBERED))]
    assert any("if f(x_i32):" in text for text in heads) and any("for i in range(1):" in text for text in heads)


def test_kinds_are_drawn_more_often_where_asked():
    few, many = Counter(), Counter()
    for seed in range(40):
        few.update(generate(seed).features)
        many.update(generate(seed, Wishes(("drawn_function", "loop_by_pairs"))).features)
    for name in ("drawn_function", "loop_by_pairs"):
        assert many[name] > 2 * few[name]
    assert generate(3, Wishes(("branch",))).text == generate(3, Wishes(("branch",))).text


def test_types_are_drawn_as_asked():
    """Where any number is loaded; products and loops have types of their own."""
    texts = [generate(seed, Wishes(types=("f16", "u8"))).text for seed in range(30)]
    assert not any(re.search(r"\b[rs]_(?!f16)", text) for text in texts)
    assert sum("r_f16" in text for text in texts) > 5


def test_unknown_kinds_are_refused_with_the_ones_there_are():
    assert kinds_of("branch, loop_of_loads") == ("branch", "loop_of_loads")
    with pytest.raises(argparse.ArgumentTypeError, match=r"no kind of statement is called lop; known: .*loop_of_loads"):
        kinds_of("branch,lop")


def test_loops_and_branches_stand_in_each_other():
    """Three deep, in the kernel and in drawn functions, which return from in there."""
    around = Counter()
    for seed in range(150):
        walk(ast.parse(generate(seed).text), (), around)
    loop, branch = "loop", "branch"
    for nest in ((loop, loop), (loop, branch), (branch, loop), (loop, branch, "jump"), (loop, loop, loop)):
        assert sum(n for found, n in around.items() if found[: len(nest)] == nest), nest
    assert sum(n for found, n in around.items() if found[-1] == "return" and loop in found) > 5
    assert max(map(len, around)) >= 4


def walk(node, nest, around):
    """Count nests of loops and branches, and what leaves them."""
    kind = {ast.For: "loop", ast.While: "loop", ast.If: "branch", ast.Return: "return"}.get(type(node))
    kind = "jump" if isinstance(node, (ast.Break, ast.Continue)) else kind
    if kind is not None:
        nest = (*nest, kind)
        around[nest] += 1
    for child in ast.iter_child_nodes(node):
        walk(child, nest, around)


def test_a_refusal_is_a_failure_unless_newer_hardware_can_do_it(monkeypatch):
    arrays = compare.arrays_of(["o1_i32"], {"o1_i32": 8}, 0)

    op = SimpleNamespace(name="tt.load", loc=SimpleNamespace(file_position=lambda: None))

    def raises(message):
        def launch(*_: object, **__: object) -> None:
            raise UnsupportedOperation(op, message)

        return launch

    where = "cpu", SimpleNamespace(arg_names=["o1_i32"]), (1,), {}, arrays, {}
    for message, error in (("is not supported on the CPU", UnsupportedOperation), ("needs sm_90", compare.Unsupported)):
        monkeypatch.setattr(compare, "target", raises(message))
        with pytest.raises(error):
            compare.run_on(*where)


def test_what_differs_and_is_late_the_next_time_is_late(monkeypatch, tmp_path):
    def differs(*_: object, **__: object) -> None:
        raise compare.Mismatch("interpreter and cpu: o1_i32: 1 of 8 elements, at [1]: [2] and [3], tolerance 0")

    monkeypatch.setattr(reduce, "check", differs)
    monkeypatch.setattr(reduce, "differs_by_itself", lambda *_: time.sleep(5))
    assert reduce.failure_of(CASE, ("interpreter", "cpu"), tmp_path, patience=1) == "late"


def test_every_step_is_drawn_and_numpy_goes_without_steps_that_exist():
    """No step refuses always, and none of those left out for NumPy's sake is misspelt."""
    drawn = Counter()
    for seed in range(2500):
        drawn.update(generate(seed).features)
    steps = {function.__name__ for group in FEATURES.values() for _, function in group}
    assert steps - set(drawn) == set()
    assert NOT_IN_NUMPY - steps == set()


@tritium.jit
def beside(o1_i32):
    tl.store(o1_i32 + 8 + tl.arange(0, 2), 0)


def test_a_write_around_an_array_is_found():
    arrays = compare.arrays_of(["o1_i32"], {"o1_i32": 8}, 0)
    found = compare.run_on("cpu", beside, (1,), {}, arrays, {})
    assert compare.difference(arrays["o1_i32"], found["o1_i32"], "o1_i32", 0.0) is not None


def test_a_scalar_of_other_bits_is_a_scalar_in_the_reference():
    one = reference.bits(reference.Tile(1.0, TYPES["f32"]), TYPES["i32"])
    assert one.data.shape == () and int(one) == 0x3F800000


@pytest.mark.parametrize("name", ["e5", "e4", "bf16", "f16", "f32"])
def test_numbers_and_their_bits(name):
    e = TYPES[name]
    values = np.arange(-16, 17) / 4
    kept = compare.values_of(compare.bits_of(values, e), e)
    assert np.abs(kept - values).max() <= 4 * 2.0**-e.precision * 2 and kept[16] == 0 and kept[20] == 1
