"""Operands as arrays: how an instruction reads and writes registers, constants and the names of variables."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import PTXError, UnknownInstruction
from .program import Program
from .ptx import Immediate, Instruction, Name, Operand, Register, Special
from .threads import Threads
from .types import TYPES, UNSIGNED, Array, Type

__all__ = ["Operands"]

_AXES = "xyz"


class Operands(Threads):
    """The registers of a machine, as arrays over its threads."""

    def __init__(
        self,
        program: Program,
        block: tuple[int, int, int],
        ctas: int,
        shared_bytes: int,
        cluster: tuple[int, int, int],
    ) -> None:
        super().__init__(program, block, ctas, shared_bytes, cluster)
        threads = self.threads
        self.module_arrays = {v.name: np.zeros(max(v.size, 1) + 15, np.uint8) for v in program.globals}
        self.rows: dict[str, Array] = {}
        self.views: dict[tuple[str, np.dtype[Any]], Array] = {}
        counts: dict[str, list[str]] = {}
        for name, type_ in program.registers.items():
            counts.setdefault(type_, []).append(name)
        for type_, names in counts.items():
            width = TYPES[type_].bits
            if width == 128:
                rows = np.zeros((len(names), threads, 2), np.uint64)
            else:
                rows = np.zeros((len(names), threads), np.bool_ if width == 1 else UNSIGNED[width])
            for name, row in zip(names, rows):
                self.rows[name] = row
        self.carry = np.zeros(threads, np.uint8)
        self.specials: dict[str, Array] = {}
        self.make_specials()

    # -- reading -------------------------------------------------------------------------------------------------

    def read(self, operand: Operand, type_: Type, i: Instruction) -> Any:
        """A live array of `type_` over the threads, or a scalar for a constant."""
        if isinstance(operand, Register):
            if operand.negated:
                raise UnknownInstruction("a negated operand is not emulated here", i)
            return self.view(operand.name, type_, i)
        if isinstance(operand, Immediate):
            return constant(operand, type_, i)
        if isinstance(operand, Special):
            return self.special(operand.name, type_, i)
        if isinstance(operand, Name):
            return self.address_of(operand.name, i).astype(UNSIGNED[type_.bits]).view(type_.dtype)
        raise UnknownInstruction(f"{operand!r} cannot be read as {type_.name}", i)

    def view(self, name: str, type_: Type, i: Instruction) -> Array:
        """A register seen as `type_`; of a wider register the low part."""
        row = self.rows.get(name)
        if row is None:
            raise PTXError(f"{name} is not declared", i)
        if type_.kind == "pred":
            if row.dtype != np.bool_:
                raise PTXError(f"{name} is no predicate", i)
            return row
        if type_.bits == 128:
            return row
        key = (name, type_.dtype)
        view = self.views.get(key)
        if view is None:
            if row.dtype == np.bool_ or row.ndim == 2:
                raise PTXError(f"{name} cannot be read as {type_.name}", i)
            if row.dtype.itemsize < type_.bytes:
                raise PTXError(f"{name} has fewer bits than {type_.name}", i)
            view = self.views[key] = row.view(type_.dtype)[:: row.dtype.itemsize // type_.bytes]
        return view

    def predicate(self, operand: Operand, i: Instruction) -> Callable[[], Array]:
        """A function that gives the present value of a predicate, which may be negated or a constant."""
        if isinstance(operand, Register):
            row = self.view(operand.name, TYPES["pred"], i)
            return (lambda: ~row) if operand.negated else (lambda: row)
        if isinstance(operand, Immediate):
            constant_row = np.full(self.threads, bool(operand.value))
            return lambda: constant_row
        raise UnknownInstruction(f"{operand!r} is no predicate", i)

    def write(self, operand: Operand, type_: Type, i: Instruction) -> Array:
        """The live array to write results of `type_` into; a dummy for the sink `_`."""
        if operand is None:
            return np.zeros(self.threads, type_.dtype)
        if not isinstance(operand, Register):
            raise PTXError("a result must go to a register", i)
        row = self.rows.get(operand.name)
        if row is not None and type_.kind != "pred" and row.dtype.itemsize != type_.bytes and type_.bits != 128:
            raise PTXError(f"{operand.name} has not the width of {type_.name}", i)
        return self.view(operand.name, type_, i)

    def widest(self, operand: Operand, type_: Type, i: Instruction) -> Array:
        """Where a result of `type_` goes that fills a wider register: sign-extended for s, else with zeros."""
        if operand is None:
            return np.zeros(self.threads, type_.dtype)
        if not isinstance(operand, Register) or operand.name not in self.rows:
            raise PTXError("a result must go to a register", i)
        row = self.rows[operand.name]
        if type_.kind == "s":
            return self.view(operand.name, TYPES[f"s{row.dtype.itemsize * 8}"], i)
        if row.dtype.itemsize == type_.bytes:
            return self.view(operand.name, type_, i)
        if row.dtype.itemsize < type_.bytes or row.dtype == np.bool_:
            raise PTXError(f"{operand.name} has fewer bits than {type_.name}", i)
        return row

    # -- names and special registers -----------------------------------------------------------------------------

    def address_of(self, name: str, i: Instruction) -> Any:
        """The address of a variable, in its own space."""
        symbol = self.program.symbols.get(name)
        if symbol is None:
            raise PTXError(f"{name} is not declared", i)
        if symbol.space in ("global", "const"):
            return np.uint64(self.module_address(name))
        return np.uint64(symbol.offset)

    def module_address(self, name: str) -> int:
        """Where a variable of the module stands in global memory: at a multiple of 16."""
        return -(-int(self.module_arrays[name].ctypes.data) // 16) * 16

    def make_specials(self) -> None:
        """Arrays of the special registers that are numbers of threads."""
        linear = np.arange(self.threads) % self.padded
        x, y, z = self.block
        table = {
            "%tid.x": linear % x,
            "%tid.y": linear // x % y,
            "%tid.z": linear // (x * y),
            "%laneid": linear % 32,
            "%warpid": linear // 32,
            "%nwarpid": np.full_like(linear, self.padded // 32),
            "%lanemask_eq": 1 << linear % 32,
            "%lanemask_lt": (1 << linear % 32) - 1,
            "%lanemask_le": (2 << linear % 32) - 1,
            "%lanemask_gt": 0xFFFFFFFF & ~((2 << linear % 32) - 1),
            "%lanemask_ge": 0xFFFFFFFF & ~((1 << linear % 32) - 1),
        }
        for name in ("ctaid", "nctaid", "ntid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"):
            for axis in _AXES:
                table[f"%{name}.{axis}"] = np.zeros_like(linear)
        for name in ("%cluster_ctarank", "%cluster_nctarank", "%smid", "%is_explicit_cluster", "%dynamic_smem_size"):
            table[name] = np.zeros_like(linear)
        table["%total_smem_size"] = np.zeros_like(linear)
        table["%nsmid"] = np.ones_like(linear)
        table["%gridid"] = np.zeros_like(linear)
        self.specials = {name: array.astype(np.uint32) for name, array in table.items()}
        for axis, n in zip(_AXES, self.block):
            self.specials[f"%ntid.{axis}"].fill(n)

    def set_specials(self, grid: tuple[int, int, int]) -> None:
        """The special registers that depend on which CTAs run."""
        numbers = self.cta_numbers[self.cta]
        gx, gy, _ = grid
        coordinates = (numbers % gx, numbers // gx % gy, numbers // (gx * gy))
        shape = self.cluster_shape
        rank = np.zeros_like(numbers)
        step = 1
        for axis, at, n, size in zip(_AXES, coordinates, grid, shape):
            self.specials[f"%ctaid.{axis}"][:] = at
            self.specials[f"%nctaid.{axis}"].fill(n)
            self.specials[f"%clusterid.{axis}"][:] = at // size
            self.specials[f"%nclusterid.{axis}"].fill(-(-n // size))
            self.specials[f"%cluster_ctaid.{axis}"][:] = at % size
            self.specials[f"%cluster_nctaid.{axis}"].fill(size)
            rank += at % size * step
            step *= size
        self.specials["%cluster_ctarank"][:] = rank
        self.specials["%cluster_nctarank"].fill(step)
        self.specials["%is_explicit_cluster"].fill(step > 1)
        self.specials["%dynamic_smem_size"].fill(self.shared_size - self.program.shared_size)
        self.specials["%total_smem_size"].fill(self.shared_size)

    def special(self, name: str, type_: Type, i: Instruction) -> Array:
        row = self.specials.get(name)
        if row is None:
            raise UnknownInstruction(f"the emulator does not know the register {name}", i)
        if type_.bits == 32:
            return row.view(type_.dtype)
        if type_.bits == 16:
            return row.view(type_.dtype)[::2]
        if type_.bits == 64 and name.startswith(("%tid", "%ntid", "%lane")):
            return row.astype(type_.dtype)
        raise UnknownInstruction(f"{name} has 32 bits, it cannot be read as {type_.name}", i)


def constant(value: Immediate, type_: Type, i: Instruction) -> Any:
    """A constant as a scalar of `type_`."""
    bits = int(value.value)
    if value.float_bits and type_.kind == "f":
        number = bits_to_float(bits, value.float_bits)
        if type_.name == "f32":
            return np.float32(number) if value.float_bits == 64 else np.uint32(bits).view(np.float32)
        if type_.name == "f64":
            return np.uint64(bits).view(np.float64) if value.float_bits == 64 else np.float64(number)
        raise UnknownInstruction(f"a constant of {type_.name} is written as bits", i)
    if type_.kind == "pred":
        return np.bool_(bits)
    if type_.bits == 128:
        raise UnknownInstruction("constants of 128 bits are not emulated", i)
    if value.float_bits > type_.bits:
        bits = int.from_bytes(struct.pack("<f", bits_to_float(bits, 64)), "little")
    if type_.name == "f32" and not value.float_bits:
        return np.float32(bits)
    if type_.name == "f64" and not value.float_bits:
        return np.float64(bits)
    unsigned = UNSIGNED[type_.bits].type(bits & ((1 << type_.bits) - 1))
    return unsigned.view(type_.dtype)


def bits_to_float(bits: int, width: int) -> float:
    if width == 32:
        return float(struct.unpack("<f", bits.to_bytes(4, "little"))[0])
    return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
