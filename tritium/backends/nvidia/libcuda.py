"""The CUDA driver's functions that are used here, called through ctypes: a table of names and argument types.

`library()` is the driver of this process, found in the setting `nvidia.libcuda_path`, else where the system's loader
finds `libcuda.so.1`. Every call goes through `Library.call`, which turns a status into a CudaError whose text says what
the driver says, and what to do about it.

Why not the package `cuda-bindings`: importing it takes 14 ms, a launch through it 4.6 us where native code that has the
driver's address takes 2.7 (H200, 2026-11), and some thirty functions do not want a dependency. Handles are plain
integers.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping
from typing import Any

from ...support import TritiumError
from ...support.settings import nvidia

__all__ = [
    "CudaError",
    "Library",
    "NoDriverError",
    "STICKY",
    "Value",
    "cuda_type",
    "hint_for",
    "library",
    "set_library",
]

_P, _I, _U, _Z, _S = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t, ctypes.c_char_p
_D = ctypes.c_uint64  # an address on the device

#: what is called here -> (the symbol, the types of its arguments)
FUNCTIONS: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "init": ("cuInit", (_U,)),
    "driver_version": ("cuDriverGetVersion", (_P,)),
    "error_name": ("cuGetErrorName", (_I, _P)),
    "error_string": ("cuGetErrorString", (_I, _P)),
    "device_count": ("cuDeviceGetCount", (_P,)),
    "device_get": ("cuDeviceGet", (_P, _I)),
    "device_name": ("cuDeviceGetName", (_P, _I, _I)),
    "device_memory": ("cuDeviceTotalMem_v2", (_P, _I)),
    "device_attribute": ("cuDeviceGetAttribute", (_P, _I, _I)),
    "retain_context": ("cuDevicePrimaryCtxRetain", (_P, _I)),
    "get_context": ("cuCtxGetCurrent", (_P,)),
    "set_context": ("cuCtxSetCurrent", (_P,)),
    "push_context": ("cuCtxPushCurrent_v2", (_P,)),
    "pop_context": ("cuCtxPopCurrent_v2", (_P,)),
    "context_device": ("cuCtxGetDevice", (_P,)),
    "synchronize": ("cuCtxSynchronize", ()),
    "set_limit": ("cuCtxSetLimit", (_I, _Z)),
    "load_module": ("cuModuleLoadData", (_P, _S)),
    "unload_module": ("cuModuleUnload", (_P,)),
    "link_create": ("cuLinkCreate_v2", (_U, _P, _P, _P)),
    "link_add": ("cuLinkAddData_v2", (_P, _I, _S, _Z, _S, _U, _P, _P)),
    "link_complete": ("cuLinkComplete", (_P, _P, _P)),
    "link_destroy": ("cuLinkDestroy", (_P,)),
    "get_function": ("cuModuleGetFunction", (_P, _P, _S)),
    "parameter_info": ("cuFuncGetParamInfo", (_P, _Z, _P, _P)),
    "function_attribute": ("cuFuncGetAttribute", (_P, _I, _P)),
    "set_function_attribute": ("cuFuncSetAttribute", (_P, _I, _I)),
    "launch": ("cuLaunchKernelEx", (_P, _P, _P, _P)),
    "encode_tiled": ("cuTensorMapEncodeTiled", (_P, _I, _U, _D, _P, _P, _P, _P, _I, _I, _I, _I)),
    "encode_im2col": ("cuTensorMapEncodeIm2col", (_P, _I, _U, _D, _P, _P, _P, _P, _U, _U, _P, _I, _I, _I, _I)),
    "max_clusters": ("cuOccupancyMaxActiveClusters", (_P, _P, _P)),
    "max_blocks": ("cuOccupancyMaxActiveBlocksPerMultiprocessor", (_P, _P, _I, _Z)),
    "pointer_attribute": ("cuPointerGetAttribute", (_P, _I, _D)),
    "synchronize_stream": ("cuStreamSynchronize", (_P,)),
    "stream_wait_event": ("cuStreamWaitEvent", (_P, _P, _U)),
    "stream_capturing": ("cuStreamIsCapturing", (_P, _P)),
    "create_event": ("cuEventCreate", (_P, _U)),
    "destroy_event": ("cuEventDestroy_v2", (_P,)),
    "record_event": ("cuEventRecord", (_P, _P)),
    "synchronize_event": ("cuEventSynchronize", (_P,)),
    "event_time": ("cuEventElapsedTime", (_P, _P, _P)),
    "allocate": ("cuMemAlloc_v2", (_P, _Z)),
    "free": ("cuMemFree_v2", (_D,)),
    "fill": ("cuMemsetD8Async", (_D, ctypes.c_ubyte, _Z, _P)),
    "copy": ("cuMemcpy", (_D, _D, _Z)),
}

_NOT_SUPPORTED = 801

#: statuses after which no call in this process succeeds any more: the context is gone
STICKY = {
    214: "an uncorrectable memory error of the GPU",
    700: "an access to an address that is not the kernel's",
    702: "a kernel that ran for too long",
    710: "a device assertion that did not hold",
    714: "an error in the hardware's stack",
    715: "an illegal instruction",
    716: "an access to an address that is not aligned to its width",
    717: "an instruction that cannot access this kind of memory",
    718: "a jump to an address without code",
    719: "a kernel that failed",
}

_HINTS = {
    2: "free device memory, or pass less to the kernel",
    3: "CUDA does not survive a fork: start processes with 'spawn', or use the GPU in the child only",
    34: "libcuda.so.1 is the stub that toolkits link against: put the driver's own in front of it",
    100: "CUDA_VISIBLE_DEVICES may hide the GPUs, or the container was started without them",
    803: "the driver's library and the kernel module are of different versions: reboot after an update",
    804: "the compatibility library of a toolkit is in front of the driver's own",
}


_C_TYPES = {
    **{f"i{n}": f"int{n}_t" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"uint{n}_t" for n in (8, 16, 32, 64)},
    **dict.fromkeys(("fp16", "bf16", "fp32", "f32", "fp64"), "double"),
    "i1": "int8_t",
    "u1": "uint8_t",
}


def cuda_type(ty: str) -> str:
    """The C type of a signature's type in programs of CUDA's: "CUdeviceptr" for "*fp32"."""
    if ty[0] == "*":
        return "CUdeviceptr"
    return "CUtensorMap" if ty.startswith(("tensordesc", "nvTmaDesc")) else _C_TYPES[ty]


class NoDriverError(TritiumError, RuntimeError):
    """There is no CUDA driver, it is too old, or it sees no GPU."""


class CudaError(TritiumError, RuntimeError):
    """A function of the CUDA driver failed. `code` is its status, `function` its name."""

    def __init__(self, text: str, code: int, function: str) -> None:
        super().__init__(text)
        self.code = code
        self.function = function

    @property
    def sticky(self) -> bool:
        """Whether the process can go on using the GPU: not after a kernel crashed."""
        return self.code in STICKY


class Value:
    """A place that the driver writes a result to: `Value(kind)`, passed as `.at`, read as `.value`."""

    __slots__ = ("_cell", "at")

    def __init__(self, kind: Any = ctypes.c_void_p) -> None:
        self._cell = kind()
        self.at = ctypes.addressof(self._cell)

    @property
    def value(self) -> Any:
        """The values written; 0 for null pointers."""
        return self._cell.value or 0


class Library:
    """The driver. `found` is a loaded `libcuda`, or whatever has functions of the same names (tests)."""

    def __init__(self, found: Any) -> None:
        self._found = found
        self._functions: dict[str, Any] = {}
        self.call("init", 0)
        version = Value(_I)
        self.call("driver_version", version.at)
        self.version: int = version.value
        count = Value(_I)
        self.call("device_count", count.at)
        self.device_count: int = count.value

    @property
    def version_text(self) -> str:
        """The newest CUDA the driver knows: "13.0"."""
        return f"{self.version // 1000}.{self.version % 1000 // 10}"

    def function(self, name: str) -> Any:
        """The ctypes function of a row of the table; NoDriverError where this driver has none."""
        found = self._functions.get(name)
        if found is None:
            symbol, arguments = FUNCTIONS[name]
            try:
                found = getattr(self._found, symbol)
            except AttributeError:
                version = f" (of CUDA {self.version_text})" if hasattr(self, "version") else ""
                raise NoDriverError(
                    f"the CUDA driver{version} has no function {symbol}\nhint: update it; CUDA 11.8 or newer is needed"
                ) from None
            found.argtypes, found.restype = arguments, ctypes.c_int
            self._functions[name] = found
        return found

    def has(self, name: str) -> bool:
        """Whether this driver has the function."""
        return hasattr(self._found, FUNCTIONS[name][0])

    def address(self, name: str) -> int:
        """Where the code of a function is, for calls from native code."""
        return ctypes.cast(self.function(name), ctypes.c_void_p).value or 0

    def status(self, name: str, *arguments: Any) -> int:
        """Call a function and return its result."""
        return self.function(name)(*arguments)  # type: ignore[no-any-return]

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function; CudaError unless it succeeds."""
        status = self.status(name, *arguments)
        if status:
            raise self.error(status, FUNCTIONS[name][0])

    def explain(self, status: int) -> str:
        """The driver's name of a status: "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected"."""
        words = []
        for name in ("error_name", "error_string"):
            text = Value(ctypes.c_char_p)
            failed = self.status(name, status, text.at)
            words.append("" if failed or not text.value else text.value.decode(errors="replace"))
        return f"{words[0] or 'an unknown status'} ({status})" + (f": {words[1]}" if words[1] else "")

    def error(self, status: int, function: str, about: str = "") -> CudaError:
        """The error of a status: `about` names the failed operation."""
        return CudaError(f"{about or function + ' failed'}: {self.explain(status)}{hint_for(status)}", status, function)


def hint_for(status: int) -> str:
    """Advice for a status, as the end of a message; empty if there is none."""
    hint = _HINTS.get(status)
    return f"\nhint: {hint}" if hint else ""


def _open() -> Library:
    folder = nvidia.libcuda_path
    path = os.path.join(folder, "libcuda.so.1") if folder and os.path.isdir(folder) else folder or "libcuda.so.1"
    try:
        found = ctypes.CDLL(path)
    except OSError as error:
        raise NoDriverError(
            f"there is no CUDA driver: {error}\nhint: install NVIDIA's driver, or name the folder of libcuda.so.1 in "
            "TRITON_LIBCUDA_PATH"
        ) from None
    try:
        made = Library(found)
    except CudaError as error:
        raise NoDriverError(f"the CUDA driver cannot be used: {error}") from None
    if made.device_count == 0:
        raise NoDriverError(f"the CUDA driver sees no GPU\nhint: {_HINTS[100]}")
    return made


_lock = threading.Lock()
_library: Library | None = None
_missing: NoDriverError | None = None


def library() -> Library:
    """The driver of this process, looked for once; NoDriverError where there is none that works."""
    global _library, _missing
    if _library is None:
        with _lock:
            if _missing is not None:
                raise _missing.with_traceback(None)
            if _library is None:
                try:
                    _library = _open()
                except NoDriverError as error:
                    _missing = error
                    raise
    return _library


def set_library(found: Library | None) -> None:
    """Use `found` from now on; None: look again at the next use."""
    global _library, _missing
    with _lock:
        _library, _missing = found, None
