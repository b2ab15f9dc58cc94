"""The fuzzer finds what is wrong: a planted wrong operation, a write around an array; and cuts the program down."""

import time
from collections import Counter

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.fuzz.kernels import compare, reduce
from tests.fuzz.kernels.elements import TYPES
from tests.fuzz.kernels.generate import NOT_IN_NUMPY, generate
from tests.fuzz.kernels.writer import FEATURES, Case
from tritium.interpreter import evaluator

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


@pytest.mark.parametrize("name", ["e5", "e4", "bf16", "f16", "f32"])
def test_numbers_and_their_bits(name):
    e = TYPES[name]
    values = np.arange(-16, 17) / 4
    kept = compare.values_of(compare.bits_of(values, e), e)
    assert np.abs(kept - values).max() <= 4 * 2.0**-e.precision * 2 and kept[16] == 0 and kept[20] == 1
