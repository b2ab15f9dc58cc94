"""The shape of a batch of CTAs: how threads, warps, CTAs and clusters are numbered, and how errors name them.

Every quantity of a thread is an array over the threads of all CTAs of a batch, each CTA padded to whole warps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import EmulationError
from .program import Program
from .ptx import Instruction
from .types import Array

__all__ = ["NOWHERE", "WARP", "Geometry", "Mask", "Step"]

Mask = Any  # True, or an array of booleans over the threads
Step = Callable[[Mask], None]

WARP = 32
#: The program counter of threads that do not run: they wait, or have exited.
NOWHERE = np.iinfo(np.int32).max


class Geometry:
    """`ctas` CTAs of `block` threads in clusters of shape `cluster`, with `shared_bytes` of dynamic shared memory."""

    def __init__(
        self,
        program: Program,
        block: tuple[int, int, int],
        ctas: int,
        shared_bytes: int,
        cluster: tuple[int, int, int],
    ) -> None:
        self.program = program
        self.block, self.ctas, self.cluster_shape = block, ctas, cluster
        self.cluster = cluster[0] * cluster[1] * cluster[2]
        self.block_threads = block[0] * block[1] * block[2]
        self.padded = -(-self.block_threads // WARP) * WARP
        self.threads = self.padded * ctas
        self.warps = self.threads // WARP
        self.thread = np.arange(self.threads)
        self.linear = self.thread % self.padded
        self.cta = self.thread // self.padded
        self.exists = self.linear < self.block_threads
        self.lane = self.thread % WARP
        self.shared_size = program.shared_size + shared_bytes
        self.shared_stride = max(-(-self.shared_size // 128) * 128, 128)
        self.grid = (1, 1, 1)
        self.cta_numbers = np.zeros(ctas, np.int64)

    def mask_of_warps(self, warps: Array | slice) -> Array:
        """The threads of some warps."""
        mask = np.zeros((self.warps, WARP), bool)
        mask[warps] = True
        return mask.ravel()

    def lanes(self, mask: Mask) -> Array:
        """The numbers of the threads in a mask."""
        return self.thread if mask is True else np.nonzero(mask)[0]

    def where(self, thread: int) -> str:
        """A thread in words."""
        linear = int(self.linear[thread])
        x, y, z = self.block[0], self.block[1], self.block[2]
        name = f"{linear}" if y == z == 1 else f"({linear % x}, {linear // x % y}, {linear // x // y})"
        return f"thread {name} of CTA {self.cta_name(int(self.cta[thread]))}"

    def cta_coordinates(self, cta: int) -> tuple[int, int, int]:
        return self.block_coordinates(int(self.cta_numbers[cta]))

    def block_coordinates(self, number: int) -> tuple[int, int, int]:
        """The coordinates in the grid of the CTA with a linear index."""
        gx, gy, _ = self.grid
        return number % gx, number // gx % gy, number // gx // gy

    def cta_name(self, cta: int) -> str:
        return self.block_name(int(self.cta_numbers[cta]))

    def block_name(self, number: int) -> str:
        """The CTA with a linear index, as messages name it."""
        x, y, z = self.block_coordinates(number)
        return f"{x}" if self.grid[1:] == (1, 1) else f"({x}, {y}, {z})"

    def error(self, kind: type[EmulationError], message: str, i: Instruction, thread: int) -> EmulationError:
        """An error of a thread at an instruction."""
        return kind(f"{self.program.name}: {self.where(thread)}: {message}", i)
