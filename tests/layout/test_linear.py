"""Linear layouts against tables of all their inputs and outputs."""

from __future__ import annotations

import copy
import doctest
import itertools
import pickle
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tritium.layout import LinearLayout, gf2, linear

L = LinearLayout
Row = tuple[tuple[str, int], ...]


def row(values: dict[str, int]) -> Row:
    return tuple(sorted(values.items()))


def points(sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    for values in itertools.product(*(range(s) for s in sizes.values())):
        yield dict(zip(sizes, values))


def table(layout: LinearLayout) -> dict[Row, Row]:
    """All inputs and where they go."""
    return {row(p): row(layout.apply(**p)) for p in points(layout.ins)}


def random_layout(rng: random.Random, ins: Sequence[str], outs: Sequence[str], bits: int = 3) -> LinearLayout:
    sizes = {n: 1 << rng.randint(0, bits) for n in outs}
    bases = {
        n: [
            tuple(rng.randrange(s) & -(rng.random() < 0.7) for s in sizes.values()) for _ in range(rng.randint(0, bits))
        ]
        for n in ins
    }
    return L(bases, sizes)


def layouts(
    count: int, seed: int = 1, ins: Sequence[str] = ("register", "lane"), outs: Sequence[str] = ("dim0", "dim1")
) -> list[LinearLayout]:
    rng = random.Random(seed)
    return [random_layout(rng, ins, outs) for _ in range(count)]


def invertible(rng: random.Random, bits: int) -> LinearLayout:
    while True:
        columns = [rng.getrandbits(bits) for _ in range(bits)]
        if gf2.rank(columns) == bits:
            return L({"offset": [(c & 3, c >> 2) for c in columns]}, {"dim0": 4, "dim1": 1 << (bits - 2)})


def test_documented_examples() -> None:
    for module in (linear, gf2):
        result = doctest.testmod(module)
        assert result.attempted and not result.failed


def test_interned_and_copied_as_itself() -> None:
    a = L({"lane": [(1,), (2,)]}, {"dim0": 4})
    assert a is L.identity_1d(4, "lane", "dim0")
    assert pickle.loads(pickle.dumps(a)) is a
    assert copy.deepcopy(a) is a
    assert a is not L.identity_1d(4, "warp", "dim0")
    assert a is not L({"lane": [(1,), (2,)]}, {"dim0": 8})


@pytest.mark.parametrize(
    ("bases", "outs", "message"),
    [
        ({"lane": [(1, 2)]}, {"dim0": 4}, "a basis of lane has 2 coordinates, there are 1"),
        ({"lane": [(4,)]}, {"dim0": 4}, "dim0 = 4 is out of range"),
        ({"lane": [(-1,)]}, {"dim0": 4}, "dim0 = -1 is out of range"),
        ({"lane": [(1,)]}, {"dim0": 3}, "the size of dim0 is 3"),
        ({"lane": [(0,)]}, {"dim0": 0}, "the size of dim0 is 0"),
    ],
)
def test_ill_formed(bases: Any, outs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        L(bases, outs)


def test_apply_is_exclusive_or_of_bases() -> None:
    for layout in layouts(40):
        for p in points(layout.ins):
            expected = dict.fromkeys(layout.outs, 0)
            for name, value in p.items():
                for i, vector in enumerate(layout.bases[name]):
                    if value >> i & 1:
                        expected = {n: e ^ v for (n, e), v in zip(expected.items(), vector)}
            assert layout.apply(**p) == expected


def test_of_function_agrees_with_linear_functions() -> None:
    for layout in layouts(20):
        again = L.of_function(layout.ins, layout.outs, lambda layout=layout, **at: layout.apply(**at).values())
        assert again is layout


def test_injective_surjective_redundant() -> None:
    for layout in layouts(200):
        reached = table(layout)
        images = set(reached.values())
        assert layout.is_surjective() == (len(images) == layout.out_size())
        assert layout.is_injective() == (len(images) == layout.size())
        assert layout.is_invertible() == (len(images) == layout.size() == layout.out_size())
        masks = layout.redundant()
        once = [p for p in points(layout.ins) if not any(p[n] & m for n, m in masks.items())]
        assert len(once) == len(images) == len({row(layout.apply(**p)) for p in once})


def test_product_places_side_by_side() -> None:
    ours, theirs = layouts(60, seed=2), layouts(60, seed=3, ins=("lane", "warp"), outs=("dim1", "dim2"))
    for a, b in zip(ours, theirs):
        both = a * b
        for p, q in itertools.product(points(a.ins), points(b.ins)):
            at = {n: p.get(n, 0) + q.get(n, 0) * a.ins.get(n, 1) for n in both.ins}
            x, y = a.apply(**p), b.apply(**q)
            assert both.apply(**at) == {n: x.get(n, 0) + y.get(n, 0) * a.outs.get(n, 1) for n in both.outs}
        assert both.divide_left(a) is not None
        assert a * L.empty() is a
        assert (L.empty() * a) is a


def test_divide_left_undoes_products_and_nothing_else() -> None:
    found = 0
    for a, b in zip(layouts(200, seed=4), layouts(200, seed=5)):
        rest = (a * b).divide_left(a)
        assert rest is not None and a * rest is a * b
        rest = b.divide_left(a)
        if rest is not None:
            found += 1
            assert (a * rest).reordered(list(b.ins), list(b.outs)) is b
    assert found > 3


def test_compose() -> None:
    for a in layouts(60, seed=6):
        rng = random.Random(str(a))
        outer = L(
            {n: [(rng.randrange(8), rng.randrange(4)) for _ in range(3)] for n in ("dim1", "dim0")}, {"x": 8, "y": 4}
        )
        both = a.compose(outer)
        for p in points(a.ins):
            assert both.apply(**p) == outer.apply(**a.apply(**p))


def test_inverse_and_pseudoinverse() -> None:
    rng = random.Random(7)
    for _ in range(30):
        layout = invertible(rng, 5)
        assert layout.invert().invert() is layout
        for p in points(layout.ins):
            assert layout.invert().apply(**layout.apply(**p)) == p
    surjective = [x for x in layouts(300, seed=8) if x.is_surjective()]
    assert len(surjective) > 20
    for layout in surjective:
        back, masks = layout.pseudoinvert(), layout.redundant()
        for q in points(layout.outs):
            p = back.apply(**q)
            assert layout.apply(**p) == q
            assert not any(p[n] & m for n, m in masks.items())


def test_invert_and_compose_finds_the_same_element() -> None:
    rng = random.Random(9)
    for a in layouts(200, seed=10):
        whole = L.identity_1d(8, "register", "dim0") * L.identity_1d(8, "warp", "dim1")
        mixed = random_layout(rng, ("register", "warp"), ("dim1", "dim0"))
        mixed = (mixed * whole).resized("dim0", (mixed * whole).outs["dim0"])
        a = a.resized("dim0", mixed.outs["dim0"]).resized("dim1", mixed.outs["dim1"])
        images = set(table(mixed).values())
        if not all(row(a.apply(**p)) in images for p in points(a.ins)):
            with pytest.raises(ValueError, match="is not contained in"):
                a.invert_and_compose(mixed)
            continue
        x = a.invert_and_compose(mixed)
        for p in points(a.ins):
            assert mixed.apply(**x.apply(**p)) == a.apply(**p)


def test_what_need_not_move_stays() -> None:
    a = L.identity_1d(4, "register", "dim0") * L.identity_1d(32, "lane", "dim0") * L.zeros_1d(4, "warp", "dim0")
    b = L.zeros_1d(2, "lane", "dim0") * L.identity_1d(4, "register", "dim0") * L.identity_1d(32, "lane", "dim0")
    assert a.invert_and_compose(a).sublayout(["lane"], ["lane"]) is L.identity_1d(32, "lane", "lane")
    same = a.invert_and_compose(a)
    assert [same.basis("warp", i)["warp"] for i in range(2)] == [1, 2]
    x = a.invert_and_compose(b)
    for p in points(a.ins):
        assert b.apply(**x.apply(**p)) == a.apply(**p)


def test_contiguous() -> None:
    for layout in layouts(300, seed=11):
        for source in layout.ins:
            for target in (None, *layout.outs):
                n = layout.contiguous(source, target)
                assert n == measured(layout, source, target)


def measured(layout: LinearLayout, source: str, target: str | None) -> int:
    """The same by looking: the longest run length such that every aligned run of inputs is a run of outputs."""
    sizes = layout.outs

    def number(p: dict[str, int]) -> int:
        out, scale = 0, 1
        for name, size in sizes.items():
            out, scale = out + layout.apply(**p)[name] * scale, scale * size
        return out

    def is_run(p: dict[str, int], n: int) -> bool:
        start = layout.apply(**p)
        for i in range(n):
            at = {**p, source: p[source] + i}
            if target is None:
                if number(at) != number(p) + i:
                    return False
            elif layout.apply(**at) != {**start, target: start[target] + i}:
                return False
        return (number(p) if target is None else start[target]) % n == 0

    n = layout.ins[source]
    while n > 1 and not all(is_run(p, n) for p in points(layout.ins) if p[source] % n == 0):
        n //= 2
    return n


def test_views_are_the_same_map() -> None:
    for layout in layouts(60, seed=12):
        turned = layout.reordered(["lane", "register"], ["dim1", "dim0"])
        assert table(turned) == table(layout)
        assert turned.reordered(list(layout.ins), list(layout.outs)) is layout
        flat = layout.reshaped({"i": layout.size()}, {"o": layout.out_size()})
        for p in points(layout.ins):
            i = p["register"] + p["lane"] * layout.ins["register"]
            q = layout.apply(**p)
            assert flat.apply(i=i) == {"o": q["dim0"] + q["dim1"] * layout.outs["dim0"]}
        assert flat.reshaped(layout.ins, layout.outs) is layout
        part = layout.sublayout(["lane"], ["dim1"])
        for lane in range(layout.ins["lane"]):
            assert part.apply(lane=lane) == {"dim1": layout.apply(lane=lane)["dim1"]}
        names = {"register": "r", "dim0": "row"}
        assert layout.renamed(names).renamed({v: k for k, v in names.items()}) is layout


def test_without_zeros_reaches_the_same() -> None:
    for layout in layouts(60, seed=13):
        assert set(table(layout.without_zeros("register")).values()) == set(table(layout).values())


def test_resized() -> None:
    layout = L.identity_1d(4, "lane", "dim0")
    assert layout.resized("dim0", 16).outs == {"dim0": 16}
    assert layout.resized("dim0", 16).resized("dim0", 4) is layout
    with pytest.raises(ValueError, match="cannot have the size 2"):
        layout.resized("dim0", 2)


def test_constant_over() -> None:
    layout = L.identity_1d(4, "lane", "dim0") * L.identity_1d(4, "warp", "dim1")
    assert layout.is_constant_over(["warp"], ["dim0"])
    assert not layout.is_constant_over(["warp"], ["dim1"])
    assert layout.is_constant_over([], ["dim1"])


def test_mistakes_are_named() -> None:
    a = L.identity_1d(4, "lane", "dim0")
    with pytest.raises(ValueError, match="not invertible"):
        L.zeros_1d(4, "lane", "dim0").invert()
    with pytest.raises(ValueError, match="not surjective"):
        L.zeros_1d(4, "lane", "dim0", 2).pseudoinvert()
    with pytest.raises(ValueError, match="are not the inputs"):
        a.compose(a)
    with pytest.raises(ValueError, match="4 outputs here and 2 inputs there"):
        a.compose(L.identity_1d(2, "dim0", "x"))
    with pytest.raises(ValueError, match="are not the outputs"):
        a.invert_and_compose(L.identity_1d(4, "lane", "dim1"))
    with pytest.raises(ValueError, match="keeps the number"):
        a.reshaped({"i": 8})
    with pytest.raises(ValueError, match="is no order of"):
        a.reordered(ins=["warp"])
    with pytest.raises(ValueError, match="the same name"):
        (a * L.identity_1d(2, "warp", "dim0")).renamed({"warp": "lane"})
    with pytest.raises(ValueError, match="lane = 4 is out of range"):
        a.apply(lane=4)
