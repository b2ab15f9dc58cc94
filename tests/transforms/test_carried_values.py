"""Values that loops hand to each other, and nobody needs, go together."""

from __future__ import annotations

import tritium.dialects.all  # noqa: F401
from tritium.ir import functions_of, parse_module, verify
from tritium.transforms.canonicalize import canonicalize
from tritium.transforms.carried_values import drop_dead_carried, needed_values

NESTED = """tt.func public @f(%p: !tt.ptr<i32>, %x: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %live = %x) -> (i32, i32) : i32 {
    %b:2 = scf.for %j = %c0 to %n step %c1 iter_args(%c = %a, %l = %live) -> (i32, i32) : i32 {
      %d = arith.addi %c, %c : i32
      %m = arith.muli %l, %l : i32
      scf.yield %d, %m : i32, i32
    }
    scf.yield %b#0, %b#1 : i32, i32
  }
  tt.store %p, %r#1 : !tt.ptr<i32>
  tt.return
}"""


def carried(module):
    return [len(op.results) for op in module.walk() if op.name == "scf.for"]


def test_mutually_carried_dead_values_are_removed():
    module = parse_module(NESTED)
    (func,) = functions_of(module)
    canonicalize(module)
    assert carried(module) == [2, 2], "rules of single loops do not see it"
    assert drop_dead_carried(func)
    canonicalize(module)
    verify(module)
    assert carried(module) == [1, 1]
    assert "arith.addi" not in str(module) and "arith.muli" in str(module)
    assert not drop_dead_carried(func)


def test_while_keeps_values_of_its_condition():
    module = parse_module("""tt.func public @f(%p: !tt.ptr<i32>, %x: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %r:2 = scf.while (%a = %x, %b = %x) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi sgt, %a, %c0 : i32
        scf.condition(%more) %a, %b : i32, i32
      } do {
      ^bb0(%a: i32, %b: i32):
        %less = arith.subi %a, %c1 : i32
        %twice = arith.addi %b, %b : i32
        scf.yield %less, %twice : i32, i32
      }
      tt.return
    }""")
    (func,) = functions_of(module)
    needed = needed_values(func)
    loop = next(op for op in func.walk() if op.name == "scf.while")
    assert loop.before_block.args[0] in needed and loop.after_block.args[0] in needed
    assert loop.before_block.args[1] not in needed and loop.results[1] not in needed
