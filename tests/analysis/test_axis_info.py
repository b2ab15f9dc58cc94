"""What axis info claims, held against the numbers: random programs over ranges, splats, quotients and so on."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tritium.analysis.axis_info import ANY_DIVISOR, AxisInfo, AxisInfoAnalysis
from tritium.dialects import amdg, arith, tt
from tritium.ir import Block, Builder, Region, TensorType, Value, i32, parse_module

SHAPE = (8, 32)


def holds(info: AxisInfo, values: Any, size: int = 1) -> bool:
    """Whether the claims are true of an array; `size`: the bytes that neighbours are apart."""
    values = np.atleast_1d(np.asarray(values, dtype=object))
    if info.constant is not None and not (values == info.constant).all():
        return False
    if (info.nonnegative or not info.shifted) and (values < 0).any():
        return False  # every program here starts from numbers that are known
    for axis in range(values.ndim):
        rows = np.moveaxis(values, axis, -1)
        c, d, k = info.contiguity[axis], info.divisibility[axis], info.constancy[axis]
        n = rows.shape[-1]
        if n % c or n % k:
            return False
        groups = rows.reshape(*rows.shape[:-1], n // c, c)
        if (groups - groups[..., :1] != np.arange(c, dtype=object) * size).any():
            return False
        if (groups[..., 0] % d != 0).any():
            return False
        equal = rows.reshape(*rows.shape[:-1], n // k, k)
        if (equal != equal[..., :1]).any():
            return False
    return True


def truncated(x: Any, y: Any) -> Any:
    q = abs(x) // abs(y)
    return np.where((x < 0) != (y < 0), -q, q)


def shifted(x: Any, y: Any) -> Any:
    return x // (2 ** np.clip(y.astype(np.int64), 0, 40)).astype(object)


BINARY: dict[type, Callable[[Any, Any], Any]] = {
    arith.AddI: lambda x, y: x + y,
    arith.SubI: lambda x, y: x - y,
    arith.MulI: lambda x, y: x * y,
    arith.DivSI: truncated,
    arith.RemSI: lambda x, y: x - truncated(x, y) * y,
    arith.AndI: lambda x, y: (x.astype(np.int64) & y.astype(np.int64)).astype(object),
    arith.OrI: lambda x, y: (x.astype(np.int64) | y.astype(np.int64)).astype(object),
    arith.XOrI: lambda x, y: (x.astype(np.int64) ^ y.astype(np.int64)).astype(object),
    arith.ShRSI: shifted,
    arith.MaxSI: np.maximum,
    arith.MinSI: np.minimum,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip


class Program:
    """A random program over tensors of SHAPE, and the numbers that its values have."""

    def __init__(self, seed: int, count: int) -> None:
        self.rng = random.Random(seed)
        self.block = Block()
        self.builder = Builder(self.block)
        self.values: list[tuple[Value, Any]] = []
        self.conditions: list[tuple[Value, Any]] = []
        self.ty = TensorType(SHAPE, i32)
        for _ in range(4):
            self.leaf()
        for _ in range(count):
            self.step()

    def add(self, op: Any) -> Value:
        self.builder.insert(op)
        result: Value = op.results[0]
        return result

    def keep(self, value: Value, numbers: Any) -> None:
        numbers = np.broadcast_to(np.asarray(numbers, dtype=object), SHAPE)
        if np.abs(numbers).max() < 1 << 30:  # nothing may overflow
            self.values.append((value, numbers))

    def leaf(self) -> None:
        rng = self.rng
        if rng.random() < 0.5:
            number = rng.choice([0, 1, 2, 3, 4, 8, 12, 16, 31, 32, -1, -8, 7, 15])
            self.keep(self.add(arith.Constant.of(number, self.ty)), number)
            return
        axis = rng.randrange(2)
        start = rng.choice([0, 0, 1, 4, 16, 32, -16])
        size = SHAPE[axis]
        row = self.add(tt.MakeRange(start, start + size, result=TensorType((size,), i32)))
        line = self.add(tt.ExpandDims(row, 1 - axis))
        numbers = np.expand_dims(np.arange(start, start + size).astype(object), 1 - axis)
        self.keep(self.add(tt.Broadcast(line, result=self.ty)), numbers)

    def step(self) -> None:
        rng = self.rng
        (a, x), (b, y) = rng.choice(self.values), rng.choice(self.values)
        kind = rng.random()
        if kind < 0.12:
            self.leaf()
        elif kind < 0.22:
            name = rng.choice(list(COMPARISONS))
            self.conditions.append(
                (self.add(arith.CmpI(arith.CmpIPredicate[name], a, b)), COMPARISONS[name](x, y).astype(object))
            )
        elif kind < 0.3 and self.conditions:
            c, z = rng.choice(self.conditions)
            self.keep(self.add(arith.Select(c, a, b)), np.where(z.astype(bool), x, y))
        else:
            cls = rng.choice(list(BINARY))
            if cls is arith.RemSI and (y == 0).any():
                return
            if cls is arith.DivSI and (y <= 0).any():
                return  # divisors are taken to be positive
            if cls is arith.ShRSI and ((y < 0).any() or (y > 30).any()):
                return
            self.keep(self.add(cls(a, b)), BINARY[cls](x, y))


class Holder:
    """Stands for a function around a block."""

    def __init__(self, block: Block) -> None:
        self.regions, self.attributes = [Region(block)], {}


@pytest.mark.parametrize("part", range(20))
def test_claims_hold_of_random_programs(part: int, seed: int) -> None:
    strong = 0
    for i in range(15):
        program = Program(seed + i, 60)
        analysis = AxisInfoAnalysis(Holder(program.block))  # type: ignore[arg-type]
        for value, numbers in [*program.values, *program.conditions]:
            info = analysis.of(value)
            assert holds(info, numbers), f"{value.defining_op}\n{info}\n{numbers}"
            strong += max(*info.contiguity, *info.constancy) > 1
    assert strong > 100


def facts(text: str) -> dict[str, str]:
    """What is found for each named value of the first function of a module."""
    module = parse_module(text)
    func = next(iter(module.regions[0].blocks[0]))
    analysis = AxisInfoAnalysis(func)
    out = {}
    for op in func.walk():
        for result in op.results:
            out[result.hint or ""] = str(analysis.of(result))
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    out[argument.hint or ""] = str(analysis.of(argument))
    return out


def test_addresses_of_a_row() -> None:
    found = facts("""
    tt.func @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
      %c1024 = arith.constant 1024 : i32
      %pid = tt.get_program_id x : i32
      %start = arith.muli %pid, %c1024 : i32
      %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
      %base = tt.splat %start : i32 -> tensor<1024xi32>
      %offsets = arith.addi %base, %range : tensor<1024xi32>
      %limit = tt.splat %n : i32 -> tensor<1024xi32>
      %mask = arith.cmpi slt, %offsets, %limit : tensor<1024xi32>
      %pointer = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
      %at = tt.addptr %pointer, %offsets : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
      tt.return
    }""")
    assert found["offsets"] == "contiguity = [1024], divisibility = [1024], constancy = [1]"
    assert found["mask"] == "contiguity = [1], divisibility = [1], constancy = [16]"
    assert found["at"] == "contiguity = [1024], divisibility = [16], constancy = [1]"


def test_loops_are_joined_from_above() -> None:
    found = facts("""
    tt.func @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
      %c0 = arith.constant 0 : i32
      %c32 = arith.constant 32 : i32
      %c3 = arith.constant 3 : i32
      %last, %odd = scf.for %k = %c0 to %n step %c32 iter_args(%a = %c0, %b = %c0) -> (i32, i32)  : i32 {
        %next = arith.addi %a, %c32 : i32
        %uneven = arith.addi %b, %c3 : i32
        scf.yield %next, %uneven : i32, i32
      }
      tt.return
    }""")
    assert found["k"] == found["a"] == "contiguity = [1], divisibility = [32], constancy = [1]"
    assert found["b"] == "contiguity = [1], divisibility = [1], constancy = [1]"


def test_branches_are_joined() -> None:
    found = facts("""
    tt.func @kernel(%p: i1) -> i32 {
      %c8 = arith.constant 8 : i32
      %c12 = arith.constant 12 : i32
      cf.cond_br %p, ^bb1(%c8 : i32), ^bb1(%c12 : i32)
    ^bb1(%v: i32):
      %r = scf.if %p -> (i32) {
        scf.yield %v : i32
      } else {
        scf.yield %c8 : i32
      }
      tt.return %r : i32
    }""")
    assert found["v"] == found["r"] == "contiguity = [1], divisibility = [4], constancy = [1]"


def test_hints_are_believed() -> None:
    found = facts("""
    tt.func @kernel(%n: i32) {
      %s = tt.splat %n {tt.divisibility = dense<64> : tensor<1xi32>} : i32 -> tensor<16xi32>
      tt.return
    }""")
    assert found["s"] == "contiguity = [1], divisibility = [64], constancy = [16]"


def test_signed_division_of_what_may_be_negative() -> None:
    """-7 // 8 rounds to 0, and so does 7 // 8: neighbours across zero share it, and no group of eight does."""
    found = facts("""
    tt.func @kernel(%n: i32 {tt.divisibility = 16 : i32}) {
      %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
      %s = tt.splat %n : i32 -> tensor<16xi32>
      %c8 = arith.constant dense<8> : tensor<16xi32>
      %c16 = arith.constant dense<16> : tensor<16xi32>
      %x = arith.addi %s, %r : tensor<16xi32>
      %y = arith.subi %x, %c16 : tensor<16xi32>
      %q = arith.divsi %x, %c8 : tensor<16xi32>
      %below = arith.divsi %y, %c8 : tensor<16xi32>
      %rest = arith.remsi %y, %c8 : tensor<16xi32>
      %floor = arith.floordivsi %y, %c8 : tensor<16xi32>
      tt.return
    }""")
    assert found["q"] == found["floor"] == "contiguity = [1], divisibility = [1], constancy = [8]"
    assert found["below"] == found["rest"] == "contiguity = [1], divisibility = [1], constancy = [1]"


def test_zero_is_a_multiple_of_everything() -> None:
    found = facts("tt.func @kernel() { %z = arith.constant dense<0> : tensor<4xi32> tt.return }")
    assert found["z"] == f"contiguity = [1], divisibility = [{ANY_DIVISOR}], constancy = [4], constant = 0"


def test_poison_is_whatever_it_is_joined_with() -> None:
    found = facts("""
    tt.func @kernel(%p: i1) {
      %none = ub.poison : tensor<16xi32>
      %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
      %x = scf.if %p -> (tensor<16xi32>) {
        scf.yield %none : tensor<16xi32>
      } else {
        scf.yield %r : tensor<16xi32>
      }
      tt.return
    }""")
    assert found["x"] == found["r"]


def test_of_a_choice_with_poison_the_other_side_is_known() -> None:
    """And is not left out of what it is joined with: here a number that is 15 or 16."""
    found = facts("""
    tt.func @kernel(%p: i1, %q: i1) {
      %none = ub.poison : i64
      %one = arith.constant 1 : i64
      %sixteen = arith.constant 16 : i64
      %chosen = arith.select %q, %none, %sixteen : i64
      %y = arith.subi %chosen, %one : i64
      %x = scf.if %p -> (i64) {
        scf.yield %y : i64
      } else {
        scf.yield %sixteen : i64
      }
      tt.return
    }""")
    assert found["chosen"] == found["sixteen"]
    assert found["x"] == "contiguity = [1], divisibility = [1], constancy = [1]"


def test_what_stands_for_masked_elements_may_be_poison() -> None:
    found = facts("""
    tt.func @kernel(%p: tensor<16x!tt.ptr<i32>>, %m: tensor<16xi1>, %q: i1) {
      %none = ub.poison : tensor<16xi32>
      %five = arith.constant dense<5> : tensor<16xi32>
      %read = tt.load %p, %m, %none : tensor<16x!tt.ptr<i32>>
      %x = scf.if %q -> (tensor<16xi32>) {
        scf.yield %read : tensor<16xi32>
      } else {
        scf.yield %five : tensor<16xi32>
      }
      tt.return
    }""")
    assert found["x"] == "contiguity = [1], divisibility = [1], constancy = [1]"


@pytest.mark.parametrize("seed", range(30))
def test_claims_about_slices_are_true(seed: int):
    program = Program(seed, 12)
    taken = []
    for value, numbers in program.values:
        for _ in range(6):
            n, m = program.rng.choice([1, 2, 4, 8]), program.rng.choice([1, 4, 8, 16, 32])
            i, j = program.rng.randint(0, SHAPE[0] - n), program.rng.randint(0, SHAPE[1] - m)
            part = program.add(amdg.ExtractSlice(value, static_offsets=(i, j), result=TensorType((n, m), i32)))
            taken.append((part, numbers[i : i + n, j : j + m]))
    facts = AxisInfoAnalysis(Holder(program.block))  # type: ignore[arg-type]
    for part, sliced in taken:
        assert holds(facts.of(part), sliced), (facts.of(part), sliced)
