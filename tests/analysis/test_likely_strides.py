"""Likely strides: the direction in which addresses are mostly contiguous, whatever can be proved."""

from __future__ import annotations

from tritium.analysis.axis_info import AxisInfoAnalysis
from tritium.analysis.likely_strides import LikelyStrides, MultipleOf
from tritium.dialects import tt
from tritium.ir import functions_of, parse_module

PROGRAM = """
tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %m: i32 {{tt.divisibility = 16 : i32}}, %q: tensor<8x!tt.ptr<f32>>) {{
  %i = tt.make_range {{start = 0 : i32, end = 8 : i32}} : tensor<8xi32>
  %s = tt.splat %n : i32 -> tensor<8xi32>
  %t = tt.splat %m : i32 -> tensor<8xi32>
  %three = arith.constant dense<3> : tensor<8xi32>
  {body}
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %a = tt.addptr %b, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %a : tensor<8x!tt.ptr<f32>>
  tt.return
}}
"""


def likely(body: str) -> tuple[int | MultipleOf | None, ...]:
    module = parse_module(PROGRAM.format(body=body))
    (func,) = functions_of(module)
    (load,) = [op for op in module.walk() if isinstance(op, tt.Load)]
    return LikelyStrides(AxisInfoAnalysis(func)).of(load.operands[0])


def test_remainders_keep_a_stride_and_quotients_drop_it():
    assert likely("%o = arith.remsi %i, %s : tensor<8xi32>") == (1,)
    assert likely("%o = arith.divsi %i, %s : tensor<8xi32>") == (0,)


def test_constant_factors_scale():
    assert likely("%o = arith.muli %i, %three : tensor<8xi32>") == (3,)
    assert likely("%o = arith.muli %three, %i : tensor<8xi32>") == (3,)


def test_runtime_factors_give_what_divides_the_stride():
    assert likely("%o = arith.muli %i, %s : tensor<8xi32>") == (MultipleOf(1),)
    assert likely("%o = arith.muli %t, %i : tensor<8xi32>") == (MultipleOf(16),)
    assert likely("%x = arith.muli %i, %t : tensor<8xi32>\n  %o = arith.muli %x, %three : tensor<8xi32>") == (
        MultipleOf(48),
    )
    assert likely("%o = arith.muli %s, %s : tensor<8xi32>") == (0,)
    assert likely("%o = arith.muli %i, %i : tensor<8xi32>") == (None,)


def test_sums_and_differences_of_strides():
    assert likely("%x = arith.muli %i, %three : tensor<8xi32>\n  %o = arith.subi %x, %i : tensor<8xi32>") == (2,)
    assert likely("%x = arith.muli %i, %t : tensor<8xi32>\n  %o = arith.addi %x, %s : tensor<8xi32>") == (
        MultipleOf(16),
    )
    assert likely("%x = arith.muli %i, %t : tensor<8xi32>\n  %o = arith.addi %x, %i : tensor<8xi32>") == (
        MultipleOf(1),
    )


def test_other_operations_are_unknown():
    assert likely("%o = arith.andi %i, %s : tensor<8xi32>") == (None,)
