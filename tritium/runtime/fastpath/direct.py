"""`compiled[grid](...)`: launches of a kernel that is compiled already, by the fast path from the second of a kind on.

The types are the kernel's, so that arguments are only checked for the same classes and device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...compiler import CompiledKernel
from ...support import settings
from ...support.lazy import LazyModule
from ..driver_config import driver
from ..errors import ArgumentError
from ..grid import normalize_grid
from ..hooks import HookMetadata
from ..packing import Packer
from ..specialize import ALIGNED, ParameterRule
from ..stream import stream_handle
from .preparation import preparation
from .table import Call, LaunchTable

__all__ = ["PLAN_AFTER", "DirectCalls"]

_plan = LazyModule(".plan", __package__)

PLAN_AFTER = 2  # repetitions: a plan takes the time of three launches without it, which often are all there are


class DirectCalls:
    """Launches by `launcher(grid, args, stream)`, and by plans of its `launch_backend`; `at(grid)` returns the
    callable."""

    def __init__(self, launcher: Any, packer: Packer) -> None:
        self._launcher = launcher
        self._packer = packer
        self._table = LaunchTable(self._launch)
        self._generation = -1
        self._repeats: dict[Any, int] = {}  # launches after the first, by kind
        self._without: set[Any] = set()  # kinds that have no plan
        self._rules = [
            ParameterRule(name, ty == "constexpr", False, False, False, ty if isinstance(ty, str) else "")
            for name, ty in zip(packer.names, packer.types)
        ]

    def at(self, grid: Any) -> Any:
        """A callable that launches with `grid`."""
        return self._table.at(grid)

    def _launch(self, grid: Any, /, *args: Any, stream: Any = None, **unknown: Any) -> None:
        kernel = self._launcher.kernel
        if unknown:
            names = ", ".join(map(repr, sorted(unknown)))
            raise ArgumentError(f"{kernel.name}: the only keyword of a compiled kernel is stream, not {names}")
        handle = stream_handle(stream)
        self.check(args)
        enter, leave = settings.runtime.launch_enter_hook, settings.runtime.launch_exit_hook
        if not (enter or leave):
            self._launcher(grid, args, handle)
            self._remember(args, stream)
            return
        args = self._launcher.forms.expand(args)  # hooks are told of each parameter by name
        if kernel.values.get("launch_predicate"):
            kernel = self._version(grid, args)
        current = _current_stream if handle is None else lambda: handle
        metadata = HookMetadata(kernel, grid, args, current, lambda: self._place(args))
        enter(metadata)
        self._launcher(grid, args, handle)
        leave(metadata)

    def _version(self, grid: object, args: Sequence[object]) -> CompiledKernel:
        """The kernel that a launch runs, which hooks are told of."""
        launcher = self._launcher
        sizes = normalize_grid(grid, lambda: dict(zip(self._packer.names, args)), launcher.kernel.name)
        runs = launcher.runs(sizes, args, launcher.device_of(args))
        kernel: CompiledKernel = launcher.kernel if runs else launcher.other_version
        return kernel

    def check(self, args: Sequence[object]) -> None:
        """ArgumentError for arguments that the kernel was not compiled for."""
        self._launcher.forms.check(args)

    def _place(self, args: Sequence[Any]) -> tuple[Any, Any]:
        """The driver and the device of a launch with these arguments."""
        device = self._launcher.device_of(args)
        own = getattr(self._launcher, "driver", None)  # an emulated GPU's launcher has one
        return own or driver.serving(device).driver, device

    def _remember(self, args: Sequence[Any], stream: Any) -> None:
        if self._generation != settings.generation.value:
            self._generation = settings.generation.value
            self._repeats.clear()
            self._without.clear()
        kind = (*map(type, args), type(stream))
        repeats = self._repeats[kind] = self._repeats.get(kind, -1) + 1
        if kind in self._without or not preparation.pays(repeats) or repeats < PLAN_AFTER:
            return
        kernel = self._launcher.kernel
        forms = self._launcher.forms
        values = forms.expand(args)
        given = {} if stream is None else {"stream": stream}
        plan = _plan.launch_plan(
            kernel,
            self._launcher.device_of(values),
            self._rules,
            values,
            [ALIGNED if i in forms.aligned else "" for i in range(len(values))],
            given,
            Call(len(args), tuple(given)),
            positions=forms.positions(len(args)),
        )
        if plan is None:
            self._without.add(kind)
        else:
            self._table.put(plan)


def _current_stream() -> Any:
    return driver.active.get_current_stream(driver.active.get_current_device())
