"""Launching a compiled kernel: pack, run, look whether it reported an error.

`Launcher` does it on the CPU for any arguments of the kernel's specialization, `cuda_launcher.CudaLauncher` on GPUs;
`quick` writes functions that do it in a quarter of the time for arguments of one kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..compiler import CompiledKernel
from ..support import settings
from ..support.lazy import LazyModule
from .driver import driver
from .faults import report
from .grid import normalize_grid
from .packing import SLOTS, Packer, all_arguments, bytes_address
from .quick import Ending

__all__ = ["Launcher", "make_launcher"]

_cuda_launcher = LazyModule(".cuda_launcher", __package__)
_pointers = LazyModule(".pointers", __package__)


class Launcher:
    """`launcher(grid, args)` runs a kernel; `args` has all arguments, or all but the compile-time ones."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self.kernel = kernel
        signature = kernel.src.signature
        self.names = list(signature)
        self.packer = Packer(self.names, list(signature.values()))
        self.checked = bool(kernel.values.get("sanitize"))

    def __call__(self, grid: Any, args: Sequence[Any], stream: Any = None) -> None:
        args = all_arguments(self.kernel.name, self.packer, args)
        x, y, z = normalize_grid(grid, lambda: dict(zip(self.names, args)), self.kernel.name)
        slots, arrays = self.packer(args)
        bounds = self.packer.bounds(args) if self.checked else b""
        threads = self._threads()
        launch = self.kernel.loaded.launch
        if bounds:
            record = launch(bytes_address(slots), x, y, z, threads, bytes_address(bounds))
        else:
            record = launch(bytes_address(slots), x, y, z, threads)
        if record is not None:
            report(record, self.kernel, self.packer.labels)
        del arrays

    def _threads(self) -> int:
        return self.kernel.values.get("num_threads") or settings.runtime.num_threads or 0

    def ending(self, device: Any) -> Ending | None:
        """What quick launchers end with; None where every access is checked."""
        if self.checked:
            return None
        places = {"numpy": "", "torch": "{x}.is_cpu", "pointer": "_tt_place_of({x}) == -1"}
        tell = partial(_report, self.kernel, self.packer.labels)
        launch = self.kernel.loaded.launch
        return Ending(SLOTS, places, launch, str(self._threads()), tell, {"_tt_place_of": _place_of})


def _report(kernel: CompiledKernel, labels: Sequence[str], record: bytes, grid: Any) -> None:
    report(record, kernel, labels)


def _place_of(value: Any) -> int:
    return _pointers.place_of(value)  # type: ignore[no-any-return]


def make_launcher(kernel: CompiledKernel) -> Any:
    """The launcher of a kernel of any target."""
    if kernel.values["target"]["backend"] == "cuda":
        make = getattr(driver.active, "launcher", None)  # the emulated GPU has its own
        if make is not None:
            return make(kernel)
        return _cuda_launcher.CudaLauncher(kernel)
    return Launcher(kernel)
