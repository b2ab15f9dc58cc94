"""cvt: between integers, between floating-point formats, and from one to the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnknownInstruction
from ..floats import narrow, widen
from ..geometry import Step
from ..ptx import Instruction
from ..registry import emulates
from ..state import MachineState
from ..steps import assign, lanes_of, only
from ..types import TYPES, UNSIGNED, Array, Type, types_of

__all__: list[str] = []

F64 = np.float64
_TO_INTEGER: dict[str, Any] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_ROUND = ("rn", "rz", "rm", "rp", "rna")


@emulates("cvt")
def convert(machine: MachineState, i: Instruction) -> Step:
    types = types_of(i.modifiers)
    if i.modifiers and i.modifiers[0] == "pack":
        return convert_pack(machine, i)
    only(i, "ftz", "sat", "satfinite", "relu", *_TO_INTEGER, *_ROUND)
    if len(types) != 2:
        raise UnknownInstruction(f"{i.name} has not two types", i)
    to, source = types
    if to.element:
        return convert_two(machine, i, to, source)
    if source.element:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    if to.kind == "f":
        return to_float(machine, i, to, source)
    if source.kind == "f":
        return float_to_integer(machine, i, to, source)
    return integer_to_integer(machine, i, to, source)


def integer_to_integer(machine: MachineState, i: Instruction, to: Type, source: Type) -> Step:
    """Cut or extended; with .sat brought into range."""
    target = machine.widest(i.operands[0], to, i)
    value = machine.read(i.operands[1], source, i)
    if "sat" not in i.modifiers:
        return assign(target, lambda: np.asarray(value).astype(to.dtype))
    info = np.iinfo(to.dtype)

    def clamped() -> Array:
        x = np.atleast_1d(value)
        low = max(int(info.min), int(np.iinfo(source.dtype).min))
        high = min(int(info.max), int(np.iinfo(source.dtype).max))
        return np.clip(x, source.dtype.type(low), source.dtype.type(high)).astype(to.dtype)

    return assign(target, clamped)


def float_to_integer(machine: MachineState, i: Instruction, to: Type, source: Type) -> Step:
    """Rounded to a whole number and brought into range. NaN becomes 0; from f64 or to 64 bits, the highest bit."""
    target = machine.widest(i.operands[0], to, i)
    raw = machine.read(i.operands[1], source, i)
    function = next((_TO_INTEGER[m] for m in i.modifiers if m in _TO_INTEGER), None)
    if function is None:
        raise UnknownInstruction(f"{i.name} does not say how to round", i)
    ftz = "ftz" in i.modifiers
    info = np.iinfo(to.dtype)
    nan = 1 << (to.bits - 1) if to.bits == 64 or source.bits == 64 else 0  # PTX ISA, cvt, "NaN input"

    def value() -> Array:
        x = np.atleast_1d(widen(source.name, raw)).astype(F64)
        if ftz:
            x = np.where(np.abs(x) < 2.0**-126, 0.0, x)
        x = function(x)
        # The bounds of 64 bits are no float64: below 2**63 everything representable is in range.
        high = x >= float(info.max)
        low = x <= float(info.min)
        inside = np.where(high | low | np.isnan(x), 0.0, x)
        out = inside.astype(np.uint64) if to.kind == "u" else inside.astype(np.int64)
        out = np.where(high, out.dtype.type(info.max), np.where(low, out.dtype.type(info.min), out))
        bad = np.isnan(x)
        if bad.any():
            out = np.where(bad, np.uint64(nan).astype(out.dtype), out)
        return out.astype(to.dtype)

    return assign(target, value)


def to_float(machine: MachineState, i: Instruction, to: Type, source: Type) -> Step:
    """To one floating-point number, from one or from an integer."""
    target = machine.widest(i.operands[0], TYPES[f"b{to.bits}"], i)
    raw = machine.read(i.operands[1], source, i)
    if source.kind != "f":
        if source.bits == 64:
            return assign(target, lambda: integers_to_float(np.atleast_1d(raw), to, i))
        mode = mode_of(i)
        return assign(target, lambda: narrow(to.name, np.atleast_1d(raw).astype(F64), mode))
    return assign(target, lambda: one_number(np.atleast_1d(raw), to, source, i))


def mode_of(i: Instruction) -> str:
    return next((m for m in i.modifiers if m in _ROUND), "rn")


def integers_to_float(x: Array, to: Type, i: Instruction) -> Array:
    """64-bit integers, of which float64 has not all: what it loses becomes its last bit (rounding to odd)."""
    mode = mode_of(i)
    if to.name == "f64" and mode == "rn":
        return x.astype(F64).view(np.uint64)
    negative = x < 0
    size = np.where(negative, (-x.view(np.int64)).view(np.uint64), x.view(np.uint64))
    high = size & ~np.uint64(0xFFF)
    sticky = size & np.uint64(0xFFF)
    large = size >= np.uint64(1 << 53)
    if to.name == "f64":
        return directed_f64(size, negative, mode)
    odd = np.where(large, high | np.where(sticky != 0, np.uint64(1 << 12), np.uint64(0)), size)
    number = np.where(negative, -odd.astype(F64), odd.astype(F64))
    return narrow(to.name, number, mode)


def directed_f64(size: Array, negative: Array, mode: str) -> Array:
    """Magnitudes as float64, rounded in a directed mode."""
    near = size.astype(F64)
    # Compared as integers; 2**64 itself does not fit, and is always above.
    back = np.where(near >= 2.0**64, 0.0, near).astype(np.uint64)
    above = (near >= 2.0**64) | (back > size)
    below = ~above & (back < size)
    up = np.where(mode == "rp", ~negative, np.where(mode == "rm", negative, False))
    near = np.where(above & ~up, np.nextafter(near, 0.0), np.where(below & up, np.nextafter(near, np.inf), near))
    return np.where(negative, -near, near).view(np.uint64)


def one_number(raw: Array, to: Type, source: Type, i: Instruction) -> Array:
    """A number in another format, or rounded to a whole one."""
    x = widen(source.name, raw)
    whole = next((_TO_INTEGER[m] for m in i.modifiers if m in _TO_INTEGER), None)
    if "ftz" in i.modifiers and "f32" in (to.name, source.name) and source.name != "f16":
        x = np.where(np.abs(x) < 2.0**-126, np.copysign(x.dtype.type(0), x), x)
    if whole is not None:
        x = whole(x)
    if "sat" in i.modifiers:
        x = np.where(np.isnan(x), x.dtype.type(0), np.clip(x, 0, 1))
        x = np.where(x == 0, x.dtype.type(0), x)
    if "relu" in i.modifiers:
        x = np.where(x <= 0, x.dtype.type(0), x)
    bits = narrow(to.name, x, mode_of(i), "satfinite" in i.modifiers)
    if to.name == "tf32" or source.name in ("f64", "bf16"):
        bits = keep_nan(bits, raw, to, source)
    if "ftz" in i.modifiers and to.name == "f32" and source.name == "f64":
        tiny = (bits & np.uint32(0x7F800000)) == 0
        bits = np.where(tiny, bits & np.uint32(0x80000000), bits)
    return bits


def keep_nan(bits: Array, raw: Array, to: Type, source: Type) -> Array:
    """These conversions give a NaN the sign and the upper digits of the operand's, as found on an H200.

    From f64 it becomes a quiet one; tf32 cuts the digits off, which may leave an infinity.
    """
    if (source.name, to.name) not in _DIGITS:
        return bits
    x = np.ascontiguousarray(raw).view(UNSIGNED[source.bits])
    digits, kept = _DIGITS[source.name, to.name]
    exponents = {"f64": 11, "f32": 8, "bf16": 8}[source.name]
    mantissa = source.bits - 1 - exponents
    nan = (x << x.dtype.type(1)) > x.dtype.type(((1 << exponents) - 1) << (mantissa + 1))
    if not nan.any():
        return bits
    wide = x.astype(np.uint64)
    payload = wide & np.uint64((1 << mantissa) - 1)
    shift = digits - mantissa
    payload = payload << np.uint64(shift) if shift >= 0 else payload >> np.uint64(-shift)
    payload = payload & np.uint64(kept) | np.uint64(1 << (digits - 1) if source.name == "f64" else 0)
    exponent = ((1 << (to.bits - 1)) - 1) >> digits << digits
    sign = wide >> np.uint64(source.bits - 1) << np.uint64(to.bits - 1)
    return np.where(nan, (sign | np.uint64(exponent) | payload).astype(bits.dtype), bits)


#: Digits of the result's mantissa, and which of them a NaN's may be set.
_DIGITS = {
    ("f64", "f32"): (23, (1 << 23) - 1),
    ("f64", "f16"): (10, (1 << 10) - 1),
    ("f64", "bf16"): (7, (1 << 7) - 1),
    ("f32", "tf32"): (23, 0x7FE000),
    ("bf16", "f32"): (23, (1 << 23) - 1),
}


def convert_two(machine: MachineState, i: Instruction, to: Type, source: Type) -> Step:
    """d = {a, b}: the first operand becomes the upper number. From a packed register, both at once."""
    element = TYPES[to.element]
    target = machine.write(i.operands[0], TYPES[f"b{to.bits}"], i)
    if source.element:
        inner = lanes_of(machine, i.operands[1], source, i)
        return assign(target, lambda: joined(one_number(inner, element, TYPES[source.element], i), element))
    if len(i.operands) != 3:
        raise UnknownInstruction(f"the emulator does not know {i.name} with {len(i.operands)} operands", i)
    upper, lower = (machine.read(o, source, i) for o in i.operands[1:3])

    def value() -> Array:
        both = np.stack([np.broadcast_to(np.atleast_1d(x), machine.threads) for x in (lower, upper)], axis=1)
        return joined(one_number(both, element, source, i), element)

    return assign(target, value)


def joined(bits: Array, element: Type) -> Array:
    """Pairs of numbers as one word each, the first in the low bits."""
    width = UNSIGNED[element.bits * 2]
    return np.ascontiguousarray(bits.astype(UNSIGNED[element.bits])).view(width)[:, 0]


def convert_pack(machine: MachineState, i: Instruction) -> Step:
    """cvt.pack.sat: two s32 saturated to 16, 8, 4 or 2 bits and packed below the low bits of c."""
    only(i, "pack", "sat", "s4", "u4", "s2", "u2")
    name = i.modifiers[2]
    signed, bits = name[0] == "s", int(name[1:])
    target = machine.write(i.operands[0], TYPES["u32"], i)
    a, b, *rest = (machine.read(o, TYPES["s32"], i) for o in i.operands[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    mask = (1 << bits) - 1

    def value() -> Array:
        x, y = (np.clip(np.atleast_1d(v).astype(np.int64), low, high) & mask for v in (a, b))
        upper = np.atleast_1d(rest[0]).astype(np.int64) << (2 * bits) if rest else 0
        return (upper | x << bits | y) & 0xFFFFFFFF

    return assign(target, value)
