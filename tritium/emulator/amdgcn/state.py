"""The registers and memory of a batch of waves, and the group of them that executes at the moment.

Rows are vectorized over waves and lanes: scalar register `n` is an array over waves, vector register `n` one over waves
and lanes. Instructions act on the waves of the current group, whose lanes `exec` selects.
"""

from __future__ import annotations

import numpy as np

from ..errors import EmulationError
from ..memory import Memory, Store
from ..types import Array
from .assembly import Instruction
from .races import LdsRaces
from .shape import Shape

__all__ = ["ACCUMULATORS", "EXEC", "M0", "NOWHERE", "SCALARS", "VCC", "State"]

#: Vector registers from this number on are accumulation registers (AGPRs).
ACCUMULATORS = 512
SCALARS = 128
VCC, M0, EXEC = 106, 124, 126
#: The program counter of waves that do not run: they wait, or have ended.
NOWHERE = np.iinfo(np.int64).max
#: What registers and LDS have before they are written: a NaN in every floating-point format, a large integer.
POISON = 0xFFF7FFF7


class State:
    """The state of a batch, and of the group of waves that executes: `waves` (numbers), `at` (an index of rows).

    Races in LDS are found in locations of `granule` bytes; with 0 they are not looked for.
    """

    def __init__(self, shape: Shape, vectors: int, accumulators: int, lds: int, scratch: int, granule: int) -> None:
        self.shape = shape
        waves, lanes = shape.waves, shape.lanes
        self.lanes = lanes
        self.scalars = np.empty((SCALARS, waves), np.uint32)
        rows = np.empty((vectors + accumulators, waves, lanes), np.uint32)
        self.vectors = {n: rows[n] for n in range(vectors)}
        self.vectors.update({ACCUMULATORS + n: rows[vectors + n] for n in range(accumulators)})
        self.floats = {n: row.view(np.float32) for n, row in self.vectors.items()}
        self.registers = rows
        self.scc = np.zeros(waves, bool)
        self.masks = np.zeros((waves, lanes), bool)
        self.pc = np.zeros(waves, np.int64)
        self.flush32 = self.flush64 = False
        self.check_alignment = False
        self.saturate = False  # FP16_OVFL: conversions to f16 and 8-bit floats do not overflow
        self.lds_size = lds
        self.lds_stride = max(-(-lds // 128) * 128, 128)
        self.lds = Store(np.empty(shape.workgroups * self.lds_stride, np.uint8), 0, "LDS")
        self.scratch_size = scratch
        self.scratch = Store(np.empty(waves * lanes * scratch, np.uint8), 0, "scratch memory")
        self.kernarg = Store(np.zeros(1, np.uint8), 0, "the kernel arguments", writable=False)
        self.memory = Memory()
        self.races = LdsRaces(shape, self.lds_stride, granule) if granule else None
        self.waves = np.arange(waves)
        self.at: slice | Array = slice(None)
        self.sliced = True
        self.exec = self.masks
        self.full = False
        self.instruction: Instruction | None = None

    @property
    def footprint(self) -> int:
        """The approximate size in bytes."""
        races = self.races.footprint if self.races is not None else 0
        return int(self.registers.nbytes + self.lds.raw.nbytes + self.scratch.raw.nbytes + races)

    @property
    def at_instruction(self) -> Instruction:
        """The instruction that executes."""
        assert self.instruction is not None
        return self.instruction

    def reset(self) -> None:
        """Forget all values."""
        self.scalars[:] = POISON
        self.registers[:] = POISON
        self.lds.raw.view(np.uint32)[:] = POISON
        self.scratch.raw[:] = 0xF7
        self.scc[:] = False
        if self.races is not None:
            self.races.reset()

    def select(self, waves: Array) -> None:
        """Make some waves (in order) the ones that execute."""
        self.waves = waves
        first, count = int(waves[0]), len(waves)
        self.sliced = int(waves[-1]) - first + 1 == count
        self.at = slice(first, first + count) if self.sliced else waves
        self.load_exec()

    def load_exec(self) -> None:
        """Take over the mask from the EXEC register."""
        self.masks[self.at] = self.mask_of(EXEC)
        self.exec = self.masks[self.at]
        self.full = bool(self.exec.all())

    def mask_of(self, register: int) -> Array:
        """A scalar register, or a pair for waves of 64 lanes, as booleans over waves and lanes."""
        words = self.scalars[register : register + self.lanes // 32, self.at].T
        packed = np.ascontiguousarray(words).view(np.uint8)
        return np.unpackbits(packed, axis=1, bitorder="little").view(bool)

    def set_mask(self, register: int, value: Array) -> None:
        """The inverse of `mask_of`."""
        words = np.packbits(value, axis=1, bitorder="little").view(np.uint32)
        for n in range(self.lanes // 32):
            self.scalars[register + n, self.at] = words[:, n]
        if register == EXEC:
            self.load_exec()

    def error(self, kind: type[EmulationError], message: str, wave: int, lane: int | None = None) -> EmulationError:
        """An error of a wave, by its number in the batch, at the current instruction."""
        return kind(f"{self.shape.name}: {self.shape.where(wave, lane)}: {message}", self.instruction)
