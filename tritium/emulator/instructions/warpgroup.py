"""wgmma: D = A * B (+ D) by four warps, B (and A, unless it is in registers) in shared memory.

Each warp of the group computes 16 of the 64 rows. A descriptor says how a matrix stands in shared memory (PTX ISA,
"Matrix descriptor"): in atoms of 8 rows of 16, 32, 64 or 128 bytes, whose 16-byte pieces are swapped around by bits of
their address ("swizzled"); two strides lead from atom to atom. Matrices are K-major, where neighbours along K are
neighbours in memory, or MN-major. The emulator computes at once; `wgmma.wait_group` has nothing left to wait for.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..access import Piece
from ..errors import OutOfBounds, UnknownInstruction
from ..floats import narrow
from ..ptx import Immediate, Instruction, Operand, Register, Tuple
from ..registry import emulates
from ..steps import only
from ..types import TYPES, UNSIGNED, Array
from .matrix import whole_warps
from .tensor import BITS, Fragment, Matrix, fragment_a, numbers

if TYPE_CHECKING:
    from ..machine import Machine, Mask, Step

__all__: list[str] = []

_SHAPE = re.compile(r"m64n(\d+)k(\d+)$")
#: Bytes of a row of an atom, by the two upper bits of a descriptor.
_WIDTHS = {0: 16, 1: 128, 2: 64, 3: 32}


@emulates("wgmma")
def warp_group(machine: Machine, i: Instruction) -> Step:
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
    claim = None if machine.races is None else machine.races.asynchrony.registers.product(i, n)

    def run(mask: Mask) -> None:
        if claim is not None:
            claim(mask)
        lanes = whole_warps(machine, mask, i)
        warps = lanes[::32] >> 5
        x = a.values(lanes) if in_registers else a.rows(warps)
        product = np.matmul(x * signs[0], b.all(warps).swapaxes(1, 2) * signs[1])
        kept = keep()[lanes[::32]]
        d.put(lanes, np.where(kept[:, None, None], product + d.values(lanes), product) if kept.any() else product)

    return run


def order(machine: Machine, i: Instruction) -> Step:
    """wgmma.fence, commit_group and wait_group: the emulator computes at once, what is left is for its checks."""
    if machine.races is None:
        return lambda mask: None
    hazards = machine.races.asynchrony
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
            hazards.products.commit(warps)
        else:
            hazards.end_products(warps, allowed)

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
        self, machine: Machine, operand: Operand, rows: int, k: int, type_: str, mn_major: bool, i: Instruction
    ) -> None:
        self.machine, self.i, self.count, self.k, self.type = machine, i, rows, k, type_
        self.size = BITS[type_] // 8
        self.mn_major = mn_major
        if (mn_major and self.size != 2) or not isinstance(operand, Register):
            raise UnknownInstruction(f"{i.name} with this operand is not emulated", i)
        self.descriptor = machine.read(operand, TYPES["u64"], i)

    @functools.lru_cache(maxsize=64)  # noqa: B019 - the machine that owns the instruction lives as long
    def pattern(self, strides: int) -> Array:
        """The offsets of all elements for the upper bits of a descriptor."""
        width = _WIDTHS[strides >> 46]
        leading, stride = strides & 0x3FFF, strides >> 16 & 0x3FFF
        return offsets(self.count, self.k, self.size, width, (leading * 16, stride * 16), self.mn_major)

    def rows(self, warps: Array) -> Array:
        """The 16 rows of each warp of a group of four."""
        return self.read(warps, np.arange(16)[None, :] + warps[:, None] % 4 * 16)

    def all(self, warps: Array) -> Array:
        return self.read(warps, np.broadcast_to(np.arange(self.count), (len(warps), self.count)))

    def read(self, warps: Array, rows: Array) -> Array:
        """Some rows for each warp, as numbers [warp, row, k]."""
        m = self.machine
        lanes = warps * 32
        words = self.descriptor[lanes]
        at = np.empty((*rows.shape, self.k), np.int64)
        for number, word in enumerate(words.tolist()):
            if word >> 49 & 7:
                raise m.error(OutOfBounds, "a base offset in a descriptor is not emulated", self.i, int(lanes[number]))
            places = (word & 0x3FFF) * 16 + self.pattern(word >> 16)[rows[number]]
            mask = _WIDTHS[word >> 62] // 16 - 1
            at[number] = places ^ (places >> 7 & mask) << 4
        low, high = int(at.min()), int(at.max())
        if low < 0 or high + self.size > m.shared_size:
            text = f"a matrix of {self.i.opcode} reaches byte {high} of shared memory, which has {m.shared_size}"
            raise m.error(OutOfBounds, text, self.i, int(lanes[0]))
        at += m.shared_base[lanes][:, None, None]
        if m.races is not None or m.written is not None:
            self.note(at, lanes)
        _, view = m.shared.view(UNSIGNED[self.size * 8])
        values = view[at // self.size]
        return numbers(values.reshape(-1, self.k), self.type).reshape(at.shape)

    def note(self, at: Array, lanes: Array) -> None:
        """Tell the checks of the 16-byte pieces that each warp reads."""
        m = self.machine
        pieces = np.unique(at.reshape(len(lanes), -1) // 16 + (lanes[:, None] << 32))
        piece = Piece(m.shared, (pieces & 0xFFFFFFFF) * 16, pieces >> 32)
        if m.races is not None:
            hazards = m.races.asynchrony
            place, thread = m.races.spread(piece, 16)
            hazards.begin_read(hazards.products, place, thread >> 5, thread, self.i)
        if m.written is not None:
            m.written.check(piece, 16, self.i)


@functools.lru_cache
def accumulator(n: int) -> Fragment:
    """Where the elements of 16 rows of D are: in every 8 columns as those of mma."""
    row, column = np.arange(16)[:, None], np.arange(n)[None, :]
    lane = row % 8 * 4 + column % 8 // 2
    index = lane * (n // 2) + column // 8 * 4 + row // 8 * 2 + column % 2
    return Fragment(index, n // 2, np.argsort(index.ravel()))


class Accumulator:
    """The registers of D, read and written."""

    def __init__(self, machine: Machine, operand: Operand, n: int, type_: str, i: Instruction) -> None:
        assert isinstance(operand, Tuple)
        self.type, self.fragment = type_, accumulator(n)
        if len(operand.items) != n // (4 if type_ == "f16" else 2):
            raise UnknownInstruction(f"{i.name} with {len(operand.items)} registers for its result", i)
        self.registers: list[Array] = [machine.write(r, TYPES["b32"], i) for r in operand.items]

    def values(self, lanes: Array) -> Array:
        raw = np.stack([row[lanes] for row in self.registers], axis=1)
        return numbers(raw, self.type).reshape(len(lanes) // 32, -1)[:, self.fragment.at]

    def put(self, lanes: Array, total: Array) -> None:
        flat = total.reshape(len(total), -1)[:, self.fragment.order].reshape(len(lanes), -1)
        if self.type == "s32":
            bits = flat.astype(np.int64).astype(np.uint32)
        else:
            bits = np.ascontiguousarray(narrow(self.type, flat))
            bits = bits.view(np.uint32) if self.type == "f16" else bits
        for n, row in enumerate(self.registers):
            row[lanes] = bits[:, n]
