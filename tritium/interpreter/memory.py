"""The memory of the evaluator: the real bytes of the arrays it was given, reached by address, and nothing else."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ir import Type
from ..support.errors import read_only_store
from .numbers import byte_size, decode, dtype_of, encode


class OutOfBoundsError(Exception):
    """A lane that is not masked off reaches outside of every array, or writes to one that is only to be read."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def _extent(array: np.ndarray) -> tuple[int, int]:
    owner: Any = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    low = owner.ctypes.data
    spans = [(n - 1) * s for n, s in zip(owner.shape, owner.strides)] if owner.size else []
    return low + sum(s for s in spans if s < 0), low + sum(s for s in spans if s > 0) + owner.itemsize * bool(
        owner.size
    )


def _bytes(low: int, high: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_uint8 * (high - low)).from_address(low) if high > low else b"", np.uint8)


def _writable() -> Iterator[tuple[int, int]]:
    """The ranges of memory that this process may read and write."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, rights = line.split()[:2]
            if rights.startswith("rw"):
                low, high = (int(part, 16) for part in span.split("-"))
                yield low, high


def _words(data: np.ndarray, offsets: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Bytes as words of `size`, and which of them begin at `offsets`."""
    if size == 1:
        return data, offsets
    kind = np.dtype(f"u{size}")
    if not (offsets & size - 1).any():
        return data[: data.size & -size].view(kind), offsets // size
    return np.ndarray((data.size - size + 1,), kind, data, 0, (1,)), offsets  # one at each byte


class Memory:
    """Addresses are those of the process; an access is checked against the arrays that were added."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.extents: list[tuple[int, int, np.ndarray]] = []
        self.names: dict[tuple[int, int], str] = {}

    def add(self, array: np.ndarray, name: str = "") -> int:
        """Make the array that owns the data of `array` reachable; the address of its first element.

        `name` is that of the argument it is passed as, for errors.
        """
        low, high = _extent(array)
        self.add_range(low, high, array, array.flags.writeable, name)
        return array.ctypes.data

    def add_range(self, low: int, high: int, keep: Any, writable: bool = True, name: str = "") -> None:
        """Make the bytes from `low` to `high` reachable; `keep` is what they belong to.

        They may be written if one of the arrays that they were added for may.
        """
        self.names.setdefault((low, high), name)
        for number, (start, end, data) in enumerate(self.extents):
            if (low, high) == (start, end):
                if writable and not data.flags.writeable:
                    self.extents[number] = low, high, _bytes(low, high)
                return
        self.arrays.append(keep)
        data = _bytes(low, high)
        data.flags.writeable = writable and data.flags.writeable
        self.extents.append((low, high, data))

    def open(self, addresses: np.ndarray) -> None:
        """Make the memory around addresses reachable that the program did not get as arrays, but as numbers."""
        for address in np.unique(addresses.reshape(-1)).tolist():
            if any(low <= address < high for low, high, _ in self.extents):
                continue
            for low, high in _writable():
                if low <= address < high:
                    self.add_range(low, high, None)

    def lanes(self, addresses: np.ndarray, mask: np.ndarray | None, ty: Type, what: str) -> Any:
        """(indices of active lanes, their addresses) of an access, flattened."""
        flat = addresses.reshape(-1)
        active = np.arange(flat.size) if mask is None else np.flatnonzero(np.broadcast_to(mask, addresses.shape))
        return active, flat[active]

    def groups(self, addresses: np.ndarray, size: int, what: str) -> Any:
        """The lanes by array: (positions among `addresses`, byte offsets, bytes)."""
        whole = self._whole(addresses, size, what)
        if whole is not None:
            yield whole
            return
        left = np.ones(addresses.shape, bool)
        for low, high, data in self.extents:
            here = left & (addresses >= low) & (addresses + size <= high)
            if here.any():
                if what != "load" and not data.flags.writeable:
                    if name := self.names.get((low, high)):
                        raise OutOfBoundsError(*read_only_store(name))
                    raise OutOfBoundsError(
                        f"{what} of {size} bytes at {int(addresses[here][0]):#x} is in a read-only array"
                    )
                left &= ~here
                where = np.flatnonzero(here)
                yield where, addresses[where] - low, data
        if left.any():
            bad = int(addresses[left][0])
            near = min(self.extents, key=lambda e: min(abs(bad - e[0]), abs(bad - e[1])), default=None)
            hint = "" if near is None else f", {bad - near[0]} bytes from the start of one of {near[1] - near[0]} bytes"
            raise OutOfBoundsError(f"{what} of {size} bytes at {bad:#x} is in no array{hint}")

    def _whole(self, addresses: np.ndarray, size: int, what: str) -> Any:
        """All lanes as the one group that they mostly are; None where that has to be seen lane by lane."""
        if not addresses.size:
            return None
        first, end = int(addresses.min()), int(addresses.max()) + size
        for low, high, data in self.extents:
            if low <= first and end <= high:
                return (slice(None), addresses - low, data) if what == "load" or data.flags.writeable else None
            if first < high and low < end:
                return None
        return None

    def load(self, addresses: np.ndarray, mask: np.ndarray | None, other: Any, ty: Type, filler: Any) -> np.ndarray:
        """Elements of type `ty` at `addresses`; `other`, or `filler`, where `mask` is off."""
        inactive = filler if other is None else other
        result = np.array(np.broadcast_to(inactive, addresses.shape), dtype_of(ty), order="C")
        flat = result.reshape(-1)
        size = byte_size(ty)
        active, wanted = self.lanes(addresses, mask, ty, "load")
        for where, offsets, data in self.groups(wanted, size, "load"):
            words, at = _words(data, offsets, size)
            flat[active[where]] = decode(words[at], ty)
        return result

    def store(self, addresses: np.ndarray, value: np.ndarray, mask: np.ndarray | None, ty: Type) -> None:
        """Write elements of type `ty` at `addresses` where `mask`; of lanes with one address the last one wins."""
        size = byte_size(ty)
        active, wanted = self.lanes(addresses, mask, ty, "store")
        bits = encode(np.broadcast_to(value, addresses.shape), ty).reshape(-1)[active]
        for where, offsets, data in self.groups(wanted, size, "store"):
            words, at = _words(data, offsets, size)
            words[at] = bits[where]
