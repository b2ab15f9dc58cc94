"""Loops run at most as often as `max_trip_count` says, or as `whole_block` says: random bounds, which may wrap around."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tritium.analysis.axis_info import AxisInfoAnalysis
from tritium.analysis.trips import max_trip_count, whole_block
from tritium.dialects import arith, scf
from tritium.ir import Value, parse_module

LOOP = """
module {
  tt.func @f(%n: i32, %p: i32) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
BODY
    scf.for %i = %lb to %ub step %c64 : i32 {
    }
    tt.return
  }
}
"""

SHIFTED = """
    %s = arith.constant 6 : i32
    %q = arith.shrsi %n, %s : i32
    %lb = arith.shli %q, %s : i32
    %ub = arith.minsi %p, %n : i32
"""

NARROWED = """
    %wide = arith.extsi %n : i32 to i64
    %least = arith.constant 0 : i64
    %most = arith.constant 256 : i64
    %some = arith.minsi %wide, %most : i64
    %kept = arith.maxsi %some, %least : i64
    %ub = arith.trunci %kept : i64 to i32
    %lb = arith.constant 64 : i32
"""

DIAGONAL = """
    %row = arith.muli %p, %c128 : i32
    %end = arith.addi %row, %c128 : i32
    %ub = arith.minsi %end, %n : i32
    %least = arith.minsi %row, %n : i32
    %q = arith.divsi %least, %c64 : i32
    %lb = arith.muli %q, %c64 : i32
"""


def loop_in(body: str) -> Any:
    module = parse_module(LOOP.replace("BODY", body))
    return next(op for op in module.walk() if op.__class__ is scf.For)


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ("%q = arith.divsi %n, %c64 : i32\n%lb = arith.muli %q, %c64 : i32\n%ub = arith.addi %n, %c1 : i32", 1),
        ("%q = arith.divsi %n, %c64 : i32\n%lb = arith.muli %q, %c64 : i32\n%ub = arith.maxsi %lb, %n : i32", 1),
        ("%q = arith.divsi %n, %c128 : i32\n%lb = arith.muli %q, %c128 : i32\n%ub = arith.minsi %n, %p : i32", 2),
        ("%r = arith.remsi %n, %c64 : i32\n%lb = arith.subi %n, %r : i32\n%ub = arith.minsi %n, %p : i32", 1),
        ("%m = arith.constant -64 : i32\n%lb = arith.andi %n, %m : i32\n%ub = arith.minsi %p, %n : i32", 1),
        (SHIFTED, 1),
        ("%lb = arith.muli %p, %c128 : i32\n%q = arith.addi %p, %c1 : i32\n%ub = arith.muli %q, %c128 : i32", 2),
        (DIAGONAL, 3),
        (NARROWED, 3),
        (NARROWED.replace("maxsi", "addi"), None),
        ("%lb = arith.maxsi %p, %n : i32\n%ub = arith.addi %n, %c64 : i32", 1),
        ("%lb = arith.minsi %p, %n : i32\n%ub = arith.addi %n, %c64 : i32", None),
        ("%lb = arith.minsi %p, %n : i32\n%ub = arith.minsi %n, %p : i32", 0),
        ("%q = arith.divsi %n, %c64 : i32\n%lb = arith.muli %q, %c128 : i32\n%ub = arith.minsi %n, %p : i32", None),
        ("%lb = arith.addi %p, %c1 : i32\n%ub = arith.minsi %n, %c64 : i32", None),
    ],
)  # fmt: skip
def test_bounds(body: str, most: int | None) -> None:
    assert max_trip_count(loop_in(body)) == most


def test_steps_that_are_not_known() -> None:
    loop = loop_in("%lb = arith.addi %p, %c1 : i32\n%ub = arith.addi %p, %c64 : i32")
    assert max_trip_count(loop) == 1
    loop.set_operand(2, loop.parent.args[0])
    assert max_trip_count(loop) is None


WIDTH = 6


def wrapped(number: int) -> int:
    number &= (1 << WIDTH) - 1
    return number - (1 << WIDTH) if number >> (WIDTH - 1) else number


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


EVALUATE: dict[type, Callable[[int, int], int]] = {
    arith.AddI: lambda x, y: x + y,
    arith.SubI: lambda x, y: x - y,
    arith.MulI: lambda x, y: x * y,
    arith.MinSI: min,
    arith.MaxSI: max,
    arith.DivSI: truncated,
    arith.FloorDivSI: lambda x, y: x // y,
    arith.RemSI: lambda x, y: x - truncated(x, y) * y,
    arith.ShLI: lambda x, y: x << y,
    arith.ShRSI: lambda x, y: x >> y,
    arith.AndI: lambda x, y: x & y,
}


def evaluate(value: Value, known: dict[Value, int]) -> int:
    found = known.get(value)
    if found is None:
        op: Any = value.defining_op
        if op.__class__ is arith.Constant:
            found = op.attributes["value"].value
        else:
            found = wrapped(EVALUATE[op.__class__](*(evaluate(v, known) for v in op.operands)))
        known[value] = found
    return found


def random_loop(rng: random.Random) -> Any:
    """A loop of 6-bit numbers, whose bounds are made of two arguments and of each other."""
    ty = f"i{WIDTH}"
    lines, names = [], ["%n", "%p"]

    def number(value: int) -> str:
        lines.append(f"%k{len(lines)} = arith.constant {value} : {ty}")
        return f"%k{len(lines) - 1}"

    def add(text: str) -> str:
        lines.append(f"%v{len(lines)} = arith.{text} : {ty}")
        names.append(f"%v{len(lines) - 1}")
        return names[-1]

    for _ in range(rng.randrange(1, 6)):
        x, kind = rng.choice(names), rng.randrange(7)
        if kind < 2:
            add(f"{rng.choice(('addi', 'subi'))} {x}, {number(rng.randrange(-9, 9))}")
        elif kind < 4:
            add(f"{rng.choice(('minsi', 'maxsi', 'addi', 'subi'))} {x}, {rng.choice(names)}")
        elif kind == 4:
            k = rng.choice((1, 2, 3, 4, 5, 8))
            quotient = add(f"{rng.choice(('divsi', 'floordivsi'))} {x}, {number(k)}")
            add(f"muli {quotient}, {number(k if rng.random() < 0.8 else k + 1)}")
        elif kind == 5:
            k = number(rng.randrange(0, 4))
            add(f"shli {add(f'shrsi {x}, {k}')}, {k}")
        elif rng.random() < 0.5:
            add(f"subi {x}, {add(f'remsi {x}, {number(rng.randrange(1, 9))}')}")
        else:
            add(f"andi {x}, {number(-(1 << rng.randrange(0, 5)))}")
    lb, ub = rng.choice(names), rng.choice(names)
    text = f"module {{\n tt.func @f(%n: {ty}, %p: {ty}) {{\n%step = arith.constant {rng.randrange(1, 9)} : {ty}\n"
    text += "\n".join(lines) + f"\nscf.for %i = {lb} to {ub} step %step : {ty} {{\n}}\ntt.return\n}}\n}}"
    return next(op for op in parse_module(text).walk() if op.__class__ is scf.For)


def trips(loop: Any, known: dict[Value, int]) -> int:
    lb, ub, step = (evaluate(v, known) for v in loop.operands[:3])
    return max(0, -(-(ub - lb) // step))


@pytest.mark.share(3)
def test_no_loop_runs_more_often(seed: int) -> None:
    rng = random.Random(seed)
    told = 0
    everything = range(-(1 << (WIDTH - 1)), 1 << (WIDTH - 1))
    for _ in range(300):
        loop = random_loop(rng)
        most = max_trip_count(loop)
        if most is None:
            continue
        told += 1
        n, p = loop.parent.args
        assert all(trips(loop, {n: x, p: y}) <= most for x in everything for y in rng.sample(everything, 12))
    assert told > 60


def block_loop(least: str, step: int, scale: int = 4, block: int = 4, ty: str = f"i{WIDTH}") -> Any:
    """A loop over a block of a group: `for i = p * scale to least(p * scale + block, n * 4)`."""
    text = f"""module {{
  tt.func @f(%n: {ty}, %p: {ty}) {{
    %step = arith.constant {step} : {ty}
    %four = arith.constant 4 : {ty}
    %scale = arith.constant {scale} : {ty}
    %block = arith.constant {block} : {ty}
    %m = arith.muli %n, %four : {ty}
    %lb = arith.muli %p, %scale : {ty}
    %end = arith.addi %lb, %block : {ty}
    %ub = arith.{least} : {ty}
    scf.for %i = %lb to %ub step %step : {ty} {{
    }}
    tt.return
  }}
}}"""
    return next(op for op in parse_module(text).walk() if op.__class__ is scf.For)


def whole(loop: Any) -> tuple[Value, int] | None:
    facts = AxisInfoAnalysis(loop.parent.parent_op)
    return whole_block(loop, lambda value: facts.of(value).element_divisor())


@pytest.mark.parametrize("least", ["minsi %end, %m", "minsi %m, %end"])
@pytest.mark.parametrize(("step", "scale", "block"), [(1, 4, 4), (2, 4, 4), (4, 8, 4), (1, 4, 2), (1, 2, 2)])
def test_whole_block_has_all_iterations_or_none(least: str, step: int, scale: int, block: int) -> None:
    loop = block_loop(least, step, scale, block)
    found = whole(loop)
    assert found is not None and found[1] == block
    n, p = loop.parent.args
    everything = range(-(1 << (WIDTH - 1)), 1 << (WIDTH - 1))
    for known in ({n: x, p: y} for x in everything[::3] for y in everything[::3]):
        runs = evaluate(loop.lb, known) < evaluate(found[0], known)
        assert trips(loop, known) == (block // step if runs else 0)


@pytest.mark.parametrize(
    ("least", "step", "scale", "block"),
    [
        ("minsi %end, %n", 1, 4, 4),  # the limit may be inside the block
        ("minsi %end, %m", 1, 2, 4),
        ("minsi %end, %m", 3, 4, 4),
        ("minsi %end, %m", 1, 4, 3),
        ("maxsi %end, %m", 1, 4, 4),
        ("minui %end, %m", 1, 4, 4),
        ("minsi %end, %m", 1, 4, 1 << (WIDTH - 1)),
    ],
)
def test_whole_block_refuses_other_bounds(least: str, step: int, scale: int, block: int) -> None:
    assert whole(block_loop(least, step, scale, block)) is None
