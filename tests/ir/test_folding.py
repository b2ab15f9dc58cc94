"""fold(): what an operation gives when operands are known; constants are made by the dialects."""

from __future__ import annotations

import pytest

from tritium.dialects import arith, scf, tt, ub
from tritium.ir import (
    CHANGED,
    Block,
    Builder,
    ConstantPools,
    DenseElementsAttr,
    IntegerAttr,
    Region,
    RuleTable,
    StringAttr,
    TensorType,
    constant_of,
    f32,
    fold,
    i1,
    i32,
    materialize,
    rule,
)
from tritium.support import InternalError
from tritium.transforms.rules import CANONICAL_RULES

RULES = RuleTable(CANONICAL_RULES)


def number(n, ty=i32):
    return IntegerAttr(n, ty)


@pytest.fixture
def block():
    return Block([i32, i32, i1])


def test_constants_and_operands(block):
    x, y, c = block.args
    b = Builder(block)
    two = b.insert(arith.Constant.of(2, i32))
    assert fold(two, RULES) == [number(2)]
    product = b.insert(arith.MulI(two.result, two.result))
    assert fold(product, RULES) == [number(4)]
    assert fold(b.insert(arith.SubI(x, x)), RULES) == [number(0)]
    assert fold(b.insert(arith.AddI(x, y)), RULES) is None
    assert fold(b.insert(arith.Select(c, y, y)), RULES) == [y]


def test_operands_that_are_known_from_elsewhere(block):
    x, y, c = block.args
    total = Builder(block).insert(arith.AddI(x, y))
    assert fold(total, RULES, [number(3), number(4)]) == [number(7)]
    assert fold(total, RULES, [None, number(0)]) == [x]
    assert fold(total, RULES, [number(0), None]) == [y], "a rule changed the copy, and then another matched"
    assert fold(total, RULES, [number(1), None]) is None
    chosen = Builder(block).insert(arith.Select(c, x, y))
    assert fold(chosen, RULES, [number(0, i1), None, None]) == [y]
    wide = Builder(block).insert(arith.AddUIExtended(x, y, sum=i32, overflow=i1))
    assert fold(wide, RULES, [number(-1), number(1)]) == [number(0), number(1, i1)]


def test_nothing_is_changed(block):
    x, y, _ = block.args
    total = Builder(block).insert(arith.AddI(x, y))
    before = str(total), dict(x.users), dict(y.users)
    for known in ([number(1), None], [None, number(1)], [number(1), number(2)], []):
        fold(total, RULES, known)
    assert (str(total), dict(x.users), dict(y.users)) == before
    assert len(block) == 1


def test_rules_that_make_operations_do_not_fold(block):
    """(x + 1) + 2 = x + 3 is a rewrite: what the rule built is dropped, and no use of it stays."""
    x = block.args[0]
    b = Builder(block)
    one, two = (b.add(arith.Constant.of(n, i32)) for n in (1, 2))
    inner = b.add(arith.AddI(x, one))
    outer = b.insert(arith.AddI(inner, two))
    assert fold(outer, RULES) is None
    assert list(x.users) == [inner.owner] and list(inner.users) == [outer]


def test_effects_and_regions_do_not_fold(block):
    c = block.args[2]
    b = Builder(block)
    branch = b.insert(scf.If.build(c, [i32]))
    for inner, value in zip((branch.then_block, branch.else_block), block.args):
        Builder(inner).insert(scf.Yield([value]))
    assert fold(branch, RULES, [number(1, i1)]) is None
    pointer = Block([tt.PointerType(i32)]).args[0]
    atomic = tt.AtomicRMW(tt.AtomicOp.add, pointer, block.args[0], c)
    b.insert(atomic)
    assert fold(atomic, RULES, [None, None, number(0, i1)]) is None


def test_a_rule_that_changes_for_ever_ends():
    @rule(arith.AddI)
    def swap(op):
        """x + y = y + x"""
        op.set_operands([op.rhs, op.lhs])
        return CHANGED

    block = Block([i32, i32])
    op = Builder(block).insert(arith.AddI(*block.args))
    assert fold(op, RuleTable([swap])) is None and list(op.operands) == list(block.args)


def test_materialize():
    tile = TensorType((4,), f32)
    for value, ty in ((number(3), i32), (DenseElementsAttr((1.0,), tile), tile)):
        for dialect in ("", "arith", "tt", "scf"):
            op = materialize(value, ty, dialect=dialect)
            assert isinstance(op, arith.Constant) and op.parent is None and op.result.type is ty
            assert constant_of(op.result) is value
    poison = materialize(ub.POISON, i32, dialect="arith")
    assert isinstance(poison, ub.Poison) and poison.result.type is i32 and constant_of(poison.result) is None
    with pytest.raises(InternalError, match="no dialect makes the constant"):
        materialize(StringAttr("three"), i32)


def test_pools_keep_constants_once_at_the_front():
    block = Block([i1])
    region = Region(block)
    b = Builder(block)
    branch = b.insert(scf.If.build(block.args[0], []))
    inner = Builder(branch.then_block).insert(scf.Yield([]))
    pools = ConstantPools()
    three = pools.place(number(3), i32, inner)
    assert pools.place(number(3), i32, branch) is three
    assert region.blocks[0].first is three.owner
    poison = pools.place(ub.POISON, i32, inner)
    assert poison.owner.next is inner and pools.place(ub.POISON, i32, inner) is not poison
