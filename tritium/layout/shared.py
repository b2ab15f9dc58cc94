"""Layouts of tensors in shared memory: the element at an offset, counted in elements, of a CTA's memory.

Each function gives a linear layout from `offset` and `block` to `dim0`, `dim1`, …; names and parameters are those of
the attributes of the TritonGPU dialect. Swizzling permutes the elements of a row depending on its index, so that the
elements of a column are in different banks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .bases import per_block
from .linear import LinearLayout
from .tiling import Vectors, across, dimension_names, fit

__all__ = ["nvmma_shared", "swizzled_shared", "tma_block_shape"]

#: TMA: the maximum size of a box in each dimension (CUDA driver API, cuTensorMapEncodeTiled).
TMA_BOX = 256


def swizzled_shared(
    shape: Sequence[int],
    vec: int,
    per_phase: int,
    max_phase: int,
    order: Sequence[int],
    blocks: Vectors = (),
    rotating: bool = False,
) -> LinearLayout:
    """Consecutive rows, dimension `order[0]` contiguous; groups of `vec` elements permuted within each row.

    The group g of row r is at position `g ^ phase`, phase = r / per_phase % max_phase; with `rotating`, the index of
    the block of `per_phase * max_phase` rows is part of the phase too, by exclusive or.

    >>> print(swizzled_shared([4, 4], 1, 1, 4, [1, 0]))
    offset: 1 -> (0, 1), 2 -> (0, 2), 4 -> (1, 1), 8 -> (2, 2); block: none in (dim0: 4, dim1: 4)
    """
    mine = per_block(shape, blocks)
    if len(shape) == 1:
        return fit(LinearLayout.identity_1d(mine[0], "offset", "dim0"), shape, blocks)
    inner, outer = order[:2]
    columns, rows = mine[inner], mine[outer]
    names = {f"dim{outer}": rows, f"dim{inner}": columns}
    vectors = [(0, 1 << i) for i in range(columns.bit_length() - 1)]
    for row in (1 << i for i in range(rows.bit_length() - 1)):
        phase = row // per_phase % max_phase
        if rotating:
            phase ^= row // (max_phase * per_phase) % max_phase
        vectors.append((row, vec * phase % columns))
    tile = LinearLayout({"offset": vectors}, names)
    for d in order[2:]:
        tile *= LinearLayout.identity_1d(mine[d], "offset", f"dim{d}")
    return fit(tile, shape, blocks)


def tma_block_shape(shape: Sequence[int], swizzle: int, bits: int, transposed: bool, fp4_padded: bool) -> list[int]:
    """The shape of one TMA copy of a CTA's part of a tensor, in elements.

    `swizzle` is the width of a swizzled row in bytes (0, 32, 64, 128), `bits` that of an element. `ValueError` where
    the contiguous dimension is shorter than such a row.
    """
    box = list(shape)
    inner = 0 if transposed else len(box) - 1
    if fp4_padded:
        box[inner] *= 2
    box = [min(size, TMA_BOX) for size in box]
    if swizzle:
        needed = 8 * swizzle // bits
        if box[inner] < needed:
            raise ValueError(f"dimension {inner} has {box[inner]} elements, a row of {swizzle} bytes has {needed}")
        box[inner] = needed
    if fp4_padded:
        box[inner] //= 2
    return box


def _core_matrix(swizzle: int, bits: int, fp4_padded: bool) -> LinearLayout:
    """Eight rows of `swizzle` bytes; groups of 16 bytes are permuted by the index of the row.

    Rows of 128 bytes all differ, of 64 every second, of 32 every fourth. With `fp4_padded`, each 8 bytes of data are
    followed by 8 of padding, whose offsets map to the same elements.
    """
    columns = 8 * swizzle // bits
    vec, per_phase, phases = 128 // bits, 128 // swizzle, swizzle // 16

    def packed(column: int) -> int:
        return column // 16 * 8 + column % 8 if fp4_padded else column

    vectors = [(0, packed(1 << i)) for i in range(columns.bit_length() - 1)]
    vectors += [(1 << i, packed(vec * ((1 << i) // per_phase % phases))) for i in range(3)]
    return LinearLayout({"offset": vectors}, {"dim0": 8, "dim1": columns // 2 if fp4_padded else columns})


def nvmma_shared(
    shape: Sequence[int],
    swizzle: int,
    bits: int,
    transposed: bool = False,
    fp4_padded: bool = False,
    blocks: Vectors = (),
) -> LinearLayout:
    """The layout that wgmma reads and TMA writes: consecutive boxes of swizzled rows.

    `swizzle` is the width of a row in bytes (0, 32, 64, 128), `bits` the width of an element; `transposed`: dimension
    0, not the last, is contiguous. Source: PTX ISA 8.7, sections 5.5.6 and 9.7.15.5.
    """
    rank = len(shape)
    mine = per_block(shape, blocks)
    box = tma_block_shape(mine, swizzle, bits, transposed, fp4_padded)
    turned = [*box[1:], box[0]] if transposed else box
    if swizzle:
        # As a matrix for swizzling: where it is transposed, the last dimension of the box gives the rows.
        rows, columns = math.prod(box[:-1]), box[-1]
        tile = _rows_of(_core_matrix(swizzle, bits, fp4_padded), *((columns, rows) if transposed else (rows, columns)))
        # Flattened, the last dimension is the least significant one.
        tile = tile.reshaped(outs={f"dim{i}": turned[i] for i in range(rank)[::-1]})
    else:
        tile = across("offset", turned, range(rank)[::-1])
    if transposed:
        tile = tile.renamed({f"dim{i}": f"dim{(i + 1) % rank}" for i in range(rank)})
    return fit(tile.reordered(outs=dimension_names(rank)), shape, blocks)


def _rows_of(core: LinearLayout, rows: int, columns: int) -> LinearLayout:
    """The core matrix repeated along rows, then along columns, with the columns least significant."""
    if rows < core.outs["dim0"] or columns < core.outs["dim1"]:
        needed = f"{core.outs['dim0']} x {core.outs['dim1']}"
        raise ValueError(f"{rows} rows of {columns} elements are too few, swizzling needs {needed}")
    whole = core
    for name, size in (("dim0", rows), ("dim1", columns)):
        whole *= LinearLayout.identity_1d(size // whole.outs[name], "offset", name)
    return whole.reordered(outs=["dim1", "dim0"])
