"""Layouts: a picture of one tile, in which each element names the register and thread, or the offset, that holds it."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

from ..dialects.ttg_layouts import Layout
from ..dialects.ttg_maps import linear_layout
from ..frontend.gluon.layout_base import DistributedLayout, SharedLayout
from ..layout import LinearLayout
from ..support.display import formats
from ..tools.layout_view import Picture, svg
from .html import code, framed

__all__ = ["tile_of"]

LIMIT = 4096  # elements of a picture
ROWS, COLUMNS = 8, (32, 64, 128, 256)  # of a picture of shared memory


@formats(Layout)
def _attribute(layout: Layout) -> str:
    return _picture(layout, str(layout))


@formats(DistributedLayout, SharedLayout)
def _gluon(layout: DistributedLayout | SharedLayout) -> str:
    return _picture(layout.attribute(), str(layout))


@formats(LinearLayout)
def _linear(layout: LinearLayout) -> str:
    shape = tuple(layout.outs.values())
    drawn = _drawn(layout, shape, int) if {"lane", "offset"} & set(layout.ins) else ""
    return framed("LinearLayout", drawn, code(str(layout)))


def _picture(layout: Layout, text: str) -> str:
    try:
        shape = tile_of(layout)
        drawn = _drawn(linear_layout(layout, shape), shape, getattr(layout, "address", int))
    except (ValueError, AttributeError) as error:  # one that is still to be chosen, or that no tensor can have
        drawn = f'<div class="dim">not drawn: {escape(str(error))}</div>'
    return framed(text, drawn)


def _drawn(layout: LinearLayout, shape: tuple[int, ...], address: Callable[[int], int]) -> str:
    if math.prod(shape) > LIMIT:
        shown = "x".join(map(str, shape))
        return f'<div class="dim">a tile of {shown} is too large to draw: `tritium layout` draws parts of it</div>'
    return f'<div style="overflow:auto">{svg(Picture(layout, shape, address=address))}</div>'


def tile_of(layout: Layout) -> tuple[int, ...]:
    """The smallest tensor in which each thread holds other elements; of shared memory, a few rows.

    ValueError or AttributeError for layouts that no tensor has.
    """
    if getattr(layout, "lanes", None) is None:
        return _rows_of_memory(layout)
    wide = linear_layout(layout, (1 << 12,) * layout.rank)
    extents = [1] * layout.rank
    for name in ("block", "warp", "lane"):
        for basis in wide.bases.get(name, ()):
            extents = [max(extent, 2 * at) for extent, at in zip(extents, basis)]
    inner = [basis for basis in wide.bases["register"] if all(at < extent for at, extent in zip(basis, extents))]
    for basis in inner:
        extents = [max(extent, 2 * at) for extent, at in zip(extents, basis)]
    return tuple(extents)


def _rows_of_memory(layout: Layout) -> tuple[int, ...]:
    """Eight rows, as wide as the layout asks for."""
    for columns in COLUMNS:
        shape = (*(1 for _ in range(layout.rank - 2)), ROWS, columns)[-layout.rank :]
        try:
            linear_layout(layout, shape)
        except ValueError:
            if columns == COLUMNS[-1]:
                raise
        else:
            break
    return shape
