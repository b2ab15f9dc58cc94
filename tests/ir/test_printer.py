"""IR as text: names, pretty forms, the generic form, locations."""

from __future__ import annotations

from tests.ir.samples import body
from tritium.dialects import arith, builtin, scf, tt
from tritium.ir import (
    ArrayAttr,
    Block,
    Builder,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    Region,
    TensorType,
    UnregisteredOp,
    f32,
    i1,
    i32,
    parse_module,
    print_op,
)
from tritium.support import CallSiteLoc, FileLineColLoc, NameLoc


def function(*types, name="f"):
    module = builtin.Module.empty()
    func = tt.Func.build(name, FunctionType(types, ()))
    module.body.append(func)
    return module, func, Builder(func.entry)


def lines(op, **options):
    return [line.strip() for line in print_op(op, **options).split("\n")]


def test_function_with_argument_attributes():
    module, func, b = function(tt.PointerType(f32), i32)
    func.entry.args[0].hint = "x_ptr"
    b.insert(tt.Return([]))
    attrs = DictionaryAttr({"tt.divisibility": IntegerAttr(16, i32)})
    func.attributes["arg_attrs"] = ArrayAttr((attrs, DictionaryAttr({})))
    assert str(module) == (
        "module {\n"
        "  tt.func public @f(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32)"
        " attributes {noinline = false} {\n"
        "    tt.return\n"
        "  }\n"
        "}"
    )


def test_names_are_made_unique_with_one_counter():
    module, func, b = function(i32, i32)
    x, y = func.entry.args
    x.hint, y.hint = "x", "y"
    values = [b.add(arith.AddI(x, y)) for _ in range(5)]
    for v, hint in zip(values, ["x", "x", "y", None, "a b"]):
        v.hint = hint
    assert [line.split(" ")[0] for line in lines(module)[2:7]] == ["%x_0", "%x_1", "%y_2", "%0", "%a_b"]


def test_constants_are_named_by_their_value():
    module, _, b = function()
    tile = TensorType((4,), f32)
    for value, ty in ((1, i32), (-1, i32), (1, i1), (0, i1), (1.0, f32), (0.0, tile), (1, i32)):
        b.add(arith.Constant.of(value, ty))
    assert lines(module)[2:9] == [
        "%c1_i32 = arith.constant 1 : i32",
        "%c-1_i32 = arith.constant -1 : i32",
        "%true = arith.constant true",
        "%false = arith.constant false",
        "%cst = arith.constant 1.000000e+00 : f32",
        "%cst_0 = arith.constant dense<0.000000e+00> : tensor<4xf32>",
        "%c1_i32_1 = arith.constant 1 : i32",
    ]


def test_names_of_sibling_regions_are_reused():
    module, func, b = function(i1)
    for _ in range(2):
        branch = b.insert(scf.If.build(func.entry.args[0], [], with_else=False))
        inner = Builder(branch.then_block)
        inner.add(arith.Constant.of(1, i32))
        inner.insert(scf.Yield([]))
    assert lines(module)[2:8] == ["scf.if %arg0 {", "%c1_i32 = arith.constant 1 : i32", "}"] * 2


def test_default_attributes_are_left_out():
    _, func, b = function(tt.PointerType(f32), i1)
    p, mask = func.entry.args
    plain = b.insert(tt.Load(p, mask, cachePolicy=tt.CachePolicy.of(tt.CacheModifier.none), isVolatile=False))
    policy = tt.CachePolicy.of(tt.CacheModifier.cg, tt.EvictionPolicy.evict_last)
    cached = b.insert(tt.Load(p, cachePolicy=policy, isVolatile=True))
    assert str(plain) == "%0 = tt.load %arg0, %arg1 : !tt.ptr<f32>"
    assert str(cached) == (
        "%1 = tt.load %arg0 {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>,"
        " isVolatile = true} : !tt.ptr<f32>"
    )


def test_reduce_prints_in_generic_form_with_a_pretty_body():
    _, func, b = function(TensorType((8,), f32))
    body = Block([f32, f32])
    inner = Builder(body)
    inner.insert(tt.ReduceReturn([inner.add(arith.AddF(*body.args))]))
    op = b.insert(tt.Reduce([func.entry.args[0]], 0, Region(body), results_=[f32]))
    assert lines(op) == [
        '%0 = "tt.reduce"(%arg0) <{axis = 0 : i32}> ({',
        "^bb0(%arg1: f32, %arg2: f32):",
        "%1 = arith.addf %arg1, %arg2 : f32",
        "tt.reduce.return %1 : f32",
        "}) : (tensor<8xf32>) -> f32",
    ]


def test_generic_form_tells_properties_from_other_attributes():
    _, func, b = function(i32)
    op = b.insert(arith.CmpI(arith.CmpIPredicate.slt, *func.entry.args * 2, attributes={"note": IntegerAttr(1, i32)}))
    assert print_op(op, generic=True) == (
        '%0 = "arith.cmpi"(%arg0, %arg0) <{predicate = 2 : i64}> {note = 1 : i32} : (i32, i32) -> i1'
    )


def test_locations_are_aliased_in_a_table():
    _, func, b = function(i32)
    here = FileLineColLoc("k.py", 3, 5)
    op = b.insert(arith.AddI(*func.entry.args * 2, loc=CallSiteLoc(NameLoc("x", here), FileLineColLoc("k.py", 9, 1))))
    assert lines(op, locations=True, aliases=True) == [
        "%0 = arith.addi %arg0, %arg0 : i32 loc(#loc3)",
        '#loc = loc("k.py":3:5)',
        '#loc1 = loc("k.py":9:1)',
        '#loc2 = loc("x"(#loc))',
        "#loc3 = loc(callsite(#loc2 at #loc1))",
    ]
    assert lines(op, locations=True) == [
        '%0 = arith.addi %arg0, %arg0 : i32 loc(callsite("x"("k.py":3:5) at "k.py":9:1))'
    ]


def test_regions_can_be_left_out():
    module, _, _ = function()
    assert print_op(module, regions=False) == "module {...}"


def test_a_broken_operation_still_prints():
    _, func, b = function(i32)
    op = b.insert(arith.AddI(*func.entry.args * 2))
    stray = arith.Constant.of(1, i32).result
    op.set_operands([stray])
    assert print_op(op) == (
        '%0 = "arith.addi"(<<UNKNOWN SSA VALUE>>) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i32'
    )


def test_unregistered_operation():
    op = UnregisteredOp("my.op")
    op.setup([], [i32, f32], {"k": IntegerAttr(1, i32)}, [], [], arith.Constant.of(1, i32).loc)
    assert print_op(op) == '%0:2 = "my.op"() {k = 1 : i32} : () -> (i32, f32)'


def test_several_results_have_the_names_of_their_fields_or_of_the_text():
    lines = [
        "%low, %high = arith.mului_extended %a, %a : i32",
        "%low_0, %high_1 = arith.mului_extended %low, %high : i32",
        "%pair:2 = arith.mului_extended %a, %a : i32",
        "%first, %over = arith.addui_extended %pair#0, %pair#1 : i32, i1",
    ]
    text = body("\n".join(lines), "%a: i32")
    assert print_op(parse_module(text)) == text
    unnamed = text.replace("%low, %high", "%0:2", 1).replace("%low, %high :", "%0#0, %0#1 :")
    unnamed = unnamed.replace("%low_0, %high_1", "%1:2")
    assert "%low" not in unnamed and print_op(parse_module(unnamed)) == text
