"""Ranges of integers: every result is in the range, for all ranges and operands of three bits."""

from __future__ import annotations

import itertools

import pytest

from tritium.analysis.integer_range import BINARY, IntegerRange, compare, full, of_signed, of_unsigned, truncated

WIDTH = 3
ALL = range(1 << WIDTH)
RANGES = sorted(
    {make(WIDTH, low, high) for make in (of_signed, of_unsigned) for low in range(-4, 8) for high in range(low, 8)}
)


def signed(value: int) -> int:
    return value - (1 << WIDTH) if value >> (WIDTH - 1) else value


def _divides_toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


#: results of the operations on unsigned operands; None where MLIR leaves the result undefined
MEANING = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: _divides_toward_zero(signed(a), signed(b)) if b else None,
    "arith.divui": lambda a, b: a // b if b else None,
    "arith.ceildivsi": lambda a, b: -(-signed(a) // signed(b)) if b else None,
    "arith.ceildivui": lambda a, b: -(-a // b) if b else None,
    "arith.floordivsi": lambda a, b: signed(a) // signed(b) if b else None,
    "arith.remsi": lambda a, b: signed(a) - _divides_toward_zero(signed(a), signed(b)) * signed(b) if b else None,
    "arith.remui": lambda a, b: a % b if b else None,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.shli": lambda a, b: a << b if b < WIDTH else None,
    "arith.shrsi": lambda a, b: signed(a) >> b if b < WIDTH else None,
    "arith.shrui": lambda a, b: a >> b if b < WIDTH else None,
    "arith.maxsi": lambda a, b: max(signed(a), signed(b)),
    "arith.minsi": lambda a, b: min(signed(a), signed(b)),
    "arith.maxui": max,
    "arith.minui": min,
}


def members(r: IntegerRange) -> list[int]:
    return [v for v in ALL if r.contains(v)]


def test_all_operations_have_a_meaning():
    assert set(MEANING) == set(BINARY)


@pytest.mark.parametrize("name", BINARY)
def test_results_are_in_the_range(name):
    for x, y in itertools.product(RANGES, RANGES):
        out = BINARY[name](x, y)
        for a, b in itertools.product(members(x), members(y)):
            value = MEANING[name](a, b)
            assert value is None or out.contains(value), (name, str(x), str(y), a, b)


@pytest.mark.parametrize("name", [f"arith.{n}" for n in ("addi", "subi", "muli", "maxsi", "minui", "shrui", "andi")])
def test_constants_have_a_constant_result(name):
    for a, b in itertools.product(range(4), range(3)):
        value = MEANING[name](a, b)
        if 0 <= value < 4:
            out = BINARY[name](of_unsigned(WIDTH, a, a), of_unsigned(WIDTH, b, b))
            assert out.constant == value


def test_comparisons_hold_for_all_members():
    tests = {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "slt": lambda a, b: signed(a) < signed(b),
        "sle": lambda a, b: signed(a) <= signed(b),
        "sgt": lambda a, b: signed(a) > signed(b),
        "sge": lambda a, b: signed(a) >= signed(b),
        "ult": lambda a, b: a < b,
        "ule": lambda a, b: a <= b,
        "ugt": lambda a, b: a > b,
        "uge": lambda a, b: a >= b,
    }
    decided = 0
    for (name, test), x, y in itertools.product(tests.items(), RANGES, RANGES):
        known = compare(name, x, y)
        if known is not None:
            decided += 1
            assert all(test(a, b) is known for a in members(x) for b in members(y)), (name, str(x), str(y))
    assert decided > 1000


def test_truncation_join_and_meet():
    for x in RANGES:
        assert all(truncated(x, 2).contains(v & 3) for v in members(x))
        for y in RANGES:
            assert set(members(x)) | set(members(y)) <= set(members(x.join(y)))
            assert set(members(x)) & set(members(y)) <= set(members(x.meet(y)))


def test_bounds_that_do_not_fit_give_all_integers():
    assert of_signed(8, -129, 0) == of_unsigned(8, 3, 256) == full(8)
    assert str(of_signed(32, -1, 0)) == "unsigned : [0, 4294967295] signed : [-1, 0]"
