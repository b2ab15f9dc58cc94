"""Union-find: merging, representatives, and long chains."""

from __future__ import annotations

import random

from tritium.ir.union_find import UnionFind


def test_find_adds_a_singleton():
    sets: UnionFind[str] = UnionFind()
    assert sets.find("a") == "a" and sets.groups() == [["a"]]


def test_union_keeps_the_representative_of_its_first_argument():
    sets: UnionFind[str] = UnionFind()
    sets.union("a", "b")
    assert sets.union("c", "b") == "c"
    assert [sets.find(x) for x in "abc"] == ["c"] * 3


def test_groups_list_elements_in_the_order_added():
    sets: UnionFind[int] = UnionFind()
    for x in (5, 1, 4, 2):
        sets.find(x)
    sets.union(2, 5)
    assert sets.groups() == [[5, 2], [1], [4]]


def test_chain_of_unions_is_followed_without_recursion():
    sets: UnionFind[int] = UnionFind()
    for x in range(50_000):
        sets.union(x + 1, x)
    assert sets.same(0, 50_000) and len(sets.groups()) == 1


def test_union_find_agrees_with_merging_python_sets():
    rng = random.Random(0)
    sets: UnionFind[int] = UnionFind()
    expected = {x: {x} for x in range(60)}
    for _ in range(45):
        a, b = rng.randrange(60), rng.randrange(60)
        sets.union(a, b)
        merged = expected[a] | expected[b]
        expected.update(dict.fromkeys(merged, merged))
    assert all(sets.same(a, b) == (b in expected[a]) for a in range(60) for b in range(60))
