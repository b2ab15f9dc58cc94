"""Layouts of AMD's matrix instructions, against the register layouts of the instruction set references.

The functions below are index arithmetic, as the references of CDNA 3 (section 7.1.4, and AMD's matrix instruction
calculator), RDNA 3 (section 7.9) and RDNA 4 (section 7.12) have it: the lane and the register that hold an element.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tritium.layout import LinearLayout
from tritium.layout.amd import dot_operand_mfma, dot_operand_wmma, mfma, wmma

Place = tuple[int, int]
"""Lane, and index of the element in the lane's registers."""

TILES: tuple[list[list[int]], list[list[int]]] = ([], [])
"""One tile of WMMA, in one warp."""

#: (M, N, K, elements of an operand in a lane): v_mfma_f32_32x32x8_f16, 16x16x16_f16, 32x32x16_fp8_fp8 and _i8,
#: 16x16x32_fp8_fp8 and _i8, 32x32x2_f32, 16x16x4_f32.
MFMA = [(32, 32, 8, 4), (16, 16, 16, 4), (32, 32, 16, 8), (16, 16, 32, 8), (32, 32, 2, 1), (16, 16, 4, 1)]


def holds(layout: LinearLayout, place: Callable[[int, int], Place], shape: tuple[int, int]) -> bool:
    """Whether each element (row, column) of a tile is where `place` says."""
    for row in range(shape[0]):
        for column in range(shape[1]):
            lane, register = place(row, column)
            if tuple(layout.apply(register=register, lane=lane).values()) != (row, column):
                return False
    return True


@pytest.mark.parametrize(("m", "n", "k", "width"), MFMA)
def test_mfma_holds_elements_as_the_isa_says(m: int, n: int, k: int, width: int) -> None:
    instr = [m, n, k]
    a = dot_operand_mfma([m, k], 0, width, [1, 1], instr)
    b = dot_operand_mfma([k, n], 1, width, [1, 1], instr)
    assert holds(a, lambda i, kk: (i + m * (kk // width), kk % width), (m, k))
    assert holds(b, lambda kk, j: (j + n * (kk // width), kk % width), (k, n))
    groups = 64 // n

    def place(i: int, j: int) -> Place:
        return j + n * (i // 4 % groups), i % 4 + 4 * (i // (4 * groups))

    assert holds(mfma([m, n], [1, 1], instr), place, (m, n))
    assert holds(mfma([n, m], [1, 1], instr, True), lambda j, i: place(i, j), (n, m))


def test_mfma_of_f64_holds_elements_as_the_isa_says() -> None:
    """v_mfma_f64_16x16x4_f64: adjacent rows of the result are in adjacent groups of 16 lanes."""
    layout = mfma([16, 16], [1, 1], [16, 16, 4], bits=64)
    assert holds(layout, lambda i, j: (j + 16 * (i % 4), i // 4), (16, 16))
    assert holds(dot_operand_mfma([16, 4], 0, 1, [1, 1], [16, 16, 4]), lambda i, k: (i + 16 * k, 0), (16, 4))


def test_wmma_of_gfx11_holds_elements_as_the_isa_says() -> None:
    """v_wmma_f32_16x16x16_f16: both halves of a wave hold all 16 elements of a row of A, even rows of D the first."""
    instr = [16, 16, 16]
    a = dot_operand_wmma([16, 16], 0, 16, 1, TILES, instr)
    b = dot_operand_wmma([16, 16], 1, 16, 1, TILES, instr)
    for half in (0, 16):
        assert holds(a, lambda i, k, half=half: (i + half, k), (16, 16))  # type: ignore[misc]
        assert holds(b, lambda k, j, half=half: (j + half, k), (16, 16))  # type: ignore[misc]
    assert holds(wmma([16, 16], 1, TILES, instr), lambda i, j: (j + 16 * (i % 2), i // 2), (16, 16))
    assert holds(wmma([16, 16], 1, TILES, instr, True), lambda j, i: (j + 16 * (i % 2), i // 2), (16, 16))


def test_wmma_of_gfx12_holds_elements_as_the_isa_says() -> None:
    """v_wmma_f32_16x16x16_f16: eight adjacent elements along K, eight adjacent rows of D in each half."""
    instr = [16, 16, 16]
    a = dot_operand_wmma([16, 16], 0, 8, 2, TILES, instr)
    assert holds(a, lambda i, k: (i + 16 * (k // 8), k % 8), (16, 16))
    assert holds(wmma([16, 16], 2, TILES, instr), lambda i, j: (j + 16 * (i // 8), i % 8), (16, 16))


def test_tiles_and_warps_of_mfma() -> None:
    """Adjacent tiles of a warp, then warps along N, then along M, then repetitions: N first."""
    layout = mfma([128, 128], [2, 2], [16, 16, 16], tiles_per_warp=[2, 2])
    assert [layout.apply(warp=1 << i)[d] for i, d in ((0, "dim1"), (1, "dim0"))] == [32, 32]
    found = [tuple(layout.apply(register=4 << i).values()) for i in range(4)]
    assert found == [(0, 16), (0, 64), (16, 0), (64, 0)]
