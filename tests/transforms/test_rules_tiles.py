"""The rules that are no arithmetic of numbers keep the meaning of programs: each is applied alone and both forms are run.

The programs are the functions of `tests/filetests/rules`, and for rules of shapes all programs of `tile_programs` on
which they match: all shapes of up to three small dimensions. The arguments are all combinations of a few numbers.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from tests.filetests.runner import _OUTPUT
from tests.filetests.test_rules import all_rules
from tests.transforms.tile_programs import PROGRAMS
from tritium.dialects import tt
from tritium.interpreter.evaluator import AssertionFailed, BlockPointer, Evaluator
from tritium.interpreter.numbers import dtype_of
from tritium.ir import (
    FloatType,
    RuleTable,
    ShapedType,
    element_type,
    functions_of,
    parse_module,
    rewrite_greedily,
    shape_of,
    verify,
)
from tritium.transforms.rules import ARITH_RULES

RULES_FOLDER = Path(__file__).parents[1] / "filetests" / "rules"
ARITHMETIC = {rule.name for rule in ARITH_RULES}  # proved by test_rules_proofs.py, which fails if one is not
INEXACT = {
    "add_to_dot": "floats are added in another order, as Triton does; tried on whole numbers, where the order is nothing",
    "reshape_before_reduction": "a reduction of all elements may meet them in any order; floats are added in another",
    "sum_of_products": "floats are added in another order, as Triton does; tried on whole numbers",
    "load_with_known_mask": "a masked load without `other` may give anything: the rule chooses 0, the evaluator NaN",
}
"""Rules that are no equation of bits, and why that is right."""
CASES = 40


def numbers(ty, rng):
    """The values an argument of type `ty` is tried with; arrays of whole numbers for tiles."""
    element, shape = element_type(ty), shape_of(ty)
    dtype = dtype_of(element)
    if shape or isinstance(ty, ShapedType):
        whole = rng.integers(-4, 5, (2, *shape))
        return [a.astype(dtype) if dtype != np.bool_ else a > 0 for a in whole]
    if dtype == np.bool_:
        return [np.bool_(False), np.bool_(True)]
    few = [0, 1, 3, -2] if not isinstance(element, FloatType) else [0.0, 1.5, -2.0, -0.0, np.nan, -np.inf]
    return [np.asarray(n).astype(dtype)[()] for n in few]


def argument(ty, value, memory):
    """A value for a parameter: pointers go into arrays of their own."""
    element = element_type(ty)
    if not isinstance(element, tt.PointerType):
        return value
    pointee = element.pointee
    base = memory.add(value)
    if isinstance(pointee, ShapedType):
        return BlockPointer(base, (64,), (1,), (2,))
    size = value.itemsize
    shape = shape_of(ty)
    steps = np.arange(int(np.prod(shape, dtype=int))).reshape(shape) if shape else 3
    return np.int64(base) + np.asarray(steps) * size


def choices(func, seed):
    """Lists of argument values, pointers as fresh arrays."""
    rng = np.random.default_rng(seed)
    columns = []
    for arg in func.entry.args:
        element = element_type(arg.type)
        if isinstance(element, tt.PointerType):
            pointee = element_type(element.pointee)
            columns.append([(rng.integers(-4, 5, 512) % 7).astype(dtype_of(pointee))])
        else:
            columns.append(numbers(arg.type, rng))
    rows = list(itertools.product(*columns))
    return rows if len(rows) <= CASES else random.Random(seed).sample(rows, CASES)


def outcome(module, row):
    """What the function returns, and what memory holds then; or how it failed."""
    (func,) = functions_of(module)
    evaluator = Evaluator(module, (1, 1, 1), max_steps=20_000)
    arrays = [value.copy() if isinstance(value, np.ndarray) else value for value in row]
    values = [argument(arg.type, value, evaluator.memory) for arg, value in zip(func.entry.args, arrays)]
    with np.errstate(all="ignore"):
        try:
            results = evaluator.call(func, values)
        except AssertionFailed:
            return "failed"
    starts = {a.ctypes.data for a in evaluator.memory.arrays}
    kept = [a for a in arrays if isinstance(a, np.ndarray) and a.ctypes.data in starts]
    return [relative(r, kept) for r in results] + kept


def relative(value, arrays):
    """Pointers by their distance from an array: every run has other addresses."""
    if isinstance(value, BlockPointer):
        return np.asarray([relative(np.int64(value.base), arrays), *value.shape, *value.strides, *value.offsets])
    value = np.asarray(value)
    if value.dtype == np.int64 and arrays:
        for a in arrays:
            if (abs(value - a.ctypes.data) < 1 << 14).all():
                return value - a.ctypes.data
    return value


def same(before, after, free):
    """Equal bit for bit, but for the NaN that stands for "anything" where a rule may choose."""
    if isinstance(before, str) or isinstance(after, str):
        return before is after
    for a, b in zip(before, after, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        equal = (a == b) & (np.signbit(a) == np.signbit(b)) if a.dtype.kind == "f" else a == b
        if a.dtype.kind == "f":
            equal |= np.isnan(a) & (np.isnan(b) | free)
        if not np.all(equal):
            return False
    return True


def try_rule(rule, text):
    """Whether `rule` matches in the program; the program must mean the same afterwards."""
    module = parse_module(text)
    verify(module)
    (func,) = functions_of(module)
    fired = []

    def watched(op, fn=rule.fn):
        out = fn(op)
        if out is not None:
            fired.append(op.name)
        return out

    watching = type(rule)(watched, rule.classes, rule.traits)
    rows = choices(func, 7)
    before = [outcome(module, row) for row in rows]
    rewrite_greedily(func, RuleTable([watching]))
    if not fired:
        return False
    verify(module)
    for row, expected in zip(rows, before):
        found = outcome(module, row)
        free = rule.name == "load_with_known_mask"
        assert same(expected, found, free), f"{rule.name} ({rule.equation}) on\n{text}\ngave\n{module}\nfor {row}"
    return True


def own_function(name):
    """The function named after a rule."""
    for path in sorted(RULES_FOLDER.glob("*.mlir")):
        program = path.read_text().partition(_OUTPUT)[0]
        module = parse_module(program)
        for func in functions_of(module):
            if func.sym_name == name:
                for other in functions_of(module):
                    if other is not func:
                        other.erase()
                return str(module)
    raise AssertionError(f"no function @{name} in {RULES_FOLDER}")


TILE_RULES = sorted(all_rules().keys() - ARITHMETIC)


@pytest.mark.parametrize("name", TILE_RULES)
def test_rule_keeps_the_meaning_of_its_own_function(name):
    assert try_rule(all_rules()[name], own_function(name))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_rule_keeps_the_meaning_over_all_small_shapes(name):
    rule = all_rules()[name]
    matched = sum(try_rule(rule, text) for text in PROGRAMS[name]())
    assert matched >= 4, f"only {matched} programs for {name}"


def test_reasons_are_for_rules_that_exist():
    assert INEXACT.keys() <= set(TILE_RULES)


def test_a_wrong_rule_is_refuted():
    """The harness can fail: trans(trans(x)) is not x for every pair of orders."""
    right = all_rules()["transpose_twice"]

    def wrong(op):
        inner = op.src.defining_op
        return inner.src if inner.__class__ is tt.Trans and inner.src.type is op.result.type else None

    text = """tt.func public @f(%x: tensor<2x2x2xi32>) -> tensor<2x2x2xi32> {
      %y = tt.trans %x {order = array<i32: 1, 2, 0>} : tensor<2x2x2xi32> -> tensor<2x2x2xi32>
      %a = tt.trans %y {order = array<i32: 1, 2, 0>} : tensor<2x2x2xi32> -> tensor<2x2x2xi32>
      tt.return %a : tensor<2x2x2xi32>
    }"""
    assert try_rule(right, text)
    with pytest.raises(AssertionError, match="wrong"):
        try_rule(type(right)(wrong, (tt.Trans,), 0), text)
