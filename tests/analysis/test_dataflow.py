"""The dataflow solvers: fixed points over loops, nested regions, branches and unreachable code, with small lattices."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

import tritium.dialects.all  # noqa: F401
from tests.ir import random_ir
from tritium.analysis.dataflow import (
    DenseBackward,
    DenseForward,
    SparseBackward,
    SparseForward,
    propagate,
    reachable,
)
from tritium.dialects import arith
from tritium.ir import (
    TERMINATOR,
    Body,
    Branch,
    IntegerAttr,
    Op,
    Operation,
    RegionBranch,
    RegionEdge,
    Value,
    VariadicOperand,
    VariadicResult,
    parse_module,
    region_branch_of,
)
from tritium.support import InternalError, settings


def function(body: str, args: str = "%c: i1, %n: i32, %x: i32, %p: !tt.ptr<i32>") -> Operation:
    """A function of constants 1 to 4 and a body."""
    constants = "\n".join(f"%k{i} = arith.constant {i} : i32" for i in range(1, 5))
    module = parse_module(f"tt.func public @f({args}) {{\n{constants}\n{body}\n}}")
    return next(iter(module.regions[0].blocks[0]))


def named(func: Operation) -> dict[str, Value]:
    """The values of a function by their names in the text."""
    out = {}
    for op in func.walk():
        for value in [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]:
            if value.hint:
                out[value.hint] = value
    return out


# -- sparse, forward --------------------------------------------------------------------------------------------------


class Parity(SparseForward[str]):
    """even, odd, or any: known for constants, sums and products."""

    def merge(self, first: str, second: str) -> str:
        return first if first == second else "any"

    def entry(self, argument: Value) -> str:
        return "any"

    def transfer(self, op: Operation) -> None:
        if isinstance(op, arith.Constant):
            value = op.value
            self.set_result(op.result, ("even", "odd")[value.value % 2] if isinstance(value, IntegerAttr) else "any")
            return
        states = [self.state(v) for v in op.operands]
        if None in states:
            return
        for result in op.results:
            self.set_result(result, self.computed(op, states))

    def computed(self, op: Operation, states: list) -> str:
        if isinstance(op, arith.AddI) and "any" not in states:
            return "even" if states[0] == states[1] else "odd"
        if isinstance(op, arith.MulI):
            return "even" if "even" in states else "any" if "any" in states else "odd"
        return "any"


def parities(func: Operation, **options) -> dict[str, str | None]:
    found = Parity(**options)
    found.solve(func)
    return {name: found.state(value) for name, value in named(func).items()}


LOOP = """
  %r:2 = scf.for %i = %k1 to %n step %k1 iter_args(%a = %k1, %b = %k1) -> (i32, i32) : i32 {
    %a2 = arith.muli %a, %k3 : i32
    %b2 = arith.addi %b, %a2 : i32
    scf.yield %a2, %b2 : i32, i32
  }
  %s = arith.addi %r#0, %k1 : i32
  tt.return
"""


def test_sparse_forward_is_optimistic_around_loops():
    found = parities(function(LOOP), checking=True)
    assert found["a"] == found["a2"] == "odd" and found["s"] == "even"
    assert found["b"] == "any", "odd at first, even in the next iteration"
    assert found["i"] == "any"


def test_sparse_forward_revisits_outer_loops_after_inner_ones():
    func = function("""
      %r = scf.for %i = %k1 to %n step %k1 iter_args(%a = %k2) -> (i32) : i32 {
        %t = arith.muli %a, %k3 : i32
        %q = scf.for %j = %k1 to %n step %k1 iter_args(%u = %a) -> (i32) : i32 {
          %v = arith.addi %u, %k1 : i32
          scf.yield %v : i32
        }
        scf.yield %q : i32
      }
      tt.return
    """)
    found = parities(func, checking=True)
    assert found["u"] == found["v"] == found["q"] == found["a"] == found["t"] == found["r"] == "any"


def test_sparse_forward_merges_branches_and_while_loops():
    func = function("""
      %if = scf.if %c -> (i32) {
        scf.yield %k1 : i32
      } else {
        scf.yield %k3 : i32
      }
      %w = scf.while (%a = %k2) : (i32) -> i32 {
        scf.condition(%c) %a : i32
      } do {
      ^bb0(%b: i32):
        %d = arith.addi %b, %k4 : i32
        scf.yield %d : i32
      }
      tt.return
    """)
    found = parities(func, checking=True)
    assert found["if"] == "odd" and found["w"] == found["a"] == found["b"] == "even"


def test_sparse_forward_follows_blocks_that_branch_backward():
    func = function("""
      cf.br ^head(%k1 : i32)
    ^exit(%z: i32):
      %e = arith.addi %z, %k1 : i32
      tt.return
    ^head(%h: i32):
      %t = arith.addi %h, %k2 : i32
      cf.cond_br %c, ^head(%t : i32), ^exit(%h : i32)
    """)
    found = parities(func, checking=True)
    assert found["h"] == found["z"] == "odd" and found["e"] == "even", (
        "blocks are in an order that is not the program's"
    )


def test_unreachable_blocks_stay_at_bottom():
    func = function("""
      cf.br ^exit(%k1 : i32)
    ^dead:
      %d = arith.addi %k1, %k1 : i32
      cf.br ^exit(%k2 : i32)
    ^exit(%z: i32):
      tt.return
    """)
    found = parities(func)
    assert found["d"] is None and found["z"] == "odd"


def test_bottom_operands_are_visited_once_they_are_known():
    class WithPoison(Parity):
        def transfer(self, op: Operation) -> None:
            if op.name != "ub.poison":
                super().transfer(op)

    func = function("""
      %u = ub.poison : i32
      %r = scf.for %i = %k1 to %n step %k1 iter_args(%a = %u) -> (i32) : i32 {
        %b = arith.addi %a, %k1 : i32
        scf.yield %k3 : i32
      }
      tt.return
    """)
    solver = WithPoison()
    solver.solve(func)
    values = named(func)
    assert solver.state(values["u"]) is None
    assert solver.state(values["a"]) == "odd" and solver.state(values["b"]) == "even"


def test_each_operation_outside_of_loops_is_visited_once():
    visits: dict[str, int] = {}

    class Counting(Parity):
        def transfer(self, op: Operation) -> None:
            for result in op.results:
                visits[result.hint or ""] = visits.get(result.hint or "", 0) + 1
            super().transfer(op)

    Counting().solve(function(LOOP))
    assert visits["s"] == visits["k1"] == 1 and visits["b2"] == 2


class RunTwice(RegionBranch, name="test.run_twice"):
    """Runs its region once or twice; what it yields are the results."""

    inits: VariadicOperand
    region: Body
    results_: VariadicResult

    def edges_from(self, source: Operation) -> list[RegionEdge]:
        region = self.regions[0]
        into = RegionEdge(source, 0, region, region.blocks[0].args)
        return [into] if source is self else [into, RegionEdge(source, 0, None, self.results)]


class TestYield(Op, name="test.yield", traits=TERMINATOR):
    """Ends the region of `test.run_twice`."""

    __test__ = False
    values: VariadicOperand


def test_solvers_know_a_new_region_operation_by_its_edges():
    func = function("""
      %r = "test.run_twice"(%k1) ({
      ^bb0(%a: i32):
        %b = arith.addi %a, %k1 : i32
        "test.yield"(%b) : (i32) -> ()
      }) : (i32) -> i32
      tt.store %p, %r : !tt.ptr<i32>
      tt.return
    """)
    assert parities(func)["a"] == "any" and parities(func)["r"] == "any"
    needed = Needed()
    needed.solve(func)
    assert {named(func)[name] for name in ("r", "b", "a", "k1", "p")} <= set(needed.states)
    assert live_in(func, "b") == {"a", "k1", "p"}


# -- agreement with a solver that is too simple to be wrong -------------------------------------------------------------


def naive_parities(func: Operation) -> dict[Value, str]:
    """Visit all operations in reached blocks, round after round, until nothing changes."""
    solver = Parity()
    solver.changed = lambda value: None  # type: ignore[method-assign]
    solver.reach_unknown(func.regions[0].blocks[0])
    before: object = None
    while before != (before := (dict(solver.states), len(solver.reached))):
        for op in list(func.walk()):
            if op.parent in solver.reached:
                solver._visit(op)
    return solver.states


@pytest.mark.parametrize("part", range(4))
def test_sparse_forward_agrees_with_visiting_all_operations_until_nothing_changes(part: int, seed: int) -> None:
    for i in range(8):
        module = random_ir.RandomIR(random.Random(f"{seed} {part} {i}").randrange(2**31)).module()
        for func in module.walk():
            if func.name == "tt.func" and func.regions[0].blocks:
                solver = Parity(checking=True)
                solver.solve(func)
                assert solver.states == naive_parities(func)


# -- checks -----------------------------------------------------------------------------------------------------------


class Flips(Parity):
    """Not monotone: the more is known, the more differs."""

    def computed(self, op: Operation, states: list) -> str:
        return "odd" if "any" in states else "even"


def test_transfer_that_is_not_monotone_is_an_error_when_checking():
    with pytest.raises(InternalError, match="Flips is not monotone: 'even', then 'odd'"):
        Flips(checking=True).solve(function(LOOP))
    Flips().solve(function(LOOP))  # terminates, since states are merged


def test_checks_follow_the_setting_that_verifies_each_pass():
    with settings.compilation.scope():
        settings.compilation.verify_each = True
        assert Parity().checking
    assert Parity(checking=True).checking and not Parity(checking=False).checking


class Counts(SparseForward[int]):
    """A lattice without a greatest element: the largest number seen."""

    def merge(self, first: int, second: int) -> int:
        return max(first, second)

    def entry(self, argument: Value) -> int:
        return 0

    def transfer(self, op: Operation) -> None:
        states = [self.state(v) for v in op.operands]
        if None not in states:
            self.set_result(op.results[0], 1 + max([0, *states]))  # type: ignore[type-var]


def test_endless_growth_is_an_error_when_checking():
    with pytest.raises(InternalError, match="Counts does not terminate"):
        Counts(checking=True).solve(function(LOOP))


# -- sparse, backward -------------------------------------------------------------------------------------------------


class Needed(SparseBackward[bool]):
    """Whether a store depends on a value."""

    def merge(self, first: bool, second: bool) -> bool:
        return first or second

    def transfer(self, op: Operation) -> None:
        if op.name == "tt.store" or (not isinstance(op, RegionBranch) and any(r in self.states for r in op.results)):
            for operand in op.operands:
                self.join(operand, True)


def test_sparse_backward_follows_values_around_loops():
    func = function("""
      %r:3 = scf.for %i = %k1 to %n step %k1 iter_args(%a = %k1, %b = %k2, %d = %k3) -> (i32, i32, i32) : i32 {
        %e = arith.addi %d, %k4 : i32
        scf.yield %b, %x, %e : i32, i32, i32
      }
      tt.store %p, %r#0 : !tt.ptr<i32>
      tt.return
    """)
    solver = Needed(checking=True)
    solver.solve(func)
    needed = {name for name, value in named(func).items() if value in solver.states}
    assert needed == {"p", "r", "b", "x", "k1", "k2"}, "%r#0 is %b of the last iteration, which is %x of the one before"


def test_sparse_backward_follows_branches_between_blocks():
    func = function("""
      cf.cond_br %c, ^exit(%k1 : i32), ^other
    ^other:
      %y = arith.addi %x, %k2 : i32
      cf.br ^exit(%y : i32)
    ^exit(%z: i32):
      tt.store %p, %z : !tt.ptr<i32>
      tt.return
    """)
    solver = Needed()
    solver.solve(func)
    assert {"z", "y", "x", "k1", "k2"} <= {name for name, value in named(func).items() if value in solver.states}


# -- dense ------------------------------------------------------------------------------------------------------------

Names = frozenset[str]


class Executed(DenseForward[Names]):
    """The names of constants that may have been executed before a point; records the state before each."""

    bottom: Names = frozenset()

    def __init__(self) -> None:
        super().__init__(checking=True)
        self.before: dict[str, Names] = {}

    def merge(self, first: Names, second: Names) -> Names:
        return first | second

    def transfer(self, op: Operation, state: Names) -> Names:
        name = op.results[0].hint if op.results else None
        if name is None or not name.startswith("m"):
            return state
        self.before[name] = state
        return state | {name}


def executed(body: str) -> tuple[dict[str, Names], Names]:
    func = function(body)
    solver = Executed()
    return solver.before, solver.region(func.regions[0], frozenset())


def test_dense_forward_carries_the_end_of_an_iteration_to_its_beginning():
    before, end = executed("""
      %m1 = arith.constant 1 : i32
      scf.for %i = %k1 to %n step %k1 : i32 {
        %m2 = arith.constant 2 : i32
        scf.if %c {
          %m3 = arith.constant 3 : i32
        } else {
          %m4 = arith.constant 4 : i32
        }
      }
      tt.return
    """)
    assert before["m2"] == {"m1", "m2", "m3", "m4"}
    assert before["m3"] == before["m4"] == end == {"m1", "m2", "m3", "m4"}


def test_dense_forward_skips_no_region_that_always_runs():
    before, end = executed("""
      scf.while : () -> () {
        %m1 = arith.constant 1 : i32
        scf.condition(%c)
      } do {
        %m2 = arith.constant 2 : i32
        scf.yield
      }
      tt.return
    """)
    assert before["m1"] == {"m1", "m2"} and before["m2"] == {"m1", "m2"} == end


def test_dense_forward_leaves_out_unreachable_blocks():
    before, end = executed("""
      %m1 = arith.constant 1 : i32
      cf.br ^head
    ^dead:
      %m2 = arith.constant 2 : i32
      cf.br ^head
    ^head:
      %m3 = arith.constant 3 : i32
      cf.cond_br %c, ^head, ^exit
    ^exit:
      tt.return
    """)
    assert "m2" not in before and before["m3"] == {"m1", "m3"} == end


class Forgets(Executed):
    """Not monotone: forgets everything before %m3 once that was executed."""

    def transfer(self, op: Operation, state: Names) -> Names:
        name = op.results[0].hint if op.results else None
        return super().transfer(op, frozenset() if name == "m3" and name in state else state)


def test_dense_transfer_that_is_not_monotone_is_an_error_when_checking():
    func = function("""
      scf.for %i = %k1 to %n step %k1 : i32 {
        %m1 = arith.constant 1 : i32
        %m2 = arith.constant 2 : i32
        %m3 = arith.constant 2 : i32
      }
      tt.return
    """)
    with pytest.raises(InternalError, match="Forgets is not monotone"):
        Forgets().region(func.regions[0], frozenset())


class Live(DenseBackward[frozenset[Value]]):
    """The values that are used later."""

    bottom: frozenset[Value] = frozenset()

    def __init__(self) -> None:
        super().__init__(checking=True)
        self.before: dict[Operation, frozenset[Value]] = {}

    def merge(self, first: frozenset[Value], second: frozenset[Value]) -> frozenset[Value]:
        return first | second

    def edge(self, pairs: Iterable[tuple[Value, Value]], state: frozenset[Value]) -> frozenset[Value]:
        forwarded = list(pairs)
        used = {operand for operand, value in forwarded if value in state}
        return state - {value for _, value in forwarded} | used

    def transfer(self, op: Operation, state: frozenset[Value]) -> frozenset[Value]:
        if isinstance(op, RegionBranch):
            used = op.control_operands(op)
        elif (branch := region_branch_of(op)) is not None:
            used = branch.control_operands(op)
        else:
            used = op.operands[:1] if isinstance(op, Branch) and len(op.successors) > 1 else op.operands
            used = [] if isinstance(op, Branch) and len(op.successors) == 1 else used
        state = state - set(op.results) | set(used)
        self.before[op] = state
        return state


def live_in(func: Operation, name: str) -> set[str]:
    """The names of the values that are live before the operation that defines a name."""
    solver = Live()
    solver.region(func.regions[0], frozenset())
    op = named(func)[name].defining_op
    assert op is not None
    return {value.hint or "" for value in solver.before[op]}


def test_dense_backward_finds_values_live_across_a_loop():
    func = function("""
      %m = arith.addi %x, %k1 : i32
      %u = arith.addi %x, %k2 : i32
      %r:2 = scf.for %i = %k1 to %n step %k1 iter_args(%a = %m, %b = %m) -> (i32, i32) : i32 {
        %t = arith.addi %a, %k2 : i32
        %s = arith.addi %t, %u : i32
        scf.yield %s, %t : i32, i32
      }
      %z = arith.addi %r#0, %k4 : i32
      tt.store %p, %z : !tt.ptr<i32>
      tt.return
    """)
    assert live_in(func, "z") == {"r", "k4", "p"}
    assert live_in(func, "t") == {"a", "k2", "u", "k4", "p"}, "%u in all iterations, %k4 and %p after the loop"
    assert live_in(func, "u") == {"m", "x", "k1", "k2", "n", "k4", "p"}


def test_dense_backward_joins_branches_and_blocks():
    func = function("""
      %y = arith.addi %x, %k1 : i32
      cf.cond_br %c, ^head(%y : i32), ^exit(%k2 : i32)
    ^head(%h: i32):
      %t = arith.addi %h, %k3 : i32
      cf.cond_br %c, ^head(%t : i32), ^exit(%t : i32)
    ^exit(%z: i32):
      %w = arith.addi %z, %k4 : i32
      tt.store %p, %w : !tt.ptr<i32>
      tt.return
    """)
    assert live_in(func, "t") == {"h", "k3", "c", "k4", "p"}
    assert live_in(func, "y") == {"x", "k1", "c", "k2", "k3", "k4", "p"}


# -- graphs -----------------------------------------------------------------------------------------------------------


def test_reachable_is_the_transitive_closure_in_depth_first_order():
    graph = {1: [2, 3], 2: [4], 3: [1], 4: [], 5: [1]}
    assert list(reachable([1], graph.__getitem__)) == [1, 3, 2, 4]
    assert list(reachable([5, 4], graph.__getitem__)) == [4, 5, 1, 3, 2]


def test_propagate_visits_what_changed_again():
    distance = {"a": 0, "b": 9, "c": 9}
    graph = {"a": ["b"], "b": ["c", "a"], "c": ["a"]}

    def visit(node: str) -> list[str]:
        shorter = [n for n in graph[node] if distance[node] + 1 < distance[n]]
        distance.update(dict.fromkeys(shorter, distance[node] + 1))
        return shorter

    propagate(["a"], visit)
    assert distance == {"a": 0, "b": 1, "c": 2}
