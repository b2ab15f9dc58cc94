"""The state spaces as flat stores of bytes, and how an access finds its place in them.

Global memory is the caller's arrays, at the addresses where they really are: a pointer in a kernel is the address of
an array's element, so that views, arrays of pointers and alignment behave as on hardware. What was not passed does not
exist: an access outside is an error. Shared, local and parameter memory have addresses of their own that begin at 0;
as generic addresses they stand in windows far above every array.
"""

from __future__ import annotations

import bisect
import ctypes
from typing import Any, NamedTuple

import numpy as np

from ..support.quantities import counted
from .errors import LaunchError
from .types import Array

__all__ = [
    "Piece",
    "CLUSTER_SHIFT",
    "LOCAL_WINDOW",
    "PARAM_WINDOW",
    "SHARED_WINDOW",
    "Allocation",
    "Memory",
    "Store",
    "memory_of",
]

#: Generic addresses of shared, local and parameter memory: above the 48 bits of an address of a process.
SHARED_WINDOW = 1 << 50
LOCAL_WINDOW = 1 << 51
PARAM_WINDOW = 1 << 52
WINDOW_SIZE = 1 << 40
#: In a cluster, the shared memory of its block number r stands at (r + 1) << 24; addresses below are one's own.
CLUSTER_SHIFT = 24
#: An access so many bytes from every array is likely to go through a pointer to one that was not passed.
FAR = 4096


class Store:
    """Flat bytes from address `base` on, seen as elements of 1, 2, 4 or 8 bytes."""

    def __init__(self, raw: Array, base: int, name: str, writable: bool = True) -> None:
        self.raw = raw
        self.base = base
        self.end = base + raw.size
        self.name = name
        self.writable = writable
        self._views: dict[np.dtype[Any], tuple[int, Array]] = {}

    def view(self, dtype: np.dtype[Any]) -> tuple[int, Array]:
        """(address of the first element, elements): `base` itself may be aligned less than the elements are."""
        found = self._views.get(dtype)
        if found is None:
            shift = -self.base % dtype.itemsize
            usable = max(self.raw.size - shift, 0) // dtype.itemsize * dtype.itemsize
            found = self._views[dtype] = (self.base + shift, self.raw[shift : shift + usable].view(dtype))
        return found


class Allocation(Store):
    """An array of the caller, or of the module, in global memory. `owners` keep its memory alive."""

    def __init__(self, raw: Array, base: int, name: str, writable: bool, owners: list[object]) -> None:
        super().__init__(raw, base, name, writable)
        self.owners = owners


def bytes_at(address: int, size: int) -> Array:
    """The memory of this process at an address; the caller keeps it alive."""
    return np.frombuffer(memoryview((ctypes.c_char * size).from_address(address)), dtype=np.uint8)


def extent(array: Array) -> tuple[int, int]:
    """The addresses [low, high) that the elements of an array span."""
    low = high = int(array.__array_interface__["data"][0])
    for n, stride in zip(array.shape, array.strides):
        if stride < 0:
            low += (n - 1) * stride
        else:
            high += (n - 1) * stride
    return low, high + array.itemsize


def memory_of(owner: Any) -> tuple[int, int] | None:
    """First byte and one past the last of the memory that an array or a tensor is a view of; None if it cannot tell."""
    if hasattr(owner, "untyped_storage"):
        storage = owner.untyped_storage()
        return storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    while isinstance(getattr(owner, "base", None), np.ndarray):
        owner = owner.base
    return (owner.ctypes.data, owner.ctypes.data + owner.nbytes) if isinstance(owner, np.ndarray) else None


class Memory:
    """Global memory: arrays that kernels may reach, by their addresses.

    `launch` makes one for its arguments; make it yourself and pass it where kernels find pointers in memory:

    >>> memory = Memory()
    >>> x = np.zeros(4, np.float32)
    >>> memory.place(x, "x") == x.ctypes.data
    True
    """

    def __init__(self) -> None:
        self.stores: list[Allocation] = []
        self.bases: list[int] = []
        self.sorted_bases = np.zeros(0, np.int64)

    def place(self, array: Array, name: str = "array", writable: bool | None = None) -> int:
        """Make the memory of `array` reachable; returns the address of its first element."""
        address = int(array.__array_interface__["data"][0])
        if array.size:
            low, high = extent(array)
            self.place_raw(low, high - low, name, array.flags.writeable if writable is None else writable, array)
        return address

    def place_raw(self, address: int, size: int, name: str, writable: bool = True, owner: object = None) -> None:
        """Make `size` bytes at an address of this process reachable; `owner` is kept alive with them."""
        low, high, owners = address, address + size, [owner]
        for store in [s for s in self.stores if s.base < high and low < s.end]:
            low, high = min(low, store.base), max(high, store.end)
            owners += [o for o in store.owners if o is not owner]
            writable |= store.writable
            name = store.name
            self.stores.remove(store)
        if high >= SHARED_WINDOW:
            raise LaunchError(f"{name} is at the address {high:#x}, which generic addresses of shared memory use")
        self.stores.append(Allocation(bytes_at(low, high - low), low, name, writable, owners))
        self.stores.sort(key=lambda s: s.base)
        self.bases = [s.base for s in self.stores]
        self.sorted_bases = np.array(self.bases, np.int64)

    def holding(self, address: int) -> Allocation | None:
        """The allocation that an address lies in."""
        at = bisect.bisect_right(self.bases, address) - 1
        return self.stores[at] if at >= 0 and address < self.stores[at].end else None

    def nearest(self, address: int) -> str:
        """Words about where an address that lies in no array is."""
        if not self.stores:
            return "no array was passed"
        at = bisect.bisect_right(self.bases, address) - 1
        store = self.stores[max(at, 0)]
        if at < 0:
            where, far = f"{counted(store.base - address, 'byte')} before {store.name}", store.base - address
        else:
            far = address - store.end
            where = f"{counted(far, 'byte')} after the end of {store.name} ({counted(store.end - store.base, 'byte')})"
        if far > FAR:
            where += "\nhint: register arrays that the kernel finds through pointers in memory (Memory.place)"
        elif any(low <= address < high for low, high in filter(None, map(memory_of, store.owners))):
            where += (
                f"\nhint: {store.name} is a view of a larger array, which has memory there: "
                "`driver.active.reach(larger)` lets kernels use all of it"
            )
        return where

    def split(self, addresses: Array, size: int) -> tuple[list[tuple[Allocation, Array | None]], Array | None]:
        """The allocations that accesses fall into, with the numbers of the accesses in each; and which fall in none.

        Numbers are None where all accesses fall into one allocation, which is the usual case.
        """
        low, high = int(addresses.min()), int(addresses.max()) + size
        store = self.holding(low)
        if store is not None and high <= store.end:
            return [(store, None)], None
        which = np.searchsorted(self.sorted_bases, addresses, side="right") - 1
        ends = np.array([s.end for s in self.stores] or [0], np.int64)
        outside = (which < 0) | (addresses + size > ends[which])
        if outside.any():
            return [], outside
        return [(self.stores[n], np.nonzero(which == n)[0]) for n in np.unique(which)], None


class Piece(NamedTuple):
    """Accesses to one store: `at` has their offsets in bytes from the store's base, `lanes` the threads."""

    store: Store
    at: Array
    lanes: Array
