"""From LLVM text or object code to something that can be launched: the door the compiler and the runtime use."""

from __future__ import annotations

import ctypes
from typing import Any

from ...support.dataclasses import dataclass
from .launch import Launcher, make_launcher
from .llvm import CompiledModule
from .loader import LoadedObject, load_object

__all__ = ["LoadedKernel", "load_kernel"]


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A kernel in memory. `launch(args, grid_x, grid_y, grid_z, num_threads=0, bounds=0)` runs it."""

    name: str
    loaded: LoadedObject
    launch: Launcher

    @property
    def address(self) -> int:
        return self.loaded.address(self.name)


def load_kernel(code: bytes | CompiledModule, name: str, print_callback: Any = None) -> LoadedKernel:
    """Load object code and make its function `name` launchable; BackendError if that cannot be.

    `print_callback` is a ctypes function (see `printing`), kept alive with the kernel.
    """
    loaded = load_object(code.object if isinstance(code, CompiledModule) else code)
    callback = ctypes.cast(print_callback, ctypes.c_void_p).value or 0 if print_callback is not None else 0
    return LoadedKernel(
        name, loaded, make_launcher(loaded.address(name), (loaded, print_callback), callback, code=loaded.code_range)
    )
