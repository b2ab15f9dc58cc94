"""The GPUs of this machine as the driver numbers them, and which of them and which stream are current.

A GPU's work happens in its primary context, the one that torch, CuPy and JAX use too. Where torch is imported, its
current device and stream are the current ones; else the device of the thread's context (0 if it has none), and the
default stream.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from ..compiler import GPUTarget
from .libcuda import CudaError, Library, NoDriverError, Value, library

__all__ = [
    "Device",
    "current_device",
    "current_stream",
    "device",
    "devices",
    "is_available",
    "stream_function",
    "torch_cuda",
]

_INT = ctypes.c_int

# numbers of `CUdevice_attribute`
_ATTRIBUTES = {
    "max_threads_per_block": 1,
    "max_grid_x": 5,
    "max_grid_y": 6,
    "max_grid_z": 7,
    "warpSize": 10,
    "max_num_regs": 12,
    "sm_clock_rate": 13,
    "multiprocessor_count": 16,
    "mem_clock_rate": 36,
    "mem_bus_width": 37,
    "l2_cache_size": 38,
    "major": 75,
    "minor": 76,
    "max_shared_mem_per_multiprocessor": 81,
    "cooperative_launch": 95,
    "max_shared_mem": 97,
}

_CAPABILITY = ("major", "minor")


class Device:
    """A GPU. `index` is its number among those that this process sees."""

    def __init__(self, cuda: Library, index: int) -> None:
        handle = Value(_INT)
        cuda.call("device_get", handle.at, index)
        self.cuda = cuda
        self.index = index
        self.handle: int = handle.value
        self._context = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Device {self.index}: {self.name}>"

    @cached_property
    def name(self) -> str:
        """The name of the GPU."""
        text = ctypes.create_string_buffer(256)
        self.cuda.call("device_name", ctypes.addressof(text), len(text), self.handle)
        return text.value.decode(errors="replace")

    @property
    def context(self) -> int:
        """The primary context, made at the first use and kept until the process ends."""
        if not self._context:
            with self._lock:
                if not self._context:
                    made = Value()
                    self.cuda.call("retain_context", made.at, self.handle)
                    self._context = made.value
        return self._context

    def attribute(self, name: str) -> int:
        """One of the attributes that this module names."""
        found = Value(_INT)
        self.cuda.call("device_attribute", found.at, _ATTRIBUTES[name], self.handle)
        return found.value  # type: ignore[no-any-return]

    @cached_property
    def capability(self) -> tuple[int, int]:
        """Compute capability: (9, 0)."""
        major, minor = map(self.attribute, _CAPABILITY)
        return major, minor

    @cached_property
    def target(self) -> GPUTarget:
        """The compilation target of this GPU."""
        major, minor = self.capability
        return GPUTarget("cuda", major * 10 + minor, 32)

    @cached_property
    def properties(self) -> dict[str, Any]:
        """Figures by Triton's names (bytes, kHz, bits), and by some of our own."""
        found: dict[str, Any] = {name: self.attribute(name) for name in _ATTRIBUTES if name not in _CAPABILITY}
        memory = Value(ctypes.c_size_t)
        self.cuda.call("device_memory", memory.at, self.handle)
        return {**found, "total_memory": memory.value, "name": self.name, "capability": self.capability}

    @contextmanager
    def active(self) -> Iterator[None]:
        """The GPU's primary context is the thread's inside."""
        now = Value()
        self.cuda.call("get_context", now.at)
        if now.value == self.context:
            yield
            return
        self.cuda.call("push_context", self.context)
        try:
            yield
        finally:
            self.cuda.status("pop_context", Value().at)

    def make_current(self) -> None:
        """Make the GPU's primary context the thread's from now on."""
        self.cuda.call("set_context", self.context)

    def synchronize(self) -> None:
        """Wait for all work of this process on the GPU; CudaError where some of it failed."""
        with self.active():
            self.cuda.call("synchronize")


_devices: dict[tuple[int, int], Device] = {}


def device(index: int) -> Device:
    """The GPU of this number; NoDriverError without a driver, or without such a GPU."""
    cuda = library()
    found = _devices.get((id(cuda), index))
    if found is None:
        if not 0 <= index < cuda.device_count:
            raise NoDriverError(f"there is no CUDA device {index}: this process sees {cuda.device_count}")
        found = _devices[id(cuda), index] = Device(cuda, index)
    return found


def devices() -> list[Device]:
    """All GPUs that this process sees."""
    return [device(index) for index in range(library().device_count)]


def torch_cuda() -> Any:
    """torch, if it is imported and uses CUDA."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and hasattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream") else None


def is_available() -> bool:
    """Whether there is a driver and a GPU. Where a torch that knows CUDA is imported, its word counts.

    Another reason for that: asking the driver fails in a process that was forked from one with a GPU.
    """
    torch = torch_cuda()
    if torch is not None:
        return bool(torch.cuda.is_available()) and getattr(torch.version, "hip", None) is None
    try:
        return library().device_count > 0
    except (NoDriverError, CudaError):
        return False


def current_device() -> int:
    """The number of the current GPU."""
    torch = torch_cuda()
    if torch is not None:
        return int(torch.cuda.current_device())
    cuda = library()
    now = Value()
    cuda.call("get_context", now.at)
    if not now.value:
        return 0
    handle = Value(_INT)
    cuda.call("context_device", handle.at)
    return next((d.index for d in devices() if d.handle == handle.value), 0)


def _default_stream(index: int) -> int:
    return 0


def stream_function() -> Any:
    """A function of a GPU's number that gives the handle of its current stream; the cheapest there is."""
    torch = torch_cuda()
    return _default_stream if torch is None else torch._C._cuda_getCurrentRawStream


def current_stream(index: int) -> int:
    """The handle of the current stream of a GPU; 0 is the default stream."""
    return int(stream_function()(index))
