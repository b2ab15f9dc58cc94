"""Detection of reads of uninitialized shared memory."""

from __future__ import annotations

import numpy as np

from ..support.quantities import counted
from .errors import UninitializedRead
from .geometry import Geometry
from .memory import Piece
from .ptx import Instruction
from .types import Array

__all__ = ["InitCheck"]


class InitCheck:
    """One flag for each byte of the shared memory of a machine."""

    def __init__(self, machine: Geometry) -> None:
        self.machine = machine
        self.flags = np.zeros(machine.ctas * machine.shared_stride, bool)

    def reset(self) -> None:
        self.flags.fill(False)

    def bytes_of(self, piece: Piece, size: int) -> Array:
        return piece.at[:, None] + np.arange(size)

    def mark(self, piece: Piece, size: int) -> None:
        """Mark the bytes of accesses of `size` bytes as written."""
        self.flags[self.bytes_of(piece, size)] = True

    def check(self, piece: Piece, size: int, i: Instruction) -> None:
        """Raise UninitializedRead for the first access of `size` bytes that reads a byte that no thread has written."""
        missing = ~self.flags[self.bytes_of(piece, size)].all(axis=1)
        if missing.any():
            n = int(np.argmax(missing))
            at = int(piece.at[n]) % self.machine.shared_stride
            text = f"reads {counted(size, 'byte')} of shared memory at {at:#x} that nothing has written"
            raise self.machine.error(UninitializedRead, text, i, int(piece.lanes[n]))
