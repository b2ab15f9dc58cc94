"""Layouts in which each warp stores its own elements of a product's result."""

from __future__ import annotations

import itertools

import pytest

from tritium.layout import distributed
from tritium.layout.linear import LinearLayout
from tritium.layout.warp_local_store import LINE, warp_local_store

INSTRUCTIONS = [(2, [16, 8]), (3, [16, 64, 16]), (3, [16, 128, 16]), (3, [16, 256, 16])]


def _cases() -> list[tuple[tuple[int, int], tuple[int, int], tuple[int, list[int]], int]]:
    shapes = [(64, 64), (128, 128), (128, 256), (256, 64), (64, 256)]
    warps = [(4, 1), (8, 1), (2, 2), (4, 2), (1, 4)]
    return [
        (shape, w, instruction, size)
        for shape, w, instruction, size in itertools.product(shapes, warps, INSTRUCTIONS, (1, 2, 4))
        if instruction[0] == 2 or (w[0] % 4 == 0 and shape[1] >= instruction[1][1])
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize(("shape", "warps", "instruction", "size"), _cases())
def test_all_of_a_warp_and_nothing_else(shape, warps, instruction, size: int) -> None:
    """Whole lines of the cache, each element of a warp once, in the registers and lanes of that warp."""
    version, instr = instruction
    held = distributed.mma(shape, version, warps, instr)
    columns = min(16 // size, shape[1])
    vector = [(0, 1 << i) for i in range(columns.bit_length() - 1)]
    found = warp_local_store((held.bases["register"], held.bases["lane"]), vector, 5, (1, 0), size)
    mine = {basis for name in ("register", "lane") for basis in held.bases[name]}
    dense = next(n for n in (1 << i for i in range(10)) if (0, n) not in mine) * size
    if found is None:
        assert dense < LINE or any(not any(basis) for basis in held.bases["warp"]) or len(mine) < len(vector) + 5
        return
    registers, lanes = found
    layout = LinearLayout(
        {"register": registers, "lane": lanes, "warp": held.bases["warp"], "block": []},
        {"dim0": shape[0], "dim1": shape[1]},
    )
    assert dense >= LINE and registers[: len(vector)] == vector and len(lanes) == 5
    assert layout.ins == held.ins and layout.is_surjective() == held.is_surjective()
    for warp in range(held.ins["warp"]):
        assert _elements(layout, warp) == _elements(held, warp)


def _elements(layout: LinearLayout, warp: int) -> set[tuple[int, ...]]:
    """What a warp holds."""
    threads = itertools.product(range(layout.ins["register"]), range(32))
    return {tuple(layout.apply(register=r, lane=k, warp=warp, block=0).values()) for r, k in threads}


def test_none() -> None:
    """An element held twice, and one that is along no axis."""
    lanes = [(0, 8), (0, 16), (0, 32), (1, 0), (2, 0)]
    vector = [(0, 1), (0, 2), (0, 4)]
    assert warp_local_store((vector, lanes), vector, 5, (1, 0), 4) is not None
    assert warp_local_store((vector, lanes), vector, 5, (0, 1), 4) is None
    assert warp_local_store(([*vector, (0, 0)], lanes), vector, 5, (1, 0), 4) is None
    assert warp_local_store(([*vector, (1, 64)], lanes), vector, 5, (1, 0), 4) is None
    assert warp_local_store((vector, lanes[:4]), vector, 5, (1, 0), 4) is None
