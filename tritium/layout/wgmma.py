"""WGMMA: matrix descriptors of operands in shared memory, and registers of fragments.

A matrix descriptor has the start of a matrix in shared memory, the width of a swizzled row, and two distances between
its parts (PTX ISA 8.7, section 9.7.15.5). `plan_matrix` queries the linear map of a buffer whether an instruction's
part of it has that form. With W the width of a row in bytes and addresses before swizzling,

| adjacent elements in memory are | byte of the element at (m, k) |
|---|---|
| along K, W = 32, 64, 128 | m % 8 * W + m / 8 * stride + k |
| along K, W = 16 | m % 8 * 16 + m / 8 * stride + k % 16 + k / 16 * leading |
| along M or N, W = 32, 64, 128 | k % 8 * W + k / 8 * stride + m % W + m / W * leading |
| along M or N, W = 16 | k % 8 * 16 + k / 8 * leading + m % 16 + m / 16 * stride |

(the contiguous dimension counted in bytes, the other in elements). Swizzling then adds bits 7 and above of the byte to
bits 4 and above by exclusive or: none of them for rows of 16 bytes, one for 32, two for 64, three for 128.

A warp owns 16 of the 64 rows of its warp group; its registers are those of `mma.sync`, side by side.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .linear import LinearLayout

__all__ = ["Matrix", "Tile", "fragments_of_operand", "fragments_of_result", "plan_matrix"]

Tile = tuple[int, int]
"""Row and column at which an instruction's part of a tensor starts."""

#: The two upper bits of a descriptor, by the bytes of a swizzled row.
_MODES = {16: 0, 128: 1, 64: 2, 32: 3}


class Matrix(NamedTuple):
    """The fields of a matrix descriptor besides its address: bytes of a row, and the two distances in bytes.

    `mn_major`: adjacent elements in memory are adjacent along M or N, not along K.
    """

    width: int
    mn_major: bool
    leading: int
    stride: int

    @property
    def descriptor(self) -> int:
        """The descriptor of such a matrix at address 0, a signed 64-bit integer.

        >>> hex(Matrix(64, False, 0, 512).descriptor & (1 << 64) - 1)
        '0x8000002000000000'
        """
        bits = _MODES[self.width] << 62 | self.stride // 16 << 32 | self.leading // 16 << 16
        return bits - (1 << 64) if bits >> 63 else bits

    def unswizzled(self, byte: int) -> int:
        """The unswizzled location of `byte`: descriptors count in these."""
        return _swizzled(byte, self.width)


def _swizzled(byte: int, width: int) -> int:
    return byte ^ (byte >> 7 & width // 16 - 1) << 4


@functools.lru_cache(1024)
def plan_matrix(memory: LinearLayout, along: int, rows: int, depth: int, bits: int) -> Matrix:
    """The descriptor of `rows` x `depth` elements of `bits` bits in a buffer, from offset, block to dim0, dim1.

    `along` is the buffer's dimension along M or N, the other one that along K. `ValueError` where no descriptor can
    represent it.
    """
    inverse = memory.pseudoinvert().bases
    moving = []
    for dim, size in ((along, rows), (1 - along, depth)):
        vectors = inverse[f"dim{dim}"][: size.bit_length() - 1]
        if len(vectors) < size.bit_length() - 1 or any(v[1] for v in vectors):
            raise ValueError(f"a CTA has fewer than {size} elements along dimension {dim}")
        moving.append([v[0] * bits // 8 for v in vectors])
    for mn_major in (False, True):
        inner, outer = moving if mn_major else moving[::-1]
        for width in (128, 64, 32, 16):
            found = _distances(inner, outer, width, bits // 8)
            if found is not None:
                # For unswizzled rows, the distance along M or N is called the stride, whichever dimension is
                # contiguous.
                turned = mn_major and width > 16
                across, down = found
                leading, stride = (across, down) if turned or not mn_major else (down, across)
                return Matrix(width, mn_major, leading, stride)
    raise ValueError("a descriptor cannot represent the layout of the matrix")


def _distances(inner: Sequence[int], outer: Sequence[int], width: int, size: int) -> tuple[int, int] | None:
    """The distances between atoms across and down, 0 where there is one; None where these are not atoms.

    `inner`, `outer`: bytes that each bit moves by, of the contiguous coordinate, and of the other one.
    """
    whole = (width // size).bit_length() - 1  # bits of the inner coordinate in one row
    if list(inner[:whole]) != [size << i for i in range(len(inner[:whole]))]:
        return None
    if list(outer[:3]) != [_swizzled(width << i, width) for i in range(len(outer[:3]))]:
        return None
    found = []
    for rest in (inner[whole:], outer[3:]):
        apart = rest[0] if rest else 0
        even = apart % (8 * width) == 0 and not apart & (apart - 1)
        if not even or list(rest) != [apart << i for i in range(len(rest))]:
            return None
        found.append(apart)
    return found[0], found[1]


def _places(layout: LinearLayout) -> Iterator[tuple[int, int, int]]:
    """The register, row and column of each register of the first lane of the first warp."""
    bases = layout.bases["register"]
    places = [(0, 0)]
    for row, column in bases:
        places += [(row ^ r, column ^ c) for r, c in places]
    return ((n, row, column) for n, (row, column) in enumerate(places))


def _grouped(found: dict[Tile, dict[int, int]], count: int) -> dict[Tile, tuple[int, ...]]:
    for tile, registers in found.items():
        if sorted(registers) != list(range(count)):
            raise ValueError(f"the registers for the tile at {tile} are not those of an instruction")
    return {tile: tuple(registers[i] for i in range(count)) for tile, registers in sorted(found.items())}


@functools.lru_cache(256)
def fragments_of_result(layout: LinearLayout, warps: tuple[int, int], columns: int) -> dict[Tile, tuple[int, ...]]:
    """For each instruction the registers of its result, in its order; tiles are those of the first warp group.

    `warps`: their numbers along rows and columns; `columns` of one instruction. Every 8 columns take 4 registers: two
    adjacent columns of the first 8 rows, two of the others.
    """
    down, along = 16 * warps[0], columns * warps[1]
    found: dict[Tile, dict[int, int]] = {}
    for number, row, column in _places(layout):
        tile = row // down * down, column // along * along
        at = (column - tile[1]) // 8 * 4 + (row - tile[0]) // 8 * 2 + column % 2
        found.setdefault(tile, {})[at] = number
    return _grouped(found, columns // 2)


@functools.lru_cache(256)
def fragments_of_operand(
    layout: LinearLayout, warps: tuple[int, int], depth: int, width: int
) -> dict[Tile, tuple[int, ...]]:
    """The same for operand A in registers, `width` elements in 32 bits, `depth` of one instruction along K.

    Four words: of the first 8 rows and the others, first of the first half along K.
    """
    down = 16 * warps[0]
    found: dict[Tile, dict[int, int]] = {}
    for number, row, column in _places(layout):
        tile = row // down * down, column // depth * depth
        half, k = (row - tile[0]) // 8, column - tile[1]
        at = (k // (4 * width) * 2 + half) * width + k % width
        found.setdefault(tile, {})[at] = number
    return _grouped(found, 4 * width)
