"""Boxes of a tensor map: which bytes of global memory go to which bytes of shared memory.

A box stands in shared memory row by row, the innermost dimension first. Where the map says so the 16-byte pieces of
each 32, 64 or 128 bytes are swizzled: bits 4 and up of the address are xored with as many bits from bit 7 on. The bits
are those of the address itself, so that a box that begins in the middle of the pattern goes on with it.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from .tensor_map import SPANS, TensorMap
from .types import Array

__all__ = ["Box", "PixelBox", "box_of", "swizzled"]


def swizzled(offsets: Array, mode: int) -> Array:
    """Addresses in shared memory as the swizzle mode of a tensor map changes them.

    >>> swizzled(np.array([0, 128, 256 + 16]), 3)
    array([  0, 144, 304])
    """
    pieces = SPANS[mode] // 16
    if pieces < 2:
        return offsets
    return offsets ^ (offsets >> 7 & (pieces - 1)) << 4


class Box(NamedTuple):
    """The elements of a box in the order of shared memory.

    `offsets` are their bytes in global memory from the element at the coordinates; `indices` [rank, elements] how far
    they are from it in each dimension.
    """

    offsets: Array
    indices: Array

    def inside(self, m: TensorMap, at: tuple[int, ...]) -> Array | None:
        """Which elements lie in the tensor, for a box at some coordinates; None: all."""
        if all(c >= 0 and c + b <= n for c, b, n in zip(at, m.box, m.sizes)):
            return None
        where = self.indices + np.array(at, np.int64)[:, None]
        return np.asarray(((where >= 0) & (where < np.array(m.sizes, np.int64)[:, None])).all(axis=0))

    def addresses(self, m: TensorMap, at: tuple[int, ...]) -> Array:
        """The address of each element. Addresses have 64 bits: strides may lead around them."""
        start = m.address + at[0] * m.element_bytes + sum(c * s for c, s in zip(at[1:], m.strides))
        return self.offsets + ((start + (1 << 63)) % (1 << 64) - (1 << 63))


@functools.lru_cache(maxsize=64)
def box_of(m: TensorMap) -> Box:
    """The box of a map."""
    # np.indices counts from the outermost dimension, maps from the innermost.
    indices = np.indices(m.extent[::-1]).reshape(m.rank, -1)[::-1] * np.array(m.element_strides)[:, None]
    steps = np.array((m.element_bytes, *m.strides), np.int64)
    return Box((indices * steps[:, None]).sum(axis=0), indices)


class PixelBox(NamedTuple):
    """The elements that an im2col load copies, in the order of shared memory.

    `indices` [rank, elements] are in the tensor. Pixels follow each other in the bounding box of the map, from the
    coordinates on, the innermost spatial dimension first, in steps of the map's element strides, and continue in the
    next image. The offsets move what is read, not the bounding box (PTX ISA, "Im2col mode").
    """

    offsets: Array
    indices: Array

    @classmethod
    def of(cls, m: TensorMap, at: tuple[int, ...], moved: tuple[int, ...]) -> PixelBox:
        """Those of a load at some coordinates; `moved` are the offsets of dimensions 1 to rank - 2."""
        assert m.corners is not None
        channels, pixels = m.box
        rank = m.rank
        places = np.empty((rank, pixels), np.int64)
        place = list(at[1:])
        for k in range(pixels):
            places[1:, k] = place
            for d in range(rank - 2):
                place[d] += m.element_strides[d + 1]
                if place[d] <= m.sizes[d + 1] - 1 + m.corners[1][d]:
                    break
                place[d] = m.corners[0][d]
            else:
                place[-1] += m.element_strides[-1]
        places[1:-1] += np.array(moved, np.int64)[:, None]
        indices = np.repeat(places, channels, axis=1)
        indices[0] = at[0] + np.tile(np.arange(channels), pixels)
        steps = np.array((m.element_bytes, *m.strides), np.int64)
        return cls((indices * steps[:, None]).sum(axis=0), indices)

    def inside(self, m: TensorMap, at: tuple[int, ...]) -> Array | None:
        """Which elements lie in the tensor."""
        return np.asarray(((self.indices >= 0) & (self.indices < np.array(m.sizes, np.int64)[:, None])).all(axis=0))

    def addresses(self, m: TensorMap, at: tuple[int, ...]) -> Array:
        """The address of each element."""
        return self.offsets + ((m.address + (1 << 63)) % (1 << 64) - (1 << 63))
