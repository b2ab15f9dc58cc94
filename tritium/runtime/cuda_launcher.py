"""Launching a kernel on a CUDA GPU.

A launch runs on the GPU whose memory its arrays are in, in the stream that is current there, and returns before the
kernel has run (unless the setting `nvidia.launch_blocking` asks to wait).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..backends.nvidia import device as devices
from ..backends.nvidia.cubin import parameter_base
from ..backends.nvidia.driver import LoadedFunction
from ..backends.nvidia.libcuda import Value, library
from ..backends.nvidia.target import CUDATarget
from ..backends.nvidia.tensor_map import encode_tiled
from ..compiler import CompiledKernel, GPUTarget
from ..support import settings
from .allocation import current_allocator
from .arrays import HOST, ArrayInfo
from .errors import ArgumentError
from .grid import normalize_grid
from .native import native_launch
from .packing import PARAMETERS, SCRATCH_BYTES, Packer, Parameters, all_arguments, bytes_address
from .placement import place
from .pointers import place_of
from .quick import Ending
from .scratch import scratch_block
from .tensor_maps import encoders_of

__all__ = ["CudaLauncher"]

_NO_TIMING = 2  # `CU_EVENT_DISABLE_TIMING`


class CudaLauncher:
    """`launcher(grid, args)` runs a kernel; `args` has all arguments, or all but the compile-time ones."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self.kernel = kernel
        signature = kernel.src.signature
        self.names = list(signature)
        values = kernel.values
        chip = CUDATarget.of(GPUTarget("cuda", values.get("arch") or values["target"]["arch"], 32))
        types = list(signature.values())
        encoders = encoders_of(types, values, _encode)
        layout = PARAMETERS[chip.has_descriptors]
        if encoders:
            layout = Parameters(attributes=True, base=parameter_base(kernel.asm["cubin"], kernel.name))
        self.packer = Packer(self.names, types, layout, encoders)
        self.scratch = [
            (values.get(f"{kind}_scratch_size") or 0, values.get(f"{kind}_scratch_align") or 1)
            for kind in ("global", "profile")
        ]

    def __call__(self, grid: Any, args: Sequence[Any], stream: Any = None) -> None:
        args = all_arguments(self.kernel.name, self.packer, args)
        sizes = normalize_grid(grid, lambda: dict(zip(self.names, args)), self.kernel.name)
        index = self._device(args)
        function = self.on(index)
        try:
            params, arrays = self.packer(args, index)
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        handle = devices.current_stream(index) if stream is None else int(stream)
        _wait_for_makers(function, arrays, handle)
        memory, params = self._with_scratch(params, sizes, index, handle)
        status = function.launch(bytes_address(params), *sizes, handle)
        if status is not None:
            function.fail(status, sizes)
        if settings.nvidia.launch_blocking:
            function.wait(handle, sizes)
        del arrays, memory

    def on(self, index: int) -> LoadedFunction:
        """The kernel on a GPU, loaded now if it was not; it says how many registers it takes."""
        kernel = self.kernel
        function: LoadedFunction = kernel.loaded.on(index, native_launch())
        function.expect(self.packer.slots + 2, self.packer.size)
        kernel.n_regs, kernel.n_spills = function.n_regs, function.n_spills
        kernel.n_max_threads = function.n_max_threads
        return function

    def _device(self, args: Sequence[Any]) -> int:
        try:
            at_run_time = [(self.names[i], args[i]) for i in self.packer.runtime]
            where = place(*zip(*at_run_time)) if at_run_time else None
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        # arrays of the CPU alone: the packer says which of them is there
        return devices.current_device() if where is None or where == HOST else where

    def _with_scratch(
        self, params: bytes, grid: tuple[int, int, int], device: int, stream: int
    ) -> tuple[list[Any], bytes]:
        """The parameters with the addresses of the scratch memory that the kernel asks for, and that memory."""
        programs = grid[0] * grid[1] * grid[2] * (self.kernel.values.get("num_ctas") or 1)
        if programs <= 0 or not any(size for size, _ in self.scratch):
            return [], params
        allocate = current_allocator()
        memory: list[Any] = []
        for kind, (size, align) in zip(("global", "profile"), self.scratch):
            if not size:
                memory.append(None)
            elif allocate is None:
                memory.append(scratch_block(device, stream, kind, size * programs))
            else:
                memory.append(allocate(size * programs, align, stream))
        addresses = [0 if block is None else int(block.data_ptr()) for block in memory]
        return memory, params[:-SCRATCH_BYTES] + struct.pack("<QQ", *addresses)

    def ending(self, device: Any) -> Ending | None:
        """What quick launchers end with; None where a launch takes more than a call."""
        if settings.nvidia.launch_blocking or any(size for size, _ in self.scratch):
            return None
        function = self.on(device)
        only = function.cuda.device_count == 1
        places = {
            "torch": "{x}.is_cuda" if only else f"{{x}}.get_device() == {device}",
            "pointer": f"_tt_place_of({{x}}) == {device}",
        }
        names = {"_tt_place_of": place_of, "_tt_stream": devices.stream_function()}
        report = partial(_fail, function)
        return Ending(
            self.packer.layout, places, function.launch, f"_tt_stream({device})", report, names, self.packer.encoders
        )


def _encode(*arguments: Any) -> bytes:
    """A tensor map of the driver's."""
    return encode_tiled(library(), *arguments)


def _fail(function: LoadedFunction, status: int, grid: Any) -> None:
    function.fail(status, normalize_grid(grid, None, function.name))


def _wait_for_makers(function: LoadedFunction, arrays: Sequence[ArrayInfo], stream: int) -> None:
    """Have the launch's stream wait for the streams that other libraries say make the contents of arrays."""
    for other in {a.stream for a in arrays if a.stream} - {stream}:
        if stream in (0, 1) and other in (0, 1):
            continue
        cuda, event = function.cuda, Value()
        with function.device.active():
            cuda.call("create_event", event.at, _NO_TIMING)
            cuda.call("record_event", event.value, 0 if other == 1 else other)
            cuda.call("stream_wait_event", stream, event.value, 0)
            cuda.call("destroy_event", event.value)
