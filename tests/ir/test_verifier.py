"""Every invariant has a test that breaks it, and just it."""

from __future__ import annotations

import re

import pytest

from tests.ir.samples import ADD, ARGUMENTS, LINES, body
from tritium.dialects import arith, builtin, cf, scf, tt
from tritium.ir import (
    Block,
    Builder,
    FunctionType,
    IntegerAttr,
    Region,
    StringAttr,
    TensorType,
    VerificationError,
    f32,
    i1,
    i32,
    i64,
    parse_module,
    verify,
)
from tritium.ir import verifier as verifier_module
from tritium.ir.verifier import failures


def module(lines: str = "", arguments: str = "%x: i32, %c: i1, %t: tensor<8xf32>"):
    return parse_module(body(lines, arguments))


def find(root, name):
    return next(op for op in root.walk() if op.name == name)


def broken(root) -> set[str]:
    """The numbers of the invariants that do not hold; the message must be printable."""
    found = failures(root)
    if found:
        with pytest.raises(VerificationError) as caught:
            verify(root)
        assert all(f.message in str(caught.value) for f in found)
    return {f.invariant for f in found}


def test_good_ir_passes():
    assert failures(parse_module(ADD)) == []
    callees = "tt.func private @g(i32)\ntt.func private @h() -> (i32, f32)\ntt.func private @s(i32) -> i32\n"
    for line in LINES:
        line = (
            line.replace('@"strange name"', "@s")
            .replace("@g()", "@h()")
            .replace(" {boundaryCheck = array<i32: 0>}", "")
        )
        text = body(line, ARGUMENTS).replace("module {\n", "module {\n" + callees)
        assert failures(parse_module(text)) == [], line


def test_the_table_of_invariants_has_a_test_for_each_number():
    numbers = set(re.findall(r"^\| (V\d+) \|", verifier_module.__doc__, re.M))
    tested = {name.split("_")[1].upper() for name in globals() if re.match(r"test_v\d+_", name)}
    assert numbers == tested and len(numbers) == 17


# -- V1: links ------------------------------------------------------------------------------------------------------


def test_v1_parent():
    m = module("%0 = arith.addi %x, %x : i32")
    find(m, "arith.addi").parent = Block()
    assert broken(m) == {"V1"}


def test_v1_previous():
    m = module("%0 = arith.addi %x, %x : i32\n%1 = arith.addi %x, %x : i32")
    find(m, "tt.return").prev = None
    assert broken(m) == {"V1"}


def test_v1_a_circle_ends():
    m = module("%0 = arith.addi %x, %x : i32\n%1 = arith.addi %x, %x : i32")
    add = find(m, "arith.addi")
    add.next.next = add
    assert broken(m) == {"V1"}
    assert repr(add) == "<arith.addi>", "the printer would not end"


def test_v1_last():
    m = module("%0 = arith.addi %x, %x : i32")
    ret = find(m, "tt.return")
    ret.parent.last = ret.prev
    assert broken(m) == {"V1"}


def test_v1_block_and_argument():
    m = module()
    find(m, "tt.func").entry.args[1].index = 0
    assert broken(m) == {"V1"}
    m = module()
    find(m, "tt.func").entry.parent = None
    assert "V1" in {f.invariant for f in failures(m)}


# -- V2: use lists --------------------------------------------------------------------------------------------------


def test_v2_missing_user():
    m = module("%0 = arith.addi %x, %x : i32")
    add = find(m, "arith.addi")
    add.operands[0].users.clear()
    assert broken(m) == {"V2"}


def test_v2_wrong_count():
    m = module("%0 = arith.addi %x, %x : i32")
    add = find(m, "arith.addi")
    add.operands[0].users[add] = 1
    assert broken(m) == {"V2"}


def test_v2_stale_user():
    m = module("%0 = arith.addi %x, %x : i32\n%1 = arith.muli %x, %x : i32")
    add, mul = find(m, "arith.addi"), find(m, "arith.muli")
    add.result.users[mul] = 1
    assert broken(m) == {"V2"}


def test_v2_user_in_no_block():
    m = module("%0 = arith.addi %x, %x : i32")
    add = find(m, "arith.addi")
    leftover = arith.MulI(add.result, add.result)
    assert broken(m) == {"V2"}
    leftover.erase()
    assert broken(m) == set()


# -- V3, V13: definitions before uses ---------------------------------------------------------------------------------


def test_v3_use_before_definition():
    m = module("%0 = arith.addi %x, %x : i32\n%1 = arith.muli %0, %0 : i32")
    add, mul = find(m, "arith.addi"), find(m, "arith.muli")
    mul.move_before(add)
    assert broken(m) == {"V3"}


def test_v3_value_of_a_region_used_outside():
    m = module("scf.if %c {\n%0 = arith.addi %x, %x : i32\n}\n%1 = arith.muli %x, %x : i32")
    find(m, "arith.muli").set_operand(0, find(m, "arith.addi").result)
    assert broken(m) == {"V3"}


def test_v3_branch_that_does_not_dominate():
    m = module(
        "cf.cond_br %c, ^bb1, ^bb2\n^bb1:\n%0 = arith.addi %x, %x : i32\ncf.br ^bb2\n"
        "^bb2:\n%1 = arith.muli %x, %x : i32"
    )
    find(m, "arith.muli").set_operand(0, find(m, "arith.addi").result)
    assert broken(m) == {"V3"}


def test_v3_in_blocks_out_of_order():
    m = module("cf.br ^bb2\n^bb1:\n%0 = arith.addi %1, %1 : i32\ncf.br ^bb3\n^bb2:\n%1 = arith.muli %x, %x : i32\n"
               "cf.br ^bb1\n^bb3:")  # fmt: skip
    assert broken(m) == set()


def test_v3_dead_blocks_may_use_anything():
    m = module("cf.br ^bb2\n^bb1:\n%0 = arith.addi %1, %1 : i32\ncf.br ^bb2\n^bb2:\n%1 = arith.muli %x, %x : i32")
    assert broken(m) == set()


def test_v3_operand_in_no_block():
    m = module("%0 = arith.addi %x, %x : i32")
    find(m, "arith.addi").set_operand(0, arith.Constant.of(1, i32).result)
    assert broken(m) == {"V3"}


def test_v13_value_from_outside_of_an_isolated_function():
    m = module("%0 = arith.addi %x, %x : i32")
    constant = arith.Constant.of(1, i32)
    m.body.prepend(constant)
    find(m, "arith.addi").set_operand(0, constant.result)
    assert broken(m) == {"V13"}


# -- V4, V5, V6: blocks -----------------------------------------------------------------------------------------------


def test_v4_no_terminator():
    m = module("%0 = arith.addi %x, %x : i32")
    find(m, "tt.return").erase()
    assert broken(m) == {"V4"}


def test_v4_empty_block():
    m = module()
    find(m, "tt.return").erase()
    assert broken(m) == {"V4"}


def test_v4_terminator_in_the_middle():
    m = module()
    find(m, "tt.func").entry.prepend(tt.Return([]))
    assert broken(m) == {"V4"}


def test_v5_successor_in_another_region():
    m = module("cf.br ^bb1\n^bb1:")
    other = Region(Block())
    find(m, "cf.br").successors[0] = other.blocks[0]
    assert broken(m) == {"V5"}


def test_v5_successor_is_the_entry():
    m = module("cf.br ^bb1\n^bb1:", "")
    find(m, "cf.br").successors[0] = find(m, "tt.func").entry
    assert broken(m) == {"V5"}


def test_v6_branch_operands():
    m = module("cf.br ^bb1(%x : i32)\n^bb1(%y: i32):")
    find(m, "tt.func").regions[0].blocks[1].args[0].type = i64
    assert broken(m) == {"V6"}
    m = module("cf.cond_br %c, ^bb1(%x : i32), ^bb2\n^bb1(%y: i32):\ncf.br ^bb2\n^bb2:")
    find(m, "tt.func").regions[0].blocks[2].add_argument(i1)
    assert broken(m) == {"V6"}


# -- V7 to V12: definitions -------------------------------------------------------------------------------------------


def test_v7_operands():
    m = module("%0 = arith.addi %x, %x : i32")
    find(m, "arith.addi").set_operands([find(m, "tt.func").entry.args[0]])
    assert broken(m) == {"V7"}


def test_v7_results():
    m = module()
    op = arith.AddI.create([find(m, "tt.func").entry.args[0]] * 2, [i32, i32])
    find(m, "tt.func").entry.prepend(op)
    assert "V7" in broken(m)


def test_v7_regions():
    m = module("scf.if %c {\n}")
    find(m, "scf.if").regions.pop()
    assert broken(m) == {"V7"}


def test_v7_successors():
    m = module("cf.br ^bb1\n^bb1:")
    find(m, "cf.br").successors.clear()
    assert broken(m) == {"V7"}


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 0, 0), (1, 1), (0, 1, 1), (1, -1, 2), None])
def test_v7_segments(sizes):
    m = module("%0 = tt.load %p, %c : !tt.ptr<f32>", "%p: !tt.ptr<f32>, %c: i1")
    load = find(m, "tt.load")
    if sizes is None:
        del load.attributes["operandSegmentSizes"]
    else:
        other = tt.Load(*load.operands, attributes=None).attributes["operandSegmentSizes"]
        load.attributes["operandSegmentSizes"] = type(other)(sizes, other.element)
    for op in list(load.operands[0].users):
        if op.parent is None:
            op.erase()
    assert broken(m) == {"V7"}


def test_v7_segments_of_a_branch():
    m = module("cf.cond_br %c, ^bb1, ^bb1\n^bb1:")
    del find(m, "cf.cond_br").attributes["operandSegmentSizes"]
    assert broken(m) == {"V7"}


def test_v8_missing_attribute():
    m = module("%0 = arith.cmpi slt, %x, %x : i32")
    del find(m, "arith.cmpi").attributes["predicate"]
    assert broken(m) == {"V8"}


def test_v9_kind_of_attribute():
    m = module("%0 = arith.cmpi slt, %x, %x : i32")
    find(m, "arith.cmpi").attributes["predicate"] = StringAttr("slt")
    assert broken(m) == {"V9"}


def test_v9_number_of_an_enumeration():
    m = module("%0 = arith.cmpi slt, %x, %x : i32")
    find(m, "arith.cmpi").attributes["predicate"] = IntegerAttr(17, i64)
    assert broken(m) == {"V9"}


def test_v9_optional_attribute():
    m = module("%0 = tt.load %p : !tt.ptr<f32>", "%p: !tt.ptr<f32>")
    find(m, "tt.load").attributes["padding"] = IntegerAttr(9, i32)
    assert broken(m) == {"V9"}


def test_v10_same_type():
    m = module("%0 = arith.addi %x, %x : i32")
    find(m, "arith.addi").result.type = i64
    assert broken(m) == {"V10"}


def test_v11_same_shape():
    m = module("%0 = arith.extf %h : tensor<4xf16> to tensor<8xf32>", "%h: tensor<4xf16>")
    assert broken(m) == {"V11"}
    m = module("%0 = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, i32", "%p: tensor<8x!tt.ptr<f32>>, %i: i32")
    assert broken(m) == {"V11"}


def test_v11_a_scalar_condition_selects_tiles():
    assert broken(module("%0 = arith.select %c, %t, %t : tensor<8xf32>")) == set()
    line = "%0 = arith.select %m, %t, %t : tensor<4xi1>, tensor<8xf32>"
    assert broken(module(line, "%m: tensor<4xi1>, %t: tensor<8xf32>")) == {"V11"}


def test_v12_single_block():
    m = module("scf.if %c {\n}")
    region = find(m, "scf.if").regions[0]
    extra = region.append(Block())
    Builder(extra).insert(scf.Yield([]))
    assert broken(m) == {"V12"}


# -- V14, V15: symbols ------------------------------------------------------------------------------------------------


def test_v14_symbol_defined_twice():
    m = module()
    m.body.append(find(m, "tt.func").clone())
    assert broken(m) == {"V14"}


def test_v15_unknown_symbol():
    assert broken(module("tt.call @nowhere() : () -> ()")) == {"V15"}


# -- V16: what operations demand --------------------------------------------------------------------------------

ARGS = ARGUMENTS + ", %big: tensor<16x32xf16>, %v: tensor<4x8xf32>, %pp: tensor<8x!tt.ptr<f32>>, %i16: tensor<8xi16>"
GENERIC = [
    "%0 = arith.addi %x, %x : f32",
    "%0 = arith.addf %a, %a : i32",
    "%0 = arith.cmpi slt, %x, %x : f32",
    "%0 = arith.cmpf olt, %a, %a : i32",
    '%0 = "arith.cmpi"(%a, %b) <{predicate = 2 : i64}> : (i32, i32) -> i32',
    "%0 = arith.extsi %l : i64 to i32",
    "%0 = arith.trunci %a : i32 to i64",
    "%0 = arith.extf %x : f32 to f16",
    "%0 = arith.truncf %a : i32 to f16",
    "%0 = arith.sitofp %x : f32 to f32",
    "%0 = arith.fptosi %a : i32 to i32",
    "%0 = arith.bitcast %x : f32 to i64",
    "%0 = arith.index_cast %a : i32 to i64",
    "%0 = arith.select %a, %x, %x : i32, f32",
    '%0 = "arith.select"(%c, %a, %x) : (i1, i32, f32) -> i32',
    '%0 = "arith.constant"() <{value = 1 : i32}> : () -> i64',
    "%0 = math.exp %a : i32",
    "%0 = math.absi %x : f32",
    '%0:2 = "arith.addui_extended"(%a, %l) : (i32, i64) -> (i32, i1)',
    '"scf.for"(%a, %b, %l) ({\n^bb0(%k: i32):\nscf.yield\n}) : (i32, i32, i64) -> ()',
    '%0 = "scf.for"(%a, %b, %a, %x) ({\n^bb0(%k: i32, %y: f32):\nscf.yield %y : f32\n}) : (i32, i32, i32, f32) -> i32',
    '%0 = "scf.for"(%a, %b, %a, %x) ({\n^bb0(%k: i32, %y: i32):\nscf.yield %x : f32\n}) : (i32, i32, i32, f32) -> f32',
    '%0 = "scf.for"(%a, %b, %a, %x) ({\n^bb0(%k: i32, %y: f32):\nscf.yield %k : i32\n}) : (i32, i32, i32, f32) -> f32',
    '%0 = "scf.for"(%a, %b, %a, %x) ({\n^bb0(%k: i32, %y: f32):\ntt.return\n}) : (i32, i32, i32, f32) -> f32',
    '"scf.if"(%a) ({\nscf.yield\n}, {\n}) : (i32) -> ()',
    '%0 = "scf.if"(%c) ({\nscf.yield %x : f32\n}, {\n}) : (i1) -> f32',
    '%0 = "scf.if"(%c) ({\nscf.yield %x : f32\n}, {\nscf.yield %a : i32\n}) : (i1) -> f32',
    (
        '%0 = "scf.while"(%a) ({\n^bb0(%k: i32):\nscf.condition(%c) %x : f32\n}, {\n^bb0(%k: i32):\n'
        "scf.yield %k : i32\n}) : (i32) -> i32"
    ),
    (
        '%0 = "scf.while"(%a) ({\n^bb0(%k: i32):\nscf.condition(%c) %k : i32\n}, {\n^bb0(%k: i32):\n'
        "scf.yield %x : f32\n}) : (i32) -> i32"
    ),
    "%0 = tt.broadcast %x : f32 -> tensor<8xf32>",
    "tt.call @f(%a) : (i32) -> ()",
    "%0 = tt.get_program_id x : i64",
    "%0 = tt.int_to_ptr %a : i32 -> !tt.ptr<f32>",
    "%0 = tt.ptr_to_int %p : !tt.ptr<f32> -> i32",
    "%0 = tt.bitcast %a : i32 -> i64",
    "%0 = tt.fp_to_fp %x : f32 -> f16",
    "%0 = tt.fp_to_fp %a : i32 -> f32",
    "%0 = tt.addptr %p, %x : !tt.ptr<f32>, f32",
    '%0 = "tt.addptr"(%p, %a) : (!tt.ptr<f32>, i32) -> !tt.ptr<i32>',
    "%0 = tt.precise_sqrt %a : i32",
    '%0 = "tt.clampf"(%x, %h, %x) <{propagateNan = 0 : i32}> : (f32, f16, f32) -> f32',
    "%0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<8xi32>",
    "%0 = tt.make_range {end = 0 : i32, start = 4 : i32} : tensor<4xi32>",
    "%0 = tt.splat %x : f32 -> tensor<8xi32>",
    '%0 = "tt.unsplat"(%t) : (tensor<8xf32>) -> f32',
    '%0 = "tt.expand_dims"(%t) <{axis = 2 : i32}> : (tensor<8xf32>) -> tensor<8x1xf32>',
    '%0 = "tt.expand_dims"(%t) <{axis = 0 : i32}> : (tensor<8xf32>) -> tensor<8x1xf32>',
    "%0 = tt.broadcast %t : tensor<8xf32> -> tensor<16xf32>",
    "%0 = tt.broadcast %col : tensor<8x1xf32> -> tensor<8x4xi32>",
    "%0 = tt.reshape %t : tensor<8xf32> -> tensor<4x4xf32>",
    "%0 = tt.cat %t, %t : tensor<8xf32> -> tensor<8xf32>",
    "%0 = tt.join %t, %t : tensor<8xf32> -> tensor<2x8xf32>",
    "%0:2 = tt.split %col : tensor<8x1xf32> -> tensor<8xf32>",
    '%0 = "tt.trans"(%pair) <{order = array<i32: 0, 0>}> : (tensor<8x2xf32>) -> tensor<2x8xf32>',
    '%0 = "tt.trans"(%pair) <{order = array<i32: 1, 0>}> : (tensor<8x2xf32>) -> tensor<8x2xf32>',
    "%0 = tt.gather %t[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>",
    "%0 = tt.gather %t[%t] {axis = 0 : i32} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>",
    '%0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> i32',
    '%0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!tt.ptr<f32>, tensor<8xi1>) -> f32',
    '%0 = "tt.load"(%p, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32',
    '%0 = "tt.load"(%p, %c, %a) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!tt.ptr<f32>, i1, i32) -> f32',
    '%0 = "tt.load"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (f32) -> f32',
    "%0 = tt.load %bp {boundaryCheck = array<i32: 2>} : !tt.ptr<tensor<4x8xf16>>",
    "%0 = tt.load %bp, %c : !tt.ptr<tensor<4x8xf16>>",
    "%0 = tt.load %p {boundaryCheck = array<i32: 0>} : !tt.ptr<f32>",
    "tt.store %p, %a : !tt.ptr<f32>",
    "tt.store %pp, %t, %c : tensor<8x!tt.ptr<f32>>",
    "%0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %x : (!tt.ptr<f32>, f32) -> i32",
    "%0 = tt.atomic_cas relaxed, gpu, %p, %a, %x : (!tt.ptr<f32>, i32, f32) -> f32",
    "%0 = tt.make_tensor_ptr %p, [%l], [%l, %l], [%a, %b] {order = array<i32: 1, 0>} : !tt.ptr<tensor<4x8xf32>>",
    "%0 = tt.make_tensor_ptr %p, [%l, %l], [%l, %l], [%a, %b] {order = array<i32: 0, 0>} : !tt.ptr<tensor<4x8xf32>>",
    "%0 = tt.make_tensor_ptr %p, [%a, %l], [%l, %l], [%a, %b] {order = array<i32: 1, 0>} : !tt.ptr<tensor<4x8xf32>>",
    "%0 = tt.make_tensor_ptr %p, [%l, %l], [%l, %l], [%a, %b] {order = array<i32: 1, 0>} : !tt.ptr<tensor<4x8xf16>>",
    "%0 = tt.advance %bp, [%a] : !tt.ptr<tensor<4x8xf16>>",
    "%0 = tt.advance %p, [%a] : !tt.ptr<f32>",
    "%0 = tt.make_tensor_descriptor %p, [%a], [%l] : !tt.ptr<f32>, !tt.tensordesc<4x8xf32>",
    "%0 = tt.descriptor_load %d[%a] : !tt.tensordesc<4x8xf16> -> tensor<4x8xf16>",
    "%0 = tt.descriptor_load %d[%a, %b] : !tt.tensordesc<4x8xf16> -> tensor<4x4xf16>",
    "tt.descriptor_store %d[%a, %b], %v : !tt.tensordesc<4x8xf16>, tensor<4x8xf32>",
    "%0 = tt.dot %big, %sq, %acc : tensor<16x32xf16> * tensor<16x16xf16> -> tensor<16x16xf32>",
    "%0 = tt.dot %t, %t, %t : tensor<8xf32> * tensor<8xf32> -> tensor<8xf32>",
    '%0 = "tt.dot"(%sq, %sq, %acc) : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>) -> tensor<16x16xf16>',
    "%0 = tt.histogram %t : tensor<8xf32> -> tensor<8xi32>",
    'tt.print "x" {hex = false, isSigned = array<i32>} : %a : i32',
    'tt.assert %a, "no" : i32',
    "llvm.intr.assume %a : i32",
    '"cf.cond_br"(%a)[^bb1, ^bb1] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()\n^bb1:',
]
REDUCE = (
    '%0 = "tt.reduce"(%{src}) <{{axis = {axis} : i32}}> ({{\n^bb0(%p0: {arg}, %p1: f32):\n'
    "tt.reduce.return %{ret} : {ty}\n}}) : ({of}) -> {to}"
)
REDUCTIONS = [
    {"axis": 1},
    {"to": "tensor<1xf32>"},
    {"arg": "i32", "ret": "p1"},
    {"ret": "a", "ty": "i32"},
]


@pytest.mark.parametrize("line", GENERIC)
def test_v16_operations(line):
    assert broken(module(line, ARGS)) == {"V16"}


@pytest.mark.parametrize("wrong", REDUCTIONS)
def test_v16_reductions(wrong):
    good = {"src": "t", "axis": 0, "arg": "f32", "ret": "p0", "ty": "f32", "of": "tensor<8xf32>", "to": "f32"}
    assert broken(module(REDUCE.format(**good), ARGS)) == set()
    assert broken(module(REDUCE.format(**{**good, **wrong}), ARGS)) == {"V16"}


def test_v16_returned_types():
    m = module()
    ret = find(m, "tt.return")
    ret.set_operands(find(m, "tt.func").entry.args[:1])
    assert broken(m) == {"V16"}


def test_v16_function_type():
    m = module()
    find(m, "tt.func").entry.add_argument(i32)
    assert broken(m) == {"V16"}


# -- the error --------------------------------------------------------------------------------------------------------


def test_all_failures_are_listed_with_number_place_and_text(tmp_path):
    source = tmp_path / "k.py"
    source.write_text("def k(x):\n    y = x + x\n")
    m = parse_module(
        f'module {{\n  tt.func @f(%x: f32) {{\n    %0 = arith.addi %x, %x : f32 loc("{source}":2:9)\n'
        "    %1 = arith.muli %x, %x : f32\n    tt.return\n  }\n}"
    )
    with pytest.raises(VerificationError) as caught:
        verify(m)
    assert str(caught.value) == (
        "the IR breaks 2 invariants\n"
        f"{source}:2:9: error: V16: operands must be integers, not f32\n"
        "    2 |     y = x + x\n"
        "      |         ^\n"
        "note: %0 = arith.addi %x, %x : f32\n"
        "error: V16: operands must be integers, not f32\n"
        "note: %1 = arith.muli %x, %x : f32"
    )


def test_v17_surroundings(monkeypatch):
    """A dialect's check of operations in their place; it runs only where the structure is sound."""

    def no_products(root):
        return [(op, "there must be no product") for op in root.walk() if op.name == "arith.muli"]

    monkeypatch.setattr(verifier_module, "SURROUNDINGS", [no_products])
    assert broken(module("%0 = arith.addi %x, %x : i32")) == set()
    m = module("%0 = arith.muli %x, %x : i32")
    assert broken(m) == {"V17"}
    find(m, "arith.muli").results[0].type = i64
    assert broken(m) == {"V10"}


def test_a_long_list_is_cut():
    m = module("\n".join(f"%{i} = arith.addi %t, %t : tensor<8xf32>" for i in range(30)))
    with pytest.raises(VerificationError) as caught:
        verify(m)
    assert len(caught.value.failures) == 30 and str(caught.value).endswith("… and 10 more")


def test_an_operation_may_be_verified_alone():
    m = module("scf.if %c {\n%0 = arith.addi %x, %x : i32\n}")
    assert failures(find(m, "scf.if")) == []
    assert failures(find(m, "tt.func")) == []


def test_a_module_built_by_hand():
    m = builtin.Module.empty()
    func = tt.Func.build("f", FunctionType((TensorType((8,), f32),), ()))
    m.body.append(func)
    b = Builder(func.entry)
    b.add(arith.AddF(func.entry.args[0], func.entry.args[0]))
    block = func.regions[0].append(Block())
    b.insert(cf.Br([], block))
    Builder(block).insert(tt.Return([]))
    assert failures(m) == []


def test_a_check_that_relies_on_something_broken_is_no_crash():
    module = parse_module("tt.func @f() -> i32 {\n%x = arith.constant 1 : i32\ntt.return %x : i32\n}")
    del module.body.first.attributes["function_type"]
    with pytest.raises(VerificationError) as caught:
        verify(module)
    assert [f.invariant for f in caught.value.failures] == ["V8"]


def test_a_check_that_raises_is_a_failure_of_its_operation(monkeypatch):
    def broken(op):
        raise KeyError("x")

    module = parse_module("tt.func @f() {\ntt.return\n}")
    monkeypatch.setattr(verifier_module._rules_of(tt.Return), "op_check", broken)
    with pytest.raises(VerificationError, match="V16: its check ends in KeyError"):
        verify(module)
