"""When kernels begin and end: by the host's clock where a launch returns when it is done, by events on a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ..support.lazy import LazyModule

__all__ = ["Clock", "EventClock", "HostClock", "Lane", "clock_of"]

_cuda = LazyModule("..runtime.cuda", __package__)

_EPOCH = time.time_ns() - time.perf_counter_ns()  # of the host's monotonic clock


class Lane(NamedTuple):
    """The device and the stream of a launch: ("CUDA", "0", 0)."""

    device_type: str
    device: str
    stream: int


class HostClock:
    """The CPU, and an emulated GPU: the kernel has finished when its launch returns."""

    def mark(self, stream: int) -> Any:
        """Now."""
        return time.perf_counter_ns()

    def settle(self) -> None:
        """Nothing is under way."""

    def span(self, start: Any, end: Any) -> tuple[int, int]:
        """The times of two marks, in nanoseconds since the epoch."""
        return start + _EPOCH, end + _EPOCH

    def release(self, *marks: Any) -> None:
        """Marks are integers."""

    def renew(self) -> None:
        """The clock needs no base."""


class EventClock(HostClock):
    """A GPU: events in the launch's stream, read when the device has reached them.

    An event tells the time since another as a float of milliseconds, to 1 us after 16 s. So the event that starts are
    measured from, whose time on the host is known, is recorded anew whenever all marks have been read.

    `make()` makes an event; `record(event, stream)` puts it into a stream; `wait()` waits for the device.
    """

    def __init__(self, make: Callable[[], Any], record: Callable[[Any, int], None], wait: Callable[[], None]) -> None:
        self._make, self._record, self._wait = make, record, wait
        self._free: list[Any] = []
        self._base: Any = None
        self._base_time = 0
        self.renew()

    def mark(self, stream: int) -> Any:
        """An event in the stream."""
        event = self._free.pop() if self._free else self._make()
        self._record(event, stream)
        return event

    def settle(self) -> None:
        """Wait for the device."""
        self._wait()

    def span(self, start: Any, end: Any) -> tuple[int, int]:
        """The times of two marks that the device has reached; what is between them is measured by itself."""
        begin = self._base_time + round(self._base.elapsed_time(start) * 1e6)
        return begin, begin + round(start.elapsed_time(end) * 1e6)

    def release(self, *marks: Any) -> None:
        """Use the events of marks again."""
        self._free += marks

    def renew(self) -> None:
        """Measure from now on."""
        if self._base is not None:
            self._free.append(self._base)
        self._wait()
        before = time.time_ns()
        self._base = self.mark(0)
        self._base.synchronize()
        self._base_time = (before + time.time_ns()) // 2


Clock = HostClock
_host = HostClock()
_clocks: dict[Any, EventClock] = {}


def clock_of(backend: str, driver: Any, device: Any, stream: Any) -> tuple[Clock, Lane] | None:
    """The clock for a launch of a kernel that was compiled for `backend`, and the lane that it runs in.

    None for a launch that becomes part of a CUDA graph: it does not run now.
    """
    if backend == "cpu":
        return _host, Lane("CPU", "0", 0)
    interface = driver.get_device_interface() if hasattr(driver, "get_device_interface") else None
    if not hasattr(interface, "Event"):  # an emulated GPU
        return _host, Lane(backend.upper(), "0", 0)
    handle = int(stream or 0)
    capturing = getattr(driver.utils, "is_stream_capturing", None)
    if handle and capturing is not None and capturing(handle):  # the default stream is never captured, and not asked:
        return None  # while another one is, the question is an error
    key = type(driver), device
    if key not in _clocks:
        _clocks[key] = _event_clock(driver, interface, device)
    return _clocks[key], Lane(backend.upper(), str(device), handle)


def _event_clock(driver: Any, interface: Any, device: Any) -> EventClock:
    """A clock of the CUDA driver's own events, which take any stream; of another driver's in its current stream."""
    if isinstance(driver, _cuda.CUDADriver):
        return EventClock(
            lambda: _cuda.Event(enable_timing=True, device=device),
            lambda event, stream: event.record(stream),
            driver.device(device).synchronize,
        )
    return EventClock(
        lambda: interface.Event(enable_timing=True), lambda event, stream: event.record(), interface.synchronize
    )
