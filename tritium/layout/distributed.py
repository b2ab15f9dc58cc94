"""Layouts of tensors in registers: the element in register r of lane l of warp w of block b.

Each function gives the layout of a tensor of `shape` as a linear layout from `register`, `lane`, `warp` and `block` to
`dim0`, `dim1`, …; names and parameters are those of the attributes of the TritonGPU dialect. `blocks` states the
distribution over the CTAs of a cluster (see `tiling.fit`). Sizes are powers of two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .bases import shape_of_bases
from .linear import LinearLayout
from .tiling import Vectors, across, dimension_names, fit, moved, row_major, stretch

__all__ = ["blocked", "dot_operand_fma", "dot_operand_mma", "linear", "mma", "slice_of"]


def blocked(
    shape: Sequence[int],
    size_per_thread: Sequence[int],
    threads_per_warp: Sequence[int],
    warps_per_cta: Sequence[int],
    order: Sequence[int],
    blocks: Vectors = (),
) -> LinearLayout:
    """Each thread owns a small block of elements; threads tile a warp, and warps tile a CTA.

    Where the tensor is smaller than that, lanes and warps hold copies; a thread holds no element twice.

    >>> print(blocked([64], [2], [16], [1], [0]))
    register: 1 -> (1), 2 -> (32); lane: 1 -> (2), 2 -> (4), 4 -> (8), 8 -> (16); warp: none; block: none in (dim0: 64)
    """
    tile = across("register", size_per_thread, order) * across("lane", threads_per_warp, order)
    return fit(tile * across("warp", warps_per_cta, order), shape, blocks).without_zeros("register")


def linear(
    shape: Sequence[int], register: Vectors, lane: Vectors, warp: Vectors, block: Vectors, order: Sequence[int]
) -> LinearLayout:
    """The layout with the given bases, in elements; repeated by registers, dimension `order[0]` first, or cut.

    Where the tensor is smaller, lanes, warps and CTAs hold copies; registers with copies are dropped.
    """
    bases = {"register": register, "lane": lane, "warp": warp, "block": block}
    names = dimension_names(len(shape))
    reached = shape_of_bases([v for part in bases.values() for v in part], len(shape))
    whole = LinearLayout(bases, dict(zip(names, reached)))
    kept = [v for v in register if not any(v) or any(0 < c < s for c, s in zip(v, shape))]
    if len(kept) < len(register):
        whole = LinearLayout({**bases, "register": kept}, whole.outs)
    whole = whole.reordered(outs=[names[d] for d in order])
    return stretch(whole, dict(zip(names, shape))).reordered(outs=names)


def slice_of(shape: Sequence[int], dim: int, parent: Callable[[Sequence[int]], LinearLayout]) -> LinearLayout:
    """The layout of a tensor without dimension `dim` of its parent: each element is where its row was.

    `parent` gives the parent's layout of a shape. Registers with other elements of the row are dropped; lanes and warps
    with such elements hold copies.
    """
    whole = parent([*shape[:dim], 1, *shape[dim:]])
    kept = [d for d in whole.outs if d != f"dim{dim}"]
    return whole.sublayout(whole.ins, kept).renamed(moved(kept, dim)).without_zeros("register")


def _mma_tile(rows: int, columns: int, width: int, inner: int, outer: int, order: Sequence[int]) -> LinearLayout:
    """A warp's part of a tile of `rows` (dimension `outer`) x `columns` (dimension `inner`) in mma.sync and wgmma.

    Four lanes share a row of 8 x `4 * width` elements, `width` adjacent ones each; registers repeat that, first along
    rows, then along columns. Source: PTX ISA 8.7, section 9.7.14.5, the fragments of mma.m16n8k16 and similar
    instructions.
    """
    tile = across("register", [1] * len(order), order)
    steps = [("register", width, inner), ("lane", 4, inner), ("lane", 8, outer)]
    steps += [("register", rows // 8, outer), ("register", columns // (4 * width), inner)]
    for source, size, dim in steps:
        tile *= LinearLayout.identity_1d(size, source, f"dim{dim}")
    return tile


def _warp_order(rank: int, version: int) -> list[int]:
    """Warps go along rows first, but along columns on Hopper, where a warp group computes 64 rows."""
    return [rank - 2, rank - 1, *range(rank - 2)[::-1]] if version == 3 else row_major(rank)


def mma(
    shape: Sequence[int], version: int, warps_per_cta: Sequence[int], instr_shape: Sequence[int], blocks: Vectors = ()
) -> LinearLayout:
    """The result of an MMA: mma.sync (version 2) or wgmma (version 3).

    `instr_shape` of an instruction: (…, M, N) of one warp for version 2, (M, N, K) for version 3.
    """
    rank = len(shape)
    order = row_major(rank)
    rows, columns = instr_shape[:2] if version == 3 else instr_shape[-2:]
    tile = _mma_tile(rows, columns, 2, rank - 1, rank - 2, order)
    return fit(tile * across("warp", warps_per_cta, _warp_order(rank, version)), shape, blocks)


def dot_operand_mma(
    shape: Sequence[int],
    operand: int,
    width: int,
    version: int,
    warps_per_cta: Sequence[int],
    instr_shape: Sequence[int],
    blocks: Vectors = (),
) -> LinearLayout:
    """Operand 0 (M x K) or 1 (K x N) of an MMA in registers; `width` adjacent elements along K in 32 or more bits.

    All warps along the other operand's dimension hold copies. Hopper reads only operand 0 from registers.
    """
    rank = len(shape)
    k = rank - 1 if operand == 0 else rank - 2
    other = 2 * rank - 3 - k
    order = [k, other, *range(rank - 2)[::-1]]
    if operand == 1 and version == 3:
        raise ValueError("wgmma reads its second operand from shared memory only")
    rows = (instr_shape[0] if version == 3 else instr_shape[-2]) if operand == 0 else 8
    depth = 4 * width if version == 2 and instr_shape[-2] == 8 else 8 * width  # m8n8k4 of f64 has one step along K
    tile = _mma_tile(rows, depth, width, k, other, order)
    warps = across("warp", warps_per_cta, _warp_order(rank, version), repeated=k)
    return fit(tile * warps, shape, blocks)


def dot_operand_fma(
    shape: Sequence[int],
    operand: int,
    size_per_thread: Sequence[int],
    threads_per_warp: Sequence[int],
    warps_per_cta: Sequence[int],
    order: Sequence[int],
    blocks: Vectors = (),
) -> LinearLayout:
    """An operand of a dot by FMAs with a blocked result: each thread holds all of K for its rows."""
    rank = len(shape)
    k = rank - 1 if operand == 0 else rank - 2
    sizes = [shape[d] if d == k else n for d, n in enumerate(size_per_thread)]
    tile = across("register", sizes, order) * across("lane", threads_per_warp, order, repeated=k)
    return fit(tile * across("warp", warps_per_cta, order, repeated=k), shape, blocks)
