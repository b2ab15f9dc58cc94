"""Visibility of tensor maps that a kernel writes.

TMA reads maps in global memory through its own cache. A CTA that copies by a map which the kernel has written must have
executed `fence.proxy.tensormap::generic.acquire` on its address after it was published.
"""

from __future__ import annotations

from .errors import TensorMapError
from .geometry import Geometry
from .ptx import Instruction

__all__ = ["TensorMapVisibility"]


class TensorMapVisibility:
    """The version of each map that the kernel has written, by address, and the version that each CTA has acquired."""

    def __init__(self, machine: Geometry) -> None:
        self.machine = machine
        self.version: dict[int, int] = {}
        self.seen: dict[tuple[int, int], int] = {}

    def reset(self) -> None:
        self.version.clear()
        self.seen.clear()

    def publish(self, address: int) -> None:
        self.version[address] = self.version.get(address, 0) + 1

    def acquire(self, cta: int, address: int) -> None:
        self.seen[cta, address] = self.version.get(address, 0)

    def check(self, thread: int, address: int, i: Instruction) -> None:
        """TensorMapError if a thread uses a map whose latest version its CTA has not acquired."""
        version = self.version.get(address)
        if version is None or self.seen.get((int(self.machine.cta[thread]), address)) == version:
            return
        text = (
            f"the tensor map at {address:#x} was written by the kernel, and fence.proxy.tensormap has not acquired it"
        )
        raise self.machine.error(TensorMapError, text, i, thread)
