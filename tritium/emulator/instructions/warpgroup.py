"""wgmma: D = A * B (+ D) by four warps, B (and A, unless it is in registers) in shared memory.

Each warp of the group computes 16 of the 64 rows. A descriptor says how a matrix stands in shared memory (PTX ISA,
"Matrix descriptor"): in atoms of 8 rows of 16, 32, 64 or 128 bytes, whose 16-byte pieces are swapped around by bits of
their address ("swizzled"); two strides lead from atom to atom. Matrices are K-major, where neighbours along K are
neighbours in memory, or MN-major. The emulator computes at once; what `wgmma.wait_group` waits for is left to the
checks.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import numpy as np

from ..errors import BarrierError, OutOfBounds, UnknownInstruction
from ..floats import narrow
from ..geometry import Mask, Step
from ..memory import Piece
from ..ptx import Immediate, Instruction, Operand, Register, Tuple
from ..registry import emulates
from ..state import MachineState
from ..steps import only
from ..types import TYPES, UNSIGNED, Array
from .matrix import whole_warps
from .tensor import BITS, Fragment, Matrix, fragment_a, numbers

__all__: list[str] = []

_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
#: Bytes of a row of an atom, by the two upper bits of a descriptor.
_WIDTHS = {0: 16, 1: 128, 2: 64, 3: 32}


@emulates("wgmma")
def warp_group(machine: MachineState, i: Instruction) -> Step:
    if i.modifiers[0] in ("fence", "commit_group", "wait_group"):
        return order(machine, i)
    shape = next((m for m in i.modifiers if _SHAPE.match(m)), None)
    only(i, "mma_async", "sync", "aligned", shape or "", "satfinite")
    types = [m for m in i.modifiers if m in BITS or m in ("f32", "s32")]
    if shape is None or len(types) != 3 or "satfinite" in i.modifiers:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    n, k = (int(v) for v in _SHAPE.match(shape).groups())  # type: ignore[union-attr]
    d_type, a_type, b_type = types
    if BITS[a_type] * k != 256 or n % 8 or n > 256:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    operands = list(i.operands) + [Immediate(1)] * (4 - len(i.operands))
    signs = [scale(o, i) for o in operands[4:6]] or [1, 1]  # integers have none
    transposed = [bool(getattr(o, "value", 0)) for o in operands[6:8]] + [False, False]
    in_registers = isinstance(operands[1], Tuple)
    if in_registers:
        a: Any = Matrix(machine, operands[1], fragment_a(16, k, 32 // BITS[a_type]), a_type, i)
        transposed = [False, *transposed]
    else:
        a = SharedMatrix(machine, operands[1], 64, k, a_type, transposed[0], i)
    b = SharedMatrix(machine, operands[2], n, k, b_type, transposed[1], i)
    d = Accumulator(machine, operands[0], n, d_type, i)
    keep = machine.predicate(operands[3], i)
    claim = None if machine.asynchrony is None else machine.asynchrony.registers.mma_async(i, n)

    def run(mask: Mask) -> None:
        if claim is not None:
            claim(mask)
        lanes = whole_warps(machine, mask, i)
        warps = lanes[::32] >> 5
        left = a.values(lanes) if in_registers else a.rows(warps)
        right = b.all(warps)
        result = np.empty((len(warps), 16, n), left.dtype)
        for group in groups_of(warps):
            x = left[group].reshape(-1, k) * signs[0]
            result[group] = np.matmul(x, right[int(warps[group][0]) >> 2].T * signs[1]).reshape(-1, 16, n)
        kept = keep()[lanes[::32]]
        if kept.all():
            result += d.values(lanes)
        elif kept.any():
            result = np.where(kept[:, None, None], result + d.values(lanes), result)
        d.put(lanes, result)

    return run


def groups_of(warps: Array) -> list[slice]:
    """The runs of warps of one group of four, in increasing numbers."""
    starts = [0, *(np.nonzero(np.diff(warps >> 2))[0] + 1).tolist(), len(warps)]
    return [slice(first, last) for first, last in itertools.pairwise(starts)]


def order(machine: MachineState, i: Instruction) -> Step:
    """wgmma.fence, commit_group and wait_group: the emulator computes at once, what is left is for its checks."""
    hazards = machine.asynchrony
    if hazards is None:
        return lambda mask: None
    kind = i.modifiers[0]
    if kind == "fence":
        return hazards.registers.fence
    allowed = 0
    if kind == "wait_group":
        count = i.operands[0]
        assert isinstance(count, Immediate)
        allowed = int(count.value)

    def run(mask: Mask) -> None:
        warps = slice(None) if mask is True else np.unique(np.nonzero(mask)[0] >> 5)
        if kind == "commit_group":
            hazards.wgmmas.commit(warps)
        else:
            hazards.end_wgmmas(warps, allowed)

    return run


def scale(operand: Operand, i: Instruction) -> int:
    if isinstance(operand, Immediate) and operand.value in (1, -1):
        return int(operand.value)
    raise UnknownInstruction(f"{i.name} scales by 1 or -1", i)


def offsets(rows: int, k: int, size: int, width: int, strides: tuple[int, int], mn_major: bool) -> Array:
    """[row, k]: the byte of each element, from the matrix' start, before swizzling. `strides`: leading, stride."""
    leading, stride = strides
    row, column = np.arange(rows)[:, None], np.arange(k)[None, :]
    if mn_major:
        at = row * size
        if width == 16:
            return at % 16 + at // 16 * stride + column % 8 * 16 + column // 8 * leading
        return at % width + at // width * leading + column % 8 * width + column // 8 * stride
    at = column * size
    if width == 16:
        return row % 8 * 16 + row // 8 * stride + at % 16 + at // 16 * leading
    return row % 8 * width + row // 8 * stride + at


class SharedMatrix:
    """A matrix of [rows, k] numbers that a descriptor in a register leads to."""

    def __init__(
        self, machine: MachineState, operand: Operand, rows: int, k: int, type_: str, mn_major: bool, i: Instruction
    ) -> None:
        self.machine, self.i, self.count, self.k, self.type = machine, i, rows, k, type_
        self.is_a = operand is i.operands[1]
        self.size = BITS[type_] // 8
        self.mn_major = mn_major
        if (mn_major and self.size != 2) or not isinstance(operand, Register):
            raise UnknownInstruction(f"{i.name} with this operand is not emulated", i)
        self.descriptor = machine.read(operand, TYPES["u64"], i)

        self.places = functools.lru_cache(maxsize=256)(self._places)

    def _places(self, word: int) -> tuple[Array, Array]:
        """For a descriptor, within a block: the byte of each element, and the 16-byte pieces of each 16 rows (of B: of
        all rows)."""
        strides = word >> 16
        width = _WIDTHS[strides >> 46]
        leading, stride = strides & 0x3FFF, strides >> 16 & 0x3FFF
        pattern = offsets(self.count, self.k, self.size, width, (leading * 16, stride * 16), self.mn_major)
        places = (word & 0x3FFF) * 16 + pattern
        at = places ^ (places >> 7 & (width // 16 - 1)) << 4
        parts = at.reshape(4, -1) if self.is_a else at.reshape(1, -1)
        return at, np.stack([np.unique(part >> 4) for part in parts]) << 4

    def words(self, warps: Array, groups: list[slice]) -> list[int]:
        """The descriptor of each group of warps, which must be the same for all its threads."""
        m = self.machine
        out = []
        for group in groups:
            lanes = (warps[group][:, None] * 32 + np.arange(32)).ravel()
            values = self.descriptor[lanes]
            word = int(values[0])
            if (values != values[0]).any():
                thread = int(lanes[np.argmax(values != values[0])])
                raise m.error(BarrierError, "has another descriptor than others of its warp group", self.i, thread)
            if word >> 49 & 7:
                raise m.error(OutOfBounds, "a base offset in a descriptor is not emulated", self.i, int(lanes[0]))
            out.append(word)
        return out

    def rows(self, warps: Array) -> Array:
        """The 16 rows of each warp, as numbers [warp, 16, k]."""
        groups = groups_of(warps)
        parts = []
        for group, word in zip(groups, self.words(warps, groups)):
            tile = self.tile(word, warps[group])
            parts.append(tile.reshape(4, 16, self.k)[warps[group] & 3])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def all(self, warps: Array) -> dict[int, Array]:
        """All rows, as numbers [row, k], for each group of warps (warp / 4). Groups of a block may share a matrix."""
        groups = groups_of(warps)
        found: dict[tuple[int, int], Array] = {}
        out = {}
        for group, word in zip(groups, self.words(warps, groups)):
            first = int(warps[group][0])
            key = (word, int(self.machine.cta[first * 32]))
            if key in found:
                self.claim(word, warps[group])
            else:
                found[key] = self.tile(word, warps[group])
            out[first >> 2] = found[key]
        return out

    def tile(self, word: int, warps: Array) -> Array:
        """The matrix of a descriptor in the block of some warps, as numbers [row, k]."""
        m = self.machine
        at, _ = self.places(word)
        low, high = int(at.min()), int(at.max())
        if low < 0 or high + self.size > m.shared_size:
            text = f"a matrix of {self.i.opcode} reaches byte {high} of shared memory, which has {m.shared_size}"
            raise m.error(OutOfBounds, text, self.i, int(warps[0]) * 32)
        self.claim(word, warps)
        _, view = m.shared.view(UNSIGNED[self.size * 8])
        base = int(m.shared_base[warps[0] * 32])
        return numbers(view[(at + base) // self.size], self.type).reshape(self.count, self.k)

    def claim(self, word: int, warps: Array) -> None:
        """Tell the checks of the 16-byte pieces that the warps read."""
        m = self.machine
        if m.races is None and m.initcheck is None:
            return
        parts = self.places(word)[1] + int(m.shared_base[warps[0] * 32])
        readers = [(parts[w & 3], warps[n : n + 1]) for n, w in enumerate(warps.tolist())] if self.is_a else []
        for part, units in readers or [(parts[0], warps)]:
            piece = Piece(m.shared, part, np.full(len(part), int(units[0]) * 32))
            if m.races is not None and m.asynchrony is not None:
                m.asynchrony.begin_wgmma(m.races.spread(piece, 16)[0], units, self.i)
            if m.initcheck is not None:
                m.initcheck.check(piece, 16, self.i)


@functools.lru_cache
def accumulator(n: int) -> Fragment:
    """Where the elements of 16 rows of D are: in every 8 columns as those of mma."""
    row, column = np.arange(16)[:, None], np.arange(n)[None, :]
    lane = row % 8 * 4 + column % 8 // 2
    index = lane * (n // 2) + column // 8 * 4 + row // 8 * 2 + column % 2
    return Fragment(index, n // 2, np.argsort(index.ravel()))


class Accumulator:
    """The registers of D, read and written."""

    def __init__(self, machine: MachineState, operand: Operand, n: int, type_: str, i: Instruction) -> None:
        assert isinstance(operand, Tuple)
        self.type, self.fragment = type_, accumulator(n)
        if len(operand.items) != n // (4 if type_ == "f16" else 2):
            raise UnknownInstruction(f"{i.name} with {len(operand.items)} registers for its result", i)
        self.registers: list[Array] = [machine.write(r, TYPES["b32"], i) for r in operand.items]
        self.block = neighbours(self.registers)

    def values(self, lanes: Array) -> Array:
        if self.block is not None:
            raw = np.ascontiguousarray(self.block[:, lanes].T)
        else:
            raw = np.stack([row[lanes] for row in self.registers], axis=1)
        return numbers(raw, self.type).reshape(len(lanes) // 32, -1)[:, self.fragment.at]

    def put(self, lanes: Array, total: Array) -> None:
        flat = total.reshape(len(total), -1)[:, self.fragment.order].reshape(len(lanes), -1)
        if self.type == "s32":
            bits = flat.astype(np.int64).astype(np.uint32)
        else:
            bits = np.ascontiguousarray(narrow(self.type, flat))
            bits = bits.view(np.uint32) if self.type == "f16" else bits
        if self.block is not None:
            self.block[:, lanes] = bits.T
            return
        for n, row in enumerate(self.registers):
            row[lanes] = bits[:, n]


def neighbours(rows: list[Array]) -> Array | None:
    """Rows of one array that follow each other, as one array; None where they do not."""
    base = rows[0].base
    if base is None or any(row.base is not base for row in rows) or base.ndim != 2 or base.dtype != rows[0].dtype:
        return None
    first = (rows[0].ctypes.data - base.ctypes.data) // base.strides[0]
    wanted = base.ctypes.data + base.strides[0] * np.arange(first, first + len(rows))
    if [row.ctypes.data for row in rows] != wanted.tolist():
        return None
    return base[first : first + len(rows)]  # type: ignore[no-any-return]
