"""mma.sync: D = A * B + C on the matrices that a warp holds in its registers.

In every shape, a register of `e` elements of lane n holds row n / 4 (A: 8 rows further for odd registers) and the `e`
columns from (n % 4) * e on (4e columns further with every second register of A, every register of B); of C and D two
columns from (n % 4) * 2 on, 8 rows further with every second pair. (PTX ISA, "Warp Level Matrix Multiply-Accumulate
Instructions".)

f16, bf16, tf32 and 8-bit numbers are multiplied and accumulated in float64 and rounded once to the accumulator's
format. The hardware adds with fewer digits, in an order that it does not tell: results differ from its in the last
places.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import numpy as np

from ..errors import UnknownInstruction
from ..floats import narrow, widen
from ..geometry import Mask, Step
from ..ptx import Instruction, Operand
from ..registry import emulates
from ..state import MachineState
from ..steps import only
from ..types import TYPES, UNSIGNED, Array
from .loads import values_of
from .matrix import whole_warps

__all__ = ["BITS", "Fragment", "Matrix", "fragment_a", "numbers"]

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
BITS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f64": 64,
    "s8": 8,
    "u8": 8,
    "e4m3": 8,
    "e5m2": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
}
#: The shapes that exist, by bits of an element of A.
_SHAPES = {
    16: {(16, 8, 8), (16, 8, 16)},
    32: {(16, 8, 4), (16, 8, 8)},
    64: {(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)},
    8: {(8, 8, 16), (16, 8, 16), (16, 8, 32)},
    4: {(8, 8, 32), (16, 8, 32), (16, 8, 64)},
    1: {(8, 8, 128), (16, 8, 128), (16, 8, 256)},
}


class Fragment(NamedTuple):
    """Where the elements of a matrix are: `at[row, column]` counts elements over (lane, register, element).

    `order` is the inverse: the element in row-major order that stands at each of these.
    """

    at: Array
    registers: int
    order: Array


@functools.lru_cache
def fragment_a(m: int, k: int, e: int) -> Fragment:
    lane, registers = np.arange(32), (m // 8) * (k // (4 * e))
    index = np.zeros((m, k), np.int64)
    for r in range(registers):
        step = r % (m // 8), r // (m // 8)
        for j in range(e):
            rows, columns = lane // 4 + 8 * step[0], lane % 4 * e + j + 4 * e * step[1]
            index[rows, columns] = (lane * registers + r) * e + j
    return Fragment(index, registers, np.argsort(index.ravel()))


@functools.lru_cache
def fragment_b(k: int, n: int, e: int) -> Fragment:
    a = fragment_a(n, k, e)
    return Fragment(a.at.T.copy(), a.registers, np.argsort(a.at.T.ravel()))


@functools.lru_cache
def fragment_c(m: int, n: int, e: int) -> Fragment:
    """C and D: pairs of neighbours, `e` of them in a register."""
    lane, elements = np.arange(32), m * n // 32
    index = np.zeros((m, n), np.int64)
    for i in range(elements):
        index[lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2] = lane * elements + i
    return Fragment(index, elements // e, np.argsort(index.ravel()))


@emulates("mma")
def multiply(machine: MachineState, i: Instruction) -> Step:
    shape_name = next((m for m in i.modifiers if _SHAPE.match(m)), None)
    only(i, "sync", "aligned", "row", "col", "satfinite", "xor", "and", "popc", "s4", "u4", "b1", shape_name or "")
    types = [m for m in i.modifiers if m in TYPES or m in BITS]
    if shape_name is None or len(types) != 4 or i.modifiers[3:5] != ("row", "col"):
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    m, n, k = (int(v) for v in _SHAPE.match(shape_name).groups())  # type: ignore[union-attr]
    d_type, a_type, b_type, c_type = types
    bits = BITS.get(a_type, 0)
    if (m, n, k) not in _SHAPES.get(bits, ()) or BITS.get(b_type) != bits:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    e = max(32 // bits, 1)
    a = Matrix(machine, i.operands[1], fragment_a(m, k, e), a_type, i)
    b = Matrix(machine, i.operands[2], fragment_b(k, n, e), b_type, i)
    c = Matrix(machine, i.operands[3], fragment_c(m, n, 2 if c_type == "f16" else 1), c_type, i)
    d = Result(machine, i.operands[0], fragment_c(m, n, 2 if d_type == "f16" else 1), d_type, i)
    saturate = "satfinite" in i.modifiers
    of_bits = np.bitwise_xor if "xor" in i.modifiers else np.bitwise_and

    def run(mask: Mask) -> None:
        lanes = whole_warps(machine, mask, i)
        x, y, z = a.values(lanes), b.values(lanes), c.values(lanes)
        if bits == 1:
            total = of_bits(x[:, :, :, None], y[:, None, :, :]).sum(axis=2) + z
        else:
            total = np.matmul(x, y) + z
        d.put(lanes, total, saturate)

    return run


class Matrix:
    """A matrix in the registers of an operand, as numbers over [warp, row, column]."""

    def __init__(self, machine: MachineState, operand: Operand, fragment: Fragment, type_: str, i: Instruction) -> None:
        registers = values_of(operand)
        if len(registers) != fragment.registers:
            raise UnknownInstruction(f"{i.name} with {len(registers)} registers for a matrix", i)
        self.fragment, self.type = fragment, type_
        self.width = 64 if type_ == "f64" else 32
        self.rows = [np.broadcast_to(machine.read(r, TYPES[f"b{self.width}"], i), machine.threads) for r in registers]

    def values(self, lanes: Array) -> Array:
        raw = np.stack([row[lanes] for row in self.rows], axis=1)
        return numbers(raw, self.type).reshape(len(lanes) // 32, -1)[:, self.fragment.at]


def numbers(raw: Array, type_: str) -> Array:
    """Registers [thread, register] as the numbers in them [thread, all elements]: float64, or int64."""
    bits = BITS.get(type_, 32)
    if bits < 8:
        parts = raw[:, :, None] >> np.arange(0, 32, bits, dtype=np.uint32) & np.uint32((1 << bits) - 1)
        values = parts.reshape(len(raw), -1).astype(np.int64)
        return np.where(values > 7, values - 16, values) if type_ == "s4" else values
    if type_ in ("s8", "u8", "s32"):
        return raw.view(TYPES[type_].dtype).astype(np.int64)
    if type_ in ("f64", "f32"):
        return raw.view(TYPES[type_].dtype).astype(np.float64)
    if type_ == "tf32":
        return widen("tf32", raw).astype(np.float64)
    return widen(type_, raw.view(UNSIGNED[bits])).astype(np.float64)


class Result:
    """The registers that a matrix goes to."""

    def __init__(self, machine: MachineState, operand: Operand, fragment: Fragment, type_: str, i: Instruction) -> None:
        registers = values_of(operand)
        if len(registers) != fragment.registers:
            raise UnknownInstruction(f"{i.name} with {len(registers)} registers for its result", i)
        self.fragment, self.type = fragment, type_
        width = 64 if type_ == "f64" else 32
        self.rows: list[Any] = [machine.write(r, TYPES[f"b{width}"], i) for r in registers]
        self.order = fragment.order

    def put(self, lanes: Array, total: Array, saturate: bool) -> None:
        flat = total.reshape(len(total), -1)[:, self.order].reshape(len(lanes), -1)
        if self.type == "s32":
            if saturate:
                flat = np.clip(flat, -(1 << 31), (1 << 31) - 1)
            bits = flat.astype(np.int64).astype(np.uint32)
        else:
            bits = np.ascontiguousarray(narrow(self.type, flat))
            if self.type == "f16":
                bits = bits.view(np.uint32)
        for n, row in enumerate(self.rows):
            row[lanes] = bits[:, n]
