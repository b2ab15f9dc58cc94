"""Integer arithmetic: it wraps, as two's complement, unless `.sat` is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnknownInstruction
from ..geometry import Step
from ..ptx import Instruction
from ..registry import emulates
from ..state import MachineState
from ..steps import assign, last_type, only, packed, packed_target, ufunc
from ..types import TYPES, UNSIGNED, Array, Type, types_of
from . import floating

__all__: list[str] = []


def operands(machine: MachineState, i: Instruction, type_: Type) -> tuple[Array, list[Any]]:
    """The target and the sources, all of one type."""
    target = packed_target(machine, i.operands[0], type_, i)
    return target, [packed(machine, o, type_, i) for o in i.operands[1:]]


def double(type_: Type) -> Type:
    """The type of twice the bits."""
    return TYPES[f"{type_.kind}{type_.bits * 2}"]


@emulates("add", "sub")
def add(machine: MachineState, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind == "f":
        return floating.arithmetic(machine, i)
    if "cc" in i.modifiers:
        return with_carry(machine, i)
    only(i, "sat")
    target, (a, b) = operands(machine, i, type_)
    if "sat" in i.modifiers:
        function = np.add if i.opcode == "add" else np.subtract
        return assign(target, lambda: np.clip(function(a, b, dtype=np.int64), -(1 << 31), (1 << 31) - 1))
    return ufunc(np.add if i.opcode == "add" else np.subtract, target, a, b)


@emulates("addc", "subc")
def with_carry(machine: MachineState, i: Instruction) -> Step:
    """Extended precision: the carry is a register of the machine, written by `.cc` and read by addc and subc."""
    only(i, "cc")
    type_ = TYPES[f"u{last_type(i).bits}"]
    target, (a, b) = operands(machine, i, type_)
    carry = machine.carry
    subtract, reads, writes = i.opcode.startswith("sub"), i.opcode.endswith("c"), "cc" in i.modifiers

    def run(mask: Any) -> None:
        first = carry.astype(target.dtype) if reads else target.dtype.type(0)
        if subtract:
            result = a - b - first
            out = (np.less(a, b)) | ((np.equal(a, b)) & (first != 0))
        else:
            partial = np.add(a, b)
            result = partial + first
            out = (partial < a) | (result < partial)
        if writes:
            np.copyto(carry, out, where=mask)
        np.copyto(target, result, where=mask)

    return run


def multiply_high(a: Any, b: Any, type_: Type) -> Any:
    """The upper half of the multiplication."""
    if type_.bits < 64:
        wide = double(type_).dtype
        return np.right_shift(np.multiply(a, b, dtype=wide), wide.type(type_.bits))
    a, b = np.asarray(a), np.asarray(b)
    x, y = a.view(np.uint64), b.view(np.uint64)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1, y0, y1 = x & low, x >> half, y & low, y >> half
    middle = x1 * y0 + (x0 * y0 >> half)
    high = x1 * y1 + (middle >> half) + ((x0 * y1 + (middle & low)) >> half)
    if type_.kind == "s":
        high = high - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return high.view(type_.dtype)


@emulates("madc")
def multiply_with_carry(machine: MachineState, i: Instruction) -> Step:
    """mad.cc and madc: the low or high half of a multiplication, added in extended precision."""
    only(i, "lo", "hi", "cc")
    type_ = last_type(i)
    target, (a, b, c) = operands(machine, i, type_)
    carry, unsigned = machine.carry, UNSIGNED[type_.bits]
    high, reads, writes = "hi" in i.modifiers, i.opcode == "madc", "cc" in i.modifiers

    def run(mask: Any) -> None:
        half = multiply_high(a, b, type_).astype(type_.dtype) if high else np.multiply(a, b)
        x, y = np.atleast_1d(half).view(unsigned), np.atleast_1d(c).view(unsigned)
        first = carry.astype(unsigned) if reads else unsigned.type(0)
        partial = x + y
        result = partial + first
        if writes:
            np.copyto(carry, (partial < x) | (result < partial), where=mask)
        np.copyto(target, result.view(type_.dtype), where=mask)

    return run


@emulates("mul", "mad")
def multiply(machine: MachineState, i: Instruction) -> Step:
    """mul and mad, .lo .hi .wide"""
    type_ = last_type(i)
    if type_.kind == "f":
        return floating.arithmetic(machine, i)
    if "cc" in i.modifiers:
        return multiply_with_carry(machine, i)
    only(i, "lo", "hi", "wide", "sat")
    sources = [machine.read(o, type_, i) for o in i.operands[1:3]]
    a, b = sources
    result = double(type_) if "wide" in i.modifiers else type_
    target = machine.write(i.operands[0], result, i)
    addend: Any = machine.read(i.operands[3], result, i) if i.opcode == "mad" else None
    if "wide" in i.modifiers:
        wide = result.dtype
        if addend is None:
            return assign(target, lambda: np.multiply(a, b, dtype=wide))
        return assign(target, lambda: np.add(np.multiply(a, b, dtype=wide), addend))
    if "hi" in i.modifiers:
        if "sat" in i.modifiers:
            low, high = -(1 << 31), (1 << 31) - 1
            return assign(
                target, lambda: np.clip(np.add(multiply_high(a, b, type_), addend, dtype=np.int64), low, high)
            )
        if addend is None:
            return assign(target, lambda: multiply_high(a, b, type_))
        return assign(target, lambda: np.add(multiply_high(a, b, type_).astype(type_.dtype), addend))
    if addend is None:
        return ufunc(np.multiply, target, a, b)
    return assign(target, lambda: np.add(np.multiply(a, b), addend))


@emulates("mul24", "mad24")
def multiply24(machine: MachineState, i: Instruction) -> Step:
    """Multiplication of the lower 24 bits: the lower or upper 32 of 48 bits."""
    only(i, "lo", "hi")
    type_ = last_type(i)
    target, (a, b, *rest) = operands(machine, i, type_)
    wide = np.int64
    shift = 16 if "hi" in i.modifiers else 0

    def part(x: Any) -> Any:
        x = np.asarray(x).astype(wide) & 0xFFFFFF
        return np.where(x >> 23, x - (1 << 24), x) if type_.kind == "s" else x

    def value() -> Any:
        product = part(a) * part(b) >> shift
        return product + np.asarray(rest[0]).astype(wide) if rest else product

    return assign(target, value)


def divide(a: Any, b: Any, type_: Type) -> tuple[Any, Any]:
    """Quotient toward zero and remainder with the dividend's sign; by zero both are all ones, as on hardware."""
    unsigned = UNSIGNED[type_.bits]
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    x, y = a.view(unsigned), b.view(unsigned)
    if type_.kind == "s":
        negative = (a < 0) != (b < 0)
        x, y = np.where(a < 0, -x, x), np.where(b < 0, -y, y)
    quotient, remainder = x // y, x % y
    if type_.kind == "s":
        quotient = np.where(negative, -quotient, quotient)
        remainder = np.where(a < 0, -remainder, remainder)
    zero = b == 0
    if zero.any():
        quotient = np.where(zero, ~unsigned.type(0), quotient)
        remainder = np.where(zero, ~unsigned.type(0), remainder)
    return quotient.view(type_.dtype), remainder.view(type_.dtype)


@emulates("div", "rem")
def division(machine: MachineState, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind == "f":
        return floating.division(machine, i)
    only(i)
    target, (a, b) = operands(machine, i, type_)
    which = 0 if i.opcode == "div" else 1
    return assign(target, lambda: divide(a, b, type_)[which])


@emulates("abs", "neg")
def sign(machine: MachineState, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind == "f":
        return floating.sign(machine, i)
    only(i)
    target, (a,) = operands(machine, i, type_)
    return ufunc(np.abs if i.opcode == "abs" else np.negative, target, a)


@emulates("min", "max")
def extreme(machine: MachineState, i: Instruction) -> Step:
    type_ = last_type(i)
    if type_.kind == "f":
        return floating.extreme(machine, i)
    only(i, "relu")
    target, (a, b) = operands(machine, i, type_)
    function: Any = np.minimum if i.opcode == "min" else np.maximum
    if "relu" in i.modifiers:
        return assign(target, lambda: np.maximum(function(a, b), 0))
    return ufunc(function, target, a, b)


@emulates("sad")
def sum_of_difference(machine: MachineState, i: Instruction) -> Step:
    """c + |a - b|"""
    only(i)
    type_ = last_type(i)
    target, (a, b, c) = operands(machine, i, type_)
    return assign(target, lambda: np.add(c, np.where(np.less(a, b), np.subtract(b, a), np.subtract(a, b))))


@emulates("dp4a", "dp2a")
def dot_product(machine: MachineState, i: Instruction) -> Step:
    """c + the dot product of four bytes with four bytes, or of two halves with two of four bytes."""
    only(i, "lo", "hi")
    types = types_of(i.modifiers)
    if len(types) != 2:
        raise UnknownInstruction(f"{i.name} has not two types", i)
    signed = any(t.kind == "s" for t in types)
    target, (_, _, c) = operands(machine, i, TYPES["s32" if signed else "u32"])

    def parts(operand: Any, kind: str, bits: int) -> Array:
        whole = np.atleast_1d(machine.read(operand, TYPES["u32"], i))
        array = np.ascontiguousarray(whole).view(f"{'i' if kind == 's' else 'u'}{bits // 8}")
        return array.reshape(-1, 32 // bits).astype(np.int64)

    def value() -> Any:
        a = parts(i.operands[1], types[0].kind, 8 if i.opcode == "dp4a" else 16)
        b = parts(i.operands[2], types[1].kind, 8)
        if i.opcode == "dp2a":
            b = b[:, 2:] if "hi" in i.modifiers else b[:, :2]
        return (a * b).sum(axis=1) + np.asarray(c).astype(np.int64)

    return assign(target, value)
