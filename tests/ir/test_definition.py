"""Operation classes: constructors and accessors made from annotations."""

from __future__ import annotations

import enum

import pytest

from tritium.dialects import arith, tt
from tritium.ir import (
    I32,
    OPS,
    UNIT,
    Block,
    Bool,
    DenseArrayAttr,
    Flag,
    I64Array,
    IntegerAttr,
    Op,
    OpaqueAttr,
    Operand,
    OptionalOperand,
    OptionalResult,
    Region,
    Result,
    Str,
    StringAttr,
    Symbol,
    SymbolRefAttr,
    TensorType,
    TypeAttr,
    TypeField,
    VariadicOperand,
    VariadicRegion,
    VariadicResult,
    bool_attr,
    dialect_attr_field,
    enum_field,
    f32,
    i1,
    i32,
    parse_module,
    print_op,
)
from tritium.ir.assembly import elements
from tritium.support import InternalError


class Color(enum.IntEnum):
    red = 1
    _in = 2


ColorField = enum_field(Color)
FlagsField = dialect_attr_field("test.flags")


class Everything(Op, name="test.everything"):
    """A field of each kind."""

    first: Operand
    maybe: OptionalOperand
    rest: VariadicOperand
    count: I32
    label: Str
    callee: Symbol
    ty: TypeField
    sure: Bool
    color: ColorField = Color.red
    flags: FlagsField = None
    shape: I64Array = ()
    pure: Flag = None
    result: Result
    more: VariadicResult
    bodies: VariadicRegion


class Tail(Op, name="test.tail", assembly="$args `and` $last (`:` type($extra)^)? attr-dict"):
    """Groups before and after a fixed operand."""

    args: VariadicOperand
    last: Operand
    extra: OptionalResult


class Words(
    Op, name="test.words", assembly="$color (`with` `` $flags^)? `<` $n `>` (`as` $label^)? attr-dict-with-keyword"
):
    """Attributes in the format."""

    color: ColorField
    n: I32
    flags: FlagsField = None
    label: Str = None


@pytest.fixture
def values():
    return Block([i32, f32, i1, i32]).args


def test_constructor_and_accessors(values):
    a, b, c, d = values
    region = Region(Block())
    op = Everything(
        a, b, [c, d], 3, "l", "f", f32, True, Color._in, "x", (1, 2), True, [region], result=i32, more=[f32, i1]
    )
    assert (op.first, op.maybe, op.rest) == (a, b, [c, d])
    assert (op.count, op.label, op.callee, op.ty, op.sure) == (3, "l", "f", f32, True)
    assert op.color is Color._in and op.shape == (1, 2) and op.pure is True
    assert op.result is op.results[0] and op.more == op.results[1:] and [r.type for r in op.results] == [i32, f32, i1]
    assert op.bodies == [region] and region.parent is op
    assert op.attributes == {
        "operandSegmentSizes": DenseArrayAttr((1, 1, 2), i32),
        "count": IntegerAttr(3, i32),
        "label": StringAttr("l"),
        "callee": SymbolRefAttr("f"),
        "ty": TypeAttr(f32),
        "sure": bool_attr(True),
        "color": IntegerAttr(2, i32),
        "flags": OpaqueAttr("#test.flags<x>"),
        "shape": op.attributes["shape"],
        "pure": UNIT,
    }
    assert str(op.attributes["shape"]) == "array<i64: 1, 2>"


def test_optional_fields_take_their_defaults(values):
    op = Everything(
        values[0], count=1, label="", callee="f", ty=i32, sure=False, rest=[], bodies=[], result=i32, more=[]
    )
    assert op.maybe is None and op.rest == [] and op.color is Color.red and op.shape == () and op.pure is False
    assert op.flags is None and "color" not in op.attributes and "pure" not in op.attributes
    assert str(op.attributes["operandSegmentSizes"]) == "array<i32: 1, 0, 0>"


def test_constructors_take_attributes_as_they_are(values):
    extra = {"k": UNIT}
    op = arith.CmpI(IntegerAttr(3, i32), values[0], values[3], attributes=extra)
    assert op.attributes["predicate"] is IntegerAttr(3, i32) and op.attributes["k"] is UNIT and extra == {"k": UNIT}


def test_wrong_arguments(values):
    with pytest.raises(TypeError):
        arith.AddI(values[0])
    with pytest.raises(TypeError):
        arith.AddI(values[0], values[0], nonsense=1)
    with pytest.raises(InternalError, match="result types must be given"):
        arith.Constant.__mro__[1].infer_types.__func__(arith.Constant, [], {})


def test_groups_around_a_fixed_operand(values):
    a, b, c, d = values
    op = Tail([a, b, c], d)
    assert op.args == [a, b, c] and op.last is d and op.extra is None
    assert Tail([], a).last is a and Tail([], a, extra=f32).extra.type is f32


def test_accessors_follow_changes(values):
    op = tt.Store(values[0], values[1])
    op.set_operand(1, values[3])
    assert op.value is values[3] and op.mask is None
    atomic = tt.AtomicCAS(values[0], values[3], values[3], result=i32)
    atomic.attributes["scope"] = IntegerAttr(3, i32)
    assert atomic.scope is tt.MemSyncScope.sys


def test_result_types_are_inferred_or_given(values):
    assert arith.AddI(values[0], values[3]).result.type is i32
    assert arith.CmpI(0, values[0], values[3]).result.type is i1
    tile = TensorType((4,), i32)
    assert tt.Splat(values[0], result=tile).result.type is tile


def test_names_are_unique():
    assert OPS["test.everything"] is Everything
    with pytest.raises(InternalError, match="defined twice"):
        type(Op)("AddI", (Op,), {"__module__": __name__}, name="arith.addi")


@pytest.mark.parametrize(
    "text, message",
    [
        ("$nothing", "unknown field 'nothing'"),
        ("$last $args^", "anchor outside of a group"),
        ("($last)?", "group without an anchor"),
        ("($last^", "has '' in place of '\\)'"),
        ("$last)", "unbalanced brackets"),
        ("%", "cannot read its assembly format"),
        ("attributes", "'attributes' in its assembly format is not known"),
    ],
)
def test_mistakes_in_a_format(text, message):
    class Fake:
        name = "test.fake"
        fields = Tail.fields
        assembly = text

    with pytest.raises(InternalError, match=message):
        elements(Fake)


def test_optional_groups_print_and_parse():
    line = "test.tail %0, %1 and %2 : i1"
    text = f"module {{\n  %0 = ub.poison : i32\n  %1 = ub.poison : f32\n  %2 = ub.poison : i8\n  %3 = {line} {{k}}\n  {line[:-5]}\n}}"
    module = parse_module(text)
    assert print_op(module) == text
    tail = module.body.last.prev
    assert [v.type for v in tail.args] == [i32, f32] and str(tail.last.type) == "i8" and tail.extra.type is i1


def test_attributes_in_a_format():
    lines = ["test.words red<-3>", "test.words red with<a, b><1>", 'test.words in<5> as "x" attributes {k = 1 : i8}']
    text = "module {\n" + "".join(f"  {line}\n" for line in lines) + "}"
    module = parse_module(text)
    assert print_op(module) == text
    op = module.body.last
    assert op.color is Color._in and op.n == 5 and op.label == "x"
