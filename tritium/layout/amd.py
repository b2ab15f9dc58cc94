"""Layouts of the matrix instructions of AMD GPUs: results and operands of MFMA (CDNA) and WMMA (RDNA).

As in `distributed`, each function gives a linear layout from `register`, `lane`, `warp` and `block` to the dimensions
of a tensor of `shape`; names and parameters are those of `#ttg.amd_mfma`, `#ttg.amd_wmma` and their operands.

Sources: AMD Instinct MI300 (CDNA 3) instruction set reference, section 7.1.4 (register layout of the matrices of dense
matrix instructions); RDNA 3 instruction set reference, section 7.9, and RDNA 4, section 7.12 (WMMA).
"""

from __future__ import annotations

from collections.abc import Sequence

from .bases import per_block, shape_of_bases
from .linear import LinearLayout
from .tiling import Vectors, fit, row_major

__all__ = ["dot_operand_mfma", "dot_operand_wmma", "mfma", "wmma"]

MFMA_LANES = 64
WMMA_SIDE = 16  # of a tile of WMMA, in rows and columns


def _tile(steps: Sequence[tuple[str, int, int]], order: Sequence[int]) -> LinearLayout:
    """Steps (input dimension, size, dimension of the tensor) side by side; `fit` repeats along `order[0]` first."""
    tile = LinearLayout({"register": [], "lane": [], "warp": []}, {f"dim{d}": 1 for d in order})
    for source, size, dim in steps:
        tile *= LinearLayout.identity_1d(size, source, f"dim{dim}")
    return tile


def mfma(
    shape: Sequence[int],
    warps_per_cta: Sequence[int],
    instr_shape: Sequence[int],
    transposed: bool = False,
    tiles_per_warp: Sequence[int] = (),
    bits: int = 32,
    blocks: Vectors = (),
) -> LinearLayout:
    """The result of MFMA instructions of `instr_shape` (M, N, K): lanes along N, four rows of M in a lane at a time.

    `transposed`: the instruction computes the transpose of the result, so that a lane has adjacent columns. Each warp
    owns `tiles_per_warp` adjacent tiles. With elements of 64 `bits`, adjacent rows are in adjacent groups of lanes.

    >>> mfma([16, 16], [1, 1], [16, 16, 16]).bases["lane"]
    [(0, 1), (0, 2), (0, 4), (0, 8), (4, 0), (8, 0)]
    """
    rank = len(shape)
    order = row_major(rank)
    down, along = (rank - 1, rank - 2) if transposed else (rank - 2, rank - 1)
    rows, columns = (instr_shape[1], instr_shape[0]) if transposed else instr_shape[:2]
    groups = MFMA_LANES // columns
    if bits == 64:
        steps = [("lane", columns, along), ("lane", groups, down), ("register", rows // groups, down)]
    else:
        steps = [("register", 4, down), ("lane", columns, along), ("lane", groups, down)]
        steps += [("register", rows // (4 * groups), down)]
    return fit(_with_warps(steps, shape, order, warps_per_cta, tiles_per_warp, blocks), shape, blocks)


def _with_warps(
    steps: Sequence[tuple[str, int, int]],
    shape: Sequence[int],
    order: Sequence[int],
    warps: Sequence[int],
    tiles: Sequence[int],
    blocks: Vectors,
    repeated: int = -1,
) -> LinearLayout:
    """A tile of one warp extended to `shape`, dimension by dimension in `order`.

    Along each: the adjacent tiles of a warp, the warps, repetitions. Warps are numbered along the last dimension first;
    along the dimension `repeated` all warps have the same elements, and tiles per warp do not count.
    """
    part = per_block(shape, blocks)
    tile = _tile(steps, order)
    for d in order:
        name = f"dim{d}"
        more = 1 if d == repeated or not tiles else tiles[d]
        size = tile.outs[name] * more * (1 if d == repeated else warps[d])
        tile *= LinearLayout.identity_1d(more, "register", name)
        if d != repeated:
            tile *= LinearLayout({"register": [], "warp": _powers(warps[d])}, {name: warps[d]})
        tile *= LinearLayout.identity_1d(max(1, part[d] // size), "register", name)
    return _ordered_warps(tile, order, warps, repeated)


def _powers(size: int) -> list[tuple[int]]:
    return [(1 << i,) for i in range(size.bit_length() - 1)]


def _ordered_warps(tile: LinearLayout, order: Sequence[int], warps: Sequence[int], repeated: int) -> LinearLayout:
    """`tile`, whose warps go along the dimensions of `order`, with warps along the last dimension first."""
    found = iter(tile.bases["warp"])
    by_dim = {d: [next(found) for _ in _powers(warps[d])] for d in order if d != repeated}
    by_dim[repeated] = [(0,) * len(order)] * len(_powers(warps[repeated])) if repeated >= 0 else []
    numbered = [v for d in row_major(len(order)) for v in by_dim[d]]
    return LinearLayout({**tile.bases, "warp": numbered}, tile.outs)


def dot_operand_mfma(
    shape: Sequence[int],
    operand: int,
    width: int,
    warps_per_cta: Sequence[int],
    instr_shape: Sequence[int],
    tiles_per_warp: Sequence[int] = (),
    blocks: Vectors = (),
) -> LinearLayout:
    """Operand 0 (M x K) or 1 (K x N) of MFMA: lanes along M or N, `width` adjacent elements along K in a lane.

    Both operands have the same depth: of 4 x 64 and 64 x 4, a lane holds more of K for the wide operand.

    >>> dot_operand_mfma([16, 16], 0, 4, [1, 1], [16, 16, 16]).bases["lane"]
    [(1, 0), (2, 0), (4, 0), (8, 0), (0, 4), (0, 8)]
    """
    rank = len(shape)
    k, other = (rank - 1, rank - 2) if operand == 0 else (rank - 2, rank - 1)
    order = [k, other, *range(rank - 2)[::-1]]
    side = instr_shape[operand]
    groups, all_groups = MFMA_LANES // side, MFMA_LANES // min(instr_shape[:2])
    steps = [("register", width, k), ("lane", side, other), ("lane", groups, k), ("register", all_groups // groups, k)]
    return fit(_with_warps(steps, shape, order, warps_per_cta, tiles_per_warp, blocks, repeated=k), shape, blocks)


def wmma(
    shape: Sequence[int],
    version: int,
    cta_layout: tuple[Vectors, Vectors],
    instr_shape: Sequence[int],
    transposed: bool = False,
    blocks: Vectors = (),
) -> LinearLayout:
    """The result of WMMA instructions: 16 lanes along N; the registers of a lane are along M.

    Version 1 (gfx11) alternates rows between the two halves of a warp, later versions give each half 8 adjacent rows.
    `cta_layout`: bases of registers and of warps, in tiles of one instruction. `transposed`: rows and columns of a tile
    are swapped.
    """
    rank = len(shape)
    down, along = (rank - 1, rank - 2) if transposed else (rank - 2, rank - 1)
    rows = instr_shape[0]  # of the instruction: 16, or 32 in one of version 3
    if version == 1:
        steps = [("lane", WMMA_SIDE, along), ("lane", 2, down), ("register", 8, down)]
    else:
        steps = [("register", 8, down), ("lane", WMMA_SIDE, along), ("lane", 2, down), ("register", rows // 16, down)]
    order = row_major(rank)
    return fit(_tile(steps, order) * _among_tiles(cta_layout, order), shape, blocks)


def _among_tiles(cta_layout: tuple[Vectors, Vectors], order: Sequence[int], repeated: int = -1) -> LinearLayout:
    """Which tile each register and warp holds; along `repeated` all hold the same, and registers with copies go."""
    registers, warps = (
        [tuple(0 if d == repeated else n for d, n in enumerate(v)) for v in part] for part in cta_layout
    )
    rank = len(order)
    sizes = shape_of_bases([*registers, *warps], rank)
    bases = {"register": [v for v in registers if any(v)], "lane": [], "warp": warps}
    whole = LinearLayout(bases, {f"dim{d}": size for d, size in enumerate(sizes)})
    return whole.reordered(outs=[f"dim{d}" for d in order])


def dot_operand_wmma(
    shape: Sequence[int],
    operand: int,
    width: int,
    version: int,
    cta_layout: tuple[Vectors, Vectors],
    instr_shape: Sequence[int],
    transposed: bool = False,
    blocks: Vectors = (),
) -> LinearLayout:
    """Operand 0 (M x K) or 1 (K x N) of WMMA: 16 lanes along M or N, `width` adjacent elements along K in a lane.

    Version 1 reads all 16 elements of a row from each half of a warp, which therefore hold the same.
    """
    rank = len(shape)
    k, other = (rank - 1, rank - 2) if operand == 0 else (rank - 2, rank - 1)
    order = [k, other, *range(rank - 2)[::-1]]
    if version == 1:
        steps = [("register", width, k), ("lane", WMMA_SIDE, other)]
        halves = LinearLayout.zeros_1d(2, "lane", f"dim{k}")
        return fit(_tile(steps, order) * halves * _among_tiles(cta_layout, order, k), shape, blocks)
    side = instr_shape[0] if (operand == 1) == transposed else WMMA_SIDE
    steps = [("register", width, k), ("lane", WMMA_SIDE, other), ("lane", 2, k)]
    steps += [("register", max(1, instr_shape[2] // (2 * width)), k), ("register", side // WMMA_SIDE, other)]
    return fit(_tile(steps, order) * _among_tiles(cta_layout, order, k), shape, blocks)
