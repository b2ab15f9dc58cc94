"""A launch on a GPU of this machine: the arrays' memory is copied there, and back when the kernel has run.

A copy stands at an address like the original's modulo a page, so that what is aligned stays so, and between guards:
bytes that belong to no array, in which whatever the kernel writes beside its arrays shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.nvidia import device as devices
from ...runtime.errors import LaunchError
from ...runtime.scratch import DeviceBlock
from .launch import Arguments, Array

__all__ = ["OnGPU", "Placed"]

_PAGE = 4096
_GUARD = 0xA5


class Placed:
    """An array in a GPU's memory, as launches take it."""

    def __init__(self, address: int, array: Array, device: int) -> None:
        self.address = address
        self.dtype = array.element
        self.shape = array.shape
        self.device = f"cuda:{device}"
        self._array = array

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.address

    def element_size(self) -> int:
        """Bytes of an element."""
        return self._array.size

    def stride(self) -> tuple[int, ...]:
        """Strides in elements."""
        return tuple(s // self._array.size for s in self._array.strides)


class OnGPU:
    """Copies of regions on the GPU of a number."""

    def __init__(self, arguments: Arguments, regions: list[np.ndarray], index: int) -> None:
        self.gpu = devices.device(index)
        self.arguments = arguments
        self.regions = regions
        self.blocks: list[DeviceBlock] = []
        self.addresses: list[int] = []
        self.others: list[tuple[np.ndarray, DeviceBlock]] = []
        for region, copy in zip(arguments.regions, regions):
            block = DeviceBlock(index, copy.nbytes + 3 * _PAGE)
            start = block.data_ptr() + _PAGE
            address = start + (region.start - start) % _PAGE
            whole = np.full(block.size, _GUARD, np.uint8)
            whole[address - block.data_ptr() :][: copy.nbytes] = copy
            self._copy(block.data_ptr(), whole.ctypes.data, block.size)
            self.blocks.append(block)
            self.addresses.append(address)

    def _copy(self, to: int, start: int, size: int) -> None:
        with self.gpu.active():
            self.gpu.cuda.call("copy", to, start, size)

    def place(self, array: Array, copy: Any) -> Placed:
        """The placeholder of an array in a launch."""
        return Placed(self.addresses[array.region] + array.offset, array, self.gpu.index)

    def beside(self, array: np.ndarray) -> Placed:
        """Another array of bytes, copied there, and back by `finish`."""
        block = DeviceBlock(self.gpu.index, array.nbytes)
        self._copy(block.data_ptr(), array.ctypes.data, array.nbytes)
        self.others.append((array, block))
        described = Array("side", "i8", -1, 0, array.shape, array.strides)
        return Placed(block.data_ptr(), described, self.gpu.index)

    def host_addresses(self, addresses: np.ndarray) -> np.ndarray:
        """Addresses near the copies, as they are near the regions; others stay."""
        found = addresses.copy()
        for block, address, copy in zip(self.blocks, self.addresses, self.regions):
            near = (addresses >= block.data_ptr()) & (addresses < block.data_ptr() + block.size)
            found[near] = addresses[near] - address + copy.ctypes.data
        return found

    def finish(self) -> None:
        """Wait for the kernel and copy the regions back; LaunchError where it wrote beside them."""
        self.gpu.synchronize()
        for array, block in self.others:
            self._copy(array.ctypes.data, block.data_ptr(), array.nbytes)
        beside = []
        for number, (block, address, copy) in enumerate(zip(self.blocks, self.addresses, self.regions)):
            whole = np.empty(block.size, np.uint8)
            self._copy(whole.ctypes.data, block.data_ptr(), block.size)
            at = address - block.data_ptr()
            copy[:] = whole[at : at + copy.nbytes]
            whole[at : at + copy.nbytes] = _GUARD
            wrong = np.flatnonzero(whole != _GUARD)
            if wrong.size:
                name = self.arguments.regions[number].array.name
                beside.append(f"{wrong.size} bytes are written beside {name}, the first {wrong[0] - at} from its start")
        if beside:
            raise LaunchError("; ".join(beside))
