"""Logic, shifts, and instructions that move bits about."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnknownInstruction
from ..geometry import Step
from ..ptx import Immediate, Instruction, Pair
from ..registry import emulates
from ..state import MachineState
from ..steps import assign, last_type, only, ufunc
from ..types import TYPES, UNSIGNED, Array, Type

__all__: list[str] = []

_LOGIC: dict[str, Any] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


def unsigned(type_: Type) -> Type:
    return TYPES[f"u{type_.bits}"]


@emulates("and", "or", "xor")
def logic(machine: MachineState, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    target = machine.write(i.operands[0], type_, i)
    if type_.kind == "pred":
        a, b = (machine.predicate(o, i) for o in i.operands[1:3])
        function = _LOGIC[i.opcode]
        return assign(target, lambda: function(a(), b()))
    return ufunc(_LOGIC[i.opcode], target, *(machine.read(o, type_, i) for o in i.operands[1:3]))


@emulates("not")
def invert(machine: MachineState, i: Instruction) -> Step:
    only(i)
    type_ = last_type(i)
    target = machine.write(i.operands[0], type_, i)
    if type_.kind == "pred":
        a = machine.predicate(i.operands[1], i)
        return assign(target, lambda: ~a())
    return ufunc(np.invert, target, machine.read(i.operands[1], type_, i))


@emulates("cnot")
def c_not(machine: MachineState, i: Instruction) -> Step:
    """1 where the operand is 0, otherwise 0"""
    only(i)
    type_ = last_type(i)
    source = machine.read(i.operands[1], type_, i)
    return assign(machine.write(i.operands[0], type_, i), lambda: np.equal(source, 0))


@emulates("lop3")
def logic_of_three(machine: MachineState, i: Instruction) -> Step:
    """Any function of three bits, given by its table."""
    only(i, "and", "or")
    type_ = last_type(i)
    out = i.operands[0]
    target = machine.write(out.first if isinstance(out, Pair) else out, type_, i)
    a, b, c = (machine.read(o, type_, i) for o in i.operands[1:4])
    table = i.operands[4]
    if not isinstance(table, Immediate):
        raise UnknownInstruction("the table of lop3 must be a constant", i)
    ones = [n for n in range(8) if int(table.value) >> n & 1]

    def value() -> Array:
        result = np.zeros(machine.threads, type_.dtype)
        for n in ones:
            term = (a if n & 4 else ~a) & (b if n & 2 else ~b) & (c if n & 1 else ~c)
            result |= term
        return result

    step = assign(target, value)
    if not isinstance(out, Pair):
        return step
    predicate = machine.write(out.second, TYPES["pred"], i)
    q = machine.predicate(i.operands[5], i)
    combine = _LOGIC[next(m for m in i.modifiers if m in _LOGIC)]

    def both(mask: Any) -> None:
        result = combine(value() != 0, q())
        step(mask)
        np.copyto(predicate, result, where=mask)

    return both


@emulates("shl", "shr")
def shift(machine: MachineState, i: Instruction) -> Step:
    """Amounts beyond the width count as the width."""
    only(i)
    type_ = last_type(i)
    seen = type_ if type_.kind == "s" else unsigned(type_)
    target = machine.write(i.operands[0], seen, i)
    value = machine.read(i.operands[1], seen, i)
    amount = machine.read(i.operands[2], TYPES["u32"], i)
    function: Any = np.left_shift if i.opcode == "shl" else np.right_shift
    dtype, width = seen.dtype, np.uint32(type_.bits)
    if isinstance(amount, np.generic):
        if amount >= width:
            amount = np.uint32(type_.bits - 1)
            if seen.kind != "s" or i.opcode == "shl":
                return assign(target, lambda: dtype.type(0))
        return ufunc(function, target, value, amount.astype(dtype))

    def shifted() -> Array:
        big = amount >= width
        small = np.where(big, width - np.uint32(1), amount).astype(dtype)
        result = function(value, small)
        if big.any():
            lost = function(result, dtype.type(1)) if i.opcode == "shr" and seen.kind == "s" else dtype.type(0)
            result = np.where(big, lost, result)
        return result

    return assign(target, shifted)


@emulates("shf")
def funnel_shift(machine: MachineState, i: Instruction) -> Step:
    """Shift 64 bits, b above a; .l gives the upper word, .r the lower."""
    only(i, "l", "r", "clamp", "wrap")
    target = machine.write(i.operands[0], TYPES["u32"], i)
    a, b, c = (machine.read(o, TYPES["u32"], i) for o in i.operands[1:4])
    wrap = "wrap" in i.modifiers

    def value() -> Array:
        amount = np.asarray(c & 31 if wrap else np.minimum(c, 32)).astype(np.uint64)
        both = np.asarray(b).astype(np.uint64) << np.uint64(32) | np.asarray(a).astype(np.uint64)
        if "l" in i.modifiers:
            return both << amount >> np.uint64(32)
        return both >> amount & np.uint64(0xFFFFFFFF)

    return assign(target, value)


@emulates("popc", "clz", "brev", "bfind", "fns")
def of_bits(machine: MachineState, i: Instruction) -> Step:
    only(i, "shiftamt")
    if i.opcode == "fns":
        return find_nth(machine, i)
    type_ = last_type(i)
    source = machine.read(i.operands[1], type_, i)
    result = unsigned(type_) if i.opcode == "brev" else TYPES["u32"]
    target = machine.write(i.operands[0], result, i)
    bits, dtype = type_.bits, UNSIGNED[type_.bits]

    def value() -> Array:
        x = np.atleast_1d(source)
        if i.opcode == "bfind" and type_.kind == "s":
            x = np.where(x < 0, ~x, x)
        x = x.view(dtype)
        if i.opcode == "popc":
            return count_bits(x)
        if i.opcode == "brev":
            return reverse(x)
        length = bit_length(x)
        if i.opcode == "clz":
            return bits - length
        found = bits - length if "shiftamt" in i.modifiers else length - 1
        return np.where(length == 0, -1, found)

    return assign(target, value)


def bit_length(x: Array) -> Array:
    """The number of bits of unsigned numbers up to the highest that is set."""
    length = np.zeros(x.shape, np.int64)
    for n in (32, 16, 8, 4, 2, 1):
        if n < x.dtype.itemsize * 8:
            big = x >> x.dtype.type(n) != 0
            x = np.where(big, x >> x.dtype.type(n), x)
            length += big * n
    return length + (x != 0)


_COUNTS = np.array([bin(n).count("1") for n in range(256)], np.uint8)


def count_bits(x: Array) -> Array:
    return _COUNTS[np.ascontiguousarray(x).view(np.uint8).reshape(-1, x.dtype.itemsize)].sum(axis=1)


def reverse(x: Array) -> Array:
    size = x.dtype.itemsize
    octets = np.ascontiguousarray(x).view(np.uint8).reshape(-1, size)[:, ::-1]
    bits = np.unpackbits(octets, axis=1, bitorder="big").reshape(-1, size, 8)[:, :, ::-1]
    return np.packbits(bits, axis=2, bitorder="big").reshape(-1, size).view(x.dtype)[:, 0]


def find_nth(machine: MachineState, i: Instruction) -> Step:
    """fns: the position of the nth set bit from a base, upward or downward; all ones where there is none."""
    target = machine.write(i.operands[0], TYPES["u32"], i)
    mask, base = (machine.read(o, TYPES["u32"], i) for o in i.operands[1:3])
    offset = machine.read(i.operands[3], TYPES["s32"], i)

    def one(m: int, at: int, n: int) -> int:
        if n == 0:
            return at if m >> at & 1 else 0xFFFFFFFF
        step, left = (1, n) if n > 0 else (-1, -n)
        position = at
        while 0 <= position < 32:
            left -= m >> position & 1
            if not left:
                return position
            position += step
        return 0xFFFFFFFF

    def value() -> Array:
        arrays = np.broadcast_arrays(np.atleast_1d(mask), base, offset)
        return np.array([one(int(m), int(a) & 31, int(n)) for m, a, n in zip(*arrays)], np.uint32)

    return assign(target, value)


@emulates("bfe", "bfi", "bmsk", "szext")
def field(machine: MachineState, i: Instruction) -> Step:
    """Bit fields: taken out (with its sign), put in; masks; and the sign or zero extension of the low bits."""
    only(i, "clamp", "wrap")
    type_ = last_type(i)
    return _FIELDS[i.opcode](machine, i, type_)


def extract(machine: MachineState, i: Instruction, type_: Type) -> Step:
    target = machine.write(i.operands[0], type_, i)
    source = machine.read(i.operands[1], type_, i)
    start, length = (machine.read(o, TYPES["u32"], i) for o in i.operands[2:4])
    bits, dtype = type_.bits, type_.dtype

    def value() -> Array:
        x = np.atleast_1d(source)
        at, n = (np.atleast_1d(v).astype(np.int64) & 0xFF for v in (start, length))
        low = np.where(at < bits, x.view(UNSIGNED[bits]) >> np.minimum(at, bits - 1).astype(UNSIGNED[bits]), 0)
        keep = np.minimum(n, bits)
        mask = ones_below(keep, bits)
        result = low.astype(UNSIGNED[bits]) & mask
        if type_.kind == "s":
            top = np.minimum(at + n - 1, bits - 1)
            sign = (x.view(UNSIGNED[bits]) >> np.maximum(top, 0).astype(UNSIGNED[bits])) & UNSIGNED[bits].type(1)
            # Bits beyond the field, and beyond the top of the operand, are copies of its sign.
            present = ones_below(np.clip(np.minimum(n, bits - at), 0, bits), bits)
            result = np.where((n > 0) & (sign == 1), (result & present) | ~present, result)
        return result.view(dtype)

    return assign(target, value)


def ones_below(n: Any, bits: int) -> Array:
    """A word whose lowest n bits are set."""
    dtype = UNSIGNED[bits]
    n = np.asarray(n)
    return np.where(n >= bits, ~dtype.type(0), (dtype.type(1) << np.minimum(n, bits - 1).astype(dtype)) - dtype.type(1))


def insert(machine: MachineState, i: Instruction, type_: Type) -> Step:
    seen = unsigned(type_)
    target = machine.write(i.operands[0], seen, i)
    a, b = (machine.read(o, seen, i) for o in i.operands[1:3])
    start, length = (machine.read(o, TYPES["u32"], i) for o in i.operands[3:5])
    bits, dtype = type_.bits, seen.dtype

    def value() -> Array:
        at, n = (np.atleast_1d(v).astype(np.int64) & 0xFF for v in (start, length))
        shift = np.minimum(at, bits - 1).astype(dtype)
        mask = np.where(at < bits, ones_below(np.minimum(n, bits), bits) << shift, dtype.type(0))
        return (np.atleast_1d(a) << shift & mask) | (b & ~mask)

    return assign(target, value)


def mask_of(machine: MachineState, i: Instruction, type_: Type) -> Step:
    target = machine.write(i.operands[0], TYPES["u32"], i)
    start, length = (machine.read(o, TYPES["u32"], i) for o in i.operands[1:3])

    def value() -> Array:
        at, n = (np.atleast_1d(v).astype(np.int64) for v in (start, length))
        if "wrap" in i.modifiers:
            at, n = at & 31, n & 31
        at, n = np.minimum(at, 32), np.minimum(n, 32)
        return (((1 << n) - 1) << at) & 0xFFFFFFFF

    return assign(target, value)


def extend(machine: MachineState, i: Instruction, type_: Type) -> Step:
    target = machine.write(i.operands[0], type_, i)
    source = machine.read(i.operands[1], type_, i)
    length = machine.read(i.operands[2], TYPES["u32"], i)

    def value() -> Array:
        n = np.atleast_1d(length).astype(np.int64)
        n = n & 31 if "wrap" in i.modifiers else np.minimum(n, 32)
        x = np.atleast_1d(source).astype(np.int64) & ((1 << n) - 1)
        if type_.kind == "s":
            x = np.where((n > 0) & (x >> np.maximum(n - 1, 0) & 1 == 1), x - (1 << n), x)
        return x

    return assign(target, value)


_FIELDS: dict[str, Any] = {"bfe": extract, "bfi": insert, "bmsk": mask_of, "szext": extend}


@emulates("prmt")
def permute(machine: MachineState, i: Instruction) -> Step:
    """Four bytes chosen from eight, each perhaps replaced by copies of its sign; or one of six fixed patterns."""
    modes = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    only(i, *modes)
    target = machine.write(i.operands[0], TYPES["u32"], i)
    a, b, c = (machine.read(o, TYPES["u32"], i) for o in i.operands[1:4])
    mode = next((m for m in modes if m in i.modifiers), None)

    def value() -> Array:
        low, high, selector = (np.asarray(v).astype(np.uint64) for v in (a, b, c))
        both = low | high << np.uint64(32)
        result = np.zeros(np.broadcast(both, selector).shape, np.uint64)
        for n in range(4):
            choice = selector >> np.uint64(4 * n) & np.uint64(15) if mode is None else pattern(mode, selector, n)
            byte = both >> (choice & np.uint64(7)) * np.uint64(8) & np.uint64(0xFF)
            signs = np.where(byte >> np.uint64(7) == 1, np.uint64(0xFF), np.uint64(0))
            byte = np.where(choice & np.uint64(8) != 0, signs, byte)
            result |= byte << np.uint64(8 * n)
        return result

    return assign(target, value)


def pattern(mode: str, selector: Array, n: int) -> Array:
    """Which byte stands at place n in one of the fixed patterns."""
    s = selector & np.uint64(3)
    at, one = np.uint64(n), np.uint64(1)
    if mode == "f4e":
        return s + at
    if mode == "b4e":
        return (s - at) & np.uint64(7)
    if mode == "rc8":
        return s
    if mode == "ecl":
        return np.maximum(s, at)
    if mode == "ecr":
        return np.minimum(s, at)
    return (s & one) * np.uint64(2) + (at & one)
