"""Calling kernels: one native call a launch.

On CPython a launcher is a built-in function whose code the pool brings along (`tt.python_launch`, called through
METH_FASTCALL), which costs a few dozen nanoseconds; elsewhere it goes through ctypes, which costs a microsecond.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ...conversion.llvm.abi import ERROR_RECORD_BYTES
from ...support.native_function import native_function
from .pool import Pool, pool
from .pool_ir import STATE_BYTES

__all__ = ["Launcher", "make_launcher"]

Launcher = Callable[..., "bytes | None"]


class _State(ctypes.Structure):
    """The arguments of native code; `cost`, `skip` and `backoff` belong to the pool (see `pool_ir`)."""

    _fields_ = [
        ("kernel", ctypes.c_void_p),
        ("print_callback", ctypes.c_void_p),
        ("cost", ctypes.c_uint64),
        ("user", ctypes.c_void_p),
        ("skip", ctypes.c_uint32),
        ("backoff", ctypes.c_uint32),
        ("code_begin", ctypes.c_size_t),
        ("code_end", ctypes.c_size_t),
    ]


assert ctypes.sizeof(_State) == STATE_BYTES


def make_launcher(
    address: int,
    keep: Any = None,
    print_callback: int = 0,
    user: int = 0,
    threads: Pool | None = None,
    code: tuple[int, int] = (0, 0),
) -> Launcher:
    """`launch(args, grid_x, grid_y, grid_z, num_threads=0, bounds=0)` for the kernel at `address`.

    Arguments are positional integers; `args` and `bounds` are addresses (see `tritium.conversion.llvm.abi`), and
    `num_threads` 0 means all. The result is None, or the bytes of an error record (`ErrorRecord.from_bytes`).
    A grid with a dimension <= 0 does nothing; a grid of one program runs on the calling thread. The GIL is
    released while programs run. With `code`, the address range of the kernel's image, signals that Python handles
    interrupt a launch (see `interrupt_ir`): an exception of a handler ends it. `keep` (the `LoadedObject` of the code)
    is kept alive with the launcher.
    """
    crew = threads or pool()
    state = _State(address, print_callback or None, 0, user or None, 0, 0, *code)
    if not crew.method_address:
        return ctypes_launcher(crew, state, keep)
    return native_function(crew.method_address, ctypes.addressof(state), __name__, (state, keep, crew))


def ctypes_launcher(crew: Pool, state: _State, keep: Any) -> Launcher:
    """A launcher for Pythons without CPython's C API."""
    native = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_int64,
        ctypes.c_int64,
        ctypes.c_int64,
        ctypes.c_void_p,
        ctypes.c_void_p,
    )(crew.launch_address)
    at = ctypes.addressof(state)

    def launch(
        args: int, x: int, y: int, z: int, num_threads: int = 0, bounds: int = 0, _keep: Any = (state, keep)
    ) -> bytes | None:
        record = ctypes.create_string_buffer(ERROR_RECORD_BYTES)
        failed = native(at, args, x, y, z, num_threads, bounds, ctypes.addressof(record))
        return record.raw if failed else None

    return launch
