"""Time every launch while a session is active: two marks around it, read when the device has reached them.

Launches of other libraries are not seen. A scope that has flops or bytes, of which a rate is wanted, and in which no
kernel of ours is launched, is timed as a whole: what it takes is in a frame `<library>`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ..runtime.driver_config import driver
from ..support.settings import runtime
from .clocks import Clock, Lane, clock_of
from .kernels import KernelRun
from .thread_state import thread_state

__all__ = ["LIBRARY", "Timer", "propagating"]

LIBRARY = "<library>"  # the frame of what other libraries run in a scope

_MOST_PENDING = 2048  # launches to collect before the device is waited for


_F = TypeVar("_F", bound=Callable[..., Any])


def propagating(hook: _F) -> _F:
    """Mark a hook whose errors are the launch's, not warnings: a profile without what it should have misleads."""
    hook.propagate_errors = True  # type: ignore[attr-defined]
    return hook


class _Launch(NamedTuple):
    """A launch under way, or one whose times have not been read."""

    metadata: Any
    entries: list[Any]
    clock: Clock
    lane: Lane
    start: Any


class _Watched(NamedTuple):
    """A scope that is timed unless a launch in it is."""

    scope: int
    recorded: int
    clock: Clock
    lane: Lane
    start: Any


class Timer:
    """The launch hooks of the profiler. `entries_of(kernel name)` gives the frames that a launch is recorded in."""

    def __init__(self, entries_of: Callable[[str], list[Any]]) -> None:
        self._entries_of = entries_of
        self._pending: list[tuple[_Launch, Any]] = []
        self._values: list[tuple[Any, dict[str, Any]]] = []

    def attach(self) -> None:
        """Become the last hook before a launch and the first after it, so that other hooks are not timed."""
        self.detach()
        runtime.launch_enter_hook.add(self.enter)
        runtime.launch_exit_hook.add(self.leave)

    def detach(self) -> None:
        """Time nothing from now on."""
        runtime.launch_enter_hook.remove(self.enter)
        runtime.launch_exit_hook.remove(self.leave)

    @propagating
    def enter(self, metadata: Any) -> None:
        """A launch begins."""
        if runtime.launch_enter_hook.calls[-1] != self.enter:
            self.attach()  # from the next launch on, the hooks that were added meanwhile are not timed
        kernel = metadata.kernel
        entries = self._entries_of(kernel.name)
        if not entries:
            return
        driver, device = metadata.place()
        found = clock_of(kernel.metadata.target.backend, driver, device, metadata.stream())
        if found is not None:
            clock, lane = found
            thread_state.recorded += 1
            _ = kernel.launcher, kernel.loaded  # the first launch loads the code, which is not the kernel's time
            thread_state.launches.append(_Launch(metadata, entries, clock, lane, clock.mark(lane.stream)))

    @propagating
    def leave(self, metadata: Any) -> None:
        """The launch has returned. Nested launches that failed have not returned, and are dropped."""
        launches = thread_state.launches
        while launches:
            launch = launches.pop()
            if launch.metadata is metadata:
                self._pending.append((launch, launch.clock.mark(launch.lane.stream)))
                break
        if len(self._pending) >= _MOST_PENDING:
            self.settle()

    def watch(self, scope: int) -> None:
        """A scope begins that is timed as a whole if no kernel is launched in it."""
        active = driver.active
        device = active.get_current_device()
        stream = active.get_current_stream(device)
        found = clock_of(active.get_current_target().backend, active, device, stream)
        if found is not None:
            clock, lane = found
            watched = _Watched(scope, thread_state.recorded, clock, lane, clock.mark(lane.stream))
            thread_state.watched.append(watched)

    def unwatch(self, scope: int, entries: Callable[[], list[Any]]) -> None:
        """The scope ends; `entries()` are the frames to record it in."""
        watched = thread_state.watched
        if not any(w.scope == scope for w in watched):
            return
        while (found := watched.pop()).scope != scope:
            pass  # scopes inside of it that have not been left
        if found.recorded == thread_state.recorded:
            thread_state.recorded += 1  # scopes around it have a time in them, too
            launch = _Launch(None, entries(), found.clock, found.lane, found.start)
            self._pending.append((launch, found.clock.mark(found.lane.stream)))

    def add_later(self, entry: Any, metrics: dict[str, Any]) -> None:
        """Add tensors on a device to an entry's metrics, when the device has computed them."""
        self._values.append((entry, metrics))

    def settle(self) -> None:
        """Wait for the devices, and record what they did."""
        pending, self._pending = self._pending, []
        values, self._values = self._values, []
        clocks = {launch.clock for launch, _ in pending}
        for clock in clocks:
            clock.settle()
        for launch, end in pending:
            began, ended = launch.clock.span(launch.start, end)
            run = KernelRun(began, ended, *launch.lane)
            for entry in launch.entries:
                entry.add_kernel(run)
            launch.clock.release(launch.start, end)
        for clock in clocks:
            clock.renew()
        for entry, metrics in values:
            entry.add_metrics({name: _on_host(value) for name, value in metrics.items()})


def _on_host(tensor: Any) -> Any:
    """A tensor as Python numbers."""
    return tensor.tolist() if tensor.numel() > 1 else tensor.item()
