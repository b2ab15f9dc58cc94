"""Dialect conversion: types through control flow, legality, materializations, and nothing changed where it fails."""

from __future__ import annotations

import pytest

from tritium.dialects import arith, tt
from tritium.ir import IntegerType, TensorType, i32, parse_module, verify, with_element
from tritium.transforms.dialect_conversion import (
    ConversionError,
    ConversionTarget,
    TypeConverter,
    apply_full_conversion,
    apply_partial_conversion,
    converts,
)

i8 = IntegerType(8)


def widened(ty):
    """i8 and tensors of i8 become i32."""
    if ty is i8:
        return i32
    if isinstance(ty, TensorType) and ty.element is i8:
        return with_element(ty, i32)
    return None


def cast(b, value, ty):
    """Between i8 and i32."""
    return b.add((arith.ExtSI if str(ty).endswith("i32") or "xi32" in str(ty) else arith.TruncI)(value, out=ty))


def narrow(op):
    return not any(widened(v.type) for v in (*op.operands, *op.results))


@converts(arith.AddI)
def widen_add(op, operands, b):
    """Additions of i8 as additions of i32."""
    return b.add(arith.AddI(*operands))


@converts(arith.MulI)
def mul_by_add(op, operands, b):
    """x * x becomes x + x, an i8 addition again (to be legalized in turn); nothing else applies."""
    if op.lhs is not op.rhs:
        return None
    return b.add(arith.AddI(op.lhs, op.rhs))


LOOP = """
module {
  tt.func public @f(%x: i8, %n: i32) -> i8 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i8) : i32 {
      %s = arith.addi %a, %x : i8
      scf.yield %s : i8
    }
    tt.return %r : i8
  }
}
"""
MIXED = """
module {
  tt.func public @f(%x: i8) -> i8 {
    %s = arith.addi %x, %x : i8
    %d = arith.divsi %s, %x : i8
    %t = arith.addi %d, %s : i8
    tt.return %t : i8
  }
}
"""
SQUARE = (
    "module {\n  tt.func public @f(%x: i8) -> i8 {\n    %s = arith.muli %x, %x : i8\n    tt.return %s : i8\n  }\n}\n"
)
TARGET = ConversionTarget(legal=["builtin", "tt", "scf", "arith"], dynamic={arith.AddI: narrow, arith.MulI: narrow})


def test_types_follow_values_through_signatures_and_loops() -> None:
    module = parse_module(LOOP)
    assert apply_full_conversion(module, TARGET, [widen_add], TypeConverter(widened))
    verify(module)
    text = str(module)
    assert "i8" not in text and "iter_args(%a = %x) -> (i32)" in text
    assert not apply_full_conversion(module, TARGET, [widen_add], TypeConverter(widened)), "there is nothing left to do"


def test_legal_users_of_converted_values_get_casts_once() -> None:
    module = parse_module(MIXED)
    assert apply_partial_conversion(module, TARGET, [widen_add], TypeConverter(widened, materialize=cast))
    verify(module)
    text = str(module)
    assert text.count("arith.trunci") == 2, "of %s and of %x, for the division"
    assert text.count("arith.extsi") == 1 and "arith.divsi" in text and text.count(": i8\n") >= 1


def test_unrealized_casts_remain_in_a_partial_conversion_only() -> None:
    module = parse_module(MIXED)
    before = str(module)
    with pytest.raises(ConversionError, match="remains: no materialization casts it"):
        apply_full_conversion(module, TARGET, [widen_add], TypeConverter(widened))
    assert str(module) == before, "a conversion that fails changes nothing"
    assert apply_partial_conversion(module, TARGET, [widen_add], TypeConverter(widened))
    verify(module)
    assert str(module).count("builtin.unrealized_conversion_cast") == 3


def test_created_operations_are_legalized_in_turn() -> None:
    module = parse_module(SQUARE)
    assert apply_full_conversion(module, TARGET, [mul_by_add, widen_add], TypeConverter(widened))
    verify(module)
    assert "arith.addi %x, %x : i32" in str(module)


def test_operation_without_applicable_pattern_is_named() -> None:
    module = parse_module(
        SQUARE.replace("%x, %x", "%x, %c").replace("{\n    %s", "{\n    %c = arith.constant 3 : i8\n    %s")
    )
    before = str(module)
    with pytest.raises(ConversionError, match="arith.muli is illegal on the target of the conversion"):
        apply_partial_conversion(module, TARGET, [mul_by_add, widen_add], TypeConverter(widened))
    assert str(module) == before


def test_unknown_operations_stay_in_a_partial_and_fail_in_a_full_conversion() -> None:
    target = ConversionTarget(illegal=[arith.MulI])
    module = parse_module(SQUARE)
    assert apply_partial_conversion(module, target, [mul_by_add])
    assert "arith.addi %x, %x : i8" in str(module)
    with pytest.raises(ConversionError, match=r"is not known to be legal on"):
        apply_full_conversion(parse_module(SQUARE), target, [mul_by_add])


def test_patterns_that_create_each_other_end_in_an_error() -> None:
    @converts(arith.MulI)
    def again(op, operands, b):
        return b.add(arith.MulI(*operands))

    with pytest.raises(ConversionError, match="in a row"):
        apply_partial_conversion(parse_module(SQUARE), ConversionTarget(illegal=["arith.muli"]), [again])


def test_greatest_benefit_comes_first_and_results_are_counted() -> None:
    @converts(arith.MulI, benefit=2)
    def wrong(op, operands, b):
        return [*operands]

    with pytest.raises(ConversionError, match="has 1 results, wrong returned 2"):
        apply_partial_conversion(parse_module(SQUARE), ConversionTarget(illegal=["arith"]), [mul_by_add, wrong])


def test_operations_of_a_pattern_that_does_not_apply_are_removed() -> None:
    @converts(arith.MulI, benefit=2)
    def tries(op, operands, b):
        b.add(arith.XOrI(*operands))

    module = parse_module(SQUARE)
    assert apply_partial_conversion(module, ConversionTarget(illegal=[arith.MulI]), [tries, mul_by_add])
    assert "xori" not in str(module) and "addi" in str(module)


def test_conversion_of_a_function_alone() -> None:
    module = parse_module(LOOP)
    func = next(op for op in module.walk() if isinstance(op, tt.Func))
    assert apply_full_conversion(func, TARGET, [widen_add], TypeConverter(widened))
    verify(module)
    assert "i8" not in str(module)


def test_names_of_operations_count_before_dialects() -> None:
    target = ConversionTarget(legal=["arith.addi"], illegal=["arith"])
    add, mul = (
        next(op for op in parse_module(text).walk() if op.name.startswith("arith.") and op.results)
        for text in (MIXED, SQUARE)
    )
    assert target.is_legal(add) is True and target.is_legal(mul) is False
    assert target.is_legal(parse_module(SQUARE)) is None
