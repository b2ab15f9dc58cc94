"""The record of one run of a kernel."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KernelRun", "KernelTotals"]


class KernelRun(NamedTuple):
    """A kernel's start and end in nanoseconds since the epoch, its device and its stream."""

    start: int
    end: int
    device_type: str
    device: str
    stream: int


class KernelTotals:
    """The runs of a kernel in one frame, added up."""

    __slots__ = ("count", "device", "device_type", "time")

    def __init__(self) -> None:
        self.time = self.count = 0
        self.device = self.device_type = ""

    def add(self, run: KernelRun) -> None:
        """Add one run."""
        self.time += run.end - run.start
        self.count += 1
        self.device, self.device_type = run.device, run.device_type

    def as_metrics(self) -> dict[str, int | str]:
        """The metrics under the names that profiles have."""
        return {
            "count": self.count,
            "device_id": self.device,
            "device_type": self.device_type,
            "time (ns)": self.time,
        }
