"""Scratch memory of kernels on a GPU without an allocator: a block for each stream, kept and grown.

Kernels in one stream run one after another, so that they can share a block. A block that is too small is replaced:
freeing it waits for the kernels that use it. Blocks captured in a CUDA graph are kept, since it may be replayed.
"""

from __future__ import annotations

import ctypes
from threading import Lock

from ..backends.nvidia import device as devices
from ..backends.nvidia.libcuda import Value, library

__all__ = ["DeviceBlock", "scratch_block"]

_ACTIVE = 1  # `CU_STREAM_CAPTURE_STATUS_ACTIVE`


class DeviceBlock:
    """Bytes on a GPU, freed with the object; aligned to 256 bytes, as the driver aligns all memory."""

    def __init__(self, device: int, size: int) -> None:
        self._gpu = devices.device(device)
        self.size = size
        self._at = Value(ctypes.c_uint64)
        with self._gpu.active():
            self._gpu.cuda.call("allocate", self._at.at, size)

    def data_ptr(self) -> int:
        """The address."""
        return int(self._at.value)

    def zero_(self) -> None:
        """Fill with zeros, in the current stream."""
        with self._gpu.active():
            self._gpu.cuda.call("fill", self.data_ptr(), 0, self.size, devices.current_stream(self._gpu.index))

    def __del__(self) -> None:
        if self._at.value:
            with self._gpu.active():
                self._gpu.cuda.status("free", self._at.value)


_blocks: dict[tuple[int, int, int, str], DeviceBlock] = {}
_captured: list[DeviceBlock] = []  # freed with the process
_lock = Lock()


def scratch_block(device: int, stream: int, kind: str, size: int) -> DeviceBlock:
    """At least `size` bytes for kernels in a stream of a GPU; `kind` is the one of a kernel's two blocks."""
    key = id(library()), device, stream, kind
    with _lock:
        block = _blocks.get(key)
        if block is None or block.size < size:
            _blocks.pop(key, None)
            block = _blocks[key] = DeviceBlock(device, size)
        if block not in _captured and _is_capturing(stream):
            _captured.append(block)
        return block


def _is_capturing(stream: int) -> bool:
    state = Value(ctypes.c_int)
    return library().status("stream_capturing", stream, state.at) == 0 and state.value == _ACTIVE
