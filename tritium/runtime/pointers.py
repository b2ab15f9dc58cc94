"""Queries of the CUDA driver about an address: the GPU that owns it, and its address on a GPU."""

from __future__ import annotations

import ctypes

from ..backends.nvidia.device import current_stream as _current_stream
from ..backends.nvidia.device import device
from ..backends.nvidia.libcuda import CudaError, NoDriverError, Value, library

__all__ = ["current_stream", "device_address", "device_of_address"]

_MEMORY_TYPE, _DEVICE_POINTER, _ORDINAL = 2, 3, 9  # numbers of `CUpointer_attribute`
_HOST_MEMORY = 1


def device_of_address(address: int, otherwise: int = 0) -> int:
    """The number of the GPU whose memory `address` is in; `otherwise` if the driver does not know it."""
    try:
        cuda = library()
    except (NoDriverError, CudaError):
        return otherwise
    kind, ordinal = Value(ctypes.c_uint), Value(ctypes.c_int)
    if cuda.status("pointer_attribute", kind.at, _MEMORY_TYPE, address) or kind.value == _HOST_MEMORY:
        return otherwise
    cuda.call("pointer_attribute", ordinal.at, _ORDINAL, address)
    return ordinal.value  # type: ignore[no-any-return]


def device_address(address: int, index: int) -> int | None:
    """The address on a GPU of an address in CPU memory; None if the GPU cannot access it.

    It can access pinned memory, and any memory on machines with shared page tables.
    """
    gpu = device(index)
    found = Value(ctypes.c_uint64)
    with gpu.active():
        if gpu.cuda.status("pointer_attribute", found.at, _DEVICE_POINTER, address):
            return None
    return found.value or None


def current_stream(index: int) -> int:
    """The handle of the current stream of a GPU; 0 is the default stream."""
    return _current_stream(index)
