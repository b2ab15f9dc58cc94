"""Counts and permutations of the bits of 32-bit and 64-bit words."""

from __future__ import annotations

import numpy as np

from ..types import Array

__all__ = ["bit_count", "first_bit_high", "first_bit_low", "reverse", "sign_run"]

_REVERSED = np.array([int(f"{n:08b}"[::-1], 2) for n in range(256)], np.uint8)
_COUNT = np.array([bin(n).count("1") for n in range(256)], np.uint8)
NOT_FOUND = np.uint32(0xFFFFFFFF)


def _bytes(a: Array) -> Array:
    a = np.ascontiguousarray(a)
    return a.view(np.uint8).reshape(*a.shape, a.dtype.itemsize)


def reverse(a: Array) -> Array:
    """The bits in reverse order."""
    swapped = np.ascontiguousarray(_REVERSED[_bytes(a)[..., ::-1]])
    return swapped.view(a.dtype).reshape(a.shape)


def bit_count(a: Array) -> Array:
    """How many bits are set, as u32."""
    return _COUNT[_bytes(a)].sum(axis=-1, dtype=np.uint32)


def first_bit_low(a: Array) -> Array:
    """The index of the lowest set bit, as u32; -1 if there is none."""
    one = a.dtype.type(1)
    below = bit_count((a & -a) - one)
    return np.where(a == 0, NOT_FOUND, below)


def first_bit_high(a: Array) -> Array:
    """How many zeros precede the highest set bit, as u32; -1 if there is none."""
    return first_bit_low(reverse(a))


def sign_run(a: Array) -> Array:
    """How many bits, the sign included, equal the sign bit of a 32-bit word; -1 if all do."""
    a = a.view(np.int32)
    return first_bit_high((a ^ (a >> np.int32(31))).view(np.uint32))
