"""From a code object to a kernel that HIP's runtime launches. It has never run on hardware.

    kernel = tritium.compile(source, target=GPUTarget("hip", "gfx942", 64))
    code = LoadedCodeObject(kernel.asm["hsaco"], kernel.metadata._asdict())
    code.launch((blocks, 1, 1), [x.data_ptr(), y.data_ptr(), n], stream)

Arguments are packed as the kernel's metadata lays them out (offset and size of each), so that a mismatch of their count
is an error before the launch. The last two explicit ones are scratch memory, which no kernel of this compiler asks for
unless its metadata says so.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence

from ...support import InternalError
from .code_object import arguments_of
from .libamdhip64 import Library, library

__all__ = ["LoadedCodeObject", "LoadedModules"]

_BUFFER, _SIZE, _END = 1, 2, 3  # HIP_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE, _END
_SCRATCH_ARGUMENTS = 2
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


class LoadedCodeObject:
    """A kernel of a code object on the current device."""

    def __init__(self, code: bytes, metadata: Mapping[str, object], hip: Library | None = None) -> None:
        self.hip = hip or library()
        self.name = str(metadata["name"])
        self.shared = int(str(metadata.get("shared", 0)))
        self.threads = int(str(metadata["n_max_threads"]))
        self.needs_scratch = bool(metadata.get("global_scratch_size"))
        self.cooperative = bool(metadata.get("launch_cooperative_grid"))
        self.arguments = arguments_of(code, self.name)
        self._code = ctypes.create_string_buffer(code, len(code))  # HIP may read it later
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        self.hip.call("load_module", ctypes.byref(self._module), self._code.raw)
        self.hip.call("get_function", ctypes.byref(self._function), self._module, self.name.encode())

    def pack(self, values: Sequence[int | float]) -> bytes:
        """The kernel's explicit arguments as it reads them; addresses are integers, scratch memory is none."""
        if self.needs_scratch:
            raise InternalError(f"kernel {self.name} needs global scratch memory: launch it by its launcher")
        expected = len(self.arguments) - _SCRATCH_ARGUMENTS
        if len(values) != expected:
            raise InternalError(f"kernel {self.name} takes {expected} arguments, {len(values)} were given")
        out = bytearray(max((a.offset + a.size for a in self.arguments), default=0))
        for argument, value in zip(self.arguments, [*values, *[0] * _SCRATCH_ARGUMENTS]):
            if isinstance(value, float):
                struct.pack_into(_FLOATS[argument.size], out, argument.offset, value)
            else:
                bits = value & (1 << 8 * argument.size) - 1
                out[argument.offset : argument.offset + argument.size] = bits.to_bytes(argument.size, "little")
        return bytes(out)

    def launch(self, grid: tuple[int, int, int], values: Sequence[int | float], stream: int = 0) -> None:
        """Launch on a stream; returns before the kernel ends. HIP adds the hidden arguments."""
        self.launch_packed(grid, self.pack(values), stream)

    def launch_packed(self, grid: tuple[int, int, int], packed: bytes, stream: int = 0) -> None:
        """Launch with explicit arguments as the kernel reads them."""
        end = max((a.offset + a.size for a in self.arguments), default=0)
        if len(packed) < end:
            raise InternalError(f"kernel {self.name} takes {end} bytes of arguments, {len(packed)} were given")
        buffer, size = ctypes.create_string_buffer(packed, len(packed)), ctypes.c_size_t(len(packed))
        start, shape = ctypes.addressof(buffer), (*grid, self.threads, 1, 1, self.shared, stream)
        if self.cooperative:
            pointers = (ctypes.c_void_p * len(self.arguments))(*(start + a.offset for a in self.arguments))
            self.hip.call("launch_cooperative", self._function, *shape, pointers)
            return
        extra = (ctypes.c_void_p * 5)(_BUFFER, start, _SIZE, ctypes.addressof(size), _END)
        self.hip.call("launch", self._function, *shape, None, extra)

    def unload(self) -> None:
        """Free the module."""
        self.hip.call("unload_module", self._module)


class LoadedModules:
    """A code object that is loaded on each GPU when a kernel is first launched there."""

    address = 0  # what Triton calls the function: one per GPU here

    def __init__(self, code: bytes, metadata: Mapping[str, object], hip: Library) -> None:
        self._code, self._metadata, self._hip = code, metadata, hip
        self._loaded: dict[int, LoadedCodeObject] = {}

    def on(self, device: int) -> LoadedCodeObject:
        """The kernel on the GPU of this number, which is current afterwards."""
        self._hip.call("set_device", device)
        if device not in self._loaded:
            self._loaded[device] = LoadedCodeObject(self._code, self._metadata, self._hip)
        return self._loaded[device]
