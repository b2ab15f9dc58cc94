"""The dominator tree, against the definition."""

from __future__ import annotations

import random

import pytest

from tritium.dialects import arith, cf, scf, tt
from tritium.ir import Block, Builder, Dominance, FunctionType, Region, i1, i32, value_dominates


def graph(edges: dict[int, list[int]]) -> Region:
    """A region whose block k branches to edges[k]."""
    blocks = [Block() for _ in edges]
    for k, targets in edges.items():
        b = Builder(blocks[k])
        if len(targets) == 2:
            c = b.add(arith.Constant.of(1, i1))
            b.insert(cf.CondBr(c, [], [], blocks[targets[0]], blocks[targets[1]]))
        elif targets:
            b.insert(cf.Br([], blocks[targets[0]]))
        else:
            b.insert(tt.Return([]))
    return Region(*blocks)


def reachable(edges: dict[int, list[int]], without: int | None = None) -> set[int]:
    seen: set[int] = set()
    todo = [0]
    while todo:
        k = todo.pop()
        if k not in seen and k != without:
            seen.add(k)
            todo += edges[k]
    return seen


def test_diamond_with_a_loop():
    region = graph({0: [1, 2], 1: [3], 2: [3], 3: [1, 4], 4: []})
    d = Dominance(region)
    b = region.blocks
    assert [d.idom.get(x) for x in b] == [None, b[0], b[0], b[0], b[3]]
    assert d.children()[b[0]] == [b[2], b[1], b[3]] or set(d.children()[b[0]]) == {b[1], b[2], b[3]}


@pytest.mark.parametrize("round", range(40))
def test_random_graphs_against_the_definition(round, seed):
    rng = random.Random(seed)
    n = rng.randint(1, 9)
    edges = {k: [rng.randrange(1, n) for _ in range(rng.randint(0, 2))] if n > 1 else [] for k in range(n)}
    region = graph(edges)
    d = Dominance(region)
    alive = reachable(edges)
    for a in range(n):
        for b in range(n):
            expected = b not in alive or (a in alive and b not in reachable(edges, without=a)) or a == b
            assert d.dominates(region.blocks[a], region.blocks[b]) is expected, (edges, a, b)


def test_values():
    func = tt.Func.build("f", FunctionType((i1,), ()))
    b = Builder(func.entry)
    one = b.insert(arith.Constant.of(1, i32))
    branch = b.insert(scf.If.build(func.entry.args[0], [], with_else=False))
    inner = Builder(branch.then_block).insert(arith.Constant.of(2, i32))
    last = b.insert(tt.Return([]))
    assert value_dominates(one.result, last) and value_dominates(one.result, inner)
    assert value_dominates(func.entry.args[0], inner)
    assert not value_dominates(inner.result, last)
    assert not value_dominates(one.result, one)
    assert not value_dominates(arith.Constant.of(1, i32).result, last)
