"""Launching a compiled kernel: pack, run, look whether it reported an error.

`Launcher` does it on the CPU for any arguments of the kernel's specialization, `cuda_launcher.CudaLauncher` on GPUs;
`quick` makes plans by which native code does it in a tenth of the time for arguments of one kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from ..backends.cpu.pool import pool
from ..compiler import CompiledKernel
from ..conversion.llvm.abi import ERROR_RECORD_BYTES
from ..support import settings
from ..support.lazy import LazyModule
from .arrays import HOST, is_read_only
from .driver import driver
from .errors import ArgumentError
from .faults import report
from .grid import normalize_grid
from .packing import Packer, all_arguments, bytes_address
from .quick.direct import DirectCalls
from .quick.ending import Ending
from .torch_abi import CPU

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
        self.calls = DirectCalls(self, self.packer)
        self.checked = bool(kernel.values.get("sanitize"))
        self.stored = kernel.values.get("stored_arrays") or ()

    def __call__(self, grid: Any, args: Sequence[Any], stream: Any = None) -> None:
        args = all_arguments(self.kernel.name, self.packer, args)
        x, y, z = normalize_grid(grid, lambda: dict(zip(self.names, args)), self.kernel.name)
        try:
            slots, arrays = self.packer(args)
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        for number in self.stored:
            if is_read_only(arrays[number].owner):
                raise ArgumentError(self._read_only(number))
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

    def _read_only(self, number: int) -> str:
        name = self.packer.labels[self.packer.arrays[number]]
        return (
            f"{self.kernel.name}: argument {name!r} is a read-only array, and the kernel stores to it\n"
            "hint: pass a copy (array.copy()), or memory that may be written"
        )

    def _threads(self) -> int:
        return self.kernel.values.get("num_threads") or settings.runtime.num_threads or 0

    def device_of(self, args: Sequence[Any]) -> int:
        """The CPU."""
        return HOST

    def ending(self, device: Any) -> Ending | None:
        """What quick launches end with; None where every access is checked."""
        launch = self.kernel.loaded.launch
        if self.checked or not hasattr(launch, "__self__"):
            return None
        words = {
            "launch": pool().launch_address,
            "state": launch.__self__,  # its address
            "threads": self._threads(),
            "record_bytes": ERROR_RECORD_BYTES,
        }
        tell = partial(_report, self.kernel, self.packer.labels)
        places = self.packer.layout.places(self.packer.codes)
        stored = frozenset(places[self.packer.arrays[number]][0] for number in self.stored)
        return Ending(self.packer, HOST, (CPU, -1), True, _PLACES, words, tell, launch, stored=stored)


def _report(kernel: CompiledKernel, labels: Sequence[str], x: int, y: int, z: int, stream: int, record: bytes) -> None:
    report(record, kernel, labels)


def _place_of(value: Any) -> int:
    return _pointers.place_of(value)  # type: ignore[no-any-return]


def _everywhere(value: Any) -> int:
    return HOST


_PLACES = {"numpy": (_everywhere, HOST), "torch": (attrgetter("is_cpu"), True), "pointer": (_place_of, HOST)}


def make_launcher(kernel: CompiledKernel) -> Any:
    """The launcher of a kernel of any target."""
    if kernel.values["target"]["backend"] == "cuda":
        make = getattr(driver.active, "launcher", None)  # the emulated GPU has its own
        if make is not None:
            return make(kernel)
        return _cuda_launcher.CudaLauncher(kernel)
    return Launcher(kernel)
