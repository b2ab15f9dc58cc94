"""Tensor maps for TMA, encoded by the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from .libcuda import Library

__all__ = ["BIT", "LAST_TO_CORRECT", "SMALL", "WORD", "encode_im2col", "encode_tiled"]

_BYTES = 128
_ALIGNMENT = 64
#: Drivers up to this version set a bit in maps of small tensors that slows TMA down.
LAST_TO_CORRECT = 13010
SMALL = 128 << 10
WORD, BIT = 1, 1 << 21
#: Bytes of an element, by CUtensorMapDataType.
_SIZES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)


def encode_tiled(
    cuda: Library,
    element_type: int,
    address: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    element_strides: Sequence[int],
    interleave: int,
    swizzle: int,
    l2_promotion: int,
    fill: int,
) -> bytes:
    """The 128 bytes of a tiled map: `cuTensorMapEncodeTiled`, dimensions innermost first, strides in bytes.

    Raises CudaError where the driver refuses.
    """
    rank = len(sizes)
    storage, at = _place()
    cuda.call(
        "encode_tiled",
        at,
        element_type,
        rank,
        address,
        (ctypes.c_uint64 * rank)(*sizes),
        (ctypes.c_uint64 * rank)(*strides),
        (ctypes.c_uint32 * rank)(*box),
        (ctypes.c_uint32 * rank)(*element_strides),
        interleave,
        swizzle,
        l2_promotion,
        fill,
    )
    size = _SIZES[element_type] if element_type < len(_SIZES) else 1
    last = sum((n - 1) * s for n, s in zip(sizes, (size, *strides)))
    if cuda.version <= LAST_TO_CORRECT and last + 1 < SMALL:
        words = (ctypes.c_uint64 * (_BYTES // 8)).from_address(at)
        words[WORD] &= ~BIT
    found = ctypes.string_at(at, _BYTES)
    del storage
    return found


def encode_im2col(
    cuda: Library,
    element_type: int,
    address: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    lower: Sequence[int],
    upper: Sequence[int],
    channels: int,
    pixels: int,
    element_strides: Sequence[int],
    interleave: int,
    swizzle: int,
    l2_promotion: int,
    fill: int,
) -> bytes:
    """The 128 bytes of an im2col map: `cuTensorMapEncodeIm2col`, dimensions innermost first, strides in bytes."""
    rank = len(sizes)
    storage, at = _place()
    cuda.call(
        "encode_im2col",
        at,
        element_type,
        rank,
        address,
        (ctypes.c_uint64 * rank)(*sizes),
        (ctypes.c_uint64 * rank)(*strides),
        (ctypes.c_int * len(lower))(*lower),
        (ctypes.c_int * len(upper))(*upper),
        channels,
        pixels,
        (ctypes.c_uint32 * rank)(*element_strides),
        interleave,
        swizzle,
        l2_promotion,
        fill,
    )
    found = ctypes.string_at(at, _BYTES)
    del storage
    return found


def _place() -> tuple[object, int]:
    """Memory for a map, and the aligned address in it."""
    storage = (ctypes.c_char * (_BYTES + _ALIGNMENT))()
    start = ctypes.addressof(storage)
    return storage, start + -start % _ALIGNMENT
