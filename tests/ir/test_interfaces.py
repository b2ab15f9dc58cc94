"""Region branches, loops and branches between blocks: edges of control flow and the values that pass along them."""

import pytest

from tritium.dialects import all as _all_dialects  # noqa: F401
from tritium.dialects import arith, scf
from tritium.ir import (
    Branch,
    CountedLoop,
    IfLike,
    IntegerAttr,
    LoopLike,
    Operation,
    RegionBranch,
    constant_of,
    constant_trip_count,
    enclosing_loop,
    i32,
    parse_module,
    predecessor_operands,
    region_branch_of,
    successor_values,
    verify,
)
from tritium.ir.dominance import ancestor_in

TEXT = """
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @structured(%c: i1, %k: index, %lb: i32, %ub: i32, %step: i32, %x: f32, %y: f32) {
    %loop:2 = scf.for %i = %lb to %ub step %step iter_args(%a = %x, %b = %y) -> (f32, f32)  : i32 {
      scf.yield %b, %a : f32, f32
    }
    %if = scf.if %c -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    scf.if %c {
    }
    %while = scf.while (%n = %lb, %v = %x) : (i32, f32) -> f32 {
      scf.condition(%c) %v : f32
    } do {
    ^bb0(%w: f32):
      scf.yield %ub, %w : i32, f32
    }
    %switch = scf.index_switch %k -> f32
    case 2 {
      scf.yield %x : f32
    }
    default {
      scf.yield %y : f32
    }
    %region = scf.execute_region -> f32 {
      cf.cond_br %c, ^bb1(%x : f32), ^bb2
    ^bb1(%p: f32):
      scf.yield %p : f32
    ^bb2:
      cf.br ^bb1(%y : f32)
    }
    %special = ttg.warp_specialize(%x, %c)
    default {
      ttg.warp_yield %y : f32
    }
    partition0(%s: f32, %t: i1) num_warps(4) {
      ttg.warp_return
    } : (f32, i1) -> f32
    tt.return
  }
}
"""


@pytest.fixture
def ops():
    """Each region branch of the text by its name; the second `scf.if` is `scf.if 2`."""
    module = parse_module(TEXT)
    verify(module)
    found: dict[str, Operation] = {}
    for op in module.walk():
        if isinstance(op, RegionBranch):
            found[op.name if op.name not in found else f"{op.name} 2"] = op
    return found


def spelled(op: RegionBranch) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Each edge: its source, the index of the region it enters or `results`, and the hints of the values it passes."""
    hint = {}
    for r in op.results:
        hint[r] = f"result{r.index}"
    edges = []
    for edge in op.edges():
        target = "results" if edge.target is None else f"region {op.regions.index(edge.target)}"
        edges.append((edge.source.name, target, [(v.hint, hint.get(w, w.hint)) for v, w in edge]))
    return edges


def test_edges_of_for(ops):
    assert spelled(ops["scf.for"]) == [
        ("scf.for", "region 0", [("x", "a"), ("y", "b")]),
        ("scf.for", "results", [("x", "result0"), ("y", "result1")]),
        ("scf.yield", "region 0", [("b", "a"), ("a", "b")]),
        ("scf.yield", "results", [("b", "result0"), ("a", "result1")]),
    ]


def test_edges_of_if(ops):
    assert spelled(ops["scf.if"]) == [
        ("scf.if", "region 0", []),
        ("scf.if", "region 1", []),
        ("scf.yield", "results", [("x", "result0")]),
        ("scf.yield", "results", [("y", "result0")]),
    ]
    assert spelled(ops["scf.if 2"])[:2] == [("scf.if", "region 0", []), ("scf.if", "results", [])]


def test_edges_of_while(ops):
    assert spelled(ops["scf.while"]) == [
        ("scf.while", "region 0", [("lb", "n"), ("x", "v")]),
        ("scf.condition", "region 1", [("v", "w")]),
        ("scf.condition", "results", [("v", "result0")]),
        ("scf.yield", "region 0", [("ub", "n"), ("w", "v")]),
    ]


def test_edges_of_region_ops_that_are_no_loops(ops):
    assert spelled(ops["scf.index_switch"]) == [
        ("scf.index_switch", "region 0", []),
        ("scf.index_switch", "region 1", []),
        ("scf.yield", "results", [("y", "result0")]),
        ("scf.yield", "results", [("x", "result0")]),
    ]
    assert spelled(ops["scf.execute_region"]) == [
        ("scf.execute_region", "region 0", []),
        ("scf.yield", "results", [("p", "result0")]),
    ]


def test_edges_of_warp_specialize(ops):
    assert spelled(ops["ttg.warp_specialize"]) == [
        ("ttg.warp_specialize", "region 0", []),
        ("ttg.warp_specialize", "region 1", []),
        ("ttg.warp_yield", "results", [("y", "result0")]),
    ]
    assert spelled(ops["ttg.warp_specialize.partitions"]) == [
        ("ttg.warp_specialize.partitions", "region 0", [("x", "s"), ("c", "t")])
    ]


def test_overrides_agree_with_what_follows_from_the_edges(ops):
    for op in ops.values():
        values = [*op.results, *(a for region in op.regions for block in region.blocks[:1] for a in block.args)]
        for value in values:
            derived = RegionBranch.predecessor_operands(op, value)
            assert (op.predecessor_operands(value) or []) == (derived or []), (op.name, value)
        for source in [op, *(t for region in op.regions for t in op.region_terminators(region))]:
            for i in range(len(source.operands)):
                derived = RegionBranch.successor_values(op, source, i)
                assert set(op.successor_values(source, i)) == set(derived), (op.name, source.name, i)


def test_successors_and_predecessors_are_inverse(ops):
    func = ops["scf.for"].parent_op
    edges = 0
    for op in func.walk():
        for i, v in enumerate(op.operands):
            for target in successor_values(op, i) or []:
                assert (op, i) in predecessor_operands(target), (op.name, i)
                assert target.type is v.type
                edges += 1
    assert edges == 24
    for op in func.walk():
        for region in op.regions if op is not func else []:
            for block in region.blocks:
                for value in [*op.results, *block.args]:
                    for source, i in predecessor_operands(value) or []:
                        assert value in successor_values(source, i), (source.name, i)


def test_values_of_no_edge(ops):
    loop = ops["scf.for"]
    assert predecessor_operands(loop.induction_variable) is None
    assert predecessor_operands(loop.parent_op.entry.args[0]) is None
    assert [successor_values(loop, i) for i in range(3)] == [[], [], []]
    assert successor_values(arith.AddI(loop.lb, loop.ub), 0) is None
    assert loop.control_operands(loop) == [loop.lb, loop.ub, loop.step]
    condition = ops["scf.while"].before_block.last
    assert ops["scf.while"].control_operands(condition) == [condition.condition]


def test_branches_between_blocks(ops):
    entry, target, other = ops["scf.execute_region"].regions[0].blocks
    assert isinstance(entry.last, Branch) and region_branch_of(entry.last) is None
    assert [successor_values(entry.last, i) for i in (0, 1)] == [[], [target.args[0]]]
    assert predecessor_operands(target.args[0]) == [(entry.last, 1), (other.last, 0)]
    assert region_branch_of(target.last) is ops["scf.execute_region"]


def constants(op: Operation, numbers: dict[str, int]):
    """What `feasible_edges` is given: constants for operands, by their hints."""
    return lambda v: IntegerAttr(numbers[v.hint], v.type) if v.hint in numbers else constant_of(v)


@pytest.mark.parametrize(
    ("name", "source", "numbers", "targets"),
    [
        ("scf.for", "op", {"lb": 0, "ub": 0, "step": 1}, ["results"]),
        ("scf.for", "op", {"lb": 0, "ub": 5, "step": 4}, ["region 0"]),
        ("scf.for", "op", {"lb": 0, "ub": 5}, ["region 0", "results"]),
        ("scf.for", "end", {"lb": 0, "ub": 4, "step": 4}, ["results"]),
        ("scf.for", "end", {"lb": 0, "ub": 5, "step": 4}, ["region 0", "results"]),
        ("scf.if", "op", {"c": 1}, ["region 0"]),
        ("scf.if", "op", {"c": 0}, ["region 1"]),
        ("scf.if", "op", {}, ["region 0", "region 1"]),
        ("scf.while", "end", {"c": 1}, ["region 1"]),
        ("scf.while", "end", {"c": 0}, ["results"]),
        ("scf.index_switch", "op", {"k": 2}, ["region 1"]),
        ("scf.index_switch", "op", {"k": 3}, ["region 0"]),
    ],
)
def test_feasible_edges(ops, name, source, numbers, targets):
    op = ops[name]
    edges = op.feasible_edges(op if source == "op" else op.regions[0].blocks[0].last, constants(op, numbers))
    assert ["results" if e.target is None else f"region {op.regions.index(e.target)}" for e in edges] == targets


def test_kinds_of_loops(ops):
    kinds = {
        name: (isinstance(op, LoopLike), isinstance(op, CountedLoop), isinstance(op, IfLike))
        for name, op in ops.items()
    }
    assert kinds.pop("scf.for") == (True, True, False)
    assert kinds.pop("scf.while") == (True, False, False)
    assert kinds.pop("scf.if") == kinds.pop("scf.if 2") == (False, False, True)
    assert set(kinds.values()) == {(False, False, False)}
    loop = ops["scf.for"]
    assert enclosing_loop(loop.terminator) is loop and enclosing_loop(loop) is None
    assert loop.is_defined_outside(loop.lb) and not loop.is_defined_outside(loop.iter_args[0])
    assert ops["scf.while"].always_runs(ops["scf.while"].regions[0])
    assert not ops["scf.while"].always_runs(ops["scf.while"].regions[1])


@pytest.mark.parametrize(
    ("bounds", "trips"),
    [((0, 10, 3), 4), ((0, 9, 3), 3), ((5, 5, 1), 0), ((-4, 4, 8), 1), ((0, 1, 0), None), ((9, 0, 1), 0)],
)
def test_constant_trip_count(bounds, trips):
    assert constant_trip_count(*(IntegerAttr(n, i32) for n in bounds)) == trips
    assert constant_trip_count(IntegerAttr(0, i32), None, IntegerAttr(1, i32)) is None


def test_replace_with_additional_iter_args(ops):
    loop, func = ops["scf.for"], ops["scf.for"].parent_op
    new = loop.replace_with_additional_iter_args([loop.lb])
    assert isinstance(new, scf.For) and loop.parent is None and len(new.results) == 3
    assert new.yielded[2] is new.iter_args[2] and new.inits[2] is new.lb
    verify(func)


def test_without_iter_args(ops):
    loop, func = ops["scf.for"], ops["scf.for"].parent_op
    x, y = loop.init_args
    new, kept = loop.without_iter_args({0: x})
    loop.parent.insert_before(new, loop)
    assert kept == [None, new.results[0]]
    loop.replace_with([x, new.results[0]])
    assert new.inits == [y] and new.yielded == [x]
    verify(func)


def test_without_results(ops):
    branch, func = ops["scf.if"], ops["scf.if"].parent_op
    new, _ = branch.without_results({0})
    branch.parent.insert_before(new, branch)
    branch.erase()
    assert not new.results and isinstance(new, scf.If)
    verify(func)


def test_ancestor_in_region_and_block(ops):
    loop = ops["scf.for"]
    func = loop.parent_op
    end = loop.terminator
    assert ancestor_in(loop.body, end) is ancestor_in(loop.regions[0], end) is end
    assert ancestor_in(func.entry, end) is ancestor_in(func.regions[0], end) is loop
    assert ancestor_in(loop.body, loop) is ancestor_in(loop.regions[0], loop) is None
