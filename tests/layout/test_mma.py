"""Products planned from layouts, run in NumPy: threads' registers, the fragments of PTX, one instruction at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tritium.layout import LinearLayout
from tritium.layout import distributed as registers
from tritium.layout.mma import MmaStep, copies_of, fragment, plan_fma, plan_mma

# The tables of PTX ISA 8.7, sections 9.7.14.5.1 to 9.7.14.5.10, as they are printed there: register i of lane l.


def group(lane: int) -> int:
    return lane >> 2


def in_group(lane: int) -> int:
    return lane % 4


def a_16_bits(i: int, lane: int) -> tuple[int, int]:
    row = group(lane) if i < 2 or 4 <= i < 6 else group(lane) + 8
    return row, in_group(lane) * 2 + (i & 1) + (8 if i >= 4 else 0)


def b_16_bits(i: int, lane: int) -> tuple[int, int]:
    return in_group(lane) * 2 + (i & 1) + (8 if i >= 2 else 0), group(lane)


def c_16_rows(i: int, lane: int) -> tuple[int, int]:
    return group(lane) + (8 if i >= 2 else 0), in_group(lane) * 2 + (i & 1)


def a_8_bits(i: int, lane: int) -> tuple[int, int]:
    row = group(lane) if i < 4 or 8 <= i < 12 else group(lane) + 8
    return row, in_group(lane) * 4 + (i & 3) + (16 if i >= 8 else 0)


def b_8_bits(i: int, lane: int) -> tuple[int, int]:
    return in_group(lane) * 4 + (i & 3) + (16 if i >= 4 else 0), group(lane)


def a_tf32(i: int, lane: int) -> tuple[int, int]:
    return group(lane) + (8 if i in (1, 3) else 0), in_group(lane) + (4 if i in (2, 3) else 0)


def b_tf32(i: int, lane: int) -> tuple[int, int]:
    return in_group(lane) + (4 if i == 1 else 0), group(lane)


def a_f64(i: int, lane: int) -> tuple[int, int]:
    return group(lane), in_group(lane)


def b_f64(i: int, lane: int) -> tuple[int, int]:
    return in_group(lane), group(lane)


def a_f64_16_rows(i: int, lane: int) -> tuple[int, int]:
    return group(lane) + (8 if i % 2 else 0), i // 2 * 4 + in_group(lane)


def b_f64_16_rows(i: int, lane: int) -> tuple[int, int]:
    return i * 4 + in_group(lane), group(lane)


def c_8_rows(i: int, lane: int) -> tuple[int, int]:
    return group(lane), in_group(lane) * 2 + i


# width, doublings, rows -> fragments
KINDS = {
    (2, 1, 16): (a_16_bits, b_16_bits, c_16_rows),
    (4, 1, 16): (a_8_bits, b_8_bits, c_16_rows),
    (1, 1, 16): (a_tf32, b_tf32, c_16_rows),
    (1, 0, 8): (a_f64, b_f64, c_8_rows),
    (1, 0, 16): (a_f64_16_rows, b_f64_16_rows, c_16_rows),
    (1, 2, 16): (a_f64_16_rows, b_f64_16_rows, c_16_rows),
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_fragments_are_those_of_ptx(kind: tuple[int, int, int]) -> None:
    for name, table in zip("abd", KINDS[kind]):
        layout = fragment(name, *kind)
        assert layout.is_invertible()
        for i in range(layout.ins["register"]):
            for lane in range(32):
                assert tuple(layout.apply(register=i, lane=lane).values()) == table(i, lane)


def held(layout: LinearLayout, tensor: np.ndarray) -> dict[tuple[int, int], list[float]]:
    """What each register of each thread holds: (lane, warp) -> values."""
    return {
        (lane, warp): [
            tensor[tuple(layout.apply(register=r, lane=lane, warp=warp).values())]
            for r in range(layout.ins["register"])
        ]
        for lane in range(32)
        for warp in range(layout.ins["warp"])
    }


class Warp:
    """The registers of one warp, and what an instruction does to them, by the tables of PTX."""

    def __init__(self, number: int, kind: tuple[int, int, int], a: dict, b: dict, d: dict) -> None:
        self.number, self.kind = number, kind
        self.a, self.b, self.d = a, b, d
        width, doublings, rows = kind
        self.shape = rows, 8, 4 * width << doublings

    def run(self, step: MmaStep, idle: int) -> None:
        m, n, k = self.shape
        tables = KINDS[self.kind]
        a, b, d = np.full((m, k), np.nan), np.full((k, n), np.nan), np.full((m, n), np.nan)
        for lane in range(32):
            off = lane & idle
            for matrix, table, chosen, kept in ((a, tables[0], step.a, self.a), (b, tables[1], step.b, self.b)):
                for i, r in enumerate(chosen):
                    matrix[table(i, lane)] = 0 if r is None or off else kept[lane, self.number][r]
            for i, r in enumerate(step.d):
                d[tables[2](i, lane)] = self.d[lane, self.number][r]
        d += a @ b
        for lane in range(32):
            for i in reversed(range(len(step.d))):
                self.d[lane, self.number][step.d[i]] = d[tables[2](i, lane)]


def random_matrices(m: int, n: int, k: int, batch: tuple[int, ...] = ()) -> list[np.ndarray]:
    rng = np.random.default_rng(m * n + k)
    return [rng.integers(-4, 5, (*batch, *shape)).astype(float) for shape in ((m, k), (k, n), (m, n))]


def check(layouts: list[LinearLayout], matrices: list[np.ndarray], kind: tuple[int, int, int]) -> int:
    """Multiply by the plan and compare with NumPy; the number of instructions of a warp."""
    plan = plan_mma(*layouts, *kind)
    a, b, d = (held(layout, matrix) for layout, matrix in zip(layouts, matrices))
    for warp in range(layouts[2].ins["warp"]):
        for step in plan.steps:
            Warp(warp, kind, a, b, d).run(step, plan.idle)
    wanted = matrices[0] @ matrices[1] + matrices[2]
    copies = copies_of(layouts[2])
    for (lane, warp), values in d.items():
        for r in range(len(values)):
            place = tuple(layouts[2].apply(register=r, lane=lane, warp=warp).values())
            assert values[r & ~copies] == wanted[place], (lane, warp, r)
    assert len(plan.steps) % plan.steps_along_k == 0
    return len(plan.steps)


def mma_layouts(shape: tuple[int, ...], k_width: int, warps: tuple[int, ...], rows: int) -> list[LinearLayout]:
    *batch, m, n, k = shape
    tile = [1] * len(batch) + [rows, 8]
    return [
        registers.dot_operand_mma((*batch, m, k), 0, k_width, 2, warps, tile),
        registers.dot_operand_mma((*batch, k, n), 1, k_width, 2, warps, tile),
        registers.mma((*batch, m, n), 2, warps, tile),
    ]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_products(kind: tuple[int, int, int]) -> None:
    """All sizes, those smaller than an instruction too; as many neighbours along K as narrower elements give."""
    width, _, rows = kind
    tile = 8 if width == 1 and rows == 16 and kind != (1, 1, 16) else rows
    shapes = [(16, 8, 16), (32, 16, 64), (64, 32, 32), (8, 8, 16), (16, 4, 16), (4, 2, 8), (16, 8, 4), (1, 1, 1)]
    for k_width in {width, 1, 4}:
        for shape in shapes:
            for warps in ((1, 1), (2, 2), (1, 4)):
                check(mma_layouts(shape, k_width, warps, tile), random_matrices(*shape), kind)


def test_batches() -> None:
    for warps in ((4, 1, 1), (2, 2, 1), (1, 1, 2)):
        layouts = mma_layouts((4, 16, 16, 32), 2, warps, 16)
        check(layouts, random_matrices(16, 16, 32, (4,)), (2, 1, 16))


def test_no_instruction_is_wasted() -> None:
    """128 x 128 x 64 by four warps: 4 x 8 tiles of 16 x 8 a warp, 4 steps along K."""
    assert check(mma_layouts((32, 16, 32), 2, (1, 1), 16), random_matrices(32, 16, 32), (2, 1, 16)) == 2 * 2 * 2
    plan = plan_mma(*mma_layouts((128, 128, 64), 2, (2, 2), 16), 2, 1)
    assert len(plan.steps) == 4 * 8 * 4 and plan.steps_along_k == 4 and plan.idle == 0


def renumbered(layout: LinearLayout, seed: int) -> LinearLayout:
    """The same layout with the bits of its registers' numbers in another order."""
    bases = layout.bases
    random.Random(seed).shuffle(bases["register"])
    return LinearLayout(bases, layout.outs)


@pytest.mark.parametrize("seed", range(8))
def test_registers_may_be_numbered_in_any_way(seed: int) -> None:
    a, b, d = mma_layouts((32, 16, 64), 2, (2, 1), 16)
    layouts = [renumbered(a, seed), renumbered(b, seed + 1), renumbered(d, seed + 2)]
    check(layouts, random_matrices(32, 16, 64), (2, 1, 16))


def test_what_does_not_fit_is_refused() -> None:
    a, b, d = mma_layouts((32, 32, 32), 2, (2, 2), 16)
    wide = mma_layouts((32, 32, 32), 4, (2, 2), 16)
    other = mma_layouts((32, 32, 32), 2, (4, 1), 16)
    for layouts, why in (
        ((a, wide[1], d), "hold different places along K"),
        ((a, b, other[2]), "distributed over warps differently"),
        ((d, b, d), "along K"),
        ((a, b, registers.blocked((32, 32), [1, 2], [4, 8], [2, 2], [1, 0])), "a and d are distributed"),
    ):
        with pytest.raises(ValueError, match=why):
            plan_mma(*layouts, 2, 1)


def fma_layouts(shape: tuple[int, ...], blocked: list[list[int]]) -> list[LinearLayout]:
    *batch, m, n, k = shape
    return [
        registers.dot_operand_fma((*batch, m, k), 0, *blocked),
        registers.dot_operand_fma((*batch, k, n), 1, *blocked),
        registers.blocked((*batch, m, n), *blocked),
    ]


BLOCKED = [
    ((16, 32, 8), [[2, 2], [2, 16], [2, 1], [1, 0]]),
    ((32, 16, 4), [[4, 4], [8, 4], [1, 2], [0, 1]]),
    ((4, 4, 16), [[4, 4], [8, 4], [1, 2], [1, 0]]),
    ((64, 1, 2), [[1, 1], [32, 1], [2, 1], [1, 0]]),
    ((2, 8, 16, 4), [[1, 2, 2], [1, 4, 8], [2, 1, 1], [2, 1, 0]]),
    ((1, 1, 1), [[1, 1], [1, 32], [2, 2], [1, 0]]),
]


@pytest.mark.parametrize(("shape", "blocked"), BLOCKED)
def test_multiply_and_add(shape: tuple[int, ...], blocked: list[list[int]]) -> None:
    layouts = fma_layouts(shape, blocked)
    *batch, m, n, k = shape
    matrices = random_matrices(m, n, k, tuple(batch))
    steps = plan_fma(*layouts)
    a, b, d = (held(layout, matrix) for layout, matrix in zip(layouts, matrices))
    wanted = matrices[0] @ matrices[1] + matrices[2]
    copies = copies_of(layouts[2])
    assert sorted(s.d for s in steps) == [r for r in range(layouts[2].ins["register"]) if not r & copies]
    for thread, sums in d.items():
        for step in steps:
            sums[step.d] += sum(a[thread][i] * b[thread][j] for i, j in zip(step.a, step.b))
        for r in range(len(sums)):
            place = tuple(layouts[2].apply(register=r, lane=thread[0], warp=thread[1]).values())
            assert sums[r & ~copies] == wanted[place]


def test_a_thread_without_all_of_k_is_refused() -> None:
    a, b, d = fma_layouts(*BLOCKED[0])
    with pytest.raises(ValueError, match="along K"):
        plan_fma(registers.blocked((16, 8), [2, 2], [2, 16], [2, 1], [1, 0]), b, d)
    with pytest.raises(ValueError, match="differently"):
        plan_fma(a, b, registers.blocked((16, 32), [2, 2], [4, 8], [2, 1], [1, 0]))
