"""Building blocks of the named layouts: dimensions of a tensor, and the extension of a tile to a tensor.

A named layout describes a tile: the part of a small tensor in the registers of one CTA's threads, or at the offsets of
one CTA's shared memory. `fit` extends it to a whole tensor: the tensor is distributed over the CTAs of a cluster, and
the part of one CTA is larger or smaller than the tile.
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
    """The indices of `source` distributed over a grid of `sizes`, dimension `order[0]` fastest.

    Along the dimension `repeated` all indices are at 0: they hold copies.

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
    """Limit output dimensions to `sizes`: inputs that exceed them hold copies."""
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
    """Extend output dimensions to `sizes`: the first input dimension continues where the tile ends."""
    source = next(iter(layout.ins))
    for name, size in layout.outs.items():
        if size < sizes[name]:
            layout *= LinearLayout.identity_1d(sizes[name] // size, source, name)
    return layout


def stretch(layout: LinearLayout, sizes: dict[str, int]) -> LinearLayout:
    """Change output dimensions to `sizes`: repeat by the first input dimension where smaller, cut where larger."""
    return shrink(_grow(layout, sizes), sizes)


def fit(tile: LinearLayout, shape: Sequence[int], blocks: Vectors = ()) -> LinearLayout:
    """`tile` repeated, or cut, to a tensor of `shape` that is distributed over the CTAs of a cluster.

    `blocks` are the bases of the input dimension `block`: the part of the tensor in each CTA of the cluster, in units
    of one CTA's part; none: there is one CTA. The tile is repeated along its output dimensions in the order in which it
    has them. The result has the output dimensions in the tensor's order.
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
    """New names for the dimensions after `dim{without}` once that is removed."""
    return {d: f"dim{int(d[3:]) - 1}" for d in dims if int(d[3:]) > without}
