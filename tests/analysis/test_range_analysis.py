"""Ranges of the values of a function: assumptions, loops, branches, and programs."""

from __future__ import annotations

import pytest

import tritium.dialects.all  # noqa: F401
from tritium.analysis.range_analysis import MAX_ITERATIONS, RangeAnalysis
from tritium.ir import CountedLoop, parse_module

TEXT = """
tt.func @f(%n: i32, %m: i32, %flag: i1) {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  {body}
  tt.return
}}
"""


def analyzed(body: str, **options: object):
    module = parse_module(TEXT.format(body=body))
    ranges = RangeAnalysis(module, **options)
    named = {r.hint: r for op in module.walk() for r in op.results}
    return module, ranges, {name: ranges.range_of(value) for name, value in named.items()}


def signed(found) -> tuple[int, int]:
    return found.smin, found.smax


def test_programs_and_ranges():
    _, _, found = analyzed(
        "%p = tt.get_program_id x : i32\n %r = tt.make_range {start = 4 : i32, end = 36 : i32} : tensor<32xi32>"
    )
    assert signed(found["p"]) == (0, (1 << 31) - 1) and signed(found["r"]) == (4, 35)
    _, _, found = analyzed("%p = tt.get_program_id y : i32", max_programs={1: 7})
    assert signed(found["p"]) == (0, 7)


def test_assumptions_hold_in_the_blocks_that_they_dominate():
    _, _, found = analyzed("""
      %before = arith.addi %n, %c0 : i32
      %t = arith.cmpi sle, %n, %c64 : i32
      llvm.intr.assume %t : i1
      %u = arith.cmpi sge, %n, %c3 : i32
      llvm.intr.assume %u : i1
      scf.if %flag {
        %inner = arith.addi %n, %m : i32
        %v = arith.cmpi eq, %m, %c1 : i32
        llvm.intr.assume %v : i1
      }
      %after = arith.addi %m, %c0 : i32
    """)
    assert signed(found["before"]) == (3, 64) and signed(found["inner"]) == (4, 65)
    assert signed(found["after"]) == (-(1 << 31), (1 << 31) - 1)


def test_a_carried_offset_is_bounded_by_the_trip_count():
    module, ranges, found = analyzed("""
      %r = scf.for %i = %c0 to %c16 step %c3 iter_args(%o = %c1) -> (i32) : i32 {
        %next = arith.addi %o, %c64 : i32
        scf.yield %next : i32
      }
    """)
    (loop,) = (op for op in module.walk() if isinstance(op, CountedLoop))
    assert ranges.trip_count(loop) == ranges.total_trip_count(loop) == 6
    assert signed(ranges.range_of(loop.induction_variable)) == (0, 15)
    assert signed(ranges.range_of(loop.iter_args[0])) == (1, 1 + 5 * 64)
    assert signed(found["r"]) == (1, 1 + 6 * 64)


@pytest.mark.parametrize("bound", ["%n", "%big"])
def test_offsets_of_long_loops_are_unknown_and_invariants_known(bound):
    module, ranges, found = analyzed(f"""
      %big = arith.constant {MAX_ITERATIONS + 1} : i32
      %r:2 = scf.for %i = %c0 to {bound} step %c1 iter_args(%o = %c1, %k = %c3) -> (i32, i32) : i32 {{
        %next = arith.addi %o, %c64 : i32
        scf.yield %next, %k : i32, i32
      }}
    """)
    (loop,) = (op for op in module.walk() if isinstance(op, CountedLoop))
    assert signed(ranges.range_of(loop.iter_args[0])) == (-(1 << 31), (1 << 31) - 1)
    assert signed(ranges.range_of(loop.iter_args[1])) == (3, 3)


def test_an_unknown_step_counts_as_one():
    module, ranges, _ = analyzed("scf.for %i = %c0 to %c16 step %n : i32 {\n %x = arith.addi %i, %i : i32 }")
    (loop,) = (op for op in module.walk() if isinstance(op, CountedLoop))
    assert ranges.trip_count(loop) == 16


def test_branches_are_joined_and_unknown_results_are_not():
    _, _, found = analyzed("""
      %r = scf.if %flag -> (i32) { scf.yield %c3 : i32 } else { scf.yield %c64 : i32 }
      %w:2 = scf.while (%a = %c0) : (i32) -> (i32, i32) {
        scf.condition(%flag) %a, %c1 : i32, i32
      } do {
      ^bb0(%b: i32, %c: i32):
        scf.yield %b : i32
      }
      %s = arith.select %flag, %c1, %c16 : i32
    """)
    assert signed(found["r"]) == (3, 64) and signed(found["s"]) == (1, 16)
    assert signed(found["w"]) == (-(1 << 31), (1 << 31) - 1)


def test_blocks_with_branches_between_them():
    module = parse_module("""
    tt.func @f(%flag: i1) -> i32 {
      %c3 = arith.constant 3 : i32
      %c64 = arith.constant 64 : i32
      cf.br ^head(%c3 : i32)
    ^head(%a: i32):
      %b = arith.addi %a, %c64 : i32
      cf.cond_br %flag, ^head(%b : i32), ^exit(%c3, %c64 : i32, i32)
    ^exit(%x: i32, %y: i32):
      tt.return %x : i32
    }
    """)
    ranges = RangeAnalysis(module)
    _, head, end = next(iter(module.regions[0].blocks[0])).regions[0].blocks
    assert signed(ranges.range_of(head.args[0])) == (-(1 << 31), (1 << 31) - 1)
    assert [signed(ranges.range_of(v)) for v in end.args] == [(3, 3), (64, 64)]
