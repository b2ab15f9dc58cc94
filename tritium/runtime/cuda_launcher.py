"""Launch of a kernel on a CUDA GPU.

A launch runs on the GPU whose memory its arrays are in, in the current stream of that GPU, and returns before the
kernel has run (unless the setting `nvidia.launch_blocking` asks to wait).
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter, methodcaller
from typing import Any

from ..backends.nvidia import device as devices
from ..backends.nvidia.cubin import parameter_base
from ..backends.nvidia.driver import LoadedFunction
from ..backends.nvidia.libcuda import Value, library
from ..backends.nvidia.target import CUDATarget
from ..backends.nvidia.tensor_map import encode_im2col, encode_tiled
from ..compiler import CompiledKernel, GPUTarget
from ..support import settings
from ..support.lazy import LazyModule
from .allocation import current_allocator
from .arrays import HOST, ArrayInfo
from .call_forms import CallForms
from .errors import ArgumentError
from .fastpath.direct import DirectCalls
from .fastpath.launch_backend import ArgumentGuard, LaunchBackend
from .grid import normalize_grid
from .kernel_versions import Versioned, has_maps, persistent_grid
from .native import native_launch
from .packing import PARAMETERS, SCRATCH_BYTES, Packer, Parameters, bytes_address
from .placement import place, place_of
from .scratch import scratch_block
from .tensor_maps import Encode, NotEncodable, encoders_of
from .torch_abi import CUDA, stream_function_address

__all__ = ["CudaLauncher"]

_host_maps = LazyModule(".host_maps", __package__)

_NO_TIMING = 2  # `CU_EVENT_DISABLE_TIMING`


class CudaLauncher(Versioned):
    """`launcher(grid, args)` runs a kernel; `args` is any of its call forms (`call_forms`)."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self.kernel = kernel
        signature = kernel.src.signature
        self.names = list(signature)
        values = kernel.values
        if values.get("device_checks"):
            raise ArgumentError(f"{kernel.name}: a GPU does not check {values['device_checks']}; the emulator does")
        target = CUDATarget.of(GPUTarget("cuda", values.get("arch") or values["target"]["arch"], 32))
        types = list(signature.values())
        encoders = encoders_of(types, values, _encode, _encode_im2col)
        maps = _host_maps.host_maps_of(values, _encode) if has_maps(values) else None
        layout = PARAMETERS[target.has_descriptors]
        if encoders or maps:
            layout = Parameters(attributes=True, base=parameter_base(kernel.asm["cubin"], kernel.name))
        self.packer = Packer(self.names, types, layout, encoders, maps)
        self.forms = CallForms.of(kernel)
        self.calls = DirectCalls(self, self.packer)
        self._expected: dict[int, LoadedFunction] = {}  # by GPU: what this launcher's parameters were compared with
        self.scratch = [
            (values.get(f"{kind}_scratch_size") or 0, values.get(f"{kind}_scratch_align") or 1)
            for kind in ("global", "profile")
        ]

    def __call__(self, grid: Any, args: Sequence[Any], stream: Any = None) -> None:
        args = self.forms.expand(args)
        sizes = normalize_grid(grid, lambda: dict(zip(self.names, args)), self.kernel.name)
        index = self.device_of(args)
        function = self.on(index)
        try:
            params, arrays = self.packer(args, index, sizes)
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        except NotEncodable:
            self.other_version.launcher(sizes, args, stream)
            return
        handle = devices.current_stream(index) if stream is None else int(stream)
        _wait_for_makers(function, arrays, handle)
        if self.packer.is_persistent:
            sizes = persistent_grid(sizes, function.resident_ctas())
        memory, params = self._with_scratch(params, sizes, index, handle)
        status = function.launch(bytes_address(params), *sizes, handle)
        if status is not None:
            function.fail(status, sizes)
        if settings.nvidia.launch_blocking:
            function.wait(handle, sizes)
        del arrays, memory

    def on(self, index: int) -> LoadedFunction:
        """The kernel loaded on a GPU; its resource usage is stored in the CompiledKernel."""
        kernel = self.kernel
        function: LoadedFunction = kernel.loaded.on(index, native_launch())
        if self._expected.get(index) is function:
            return function
        function.expect(self.packer.slots + 2, self.packer.size)
        self._expected[index] = function
        kernel.n_regs, kernel.n_spills = function.n_regs, function.n_spills
        kernel.n_max_threads = function.n_max_threads
        return function

    def device_of(self, args: Sequence[Any]) -> int:
        """The number of the GPU that runs a launch with these arguments."""
        try:
            at_run_time = [(self.names[i], args[i]) for i in self.packer.runtime]
            where = place(*zip(*at_run_time)) if at_run_time else None
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        # only arrays in CPU memory: the packer raises the error
        return devices.current_device() if where is None or where == HOST else where

    def _with_scratch(
        self, params: bytes, grid: tuple[int, int, int], device: int, stream: int
    ) -> tuple[list[Any], bytes]:
        """The parameters with the addresses of the kernel's scratch memory, and that memory."""
        if not self._needs_scratch:
            return [], params
        addresses, memory = self._allocate(device, *grid, stream)
        return memory, params[:-SCRATCH_BYTES] + addresses

    @property
    def _needs_scratch(self) -> bool:
        return any(size for size, _ in self.scratch)

    def _allocate(self, device: int, x: int, y: int, z: int, stream: int) -> tuple[bytes, list[Any]]:
        """The two addresses of scratch memory for a launch as the kernel's last parameters, and that memory."""
        programs = max(0, min(x, y, z)) and x * y * z * (self.kernel.values.get("num_ctas") or 1)
        allocate = current_allocator()
        memory: list[Any] = []
        for kind, (size, align) in zip(("global", "profile"), self.scratch):
            if not size or not programs:
                memory.append(None)
            elif allocate is None:
                memory.append(scratch_block(device, stream, kind, size * programs))
            else:
                memory.append(allocate(size * programs, align, stream))
        return struct.pack("<QQ", *(0 if block is None else int(block.data_ptr()) for block in memory)), memory

    def launch_backend(self, device: Any) -> LaunchBackend | None:
        """The launch backend of the fast path; None where a launch takes more than one call."""
        if settings.nvidia.launch_blocking:
            return None
        function, native = self.on(device), native_launch()
        if native is None:
            return None
        only = function.cuda.device_count == 1
        places = {
            "torch": (attrgetter("is_cuda"), True) if only else (methodcaller("get_device"), device),
            "pointer": (place_of, device),
        }
        words = {"launch": native.launch, "state": ctypes.addressof(function.state), **_stream_words(device)}
        if self._needs_scratch:
            words["scratch"] = partial(self._allocate, device)
        guards = list(_torch_guards())
        if not only and not any(isinstance(ty, str) and ty[0] in "*t" for ty in self.packer.types):
            guards.append({"check": "holds", "call": _current_device, "object": None, "expected": device})
        report = partial(_fail, function)
        return LaunchBackend(
            self.packer, device, (CUDA, device), only, places, words, report, function, guards, self.packer.encoders,
            resident=function.resident_ctas() if self.packer.is_persistent else 0,
        )  # fmt: skip


def _stream_words(device: int) -> dict[str, Any]:
    """The fields of a plan for finding the current stream of a GPU."""
    torch = devices.torch_cuda()
    if torch is None:
        return {"stream_kind": 0}
    address = stream_function_address(device, devices.current_stream(device))
    if address:
        return {"stream_kind": 1, "stream_call": address, "stream_argument": device}
    return {"stream_kind": 2, "stream_call": devices.stream_function(), "stream_argument": device}


def _torch_guards() -> Iterator[ArgumentGuard]:
    """Without torch, a guard that it is not imported: torch may have another current stream."""
    if "torch" not in sys.modules:
        yield {"check": "entry", "object": sys.modules, "place": "torch"}


def _current_device(_: Any) -> int:
    return devices.current_device()


def _encode_by(encode: Encode, *arguments: object) -> bytes:
    """A tensor map encoded by the driver, which needs any current context."""
    with devices.device(devices.current_device()).active():
        return encode(library(), *arguments)


_encode = partial(_encode_by, encode_tiled)
_encode_im2col = partial(_encode_by, encode_im2col)


def _fail(function: LoadedFunction, x: int, y: int, z: int, stream: int, status: int) -> None:
    function.fail(status, (x, y, z))


def _wait_for_makers(function: LoadedFunction, arrays: Sequence[ArrayInfo], stream: int) -> None:
    """Make the launch's stream wait for the streams that write the arrays, as other libraries report them."""
    for other in {a.stream for a in arrays if a.stream} - {stream}:
        if stream in (0, 1) and other in (0, 1):
            continue
        cuda, event = function.cuda, Value()
        with function.device.active():
            cuda.call("create_event", event.at, _NO_TIMING)
            cuda.call("record_event", event.value, 0 if other == 1 else other)
            cuda.call("stream_wait_event", stream, event.value, 0)
            cuda.call("destroy_event", event.value)
