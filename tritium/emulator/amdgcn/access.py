"""Where accesses of lanes go: from addresses to elements of a store, with every check on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import MemoryAccessError, MisalignedAccess, OutOfBounds
from ..memory import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_SIZE, Piece
from ..types import Array
from .state import State

__all__ = ["Index", "Lanes", "aligned", "flat_pieces", "global_pieces", "lds_piece", "load", "save", "scratch_piece"]

#: Some of the accesses of an instruction.
Index = Array | slice


class Lanes:
    """The lanes of an access: their numbers in the batch (wave * lanes + lane), and where they are in the group."""

    def __init__(self, s: State, mask: Array) -> None:
        self.row, self.column = np.nonzero(mask)
        self.number = s.waves[self.row] * s.lanes + self.column
        self.count = len(self.row)

    def of(self, chosen: Array) -> Lanes:
        """Some of the lanes."""
        part = object.__new__(Lanes)
        part.row, part.column, part.number = self.row[chosen], self.column[chosen], self.number[chosen]
        part.count = len(part.row)
        return part


def fail(s: State, kind: type[MemoryAccessError], message: str, lane: int) -> MemoryAccessError:
    error = s.error(kind, message, int(lane) // s.lanes, int(lane) % s.lanes)
    assert isinstance(error, MemoryAccessError)
    return error


def aligned(s: State, addresses: Array, lanes: Array, size: int, atomic: bool = False) -> None:
    """MisalignedAccess unless all addresses are multiples of the size.

    On HSA systems loads and stores may have any alignment ("unaligned-access-mode" of LLVM's user guide), and compilers
    merge accesses accordingly: only atomics must be aligned. With `check_alignment` accesses are aligned to a dword.
    """
    if not (atomic or s.check_alignment):
        return
    size = size if atomic else min(size, 4)
    wrong = addresses & (size - 1) != 0
    if wrong.any():
        n = int(np.argmax(wrong))
        text = f"accesses {size} bytes at {int(addresses[n]):#x}, which is no multiple of {size}"
        raise fail(s, MisalignedAccess, text, int(lanes[n]))


def global_pieces(s: State, addresses: Array, lanes: Array, size: int, write: bool) -> Iterator[tuple[Piece, Index]]:
    """The accesses to global memory by array, each with the indices of its accesses (or a slice of all)."""
    aligned(s, addresses, lanes, size)
    parts, outside = s.memory.split(addresses, size)
    if outside is not None:
        n = int(np.argmax(outside))
        where = s.memory.nearest(int(addresses[n]))
        text = f"{'writes' if write else 'reads'} {size} bytes at {int(addresses[n]):#x}: {where}"
        raise fail(s, OutOfBounds, text, int(lanes[n]))
    for store, chosen in parts:
        index: Index = slice(None) if chosen is None else chosen
        if write and not store.writable:
            raise fail(s, MemoryAccessError, f"writes to {store.name}, which is read-only", int(lanes[index][0]))
        yield Piece(store, addresses[index] - store.base, lanes[index]), index


def in_range(s: State, addresses: Array, lanes: Array, size: int, limit: int, name: str, write: bool) -> None:
    wrong = (addresses < 0) | (addresses + size > limit)
    if wrong.any():
        n = int(np.argmax(wrong))
        doing = "writes" if write else "reads"
        text = f"{doing} {size} bytes at {int(addresses[n]):#x}: outside {name}, which has {limit} bytes"
        raise fail(s, OutOfBounds, text, int(lanes[n]))


def lds_piece(s: State, addresses: Array, lanes: Array, size: int, write: bool) -> Piece:
    """Accesses to the LDS of each lane's workgroup; addresses have 32 bits."""
    addresses = addresses & 0xFFFFFFFF
    in_range(s, addresses, lanes, size, s.lds_size, "the LDS of the workgroup", write)
    aligned(s, addresses, lanes, size)
    group = s.shape.group_of_wave[lanes // s.lanes]
    return Piece(s.lds, addresses + group * s.lds_stride, lanes)


def scratch_piece(s: State, addresses: Array, lanes: Array, size: int, write: bool) -> Piece:
    """Accesses to each lane's private memory."""
    in_range(s, addresses, lanes, size, s.scratch_size, "scratch memory", write)
    aligned(s, addresses, lanes, size)
    return Piece(s.scratch, addresses + lanes * s.scratch_size, lanes)


def flat_pieces(s: State, addresses: Array, lanes: Array, size: int, write: bool) -> Iterator[tuple[Piece, Index]]:
    """Flat accesses: the apertures of LDS and scratch memory, else global (MI300 ISA, section 10.1)."""
    if int(addresses.max()) < SHARED_WINDOW:
        yield from global_pieces(s, addresses, lanes, size, write)
        return
    left = np.ones(len(addresses), bool)
    for window, find in ((SHARED_WINDOW, lds_piece), (LOCAL_WINDOW, scratch_piece)):
        inside = np.nonzero((addresses >= window) & (addresses < window + WINDOW_SIZE))[0]
        if inside.size:
            left[inside] = False
            yield find(s, addresses[inside] - window, lanes[inside], size, write), inside
    rest = np.nonzero(left)[0]
    if rest.size:
        for piece, index in global_pieces(s, addresses[rest], lanes[rest], size, write):
            yield piece, rest[index]


def _elements(piece: Piece, dtype: type[np.generic]) -> tuple[Array, Array]:
    """The store as elements, and the index of the first element of each access."""
    start, view = piece.store.view(np.dtype(dtype))
    at = piece.at - (start - piece.store.base)
    return view, at >> (np.dtype(dtype).itemsize.bit_length() - 1)


def misaligned(piece: Piece, size: int) -> bool:
    """Whether accesses are not aligned to their size, or to a dword."""
    return size > 1 and bool(np.bitwise_or.reduce(piece.at + piece.store.base) & (min(size, 4) - 1))


def load(piece: Piece, size: int) -> list[Array]:
    """What accesses of 1, 2, or a multiple of 4 bytes read: words as u32."""
    if misaligned(piece, size):
        places = piece.at[:, None] + np.arange(size)
        found = piece.store.raw[places]
        if size == 2:
            return [found.view(np.uint16)[:, 0].astype(np.uint32)]
        words = found.view(np.uint32)
        return [words[:, n] for n in range(size // 4)]
    if size < 4:
        view, at = _elements(piece, np.uint8 if size == 1 else np.uint16)
        return [view[at].astype(np.uint32)]
    view, at = _elements(piece, np.uint32)
    return [view[at + n] for n in range(size // 4)]


def save(piece: Piece, size: int, words: list[Array]) -> None:
    """Store words, or the low bytes of one."""
    if misaligned(piece, size):
        whole = np.stack([np.broadcast_to(word, piece.at.shape) for word in words], axis=1)
        places = piece.at[:, None] + np.arange(size)
        piece.store.raw[places] = np.ascontiguousarray(whole).view(np.uint8)[:, :size]
        return
    if size < 4:
        dtype = np.uint8 if size == 1 else np.uint16
        view, at = _elements(piece, dtype)
        view[at] = words[0].astype(dtype)
        return
    view, at = _elements(piece, np.uint32)
    for n, word in enumerate(words):
        view[at + n] = word
