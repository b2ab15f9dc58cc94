"""Aliases of attributes and locations: which are made, in what order they stand, how they are numbered."""

from __future__ import annotations

import pytest

from tritium.dialects import arith, builtin, tt
from tritium.ir import (
    DIALECT_ATTRIBUTES,
    Attribute,
    Builder,
    FunctionType,
    IntegerAttr,
    TensorType,
    f32,
    i32,
    parse_module,
    print_op,
)
from tritium.support import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc


class Layout(Attribute):
    """An attribute with an alias, whose parts may have aliases too."""

    __slots__ = ("name", "parts")

    def __new__(cls, name, *parts):
        self = cls._table.get((name, parts))
        if self is None:
            self = cls._table[name, parts] = object.__new__(cls)
            self.name, self.parts = name, parts
        return self

    @property
    def alias_name(self):
        return None if self.name == "bare" else self.name.rstrip("0123456789")

    def spell(self, texts):
        return f"#testing.layout<{self.name}{''.join(', ' + texts[p] for p in self.parts)}>"


def read_layout(parser):
    parser.expect("<")
    name, parts = parser.word(), []
    while parser.accept(","):
        parts.append(parser.attribute())
    parser.expect(">")
    return Layout(name, *parts)


@pytest.fixture(autouse=True)
def layouts():
    DIALECT_ATTRIBUTES["testing.layout"] = read_layout
    yield
    del DIALECT_ATTRIBUTES["testing.layout"]


def module_with(*encodings, **attributes):
    module = builtin.Module.empty()
    func = tt.Func.build("f", FunctionType((), ()))
    module.body.append(func)
    b = Builder(func.entry)
    for encoding in encodings:
        b.add(arith.Constant.of(0.0, TensorType((8,), f32, encoding)))
    b.insert(tt.Return([])).attributes.update(attributes)
    return module


def test_layouts_are_defined_above_and_named():
    one, two = Layout("blocked1"), Layout("blocked2")
    text = print_op(module_with(two, one, two))
    assert text.split("\n")[:7] == [
        "#blocked = #testing.layout<blocked2>",
        "#blocked1 = #testing.layout<blocked1>",
        "module {",
        "  tt.func public @f() attributes {noinline = false} {",
        "    %cst = arith.constant dense<0.000000e+00> : tensor<8xf32, #blocked>",
        "    %cst_0 = arith.constant dense<0.000000e+00> : tensor<8xf32, #blocked1>",
        "    %cst_1 = arith.constant dense<0.000000e+00> : tensor<8xf32, #blocked>",
    ]
    assert print_op(parse_module(text)) == text


def test_parts_stand_before_what_is_made_of_them():
    inner = Layout("zeta")
    user, other = Layout("alpha", inner), Layout("beta", Layout("bare", inner))
    text = print_op(module_with(other, user, inner))
    assert text.split("\n")[:3] == [
        "#zeta = #testing.layout<zeta>",
        "#alpha = #testing.layout<alpha, #zeta>",
        "#beta = #testing.layout<beta, #testing.layout<bare, #zeta>>",
    ]
    assert print_op(parse_module(text)) == text


def test_names_that_end_in_a_digit_stay_apart_from_numbered_ones():
    class Numbered(Layout):
        alias_name = "l1"

    text = print_op(module_with(Numbered("a"), Numbered("b")))
    assert text.startswith("#l1_ = #testing.layout<a>\n#l1_1 = #testing.layout<b>\n")


def test_an_attribute_without_alias_shows_the_aliases_of_its_parts():
    text = print_op(module_with(Layout("bare", Layout("mma")), k=Layout("shared")))
    assert "tensor<8xf32, #testing.layout<bare, #mma>>" in text
    assert "tt.return {k = #shared}" in text


def test_generic_form_uses_aliases_too():
    module = module_with(Layout("blocked"), k=Layout("blocked"))
    text = print_op(module, generic=True)
    assert text.startswith("#blocked = #testing.layout<blocked>\n")
    assert text.count("#testing") == 1
    assert print_op(parse_module(text)) == print_op(module)


def test_a_part_of_a_module_is_readable_by_itself():
    module = module_with(Layout("blocked"))
    constant = module.body.first.entry.first
    whole = "%cst = arith.constant dense<0.000000e+00> : tensor<8xf32, "
    assert print_op(constant) == f"{whole}#testing.layout<blocked>>"
    assert print_op(constant, aliases=True) == f"#blocked = #testing.layout<blocked>\n{whole}#blocked>"


def test_locations_of_arguments_are_defined_above_those_of_operations_below():
    here, there = FileLineColLoc("k.py", 1, 2), FileLineColLoc("k.py", 3, 4)
    module = builtin.Module.empty()
    func = tt.Func.build("f", FunctionType((i32,), ()))
    module.body.append(func)
    module.loc = func.loc = there
    func.entry.args[0].loc = NameLoc("x", here)
    b = Builder(func.entry)
    b.insert(tt.Return([])).loc = CallSiteLoc(FusedLoc((here, there), IntegerAttr(1, i32)), here)
    text = print_op(module, locations=True)
    assert text == (
        '#loc1 = loc("k.py":1:2)\n'
        '#loc2 = loc("x"(#loc1))\n'
        "module {\n"
        '  tt.func public @f(%arg0: i32 loc("x"(#loc1))) attributes {noinline = false} {\n'
        "    tt.return loc(#loc4)\n"
        "  } loc(#loc)\n"
        "} loc(#loc)\n"
        '#loc = loc("k.py":3:4)\n'
        "#loc3 = loc(fused<1 : i32>[#loc1, #loc])\n"
        "#loc4 = loc(callsite(#loc3 at #loc1))"
    )
    assert print_op(parse_module(text), locations=True) == text


def test_an_attribute_first_met_in_a_location_is_defined_above_once_an_operation_has_it():
    layout = Layout("blocked")
    module = module_with()
    module.loc = FusedLoc((FileLineColLoc("k.py", 1, 2),), layout)
    text = print_op(module, locations=True)
    assert text.index("module") < text.index("#blocked = ") < text.index("fused<#blocked>")
    module.attributes["k"] = layout
    text = print_op(module, locations=True)
    assert text.startswith("#blocked = ") and text.index("#blocked = ") < text.index("module")
    assert print_op(parse_module(text), locations=True) == text
