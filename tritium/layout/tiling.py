"""What the named layouts are built of: dimensions of a tensor, and a tile made as large as a tensor.

A named layout describes a tile: what the registers of one block's threads, or the offsets of one block's shared memory,
hold of a small piece. `fit` makes it a layout of a whole tensor: the tensor is divided among the blocks of a cluster,
and what one block has is larger or smaller than the tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .bases import shape_of_bases
from .linear import LinearLayout

__all__ = ["Vectors", "across", "dimension_names", "fit", "moved", "row_major", "shrink", "stretch"]

Vectors = Sequence[Sequence[int]]
"""Bases of one input dimension."""


def dimension_names(rank: int) -> list[str]:
    """`dim0`, `dim1`, …: the output dimensions of the layout of a tensor."""
    return [f"dim{i}" for i in range(rank)]


def row_major(rank: int) -> list[int]:
    """The order of dimensions, fastest first, in which the last one is contiguous.

    >>> row_major(3)
    [2, 1, 0]
    """
    return list(range(rank))[::-1]


def across(source: str, sizes: Sequence[int], order: Sequence[int], repeated: int | None = None) -> LinearLayout:
    """The indices of `source` laid out over a grid of `sizes`, dimension `order[0]` fastest.

    Along the dimension `repeated` the indices are counted but all stand at 0: they hold copies.

    >>> print(across("lane", [2, 4], [1, 0]))
    lane: 1 -> (1, 0), 2 -> (2, 0), 4 -> (0, 1) in (dim1: 4, dim0: 2)
    """
    if sorted(order) != list(range(len(sizes))):
        raise ValueError(f"{list(order)} is no order of {len(sizes)} dimensions")
    out = LinearLayout({source: []}, {})
    for d in order:
        place = LinearLayout.zeros_1d if d == repeated else LinearLayout.identity_1d
        out *= place(sizes[d], source, f"dim{d}")
    return out


def shrink(layout: LinearLayout, sizes: dict[str, int]) -> LinearLayout:
    """No output dimension larger than in `sizes`: inputs that reach beyond hold copies of what is inside."""
    bases = {name: [list(v) for v in vectors] for name, vectors in layout.bases.items()}
    outs = layout.outs
    for i, (name, size) in enumerate(layout.outs.items()):
        outs[name] = min(size, sizes[name])
        for vectors in bases.values():
            for vector in vectors:
                if vector[i] >= outs[name]:
                    vector[i] = 0
    return LinearLayout(bases, outs)


def _grow(layout: LinearLayout, sizes: dict[str, int]) -> LinearLayout:
    """No output dimension smaller than in `sizes`: the first input dimension goes on where the tile ends."""
    source = next(iter(layout.ins))
    for name, size in layout.outs.items():
        if size < sizes[name]:
            layout *= LinearLayout.identity_1d(sizes[name] // size, source, name)
    return layout


def stretch(layout: LinearLayout, sizes: dict[str, int]) -> LinearLayout:
    """Output dimensions as in `sizes`: repeated by the first input dimension where smaller, cut where larger."""
    return shrink(_grow(layout, sizes), sizes)


def fit(tile: LinearLayout, shape: Sequence[int], blocks: Vectors = ()) -> LinearLayout:
    """`tile` repeated, or cut, to a tensor of `shape` that is divided among the blocks of a cluster.

    `blocks` are the bases of the input dimension `block`: which part of the tensor each block of the cluster has, in
    units of what one block holds; none: there is one block. The tile is repeated along its output dimensions in the
    order in which it has them. The result has the output dimensions in the tensor's order.
    """
    names = dimension_names(len(shape))
    sizes = dict(zip(names, shape))
    if set(tile.outs) != set(names):
        raise ValueError(f"a tile of {len(tile.outs)} dimensions does not fit a tensor of {len(names)}")
    cluster = dict(zip(names, shape_of_bases(blocks, len(shape))))
    among = shrink(LinearLayout({"block": blocks}, cluster), sizes).reordered(outs=list(tile.outs))
    part = {name: max(1, sizes[name] // among.outs[name]) for name in tile.outs}
    return (stretch(tile, part) * among).reordered(outs=names)


def moved(dims: Iterable[str], without: int) -> dict[str, str]:
    """New names for the dimensions behind `dim{without}` once that is gone."""
    return {d: f"dim{int(d[3:]) - 1}" for d in dims if int(d[3:]) > without}
