"""Plans of MFMA and WMMA: executed in NumPy, with the register layouts of the instruction set references.

`execute` is the instruction, as index arithmetic: the lane and the register of each element (see test_amd).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from tritium.layout import LinearLayout
from tritium.layout.amd import dot_operand_mfma, dot_operand_wmma, mfma, wmma
from tritium.layout.amd_mma import MatrixPlan, plan_matrix, result_vectors
from tritium.layout.mma import copies_of

Place = Callable[[Any, Any], tuple[Any, Any]]


class Instruction(NamedTuple):
    """M, N, K, elements of an operand in a lane, lanes; where (row, k) of a and (row, column) of d are."""

    m: int
    n: int
    k: int
    width: int
    lanes: int
    operand: Place
    result: Place


def mfma_instruction(side: int, k: int, width: int, double: bool = False) -> Instruction:
    groups = 64 // side

    def result(i: Any, j: Any) -> tuple[Any, Any]:
        if double:
            return j + 16 * (i % 4), i // 4
        return j + side * (i // 4 % groups), i % 4 + 4 * (i // (4 * groups))

    return Instruction(side, side, k, width, 64, lambda i, kk: (i + side * (kk // width), kk % width), result)


def wmma_instruction(version: int) -> Instruction:
    if version == 1:
        return Instruction(16, 16, 16, 16, 32, lambda i, k: (i, k), lambda i, j: (j + 16 * (i % 2), i // 2))
    return Instruction(
        16, 16, 16, 8, 32, lambda i, k: (i + 16 * (k // 8), k % 8), lambda i, j: (j + 16 * (i // 8), i % 8)
    )


def held(layout: LinearLayout, tensor: np.ndarray) -> np.ndarray:
    """The registers of all threads: [warp, lane, register]."""
    sizes = {name: layout.ins[name] for name in ("warp", "lane", "register")}
    place = np.zeros((len(layout.outs), *sizes.values()), int)
    for axis, name in enumerate(sizes):
        number = np.arange(sizes[name]).reshape([-1 if i == axis else 1 for i in range(3)])
        for bit, basis in enumerate(layout.bases[name]):
            for dim, step in enumerate(basis):
                place[dim] ^= (number >> bit & 1) * step
    out: np.ndarray = tensor[tuple(place)]
    return out


def execute(instruction: Instruction, x: np.ndarray, y: np.ndarray, acc: np.ndarray) -> np.ndarray:
    """One instruction of a warp on registers [lane, register]; `x` has its rows, `y` its columns."""
    m, n, k = instruction[:3]

    def places(place: Place, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
        lane, register = place(*np.mgrid[:rows, :columns])
        return lane, register

    product = x[places(instruction.operand, m, k)] @ y[places(instruction.operand, n, k)].T
    out = acc.copy()
    out[places(instruction.result, m, n)] += product
    return out


def run(
    plan: MatrixPlan, instruction: Instruction, transposed: bool, a: np.ndarray, b: np.ndarray, d: np.ndarray
) -> None:
    """All instructions of all warps; `d` is changed. Lanes that idle have zero operands."""
    lanes = np.arange(instruction.lanes)
    on = (lanes & plan.idle == 0)[:, None]
    for warp in range(len(d)):
        for step in plan.steps:
            x, y = (
                np.stack([np.zeros(len(lanes), held.dtype) if r is None else held[warp, :, r] for r in registers], 1)
                * on
                for held, registers in ((a, step.a), (b, step.b))
            )
            found = execute(instruction, *((y, x) if transposed else (x, y)), d[warp][:, list(step.d)])
            for i in reversed(range(len(step.d))):
                d[warp, :, step.d[i]] = found[:, i]


def check(
    instruction: Instruction,
    layouts: tuple[LinearLayout, LinearLayout, LinearLayout],
    vectors: tuple[int, ...],
    transposed: bool,
) -> None:
    rng = np.random.default_rng(0)
    shapes = [list(layout.outs.values()) for layout in layouts]
    a, b, c = (rng.integers(-4, 5, shape) for shape in shapes)
    side = instruction.lanes if instruction.width == 16 else instruction.m
    plan = plan_matrix(*layouts, instruction.width, vectors, transposed, side)
    d = held(layouts[2], c)
    run(plan, instruction, transposed, held(layouts[0], a), held(layouts[1], b), d)
    copies = copies_of(layouts[2])
    d = d[:, :, [r & ~copies for r in range(d.shape[2])]]
    assert (d == held(layouts[2], a @ b + c)).all()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    ("side", "k", "width", "k_width", "m", "n", "depth"),
    [
        (32, 8, 4, 4, 64, 32, 16),
        (16, 16, 4, 8, 32, 32, 64),
        (16, 32, 8, 8, 16, 64, 32),
        (32, 2, 1, 2, 32, 64, 4),
        (32, 8, 4, 4, 16, 64, 8),
    ],
)
def test_mfma_plan_computes_the_dot(
    side: int, k: int, width: int, k_width: int, m: int, n: int, depth: int, transposed: bool
) -> None:
    instr, warps = [side, side, k], [2, 1]
    layouts = (
        dot_operand_mfma([m, depth], 0, k_width, warps, instr),
        dot_operand_mfma([depth, n], 1, k_width, warps, instr),
        mfma([m, n], warps, instr, transposed),
    )
    check(mfma_instruction(side, k, width), layouts, result_vectors("mfma", side), transposed)


def test_mfma_plan_of_f64_and_batches_computes_the_dot() -> None:
    instr, warps = [16, 16, 4], [1, 2]
    layouts = (
        dot_operand_mfma([32, 8], 0, 1, warps, instr),
        dot_operand_mfma([8, 32], 1, 1, warps, instr),
        mfma([32, 32], warps, instr, True, bits=64),
    )
    check(mfma_instruction(16, 4, 1, double=True), layouts, result_vectors("mfma", 16, 64), True)
    instr, warps = [16, 16, 16], [2, 1, 1]
    layouts = (
        dot_operand_mfma([4, 16, 16], 0, 4, warps, instr),
        dot_operand_mfma([4, 16, 16], 1, 4, warps, instr),
        mfma([4, 16, 16], warps, instr, True),
    )
    check(mfma_instruction(16, 16, 4), layouts, result_vectors("mfma", 16), True)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("m", "n", "depth"), [(32, 32, 32), (8, 16, 16), (16, 16, 8), (16, 32, 2)])
def test_wmma_plan_computes_the_dot(version: int, m: int, n: int, depth: int) -> None:
    """Fewer rows than an instruction has, and a shorter K, too."""
    tiles: tuple[list[list[int]], list[list[int]]] = ([], [[0, 1]])
    instr, width = [16, 16, 16], 16 if version == 1 else 8
    layouts = (
        dot_operand_wmma([m, depth], 0, width, version, tiles, instr),
        dot_operand_wmma([depth, n], 1, width, version, tiles, instr),
        wmma([m, n], version, tiles, instr, True),
    )
    check(wmma_instruction(version), layouts, result_vectors(f"wmma{version}", 16), True)


def test_operands_of_other_layouts_are_refused() -> None:
    instr, warps = [32, 32, 8], [1, 1]
    a = dot_operand_mfma([32, 16], 0, 4, warps, instr)
    d = mfma([32, 32], warps, instr)
    with pytest.raises(ValueError, match="a and b hold different places along K"):
        plan_matrix(a, dot_operand_mfma([16, 32], 1, 8, warps, instr), d, 4, result_vectors("mfma", 32), False, 32)
    with pytest.raises(ValueError, match="registers of b and d hold different places along the columns"):
        plan_matrix(a, dot_operand_mfma([16, 64], 1, 4, warps, instr), d, 4, result_vectors("mfma", 32), False, 32)
