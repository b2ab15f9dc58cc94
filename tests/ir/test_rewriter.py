"""The driver of rewrite rules: what a rule may answer, that it ends, that it leaves nothing behind."""

from __future__ import annotations

import pytest

from tritium.dialects import arith, tt
from tritium.ir import CHANGED, Fuel, IntegerAttr, Touched, i32, parse_module, rewrite_greedily, rule, spending, verify
from tritium.support import InternalError

HEAD = "tt.func public @f(%o: !tt.ptr<i32>, %x: i32, %y: i32) {\n"


def module_of(*lines):
    module = parse_module(HEAD + "\n".join(lines) + "\ntt.return\n}")
    verify(module)
    return module


def rewritten(module, *rules):
    changed = rewrite_greedily(module, rules)
    verify(module)
    return changed, [line.strip() for line in str(module).splitlines()[2:-3]]


STORED = "tt.store %o, %a : !tt.ptr<i32>"


def test_a_value_takes_the_place_of_the_result():
    @rule(arith.AddI)
    def left(op):
        return op.lhs

    changed, lines = rewritten(module_of("%a = arith.addi %x, %y : i32", STORED), left)
    assert changed
    assert lines == ["tt.store %o, %x : !tt.ptr<i32>"]


def test_an_attribute_becomes_a_constant_kept_once_and_in_front():
    @rule(arith.AddI, arith.SubI)
    def seven(op):
        return IntegerAttr(7, i32)

    module = module_of(
        "%a = arith.addi %x, %y : i32", STORED, "%b = arith.subi %x, %y : i32", STORED.replace("%a", "%b")
    )
    _, lines = rewritten(module, seven)
    assert lines == ["%c7_i32 = arith.constant 7 : i32", *["tt.store %o, %c7_i32 : !tt.ptr<i32>"] * 2]


def test_detached_operations_are_inserted_with_what_they_need_and_the_location():
    @rule(arith.MulI)
    def expand(op):
        total = arith.AddI(op.lhs, op.rhs).result
        return arith.SubI(arith.OrI(total, arith.Constant.of(3, i32).result).result, total)

    module = parse_module(HEAD + '%a = arith.muli %x, %y : i32 loc("k.py":3:7)\n' + STORED + "\ntt.return\n}")
    _, lines = rewritten(module, expand)
    assert [line.split(" = ")[-1].split()[0] for line in lines] == [
        "arith.constant", "arith.addi", "arith.ori", "arith.subi", "tt.store",
    ]  # fmt: skip
    places = {op.name: str(op.loc) for op in module.walk()}
    assert {places[n] for n in ("arith.addi", "arith.ori", "arith.subi")} == {'"k.py":3:7'}


def test_names_are_kept():
    @rule(arith.MulI)
    def as_sum(op):
        return arith.AddI(op.lhs, op.rhs)

    _, lines = rewritten(module_of("%a = arith.muli %x, %y : i32", STORED), as_sum)
    assert lines[0] == "%a = arith.addi %x, %y : i32"


@pytest.mark.parametrize("second, name", [("n", "%n"), ("m", "%c7_i32")])
def test_constants_are_called_as_their_place_says_unless_that_differs(second, name):
    """Triton's names of values are those of their places; a constant of two variables belongs to neither."""

    @rule(arith.AddI, arith.SubI)
    def seven(op):
        return IntegerAttr(7, i32)

    first = '%a = arith.addi %x, %y : i32 loc("n"("k.py":3:7))'
    other = f'%b = arith.subi %x, %y : i32 loc("{second}"("k.py":4:7))'
    module = parse_module(HEAD + "\n".join([first, other, STORED, STORED.replace("%a", "%b")]) + "\ntt.return\n}")
    _, lines = rewritten(module, seven)
    assert lines == [f"{name} = arith.constant 7 : i32", *[f"tt.store %o, {name} : !tt.ptr<i32>"] * 2]


def test_an_empty_list_erases_and_its_operands_follow():
    @rule(tt.Store)
    def away(op):
        return []

    _, lines = rewritten(module_of("%b = arith.muli %x, %y : i32", "%a = arith.addi %b, %b : i32", STORED), away)
    assert lines == []


def test_changed_and_touched_operations_are_looked_at_again():
    seen = []

    @rule(arith.SubI)
    def swap_once(op):
        seen.append(op)
        if len(seen) > 1:
            return None
        other = op.results[0].users
        op.set_operands([op.rhs, op.lhs])
        return Touched(CHANGED, list(other))

    module = module_of("%a = arith.subi %x, %y : i32", STORED)
    rewritten(module, swap_once)
    assert len(seen) == 2


def test_rules_that_undo_each_other_are_named():
    @rule(arith.AddI)
    def to_or(op):
        return arith.OrI(op.lhs, op.rhs)

    @rule(arith.OrI)
    def to_add(op):
        return arith.AddI(op.lhs, op.rhs)

    with pytest.raises(InternalError, match="does not end.*to_add, to_or"):
        rewrite_greedily(module_of("%a = arith.addi %x, %y : i32", STORED), [to_or, to_add], limit=200)


def test_a_replacement_of_another_type_is_refused():
    @rule(arith.AddI)
    def wrong(op):
        return arith.CmpI(0, op.lhs, op.rhs)

    with pytest.raises(InternalError, match="wrong: arith.addi of type i32 replaced by a value of i1"):
        rewrite_greedily(module_of("%a = arith.addi %x, %y : i32", STORED), [wrong])


def test_an_error_in_a_rule_names_its_operation():
    @rule(arith.AddI)
    def broken(op):
        raise KeyError("oops")

    with pytest.raises(KeyError) as caught:
        rewrite_greedily(module_of("%a = arith.addi %x, %y : i32", STORED), [broken])
    assert caught.value.operation.name == "arith.addi"


def test_fuel_limits_the_rewrites():
    @rule(arith.AddI)
    def left(op):
        return op.lhs

    lines = ["%b = arith.addi %x, %y : i32", "%c = arith.addi %b, %y : i32", "%a = arith.addi %c, %y : i32", STORED]
    module, fuel = module_of(*lines), Fuel(2)
    with spending(fuel):
        _, after = rewritten(module, left)
    assert fuel.spent == ["left", "left"]
    assert after == ["%a = arith.addi %x, %y : i32", STORED]


def test_dead_operations_go_effects_stay():
    lines = [
        "%a = arith.addi %x, %y : i32",
        "%b = arith.muli %a, %y : i32",
        "%c = tt.load %o : !tt.ptr<i32>",
        "%d = tt.load %o {isVolatile = true} : !tt.ptr<i32>",
        "%e = tt.atomic_rmw add, acq_rel, gpu, %o, %x : (!tt.ptr<i32>, i32) -> i32",
    ]
    _, after = rewritten(module_of(*lines))
    assert [line.split(" = ")[1].split()[0] for line in after] == ["tt.load", "tt.atomic_rmw"]
