"""An axis of a tensor in registers: the bits of register, lane, warp and block that move along it.

A reduction or a scan along an axis combines elements of one thread, of lanes of a warp, of warps and of CTAs. It needs
to know the role of each bit of a layout:

    along   the bits that move along the axis, each with its distance, shortest first
    others  the bits that move along other dimensions
    copies  the bits that make no difference: a holder with one of them set has a copy of an element

>>> rows = LinearLayout({"register": [(0, 1)], "lane": [(1, 0), (0, 2)], "warp": [(0, 0)]}, {"dim0": 2, "dim1": 4})
>>> axis = Axis.of(rows, 1)
>>> [(b.source, b.bit, b.distance) for b in axis.along], axis.masks("others"), axis.masks("copies")
([('register', 0, 1), ('lane', 1, 2)], {'register': 0, 'lane': 1, 'warp': 0}, {'register': 0, 'lane': 0, 'warp': 1})
"""

from __future__ import annotations

import functools

from ..support.dataclasses import dataclass
from .linear import LinearLayout

__all__ = ["Axis", "Bit", "others_numbers", "others_width"]


@dataclass(frozen=True, order=True)
class Bit:
    """Bit `bit` of the input `source`; along the axis it moves by `distance` elements (0 for other bits)."""

    distance: int
    source: str
    bit: int

    @property
    def mask(self) -> int:
        """The bit as a mask."""
        return 1 << self.bit


@dataclass(frozen=True)
class Axis:
    """The bits of `layout` by their role for dimension `axis`."""

    layout: LinearLayout
    axis: int
    along: tuple[Bit, ...]
    others: tuple[Bit, ...]
    copies: tuple[Bit, ...]

    @classmethod
    def of(cls, layout: LinearLayout, axis: int) -> Axis:
        """The bits of a layout. ValueError where one moves along the axis and elsewhere, or not by a power of two, or
        where it selects a copy of a different element."""
        return _axis(layout, axis)

    def masks(self, kind: str) -> dict[str, int]:
        """For each input, the mask of its bits of one kind: "along", "others" or "copies"."""
        out = dict.fromkeys(self.layout.ins, 0)
        for b in getattr(self, kind):
            out[b.source] |= b.mask
        return out


@functools.lru_cache(1024)
def _axis(layout: LinearLayout, axis: int) -> Axis:
    copied = layout.redundant()
    along: list[Bit] = []
    others: list[Bit] = []
    copies: list[Bit] = []
    for source, vectors in layout.bases.items():
        for bit, vector in enumerate(vectors):
            distance = vector[axis]
            elsewhere = any(vector[:axis]) or any(vector[axis + 1 :])
            b = Bit(distance, source, bit)
            copy = copied[source] >> bit & 1
            if (copy and (distance or elsewhere)) or (distance and (elsewhere or distance & (distance - 1))):
                raise ValueError(f"bit {bit} of {source} moves by {vector}: not along one dimension by a power of two")
            (copies if copy else along if distance else others).append(b)
    return Axis(layout, axis, tuple(sorted(along)), tuple(others), tuple(copies))


@functools.lru_cache(1024)
def others_numbers(layout: LinearLayout, axis: int | None = None) -> LinearLayout:
    """From holders to "other", the index of their element among those of a CTA that differ in other dimensions.

    It depends on the element alone, so layouts that distribute a tensor over CTAs alike index them alike; the last
    dimension is the least significant. ValueError where a CTA's part is not a box.
    """
    kept = [name for d, name in enumerate(layout.outs) if d != axis]
    sizes = {name: layout.outs[name] for name in reversed(kept)}
    rest = layout.sublayout(layout.ins, kept).reordered(outs=list(sizes))
    flat = rest.reshaped(outs={"other": rest.out_size()})
    shares = {c for c in flat.columns_of("block") if c} if "block" in flat.ins else set()
    if any(c & (c - 1) for c in shares):
        raise ValueError("a CTA's part of the tensor is not a box")
    return _squeezed(flat, sum(shares)) if shares else flat


def others_width(layout: LinearLayout, axis: int | None = None) -> int:
    """The number of bits of the indices of `others_numbers`."""
    return others_numbers(layout, axis).out_size().bit_length() - 1


def _squeezed(flat: LinearLayout, dropped: int) -> LinearLayout:
    """Indices without the bits that select CTAs."""
    width = flat.out_size().bit_length() - 1
    kept = [i for i in range(width) if not dropped >> i & 1]

    def squeeze(n: int) -> int:
        return sum((n >> i & 1) << j for j, i in enumerate(kept))

    bases = {name: [(squeeze(c),) for c in flat.columns_of(name)] for name in flat.ins}
    return LinearLayout(bases, {"other": 1 << len(kept)})
