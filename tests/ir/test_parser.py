"""MLIR text to IR and back."""

from __future__ import annotations

import math

import pytest

from tests.ir.samples import ADD, ARGUMENTS, LINES, body
from tritium.dialects import arith, scf, tt
from tritium.ir import (
    OPS,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    OpaqueAttr,
    ParseError,
    TensorType,
    TypeAttr,
    UnregisteredOp,
    bf16,
    f16,
    f32,
    i1,
    i32,
    i64,
    index,
    parse_attribute,
    parse_module,
    parse_modules,
    parse_type,
    print_op,
)
from tritium.support import UNKNOWN, CallSiteLoc, FileLineColLoc, NameLoc


def same(text: str, **options) -> None:
    assert print_op(parse_module(text), **options) == text
    generic = print_op(parse_module(text), generic=True)
    assert print_op(parse_module(generic), generic=True) == generic
    assert print_op(parse_module(generic), **options) == text


def failure(text: str, **options) -> str:
    with pytest.raises(ParseError) as caught:
        parse_module(text, "t.mlir", **options)
    return str(caught.value)


def test_vector_add_is_read_and_printed_as_it_was():
    same(ADD)


def test_hints_are_the_names_before_they_were_made_unique():
    module = parse_module(ADD)
    hints = [op.results[0].hint for op in module.walk() if op.results]
    assert hints == [None, "pid", "start", "offsets", "offsets", "offsets", "mask", "mask", "x", "x", "x"]


def test_names_that_only_look_made_unique_stay():
    text = body(
        "%x_0 = arith.addi %x, %x : i32\n%x_1 = arith.addi %x, %x : i32\n%y_1 = arith.addi %x, %x : i32", "%x: i32"
    )
    same(text)
    same(body("%x_1 = arith.addi %x, %x : i32\n%cst = arith.constant 1.000000e+00 : f32\n"
              "%cst_0 = arith.constant 1.000000e+00 : f32", "%x: i32"))  # fmt: skip


def test_constants_of_another_name_keep_it():
    module = parse_module(
        body("%zero = arith.constant 0 : i32\n%x = arith.addi %zero, %zero : i32\n%x_0 = arith.addi %x, %x : i32")
    )
    assert [op.results[0].hint for op in module.walk() if op.results] == ["zero", "x", "x"]
    assert "%zero = arith.constant 0" in print_op(module)


def test_constants_called_by_their_value_are_named_anew():
    module = parse_module(body("%c1_i32 = arith.constant 1 : i32\n%c1_i32_0 = arith.constant 1 : i32"))
    first, second = (op for op in module.walk() if op.results)
    assert first.results[0].hint is second.results[0].hint is None
    first.attributes["value"] = IntegerAttr(2, i32)
    assert "%c2_i32 = arith.constant 2 : i32\n" in print_op(module)
    assert "%c1_i32 = arith.constant 1 : i32\n" in print_op(module)


@pytest.mark.parametrize("line", LINES)
def test_one_operation(line):
    same(body(line, ARGUMENTS))


def test_the_lines_above_cover_all_operations_with_an_assembly_format():
    plain = {name for name, cls in OPS.items() if name.startswith("tt.") and cls.assembly is not None}
    used = {op.name for line in LINES for op in parse_module(body(line, ARGUMENTS)).walk()}
    inside = {"tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return"}
    assert plain - used == {"tt.make_range", "tt.splat", "tt.precise_sqrt"} | inside


def test_older_spellings():
    lines = {
        "%0 = tt.load %p, %c, %x cacheModifier = ca evictionPolicy = evict_first {isVolatile = true} : !tt.ptr<f32>": (
            "cache_modifier = ca, eviction_policy = evict_first>, isVolatile = true} : !tt.ptr<f32>"
        ),
        "tt.store %p, %x cacheModifier = wt : !tt.ptr<f32>": "cache_modifier = wt, eviction_policy = evict_normal>}",
        "tt.store %p, %x evictionPolicy = evict_last : !tt.ptr<f32>": "= none, eviction_policy = evict_last>} : !tt",
        "tt.store %p, %x evictionPolicy = evict_last cacheModifier = wt : !tt.ptr<f32>": (
            "cache_modifier = wt, eviction_policy = evict_last>} : !tt.ptr<f32>"
        ),
        '%0 = arith.cmpi "slt", %a, %b : i32': "arith.cmpi slt, %a, %b : i32",
        "tt.store %p, %x cacheModifier = none : !tt.ptr<f32>": "tt.store %p, %x : !tt.ptr<f32>",
        "%0 = tt.descriptor_load %e[%a] cacheModifier = cg : !tt.tensordesc<tensor<8xf16>> -> tensor<8xf16>": (
            "cache_modifier = cg, eviction_policy = evict_normal>} : !tt.tensordesc<8xf16> -> tensor<8xf16>"
        ),
    }
    for line, now in lines.items():
        text = print_op(parse_module(body(line, ARGUMENTS + ", %e: !tt.tensordesc<tensor<8xf16>>")))
        assert now in text and "%e: !tt.tensordesc<8xf16>" in text
    for wrong in (
        "cacheModifier = cx",
        "cacheModifier ca",
        "evictionPolicy = cg",
        "cacheModifier",
        "cacheModifier = ca cacheModifier = ca",
    ):
        with pytest.raises(ParseError):
            parse_module(body(f"%0 = tt.load %p {wrong} : !tt.ptr<f32>", ARGUMENTS))
    for wrong in ("cache_modifier = ca", "eviction_policy = ca, cache_modifier = ca", "cache_modifier = ca, a = b", ""):
        with pytest.raises(ParseError):
            parse_attribute(f"#tt.cache_policy<{wrong}>")


def test_structured_control_flow():
    same(
        body(
            """\
            %c0_i32 = arith.constant 0 : i32
            %c1_i32 = arith.constant 1 : i32
            %c0 = arith.constant 0 : index
            %0:2 = scf.for %k = %c0_i32 to %n step %c1_i32 iter_args(%acc = %x, %arg0 = %n) -> (f32, i32)  : i32 {
              %2 = arith.addf %acc, %acc : f32
              scf.yield %2, %arg0 : f32, i32
            } {tt.num_stages = 3 : i32}
            scf.for %arg0 = %c0 to %c0 step %c0 {
              scf.if %c {
                tt.call @g(%0#0) : (f32) -> ()
              }
            }
            scf.if %c {
            } else {
              tt.call @g(%0#1) : (i32) -> ()
            }
            %1 = scf.if %c -> (f32) {
              %y = arith.addf %x, %x : f32
              scf.yield %y : f32
            } else {
              %y = arith.subf %x, %x : f32
              scf.yield %y : f32
            } {hint}
            scf.while : () -> () {
              scf.condition(%c)
            } do {
              scf.yield
            }
            %r:2 = scf.while (%v = %x, %w = %n) : (f32, i32) -> (i32, f32) {
              scf.condition(%c) %w, %v : i32, f32
            } do {
            ^bb0(%a: i32, %b: f32):
              scf.yield %b, %a : f32, i32
            } attributes {k = 1 : i64}""",
            "%x: f32, %n: i32, %c: i1",
        )
    )


def test_branches():
    same(
        "module {\n"
        "  tt.func @f(%n: i32, %c: i1) {\n"
        "    cf.cond_br %c, ^bb1(%n : i32), ^bb3\n"
        "  ^bb1(%i: i32):  // 3 preds: ^bb0, ^bb2, ^bb4\n"
        "    %0 = arith.addi %i, %n : i32\n"
        "    cf.br ^bb2\n"
        "  ^bb2:  // pred: ^bb1\n"
        "    cf.cond_br %c, ^bb1(%0 : i32), ^bb3 {k}\n"
        "  ^bb3:  // 2 preds: ^bb0, ^bb2\n"
        "    tt.return\n"
        "  ^bb4:  // no predecessors\n"
        "    cf.br ^bb1(%n : i32)\n"
        "  }\n"
        "}"
    )


def test_scan_and_reduce():
    same(
        body(
            """\
            %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
            ^bb0(%a: f32, %b: f32):
              %2 = arith.addf %a, %b : f32
              tt.scan.return %2 : f32
            }) : (tensor<8xf32>) -> tensor<8xf32>
            %1:2 = "tt.reduce"(%x, %x) <{axis = 0 : i32}> ({
            ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
              tt.reduce.return %a, %b : f32, f32
            }) : (tensor<8xf32>, tensor<8xf32>) -> (f32, f32)""",
            "%x: tensor<8xf32>",
        )
    )


def test_functions():
    same(
        'module @m attributes {k = "v", u} {\n'
        "  tt.func private @declared(i32 {tt.divisibility = 16 : i32}, f32) -> (i32, f32)\n"
        "  tt.func @results(%x: i32) -> i32 {\n"
        "    tt.return %x : i32\n"
        "  }\n"
        "  tt.func @attributes() -> (i32 {a = 1 : i32}, f32) attributes {noinline = true}\n"
        "}"
    )


def test_operations_without_a_module_get_one():
    module = parse_module("%c1_i32 = arith.constant 1 : i32")
    assert print_op(module) == "module {\n  %c1_i32 = arith.constant 1 : i32\n}"
    assert print_op(parse_module("// nothing")) == "module {\n}"


def test_forward_references():
    text = body(
        """\
        cf.br ^bb2
      ^bb1:
        %0 = arith.addi %1, %1 : i32
        %2 = arith.cmpi eq, %1, %0 : i32
        cf.cond_br %2, ^bb3, ^bb3
      ^bb2:  // pred: ^bb0
        %1 = tt.get_program_id x : i32
        cf.br ^bb1
      ^bb3:  // 2 preds: ^bb1, ^bb1"""
    )
    module = parse_module(text)
    add, pid = (next(op for op in module.walk() if op.name == n) for n in ("arith.addi", "tt.get_program_id"))
    assert add.operands == [pid.result, pid.result]
    assert pid.result.users[add] == 2


def test_locations():
    module = parse_module(
        """
        #loc = loc("k.py":1:0)
        module {
          tt.func @f(%x: i32 loc("x"(#loc))) {
            %0 = arith.addi %x, %x : i32 loc(#loc2)
            %1 = arith.addi %x, %x : i32 loc(callsite("a.py":3:4 at fused[#loc, unknown]))
            tt.return loc(unknown)
          } loc(#loc)
        } loc(#loc)
        #loc1 = loc("k.py":7:9)
        #loc2 = loc("y"(#loc1))
        """
    )
    start = FileLineColLoc("k.py", 1, 0)
    func = module.body.first
    add, call, ret = func.entry
    assert (module.loc, func.loc, ret.loc) == (start, start, UNKNOWN)
    assert func.entry.args[0].loc == NameLoc("x", start)
    assert add.loc == NameLoc("y", FileLineColLoc("k.py", 7, 9))
    assert call.loc == CallSiteLoc(FileLineColLoc("a.py", 3, 4), start)
    text = print_op(module, locations=True)
    assert print_op(parse_module(text), locations=True) == text


def test_aliases_of_attributes_and_types():
    module = parse_module("#one = 1 : i32\n!tile = tensor<4xf32>\n%0 = ub.poison {k = #one} : !tile")
    op = module.body.first
    assert op.attributes == {"k": IntegerAttr(1, i32)} and op.result.type is TensorType((4,), f32)


@pytest.mark.parametrize(
    "text",
    [
        "i1",
        "si8",
        "ui16",
        "i128",
        "index",
        "bf16",
        "f8E4M3FN",
        "none",
        "tensor<f32>",
        "tensor<4x0xi8>",
        "vector<16xf32>",
    ]
    + ["() -> ()", "(i32) -> (f32, i1)", "((i32) -> f32) -> ((i32) -> f32)", "tensor<2x!tt.ptr<tensor<4x4xf16>, 3>>"]
    + ["!tt.ptr<i8>", "!tt.tensordesc<4x8xui8>", "tensor<4xf32, #other.blocked<{order = [0]}>>"],
)
def test_types(text):
    assert str(parse_type(text)) == text
    assert parse_type(f" {text} // {text}") is parse_type(text)


@pytest.mark.parametrize(
    "text",
    ["1 : i32", "-1 : i8", "true", "unit", '"a\\0A\\22b"', "[1 : i32, [], @f]", "{a = 1 : i32, b, c = {}}", "i32"]
    + [
        "1.500000e+00 : f32",
        "0x7FC0 : bf16",
        "1.000000e-300 : f64",
        "1.234567890123E-300 : f64",
        "array<i32: 1, -2>",
        "array<i1: true>",
        "array<f32>",
    ]
    + ["array<f64: 1.500000e+00>", "dense<> : tensor<0xi32>", "dense<[[1], [2]]> : tensor<2x1xi8>", "(i32) -> f32"]
    + ['#other.blocked<{sizePerThread = [1, 2], s = ">"}>', "affine_map<(d0) -> (d0 + 1)>", "dense<-1> : tensor<4xi8>"],
)
def test_attributes(text):
    assert str(parse_attribute(text)) == text
    assert parse_attribute(text) is parse_attribute(f"{text}\n")


def test_attribute_values():
    assert parse_attribute("7") is IntegerAttr(7, i64)
    assert parse_attribute("0xFF : i8") is IntegerAttr(-1, i32) or parse_attribute("0xFF : i8").value == -1
    assert math.isnan(parse_attribute("0x7E00 : f16").value)
    assert parse_attribute("-0.0 : f32") is FloatAttr(-0.0, f32)
    assert parse_attribute("i32") is TypeAttr(i32)
    assert parse_attribute('dense<"0x0000803F00000040"> : tensor<2xf32>').values == (1.0, 2.0)
    assert parse_attribute("() -> index") is TypeAttr(FunctionType((), (index,)))
    assert isinstance(parse_attribute("#a.b<c>"), OpaqueAttr)


@pytest.mark.parametrize(
    "ty", ["f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ", "f8E3M4"]
)
def test_every_bit_pattern_of_a_small_float_comes_back(ty):
    width = parse_type(ty).width
    for bits in range(0, 1 << width, 1 if width == 8 else 97):
        attr = parse_attribute(f"0x{bits:X} : {ty}")
        again = parse_attribute(str(attr))
        assert again is attr, (hex(bits), str(attr), str(again))


def test_unregistered_operations_where_allowed():
    text = 'module {\n  %0:2 = "my.op"() <{k = !my.ty<(i32) -> ()>}> : () -> (i32, !my.thing)\n}'
    module = parse_module(text.replace("<{", "{").replace("}>", "}"), allow_unregistered=True)
    assert isinstance(module.body.first, UnregisteredOp)
    assert print_op(module) == text.replace("<{", "{").replace("}>", "}")
    assert "'my.op' is not a known operation" in failure(text)


# -- errors ---------------------------------------------------------------------------------------------------------


def test_an_error_shows_place_line_caret_and_hint():
    text = body("%0 = tt.adptr %x, %x : i32", "%x: i32")
    assert failure(text) == (
        "t.mlir:3:10: error: 'tt.adptr' is not a known operation\n"
        "    1 | module {\n"
        "    2 |   tt.func @f(%x: i32) {\n"
        "    3 |     %0 = tt.adptr %x, %x : i32\n"
        "      |          ^^^^^^^^\n"
        "hint: did you mean 'tt.addptr'?"
    )


@pytest.mark.parametrize(
    "line, message, marked",
    [
        ("%0 = arith.addi %x, %y : i32", "'%y' is not defined", "%y"),
        ("%0 = arith.addi %x, %t : i32", "'%t' has the type tensor<8xf32>, but is used as i32", "%t"),
        ("%0 = arith.addi %x %x : i32", "expected ',', found '%x'", "%x : i32"),
        ("%x = arith.addi %x, %x : i32", "'%x' is defined twice", "%x ="),
        ("%0 = arith.addi %x, %x : j32", "'j32' is not a type", "j32"),
        ("%0:2 = arith.addi %x, %x : i32", "'arith.addi' has 1 results, but 2 are named", "%0"),
        ("%0 = arith.cmpi lt, %x, %x : i32", "'lt' is no value of 'predicate'", "lt"),
        ("%0 = arith.constant 1.0 : i32", "a number of type i32 has no decimal point", "1.0"),
        ("%0 = arith.constant 1 : f32", "a number of type f32 needs a decimal point", "1 :"),
        ("%0 = arith.constant 300 : i8", "300 does not fit into i8", "300"),
        ("%0 = arith.constant @f", "@f is no constant", None),
        ("%0 = arith.constant dense<[1, 2, 3]> : tensor<2xi32>", "the elements have the shape [3]", "[1"),
        ("%0 = arith.constant dense<[[1], [2, 3]]> : tensor<2x2xi32>", "the rows have different lengths", "[[1"),
        ("%0 = tt.reduce %t : tensor<8xf32>", "'tt.reduce' has no pretty form", "tt.reduce"),
        ("%0 = ub.poison {a, a} : i32", "the attribute 'a' is given twice", "a}"),
        ("%0 = ub.poison {a = #nowhere} : i32", "the alias '#nowhere' is not defined", None),
        ("%0 = ub.poison {a = #d.e<(>} : i32", "this bracket", None),
        ("%0 = ub.poison : !no.such", "the type '!no.such' is not known", "!no.such"),
        ("%0 = ub.poison : tensor<4xf32", "expected '>'", None),
        ("%0 = tt.load %x : i32", "the result types of tt.load do not follow", "tt.load"),
        ('%0 = "arith.addi"(%x) : (i32, i32) -> i32', "1 operands, but 2 types", '"arith.addi"'),
        ("%0 = tt.call @f(%x) : () -> i32", "1 operands, but 0 types", "tt.call"),
        ("cf.br ^bb7", "the block '^bb7' is not defined", "^bb7"),
        ("%0 = arith.select %c, %x : i32", "expected 3 operands, found 2", "%c"),
        ("%0:2 = arith.mulsi_extended %x, %x : i32\n%1 = arith.addi %0#2, %x : i32", "has no result number 2", "%0#2"),
        ("tt.print 5", "expected a string", "5"),
        ("tt.return loc(5)", "expected a location", "5"),
        ("^bb1:\n^bb1:", "the block '^bb1' is defined twice", None),
        ("scf.if %c {", "expected '}' or an operation, found the end of the text", None),
    ],
)
def test_errors(line, message, marked):
    text = f"tt.func @f(%x: i32, %c: i1, %t: tensor<8xf32>) {{\n{line}\ntt.return\n}}"
    if message.endswith("end of the text"):
        text = text.rpartition("tt.return")[0]
    shown = failure(text)
    assert message in shown
    if marked is not None:
        lines = shown.split("\n")
        at = next(i for i, t in enumerate(lines) if set(t) <= set(" |^") and "^" in t)
        column = lines[at].index("^")
        assert lines[at - 1][column:].startswith(marked), shown


def test_the_suggestion_for_an_undefined_value_is_a_defined_one():
    text = body("%0 = arith.addi %offsets, %offset : i32", "%offsets: i32")
    assert "hint: did you mean '%offsets'?" in failure(text)


def test_values_of_a_region_end_with_it():
    text = body("scf.if %c {\n%y = tt.get_program_id x : i32\n}\n%0 = arith.addi %y, %y : i32", "%c: i1")
    assert "'%y' is not defined" in failure(text)


def test_functions_see_nothing_from_outside():
    assert "'%0' is not defined" in failure(
        "%0 = tt.get_program_id x : i32\ntt.func @f() {\n%1 = arith.addi %0, %0 : i32\ntt.return\n}"
    )


def test_forward_reference_with_another_type():
    text = body("%1 = arith.addi %0, %0 : i32\n%0 = arith.constant 1 : i64")
    assert "'%0' has the type i64, but was used before as i32" in failure(text)


def test_an_alias_defined_by_itself():
    assert "is defined by itself" in failure("#a = [#a]\n%0 = ub.poison {k = #a} : i32")


def test_parsed_constants_know_their_type():
    module = parse_module("%cst = arith.constant dense<1.0> : tensor<4xf16>")
    assert isinstance(module.body.first, arith.Constant)
    assert module.body.first.result.type is TensorType((4,), f16)
    assert parse_module("%0 = arith.constant 1.0 : bf16").body.first.result.type is bf16


def test_scf_for_without_iter_args_gets_its_yield():
    module = parse_module(body("scf.for %i = %n to %n step %n : i32 {\n}", "%n: i32"))
    loop = next(op for op in module.walk() if isinstance(op, scf.For))
    assert isinstance(loop.body.last, scf.Yield) and loop.induction_variable.type is i32


def test_call_of_a_mask_load_keeps_its_segments():
    module = parse_module(body("%0 = tt.load %p, %c : !tt.ptr<f32>", "%p: !tt.ptr<f32>, %c: i1"))
    load = next(op for op in module.walk() if isinstance(op, tt.Load))
    assert load.mask.type is i1 and load.other is None


@pytest.mark.parametrize(
    "text",
    ["(" * 5000, "[" * 5000, "tensor<" * 3000, "dense<" + "[" * 5000, "i99999999999", "1" * 5000, "vector<0xf32>"]
    + [
        "tensor<99999999999999999999x",
        "dense<[[" + "[" * 90,
        "!tt.ptr<" * 3000,
        "loc(" * 5000,
        "\\",
        '"\\',
        "0x",
        "-",
        "1.5e99999",
    ],
)
def test_extreme_texts_are_errors_or_attributes(text):
    for around in (text, f"%0 = ub.poison {{k = {text}}} : i32", f"%0 = ub.poison : {text}", f"{text} loc({text})"):
        with pytest.raises(ParseError):
            parse_attribute(around)
            parse_module(around + " x")


# -- files ------------------------------------------------------------------------------------------------------------

SPLIT = """\
#a = 1 : i32
tt.func @f() attributes {k = #a} {
  tt.return
}
// -----
#a = 2 : i32
tt.func @g() attributes {k = #a} {
  tt.return
}
// ----- and so on
tt.func @h() {
  tt.returm
}
"""


def test_several_modules_in_a_text():
    modules = parse_modules(SPLIT.rpartition("// -----")[0])
    assert [str(m.body.first.attributes["k"]) for m in modules] == ["1 : i32", "2 : i32"]


def test_places_in_a_later_module_are_those_in_the_whole_text():
    with pytest.raises(ParseError) as caught:
        parse_modules(SPLIT, "t.mlir")
    assert str(caught.value).startswith("t.mlir:12:3: error: 'tt.returm' is not a known operation")
    assert "   12 |   tt.returm" in str(caught.value)
    (first, _) = parse_modules(SPLIT.rpartition("// -----")[0], "t.mlir", text_locations=True)
    assert first.body.first.loc == FileLineColLoc("t.mlir", 2, 1)


RESOURCES = """\

{-#
  dialect_resources: {
    builtin: {
      weights: "0x0800000001000000"
    }
  },
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(cse,tt.func(canonicalize{max-iterations=3}))",
      disable_threading: true,
      verify_each: false
    }
  }
#-}"""


def test_a_string_in_the_text_of_an_attribute_ends_on_its_line():
    # What follows on the line could hold a quote too, and would be taken for its end.
    with pytest.raises(ParseError, match="this string is never closed"):
        parse_attribute('#foo.bar<[">]>')


def test_resources_are_kept():
    text = "module attributes {tt.w = dense_resource<weights> : tensor<1xi32>} {\n}\n" + RESOURCES
    found = {}
    module = parse_module(text, resources=found)
    reproducer = found["external_resources"]["mlir_reproducer"]
    assert reproducer["verify_each"] is False and reproducer["pipeline"].endswith("(canonicalize{max-iterations=3}))")
    assert found["dialect_resources"]["builtin"]["weights"] == "0x0800000001000000"
    assert print_op(module, resources=found) == text


@pytest.mark.parametrize(
    "text", ["{-#", "{-# a: {", "{-# a: {b: {c: 1}} #-}", "{-# a: {b: {c: true, c: true}} #-}", "{-"]
)
def test_broken_resources(text):
    with pytest.raises(ParseError):
        parse_module("module {}\n" + text)


def test_words_of_enumerations_may_stand_in_quotes():
    text = "tt.func @f(%a: i32, %x: f32) {{\n  %b = arith.cmpi {0}slt{0}, %a, %a : i32\n  tt.return\n}}"
    assert print_op(parse_module(text.format('"'))) == print_op(parse_module(text.format("")))
    with pytest.raises(ParseError, match="'less' is no value of"):
        parse_module(text.format('"').replace("slt", "less"))
