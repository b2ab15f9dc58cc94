"""The driver of CUDA GPUs: `driver.active` where a GPU is active."""

from __future__ import annotations

import ctypes
from typing import Any

from ..backends.driver import DriverBase
from ..backends.nvidia import device as devices
from ..backends.nvidia.device import Device
from ..backends.nvidia.driver import LoadedFunction, load_function
from ..backends.nvidia.launch import Native
from ..backends.nvidia.libcuda import Value, cuda_type, library
from ..support.lazy import LazyModule
from .native import native_launch
from .scratch import DeviceBlock

__all__ = ["CUDADriver", "CUDAInterface", "Event", "PreferredCUDA"]

_torch = LazyModule("torch")
_benchmark = LazyModule(".benchmark", __package__)

_CACHE_BYTES = 256 << 20  # more than the level-2 cache of any GPU
_PRINTF_FIFO = 1  # `CU_LIMIT_PRINTF_FIFO_SIZE`
_BLOCKING_SYNC_OFF = 0


class _Utilities:
    """A driver's `utils`."""

    def get_device_properties(self, device: int | None = None) -> dict[str, Any]:
        """Properties under Triton's names: max_shared_mem, max_num_regs, multiprocessor_count, warpSize, clocks."""
        return devices.device(devices.current_device() if device is None else device).properties

    def get_device_capability(self, device: int) -> tuple[int, int]:
        """(9, 0)"""
        return devices.device(device).capability

    def get_current_device(self) -> int:
        """The number of the current GPU."""
        return devices.current_device()

    def set_current_device(self, device: int) -> None:
        """Make a GPU current in this thread."""
        devices.device(device).make_current()

    def get_default_stream(self, device: int) -> int:
        """0"""
        return 0

    def is_stream_capturing(self, stream: int) -> bool:
        """Whether launches into the stream become part of a graph."""
        state = Value(ctypes.c_int)
        library().call("stream_capturing", stream, state.at)
        return bool(state.value)

    def load_binary(self, name: str, code: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        """Load a cubin: handles of the module and the function, registers, spills, and the maximum threads per CTA."""
        gpu = devices.device(device)
        major, minor = gpu.capability
        metadata = {"name": name, "shared": shared, "num_warps": 1, "target": {"arch": major * 10 + minor}}
        found = load_function(gpu, code, metadata)
        return found.module, found.handle, found.n_regs, found.n_spills, found.n_max_threads

    def unload_module(self, module: int) -> None:
        """Unload what `load_binary` loaded on the current GPU."""
        library().call("unload_module", module)

    def set_printf_fifo_size(self, size: int) -> None:
        """Set the bytes that kernels may print between two synchronizations."""
        with devices.device(devices.current_device()).active():
            library().call("set_limit", _PRINTF_FIFO, size)


class Event:
    """A point in a stream: the few methods of `torch.cuda.Event` that benchmarks use, for programs without torch."""

    def __init__(self, enable_timing: bool = False, device: int | None = None, **_unused: Any) -> None:
        self._gpu = devices.device(devices.current_device() if device is None else device)
        self._handle = Value()
        with self._gpu.active():
            self._gpu.cuda.call("create_event", self._handle.at, _BLOCKING_SYNC_OFF if enable_timing else 2)

    def record(self, stream: Any = None) -> None:
        """Record the event in a stream (the current one by default)."""
        handle = devices.current_stream(self._gpu.index) if stream is None else getattr(stream, "cuda_stream", stream)
        with self._gpu.active():
            self._gpu.cuda.call("record_event", self._handle.value, handle)

    def synchronize(self) -> None:
        """Wait for the event."""
        with self._gpu.active():
            self._gpu.cuda.call("synchronize_event", self._handle.value)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`."""
        found = Value(ctypes.c_float)
        self._gpu.cuda.call("event_time", found.at, self._handle.value, end._handle.value)
        return float(found.value)

    def __del__(self) -> None:
        if self._handle.value:
            self._gpu.cuda.status("destroy_event", self._handle.value)


class CUDAInterface:
    """The few functions of `torch.cuda` that benchmarks call, for programs without torch."""

    Event = Event

    def synchronize(self, device: int | None = None) -> None:
        """Wait for all work on a GPU."""
        devices.device(devices.current_device() if device is None else device).synchronize()

    def current_device(self) -> int:
        """The number of the current GPU."""
        return devices.current_device()

    def set_device(self, device: int) -> None:
        """Make a GPU current in this thread."""
        devices.device(device).make_current()

    def is_available(self) -> bool:
        """Whether there is a GPU."""
        return devices.is_available()


class CUDADriver(DriverBase):
    """The NVIDIA GPUs of this machine as Triton's programs see them. NoDriverError in methods if there is none."""

    def __init__(self) -> None:
        self.utils = _Utilities()

    @staticmethod
    def is_active() -> bool:
        """Whether there is a driver and a GPU."""
        return devices.is_available()

    def get_current_target(self) -> Any:
        """`GPUTarget("cuda", 90, 32)`: the target of the current GPU."""
        return self.target_of(self.get_current_device())

    def target_of(self, device: int) -> Any:
        """The target of the GPU of this number."""
        return devices.device(device).target

    def get_current_device(self) -> int:
        """The number of torch's current GPU, or else of the one that is current in this thread."""
        return devices.current_device()

    def set_current_device(self, device: int) -> None:
        """Make a GPU current in this thread."""
        devices.device(device).make_current()

    def get_device_capability(self, device: int) -> tuple[int, int]:
        """(9, 0)"""
        return devices.device(device).capability

    def get_current_stream(self, device: int | None = None) -> int:
        """The handle of torch's current stream, or else of the default stream."""
        return devices.current_stream(self.get_current_device() if device is None else device)

    def get_active_torch_device(self) -> Any:
        """`torch.device("cuda", 0)`"""
        return _torch.device("cuda", self.get_current_device())

    def get_device_interface(self) -> Any:
        """`torch.cuda` if torch is in use, else a substitute."""
        return _torch.cuda if devices.torch_cuda() is not None else CUDAInterface()

    def get_benchmarker(self) -> Any:
        """`testing.do_bench`"""
        return _benchmark.do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """A buffer larger than the caches of a GPU; clearing it (`clear_cache`) evicts everything else."""
        if devices.torch_cuda() is None:
            return DeviceBlock(devices.current_device(), _CACHE_BYTES)
        return _torch.empty(_CACHE_BYTES // 4, dtype=_torch.int32, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        """Overwrite all of `cache`."""
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a signature's type."""
        return cuda_type(ty)

    def load(self, cubin: Any, device: int) -> LoadedFunction:
        """A loaded cubin's function on the GPU of this number, with the native launcher."""
        return cubin.on(device, self.native())  # type: ignore[no-any-return]

    def native(self) -> Native | None:
        """The native launcher; None if there is none."""
        return native_launch()

    def device(self, index: int) -> Device:
        """The GPU of this number."""
        return devices.device(index)


class PreferredCUDA(CUDADriver):
    """The GPUs' driver as `triton.backends.backends` lists it: see `DriverConfig.set_active`."""

    prefers = "cuda"
