"""Calling kernels: one native call a launch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ...conversion.llvm.abi import CONTEXT_BYTES, ERROR_RECORD_BYTES

__all__ = ["Launcher", "make_launcher"]

Launcher = Callable[..., "bytes | None"]

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class _Context(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_int32 * 4),
        ("error_record", ctypes.c_void_p),
        ("print_callback", ctypes.c_void_p),
        ("bounds_table", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
    ]


assert ctypes.sizeof(_Context) == CONTEXT_BYTES


def make_launcher(address: int, keep: Any = None, print_callback: int = 0) -> Launcher:
    """`launch(args, grid_x, grid_y, grid_z, num_threads=0, bounds=0)` for the kernel at `address`.

    `args` and `bounds` are addresses (see `tritium.conversion.llvm.abi`). The result is None, or the bytes of an
    error record (`ErrorRecord.from_bytes`). `keep` is kept alive with the launcher: the `LoadedObject` of the code.
    """
    kernel = _KERNEL(address)

    def launch(
        args: int, x: int, y: int, z: int, num_threads: int = 0, bounds: int = 0, _keep: Any = keep
    ) -> bytes | None:
        record = ctypes.create_string_buffer(ERROR_RECORD_BYTES)
        grid = (ctypes.c_int32 * 4)(x, y, z, 0)
        context = _Context(grid, ctypes.addressof(record), print_callback, bounds, None)
        if x * y * z > 0:
            kernel(args, ctypes.byref(context), 0, x * y * z)
        return record.raw if record.raw[0] else None

    return launch
