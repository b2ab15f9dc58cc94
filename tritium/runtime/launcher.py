"""Launch of a compiled kernel: pack the arguments, run, check for a reported error.

`Launcher` launches on the CPU with any arguments of the kernel's specialization, `cuda_launcher.CudaLauncher` on GPUs;
`fastpath` makes plans with which native code launches in a tenth of the time for arguments of one kind.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from ..backends.cpu.pool import pool
from ..compiler import CompiledKernel
from ..conversion.llvm.abi import ERROR_RECORD_BYTES
from ..support import settings
from ..support.errors import read_only_store
from ..support.lazy import LazyModule
from .arrays import HOST, ArrayInfo, is_read_only
from .call_forms import CallForms
from .driver_config import driver
from .errors import ArgumentError
from .fastpath.direct import DirectCalls
from .fastpath.launch_backend import LaunchBackend
from .faults import report
from .grid import normalize_grid
from .packing import Packer, bytes_address
from .read_only import NO_MORE, Span, memory_to_read
from .torch_abi import CPU

__all__ = ["Launcher", "make_launcher"]

_cuda_launcher = LazyModule(".cuda_launcher", __package__)
_hip = LazyModule(".hip", __package__)
_placement = LazyModule(".placement", __package__)


class Launcher:
    """`launcher(grid, args)` runs a kernel; `args` is any of its call forms (`call_forms`)."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self.kernel = kernel
        signature = kernel.src.signature
        self.names = list(signature)
        self.packer = Packer(self.names, list(signature.values()))
        self.forms = CallForms.of(kernel)
        self.calls = DirectCalls(self, self.packer)
        self.guards = bool(kernel.values.get("guard_stores"))
        self.checked = self.guards or bool(kernel.values.get("sanitize"))
        self.stored = kernel.values.get("stored_arrays") or ()
        self.perhaps_stored = kernel.values.get("perhaps_stored_arrays") or ()
        self._guarding: Any = None

    def __call__(self, grid: Any, args: Sequence[Any], stream: Any = None) -> None:
        args = self.forms.expand(args)
        x, y, z = normalize_grid(grid, lambda: dict(zip(self.names, args)), self.kernel.name)
        try:
            slots, arrays = self.packer(args)
        except ArgumentError as error:
            raise ArgumentError(f"{self.kernel.name}: {error}") from None
        for number in self.stored if x > 0 and y > 0 and z > 0 else ():
            if is_read_only(arrays[number].owner):
                message, hint = read_only_store(self._name(number))
                raise ArgumentError(f"{self.kernel.name}: {message}\nhint: {hint}")
        threads = self._threads()
        if self.checked:
            self._checked_launch(slots, arrays, (x, y, z), threads, self.packer.bounds(args))
            return
        if any(is_read_only(arrays[number].owner) for number in self.perhaps_stored):
            self._guarded()((x, y, z), args)
            return
        record = self.kernel.loaded.launch(bytes_address(slots), x, y, z, threads)
        if record is not None:
            report(record, self.kernel, self.packer.labels)
        del arrays

    def _checked_launch(
        self, slots: bytes, arrays: list[ArrayInfo], grid: tuple[int, ...], threads: int, spans: list[Span]
    ) -> None:
        """Launch code that checks accesses against a table of the arrays' extents and of read-only memory."""
        guarded = memory_to_read(arrays, [spans[at] for at in self.packer.arrays]) if self.guards else []
        rows = [*spans, *(span for span, _ in guarded), NO_MORE]
        table = b"".join(struct.pack("<QQ", *row) for row in rows)
        record = self.kernel.loaded.launch(bytes_address(slots), *grid, threads, bytes_address(table))
        if record is not None:
            report(record, self.kernel, self.packer.labels, [self._name(number) for _, number in guarded])
        del arrays, table

    def _guarded(self) -> Any:
        """A launcher of the same kernel that checks before each store whether the memory is read-only."""
        if self._guarding is None:
            self._guarding = self.kernel.compiled_with(guard_stores=True).launcher
        return self._guarding

    def _name(self, array: int) -> str:
        return self.packer.labels[self.packer.arrays[array]]

    def _threads(self) -> int:
        return self.kernel.values.get("num_threads") or settings.runtime.num_threads or 0

    def device_of(self, args: Sequence[Any]) -> int:
        """The CPU."""
        return HOST

    def launch_backend(self, device: Any) -> LaunchBackend | None:
        """The launch backend of the fast path; None where every access is checked."""
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
        numbers = (*self.stored, *self.perhaps_stored)
        stored = frozenset(places[self.packer.arrays[number]][0] for number in numbers)
        return LaunchBackend(self.packer, HOST, (CPU, -1), True, _PLACES, words, tell, launch, stored=stored)


def _report(kernel: CompiledKernel, labels: Sequence[str], x: int, y: int, z: int, stream: int, record: bytes) -> None:
    report(record, kernel, labels)


def _place_of(value: Any) -> int:
    return _placement.place_of(value)  # type: ignore[no-any-return]


def _everywhere(value: Any) -> int:
    return HOST


_PLACES: Mapping[str, tuple[Callable[[Any], Any], Any]] = {
    "numpy": (_everywhere, HOST),
    "torch": (attrgetter("is_cpu"), True),
    "pointer": (_place_of, HOST),
}


def make_launcher(kernel: CompiledKernel) -> Any:
    """The launcher of a kernel of any target."""
    backend = kernel.values["target"]["backend"]
    if backend != "cpu":
        make = getattr(driver.active, "launcher", None)  # an emulated GPU makes launchers itself
        if make is not None and backend == driver.active.get_current_target().backend:
            return make(kernel)
    if backend == "cuda":
        return _cuda_launcher.CudaLauncher(kernel)
    if backend == "hip":
        return _hip.make_launcher(kernel, driver.cuda)
    _ = kernel.kernel  # raises an error if no stage makes machine code
    return Launcher(kernel)
