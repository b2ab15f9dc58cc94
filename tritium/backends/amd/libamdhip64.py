"""The functions of HIP's runtime that are used here, called through ctypes: a table of symbols and argument types.

`library()` is `libamdhip64.so` at the setting `amd.libhip_path`, else where the system's loader finds it. Source: the
HIP API reference, "Module management" and "Device management". No code here has run on an AMD GPU: tests call it with a
library that records calls.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Protocol

from ...support import TritiumError
from ...support.settings import amd

__all__ = ["HIPError", "Library", "NoHIPError", "library"]

_P, _I, _U, _S = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p

#: name here -> (symbol, argument types)
FUNCTIONS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "error_name": ("hipGetErrorName", (_I,)),
    "error_string": ("hipGetErrorString", (_I,)),
    "device_count": ("hipGetDeviceCount", (_P,)),
    "get_device": ("hipGetDevice", (_P,)),
    "set_device": ("hipSetDevice", (_I,)),
    "load_module": ("hipModuleLoadData", (_P, _S)),
    "unload_module": ("hipModuleUnload", (_P,)),
    "get_function": ("hipModuleGetFunction", (_P, _P, _S)),
    "launch": ("hipModuleLaunchKernel", (_P, _U, _U, _U, _U, _U, _U, _U, _P, _P, _P)),
    "launch_cooperative": (
        "hipModuleLaunchCooperativeKernel",
        (_P, _U, _U, _U, _U, _U, _U, _U, _P, _P),
    ),
    "synchronize": ("hipDeviceSynchronize", ()),
}
_TEXTS = ("error_name", "error_string")


class HIPError(TritiumError, RuntimeError):
    """A call of HIP's runtime failed; the message has its name for the error."""


class NoHIPError(HIPError):
    """There is no HIP runtime on this machine."""


class _Loaded(Protocol):
    """What ctypes gives for a shared library, or a stand-in."""

    def __getattr__(self, name: str) -> ctypes._NamedFuncPointer: ...


class Library:
    """Calls of one loaded library; a status other than 0 is a HIPError."""

    def __init__(self, loaded: _Loaded) -> None:
        self._functions = {}
        for name, (symbol, types) in FUNCTIONS.items():
            function = getattr(loaded, symbol)
            function.argtypes, function.restype = types, _S if name in _TEXTS else _I
            self._functions[name] = function

    def call(self, name: str, *arguments: object) -> None:
        """Call a function; HIPError with HIP's words where it fails."""
        status = self._functions[name](*arguments)
        if status:
            what, why = (self._functions[n](status).decode() for n in _TEXTS)
            raise HIPError(f"{FUNCTIONS[name][0]}: {what} ({status}): {why}")


_library: list[Library] = []


def library() -> Library:
    """HIP's runtime in this process; NoHIPError where it cannot be loaded."""
    if not _library:
        path = amd.libhip_path or "libamdhip64.so"
        try:
            _library.append(Library(ctypes.CDLL(path)))
        except OSError as error:
            hint = "hint: install ROCm, or set TRITON_LIBHIP_PATH to libamdhip64.so"
            raise NoHIPError(f"HIP's runtime cannot be loaded: {error}\n{hint}") from None
    return _library[0]
