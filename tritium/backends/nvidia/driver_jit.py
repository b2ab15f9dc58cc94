"""PTX -> CUBIN by the JIT compiler in the CUDA driver, for machines with a GPU and without `ptxas`.

The driver links one text of PTX (`cuLinkCreate`, `cuLinkAddData`, `cuLinkComplete`), which gives the CUBIN that is then
loaded, and kept in the cache like one of the assembler's; the driver's release is part of the key. It compiles for the
GPU whose context is current, so that it serves only compiles for GPUs of this machine. The driver's compiler knows no
command line: options that are one (`ptx_options`) are refused.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

from ...support.deferred_warnings import warn
from ...support.patterns import pattern
from ...support.settings import compilation, nvidia
from ..errors import PTXASError
from .assembler import Resources, errors_of_log, read_log, undated
from .device import Device, current_device, devices
from .libcuda import CudaError, Library, NoDriverError, Value, library
from .toolchain import require_tool

__all__ = ["DriverAssembler", "ToolchainWarning", "driver_compiler", "find_device"]

# numbers of `CUjit_option` and `CUjitInputType` (cuda.h)
_INFO_LOG, _INFO_LOG_BYTES, _ERROR_LOG, _ERROR_LOG_BYTES, _LEVEL = 3, 4, 5, 6, 7
_DEBUG_INFO, _VERBOSE, _LINE_INFO = 11, 12, 13
_PTX = 1

_LOG_BYTES = 1 << 16


class ToolchainWarning(UserWarning):
    """A tool of NVIDIA's is not installed, and something else does its work."""


def find_device(capability: int) -> Device | None:
    """A GPU of this machine of exactly this capability, the current one if it can be; None without one."""
    try:
        found = [d for d in devices() if d.capability == divmod(capability, 10)]
        now = current_device() if len(found) > 1 else 0
    except (NoDriverError, CudaError):
        return None
    return next((d for d in found if d.index == now), found[0]) if found else None


def driver_compiler(capability: int) -> tuple[int, int] | None:
    """The release of CUDA, (13, 0), whose compiler the driver has; None if it cannot compile for this capability."""
    if find_device(capability) is None or not library().has("link_create"):
        return None
    version = library().version
    return version // 1000, version % 1000 // 10


class DriverAssembler:
    """Stands for `Assembler`: one compile by the driver. ToolMissing for options that only `ptxas` has."""

    def __init__(self, capability: int, fusion: bool, extra: str) -> None:
        gpu = find_device(capability)
        if gpu is None or extra.strip():
            options = f" with the options {extra.strip()!r}" if extra.strip() else ""
            require_tool("ptxas", f"the stage cubin{options}")
        assert gpu is not None
        self._gpu, self._fusion = gpu, fusion
        _say_once(gpu.cuda)

    def close(self) -> None:
        """Nothing was started."""

    def begin(self, ptx: str) -> None:
        """Nothing begins before `finish`."""

    def finish(self, ptx: str, kernel: str) -> tuple[bytes, Resources]:
        """The machine code of the text, and what it needs. PTXASError with the user's line where it is refused."""
        text = undated(ptx if self._fusion else without_contraction(ptx))
        try:
            with self._gpu.active():
                code, log = _link(self._gpu.cuda, text.encode() + b"\0", kernel, ptx)
        except (CudaError, NoDriverError) as error:
            raise PTXASError(f"the CUDA driver cannot compile {kernel}: {error}") from None
        if nvidia.dump_ptxas_log:
            print(log, end="")
        return code, read_log(log, kernel)


_warned: set[str] = set()


def _say_once(cuda: Library) -> None:
    if "ptxas" not in _warned:
        _warned.add("ptxas")
        warn(
            f"ptxas is not found: the CUDA driver ({cuda.version_text}) compiles PTX in its place, which may give "
            "slower code; `pip install tritium[nvidia]` (or nvidia-cuda-nvcc) or the CUDA toolkit brings ptxas",
            ToolchainWarning,
        )


_CONTRACTED = pattern(r"\b(add|sub|mul)((?:\.ftz)?(?:\.sat)?\.(?:f16x2|bf16x2|f16|bf16|f32|f64))\b")


def without_contraction(ptx: str) -> str:
    """The text with an explicit rounding mode for each add and mul, which are never contracted to an FMA (PTX ISA,
    `add`, `mul`).

    >>> without_contraction("mul.ftz.f32 %f3, %f1, %f2; fma.rn.f32 %f4, %f1, %f2, %f3; add.s32 %r1, %r2, 1;")
    'mul.rn.ftz.f32 %f3, %f1, %f2; fma.rn.f32 %f4, %f1, %f2, %f3; add.s32 %r1, %r2, 1;'
    """
    return _CONTRACTED.sub(r"\1.rn\2", ptx)


def _options() -> dict[int, int]:
    """The compiler options from the settings, as for `ptxas`."""
    found = {_VERBOSE: 1}
    if not compilation.disable_line_info:
        found[_DEBUG_INFO if nvidia.disable_ptxas_opt else _LINE_INFO] = 1
    if nvidia.disable_ptxas_opt:
        found[_LEVEL] = 0
    return found


def _link(cuda: Library, text: bytes, kernel: str, ptx: str) -> tuple[bytes, str]:
    """The CUBIN of a text, and the compiler's log; PTXASError where the text is refused."""
    info, errors = ctypes.create_string_buffer(_LOG_BYTES), ctypes.create_string_buffer(_LOG_BYTES)
    values = {
        _INFO_LOG: ctypes.addressof(info),
        _INFO_LOG_BYTES: _LOG_BYTES,
        _ERROR_LOG: ctypes.addressof(errors),
        _ERROR_LOG_BYTES: _LOG_BYTES,
        **_options(),
    }
    names = (ctypes.c_int * len(values))(*values)
    given = (ctypes.c_void_p * len(values))(*values.values())
    state, code, size = Value(), Value(), Value(ctypes.c_size_t)
    cuda.call("link_create", len(values), ctypes.addressof(names), ctypes.addressof(given), state.at)
    try:
        name = kernel.encode() + b".ptx"
        status = cuda.status("link_add", state.value, _PTX, text, len(text), name, 0, None, None)
        status = status or cuda.status("link_complete", state.value, code.at, size.at)
        if status:
            raise PTXASError(_refusal(cuda, status, _text(errors), ptx, kernel))
        return ctypes.string_at(code.value, size.value), _text(info)
    finally:
        cuda.status("link_destroy", state.value)


def _text(buffer: Any) -> str:
    """A log with the file of the text named in one word, as ptxas names one."""
    return _INPUT.sub("ptxas input, line", buffer.value.decode(errors="replace"))


_INPUT = pattern(r"^ptxas application ptx input, line", re.M)


def _refusal(cuda: Library, status: int, log: str, ptx: str, kernel: str) -> str:
    found = errors_of_log(log, ptx) or [log.strip()[-2000:]]
    return "\n".join([f"the CUDA driver refuses the code of {kernel}: {cuda.explain(status)}", *filter(None, found)])
