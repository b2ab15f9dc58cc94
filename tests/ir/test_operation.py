"""Operations, values, blocks and regions: links and use lists stay right through every change."""

from __future__ import annotations

import sys

import pytest

from tests.ir.random_ir import RandomIR
from tests.ir.samples import body
from tritium.dialects import arith, builtin, scf, tt
from tritium.ir import (
    Block,
    Builder,
    FunctionType,
    Region,
    UnregisteredOp,
    f32,
    i1,
    i32,
    parse_module,
    print_op,
    verify,
)
from tritium.ir.verifier import failures
from tritium.support import UNKNOWN, FileLineColLoc, InternalError


@pytest.fixture
def function():
    module = builtin.Module.empty()
    func = tt.Func.build("f", FunctionType((i32, i32), ()))
    module.body.append(func)
    return func


def names(block: Block) -> list[str]:
    forward, backward = [op.name for op in block], [op.name for op in reversed(block)]
    assert forward == backward[::-1] and len(block) == len(forward)
    return forward


def test_users_count_operands(function):
    x, y = function.entry.args
    add = arith.AddI(x, x)
    mul = arith.MulI(x, y)
    assert x.users == {add: 2, mul: 1} and y.users == {mul: 1}
    assert y.has_one_use and not x.has_one_use
    add.set_operand(0, y)
    assert x.users == {add: 1, mul: 1} and y.users == {mul: 1, add: 1}
    add.set_operands([y, y])
    assert x.users == {mul: 1} and y.users == {mul: 1, add: 2}


def test_replace_all_uses(function):
    x, y = function.entry.args
    add, mul = arith.AddI(x, x), arith.MulI(x, y)
    x.replace_all_uses_with(y)
    assert x.users == {} and y.users == {mul: 2, add: 2}
    assert add.operands == [y, y] and mul.operands == [y, y]
    y.replace_all_uses_with(y)
    assert y.users == {mul: 2, add: 2}


def test_uses_and_replacing_some(function):
    x, y = function.entry.args
    add, mul = arith.AddI(x, x), arith.MulI(x, y)
    assert x.uses == [(add, 0), (add, 1), (mul, 0)] and y.uses == [(mul, 1)]
    x.replace_uses_where(y, lambda op: op is add)
    assert x.uses == [(mul, 0)] and y.uses == [(mul, 1), (add, 0), (add, 1)]
    x.replace_uses_where(y, lambda op: False)
    assert x.users == {mul: 1} and y.users == {mul: 1, add: 2}


def test_insert_move_detach_erase(function):
    block, (x, y) = function.entry, function.entry.args
    b = Builder(block)
    add, sub, mul = (b.insert(c(x, y)) for c in (arith.AddI, arith.SubI, arith.MulI))
    assert names(block) == ["arith.addi", "arith.subi", "arith.muli"]
    mul.move_before(add)
    assert names(block) == ["arith.muli", "arith.addi", "arith.subi"]
    mul.move_after(sub)
    assert names(block) == ["arith.addi", "arith.subi", "arith.muli"]
    add.move_after(sub)
    assert names(block) == ["arith.subi", "arith.addi", "arith.muli"]
    assert sub.is_before(mul) and not mul.is_before(sub) and not sub.is_before(sub)
    block.prepend(arith.DivSI(x, y))
    add.detach()
    add.detach()
    assert add.parent is None and names(block) == ["arith.divsi", "arith.subi", "arith.muli"]
    add.erase()
    mul.erase()
    assert names(block) == ["arith.divsi", "arith.subi"] and add not in x.users and mul not in y.users


def test_a_used_operation_is_not_erased(function):
    x, y = function.entry.args
    add = arith.AddI(x, y)
    mul = arith.MulI(add.result, y)
    with pytest.raises(InternalError, match="arith.muli still uses its result"):
        add.erase()
    mul.replace_with([add.result])
    add.erase()
    assert x.users == {} and y.users == {}


def test_erasing_drops_the_uses_of_nested_operations(function):
    x = function.entry.args[0]
    b = Builder(function.entry)
    branch = b.insert(scf.If.build(b.add(arith.Constant.of(1, i1)), [], with_else=False))
    inner = Builder(branch.then_block)
    add = inner.insert(arith.AddI(x, x))
    inner.insert(arith.MulI(add.result, x))
    branch.erase()
    assert x.users == {}


def test_walk_may_erase_the_current_operation(function):
    b = Builder(function.entry)
    for _ in range(5):
        b.insert(arith.AddI(*function.entry.args))
    for op in function.walk():
        if op is not function:
            op.erase()
    assert names(function.entry) == []


def test_walk_orders():
    module = parse_module(body("scf.if %c {\n%0 = arith.addi %x, %x : i32\n}", "%x: i32, %c: i1"))
    down = [op.name for op in module.walk()]
    up = [op.name for op in module.walk_post()]
    assert down == ["builtin.module", "tt.func", "scf.if", "arith.addi", "scf.yield", "tt.return"]
    assert up == ["arith.addi", "scf.yield", "scf.if", "tt.return", "tt.func", "builtin.module"]


def test_walk_takes_steps_in_proportion_to_the_operations():
    depth = 40
    text = "scf.if %c {\n" * depth + "arith.addi %x, %x : i32\n" * depth + "}\n" * depth
    module = parse_module(body(text, "%x: i32, %c: i1"))
    steps = []
    sys.setprofile(lambda frame, event, _: steps.append(event) if event == "call" else None)
    try:
        found = sum(1 for _ in module.walk())
    finally:
        sys.setprofile(None)
    assert found == 3 * depth + 3
    assert len(steps) < 8 * found


def test_walk_visits_what_follows_a_nested_region():
    inner = "scf.if %c {\n%0 = arith.addi %x, %x : i32\nscf.if %c {\n}\n%1 = arith.muli %x, %x : i32\n}\n"
    module = parse_module(body(inner + "%2 = arith.subi %x, %x : i32", "%x: i32, %c: i1"))
    down = [op.name.partition(".")[2] for op in module.walk()]
    assert down == ["module", "func", "if", "addi", "if", "yield", "muli", "yield", "subi", "return"]


def test_block_arguments():
    block = Block([i32, f32])
    user = arith.AddI(block.args[0], block.args[0])
    middle = block.insert_argument(1, i1)
    assert [(a.index, a.type) for a in block.args] == [(0, i32), (1, i1), (2, f32)] and middle.owner is block
    block.erase_argument(1)
    assert [(a.index, a.type) for a in block.args] == [(0, i32), (1, f32)]
    with pytest.raises(InternalError):
        block.erase_argument(0)
    user.erase()


def test_parents(function):
    b = Builder(function.entry)
    loop_block = Block([i32])
    c = b.add(arith.Constant.of(1, i32))
    loop = b.insert(scf.For(c, c, c, [], Region(loop_block)))
    inner = Builder(loop_block).insert(scf.Yield([]))
    assert inner.parent_op is loop and loop.parent_op is function and loop_block.parent_op is loop
    assert function.is_ancestor_of(inner) and inner.is_ancestor_of(inner) and not inner.is_ancestor_of(loop)
    assert loop.regions[0].block is loop_block and not loop.regions[0].empty
    with pytest.raises(InternalError):
        Region(Block(), Block()).block  # noqa: B018


def test_builder_points_and_locations(function):
    x, y = function.entry.args
    here = FileLineColLoc("k.py", 1, 2)
    b = Builder(function.entry, loc=here)
    last = b.insert(tt.Return([]))
    b.at(last)
    add = b.insert(arith.AddI(x, y))
    with b.saved():
        b.loc = UNKNOWN
        b.at_start(function.entry)
        b.insert(arith.MulI(x, y))
        b.after(add)
        b.insert(arith.SubI(x, y, loc=FileLineColLoc("k.py", 3, 4)))
    b.insert(arith.DivSI(x, y))
    assert names(function.entry) == ["arith.muli", "arith.addi", "arith.subi", "arith.divsi", "tt.return"]
    assert [op.loc for op in function.entry] == [UNKNOWN, here, FileLineColLoc("k.py", 3, 4), here, here]


def test_clone_is_deep_and_independent():
    module = RandomIR(7).module()
    text = print_op(module, generic=True, locations=True)
    copy = module.clone()
    verify(copy)
    assert not {id(op) for op in module.walk()} & {id(op) for op in copy.walk()}
    for op in list(copy.body):
        op.erase()
    assert print_op(module, generic=True, locations=True) == text
    assert failures(module) == []


def test_clone_with_blocks_out_of_order():
    module = parse_module(body("cf.br ^bb2\n^bb1:\n%0 = arith.addi %1, %1 : i32\ncf.br ^bb3\n^bb2:\n"
                               "%1 = tt.get_program_id x : i32\ncf.br ^bb1\n^bb3:"))  # fmt: skip
    copy = module.clone()
    assert failures(copy) == [] and failures(module) == []
    assert print_op(copy) == print_op(module)


def test_clone_maps_values_from_outside(function):
    x, y = function.entry.args
    add = arith.AddI(x, x)
    mapping = {x: y}
    copy = add.clone(mapping)
    assert copy.operands == [y, y] and mapping[add.result] is copy.result
    assert x.users == {add: 2} and y.users == {copy: 2}


def test_clone_of_an_unregistered_operation():
    op = UnregisteredOp("my.op")
    op.setup([], [i32], {}, [], [], UNKNOWN)
    assert op.clone().name == "my.op"


def test_repr_shows_the_line_of_an_operation_without_regions(function):
    x, y = function.entry.args
    x.hint, y.hint = "x", "y"
    add = arith.AddI(x, y)
    function.entry.append(add)
    assert repr(add) == str(add) == "%0 = arith.addi %x, %y : i32"
    assert repr([add]) == "[%0 = arith.addi %x, %y : i32]"


def test_repr_shows_regions_as_dots_in_one_line():
    text = """
    tt.func public @f(%c: i1, %t: tensor<8xi32>) {
      scf.if %c {
        scf.yield
      } else {
        scf.yield
      }
      %r = "tt.reduce"(%t) <{axis = 0 : i32}> ({
      ^bb0(%x: i32, %y: i32):
        tt.reduce.return %x : i32
      }) : (tensor<8xi32>) -> i32
      tt.return
    }"""
    module = parse_module(text, "f.ttir")
    shown = {op.name: repr(op) for op in module.walk()}
    assert shown["builtin.module"] == "module { … }"
    assert shown["tt.func"] == "tt.func public @f(%c: i1, %t: tensor<8xi32>) { … }"
    assert shown["scf.if"] == "scf.if %c { … } else { … }"
    assert shown["tt.reduce"] == '%r = "tt.reduce"(%t) <{axis = 0 : i32}> ({ … }) : (tensor<8xi32>) -> i32'


def test_repr_never_raises_for_detached_erased_and_half_built_operations(function):
    x, y = function.entry.args
    add = arith.AddI(x, y)
    assert "arith.addi" in repr(add)  # detached: its operands have no names
    function.entry.append(add)
    loop = scf.For.__new__(scf.For)
    assert repr(loop) == "<scf.for>"  # nothing is filled in
    loop.operands = [x]
    loop.results = []
    assert repr(loop) == "<scf.for>"
    add.erase()
    assert "arith.addi" in repr(add)
