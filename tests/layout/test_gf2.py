"""Linear algebra over GF(2) against all vectors of small spaces."""

from __future__ import annotations

import itertools
import random

import pytest

from tritium.layout import gf2


def matrices(seed: int, count: int, widest: int) -> list[tuple[list[int], int]]:
    """Random columns with their number of rows."""
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        rows, columns = rng.randint(0, widest), rng.randint(0, widest)
        out.append(([rng.getrandbits(rows) & rng.getrandbits(rows) if rows else 0 for _ in range(columns)], rows))
    return out


MATRICES = matrices(1, 300, 6)


def reached(columns: list[int]) -> set[int]:
    return {gf2.times(columns, x) for x in range(1 << len(columns))}


def test_times_is_linear() -> None:
    for columns, _ in MATRICES[:60]:
        n = 1 << len(columns)
        for x, y in itertools.product(range(n), range(n)):
            assert gf2.times(columns, x ^ y) == gf2.times(columns, x) ^ gf2.times(columns, y)


def test_rank_counts_what_is_reached() -> None:
    for columns, _ in MATRICES:
        assert 1 << gf2.rank(columns) == len(reached(columns))


def test_kernel_spans_what_goes_to_zero() -> None:
    for columns, _ in MATRICES:
        zero = {x for x in range(1 << len(columns)) if gf2.times(columns, x) == 0}
        assert reached(gf2.kernel(columns)) == zero


def test_solutions_exist_exactly_where_reached_and_are_unique() -> None:
    for columns, rows in MATRICES:
        elimination = gf2.Elimination(columns)
        image = reached(columns)
        free = sum(
            1 << i for i in range(len(columns)) if gf2.rank(columns[: i + 1]) == gf2.rank(columns[:i])
        )  # a column that those before it make
        for target in range(1 << rows):
            x = elimination.solve(target)
            assert (x is not None) == (target in image)
            if x is not None:
                assert gf2.times(columns, x) == target
                assert x & free == 0


def test_inverse() -> None:
    found = 0
    for columns, rows in MATRICES:
        if rows != len(columns) or gf2.rank(columns) != rows:
            continue
        found += 1
        inverse = gf2.inverse(columns)
        assert [gf2.times(inverse, c) for c in columns] == gf2.identity(rows)
        assert [gf2.times(columns, c) for c in inverse] == gf2.identity(rows)
    assert found > 10


@pytest.mark.parametrize("columns", [[0], [1, 1], [1, 2, 3], [4, 1]])
def test_what_has_no_inverse(columns: list[int]) -> None:
    with pytest.raises(ValueError, match="no inverse"):
        gf2.inverse(columns)


def test_transpose() -> None:
    for columns, rows in MATRICES:
        turned = gf2.transpose(columns, rows)
        for i, j in itertools.product(range(rows), range(len(columns))):
            assert turned[i] >> j & 1 == columns[j] >> i & 1
        assert gf2.transpose(turned, len(columns)) == columns
