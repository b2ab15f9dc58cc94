"""Floating-point arithmetic. Every operation is rounded once, in the mode that the instruction names (nearest, ties to
even, where it names none); `.approx` results are the exact ones rounded to nearest, which is within their error bounds.

NaN results of f16, bf16 and f32 are the canonical ones; f64 keeps what NumPy makes, a quiet NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import UnknownInstruction
from ..floats import FORMATS, MODES, add_odd, exact64, flush, fma32, fma64, fma_odd, narrow, widen
from ..geometry import Step
from ..ptx import Instruction
from ..registry import emulates
from ..state import MachineState
from ..steps import assign, last_type, only, packed, packed_target
from ..types import UNSIGNED, Array, Type

__all__ = ["arithmetic", "division", "extreme", "sign"]

F32, F64 = np.float32, np.float64


class Operation:
    """The operands of a floating-point instruction: where they are, and how its suffixes change them.

    `element` is the format of one number; `mode` its rounding.
    """

    def __init__(self, machine: MachineState, i: Instruction, *allowed: str, type_: Type | None = None) -> None:
        only(i, "ftz", "sat", *MODES, *allowed)
        self.type = type_ or last_type(i)
        self.element = self.type.element or self.type.name
        self.form = FORMATS[self.element]
        self.mode = next((m for m in MODES if m in i.modifiers), "rn")
        self.ftz = "ftz" in i.modifiers
        self.sat = "sat" in i.modifiers
        self.relu = "relu" in i.modifiers
        if self.ftz and self.element == "f64":
            raise UnknownInstruction(f"{i.name}: f64 has no .ftz", i)
        self.target = packed_target(machine, i.operands[0], self.type, i)
        self.raw = [packed(machine, o, self.type, i) for o in i.operands[1:]]
        self.unsigned = UNSIGNED[self.form.bits]
        self.bits = self.target.view(self.unsigned)

    def sources(self) -> list[Any]:
        """The operands as numbers, with subnormals flushed if the instruction has .ftz."""
        values = [widen(self.element, raw) for raw in self.raw]
        return [self.flushed(v) for v in values] if self.ftz else values

    def flushed(self, x: Any) -> Any:
        if self.element in {"f32", "bf16"}:
            return flush(x)
        return np.where(np.abs(x) < 2.0**self.form.smallest, np.copysign(F32(0), x), x)

    def finish(self, x: Array) -> Array:
        """The bits of a result that is exact, rounded to odd, or already of the format."""
        bits = narrow(self.element, np.asarray(x), self.mode)
        if not (self.ftz or self.sat or self.relu):
            return bits
        value = widen(self.element, bits if self.element != "f64" else bits.view(F64))
        if self.element == "f32":
            value = bits.view(F32)
        if self.ftz:
            value = self.flushed(value)
        if self.sat:
            value = np.where(np.isnan(value), value.dtype.type(0), np.clip(value, 0, 1))
            value = np.where(value == 0, value.dtype.type(0), value)
        if self.relu:
            value = np.where(value <= 0, value.dtype.type(0), value)
        return narrow(self.element, value)

    def step(self, function: Callable[..., Any]) -> Step:
        """target = function(*sources), rounded."""
        return assign(self.bits, lambda: self.finish(function(*self.sources())))

    @property
    def plain(self) -> bool:
        """Whether NumPy's arithmetic of the type is the instruction's."""
        return self.mode == "rn" and not (self.ftz or self.sat or self.relu)


def per_element(operation: str, mode: str) -> Callable[..., Array]:
    """An operation of f64 in a directed mode: exactly, one by one. Such code is rare."""

    def value(*arguments: Any) -> Array:
        arrays = np.broadcast_arrays(*(np.atleast_1d(a) for a in arguments))
        flat = zip(*(a.ravel() for a in arrays))
        out = [exact64(operation, tuple(float(v) for v in values), mode) for values in flat]
        return np.array(out, F64).reshape(arrays[0].shape)

    return value


_PLAIN: dict[str, Any] = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


def wide(x: Any) -> Array:
    return np.asarray(x, F64)


_ODD: dict[str, Callable[..., Array]] = {
    "add": lambda a, b: add_odd(wide(a), wide(b)),
    "sub": lambda a, b: add_odd(wide(a), -wide(b)),
    "mul": lambda a, b: wide(a) * wide(b),
    "fma": lambda a, b, c: fma_odd(wide(a), wide(b), wide(c)),
}


@emulates("fma")
def arithmetic(machine: MachineState, i: Instruction) -> Step:
    """add, sub, mul, fma (and mad, which is fma)."""
    name = "fma" if i.opcode == "mad" else i.opcode
    op = Operation(machine, i, "relu")
    if op.plain and op.element == "f32" and op.type.lanes == 1 and name in _PLAIN:
        return plain_f32(op, _PLAIN[name])
    if op.element == "f64":
        if op.mode != "rn":
            if name == "sub":
                add = per_element("add", op.mode)
                return op.step(lambda a, b: add(a, -wide(b)))
            return op.step(per_element(name, op.mode))
        return op.step(fma64 if name == "fma" else _PLAIN[name])
    if op.mode == "rn":
        if name != "fma":
            # float32 has more than twice the digits of f16 and bf16, so that rounding twice changes nothing.
            return op.step(_PLAIN[name])
        if op.element == "f32":
            return op.step(fma32)
    return op.step(directed(name, op.mode))


def directed(name: str, mode: str) -> Callable[..., Array]:
    """An operation rounded to odd; a sum that cancels is -0 when rounding down."""
    odd = _ODD[name]
    if mode != "rm" or name == "mul":
        return odd

    def value(*arguments: Any) -> Array:
        result = odd(*arguments)
        terms = [wide(a) for a in arguments]
        if name == "fma":
            terms = [terms[0] * terms[1], terms[2]]
        elif name == "sub":
            terms[1] = -terms[1]
        opposed = np.signbit(terms[0]) != np.signbit(terms[1])
        return np.where((result == 0) & opposed, -0.0, result)

    return value


def plain_f32(op: Operation, function: Any) -> Step:
    """The common case, without copies."""
    target, bits = op.target, op.bits
    a, b = op.raw
    nan = np.uint32(op.form.nan)
    if isinstance(a, np.generic) and isinstance(b, np.generic):
        return op.step(function)

    def run(mask: Any) -> None:
        function(a, b, out=target, where=mask)
        bad = target != target
        if bad.any():
            np.copyto(bits, nan, where=bad if mask is True else bad & mask)

    return run


def division(machine: MachineState, i: Instruction) -> Step:
    """div: .full and .approx are rounded to nearest, too."""
    op = Operation(machine, i, "full", "approx")
    if op.element == "f64" and op.mode != "rn":
        return op.step(per_element("div", op.mode))
    if op.plain and op.element == "f32":
        return plain_f32(op, np.divide)
    # A quotient of two f32 is never so close to an f32 that float64 would round it there.
    return op.step(lambda a, b: np.divide(wide(a), wide(b)))


def sign(machine: MachineState, i: Instruction) -> Step:
    """abs and neg: of the sign bit alone; but NaN becomes the canonical one, as on hardware (f64 keeps its bits)."""
    op = Operation(machine, i)
    high = op.unsigned.type(1 << (op.form.bits - 1))
    negate = i.opcode == "neg"

    def value() -> Array:
        raw = np.atleast_1d(op.raw[0]).view(op.unsigned)
        if op.ftz:
            raw = narrow(op.element, np.atleast_1d(op.sources()[0]))
        result = raw ^ high if negate else raw & ~high
        if op.element == "f64":
            return result
        return np.where(np.isnan(numbers(op, raw)), op.unsigned.type(op.form.nan), result)

    return assign(op.bits, value)


@emulates("copysign")
def copysign(machine: MachineState, i: Instruction) -> Step:
    """The sign of the first operand, the rest of the second."""
    op = Operation(machine, i)
    high = op.unsigned.type(1 << (op.form.bits - 1))

    def value() -> Array:
        a, b = (np.atleast_1d(raw).view(op.unsigned) for raw in op.raw)
        return (a & high) | (b & ~high)

    return assign(op.bits, value)


def extreme(machine: MachineState, i: Instruction) -> Step:
    """min and max of two or three numbers; -0 is less than +0; NaN loses, or wins with `.NaN`."""
    op = Operation(machine, i, "NaN", "xorsign", "abs")
    least = i.opcode == "min"
    keep_nan = "NaN" in i.modifiers
    xorsign = "xorsign" in i.modifiers
    high = op.unsigned.type(1 << (op.form.bits - 1))
    nan = op.unsigned.type(op.form.nan)

    def two(a: Array, b: Array) -> Array:
        x, y = numbers(op, a), numbers(op, b)
        signs = (a ^ b) & high
        if xorsign:
            a, b, x, y = a & ~high, b & ~high, np.abs(x), np.abs(y)
        better = x < y if least else x > y
        zeros = (a | b) if least else (a & b)
        out = np.where(x == y, np.where(x == 0, zeros, a), np.where(better, a, b))
        nan_x, nan_y = np.isnan(x), np.isnan(y)
        out = np.where(nan_x, b, np.where(nan_y, a, out))
        out = np.where((nan_x | nan_y) if keep_nan else (nan_x & nan_y), nan, out)
        return np.where(out == nan, out, out | signs) if xorsign else out

    def value() -> Array:
        if op.ftz:
            raws = [narrow(op.element, np.atleast_1d(s)) for s in op.sources()]
        else:
            raws = [np.atleast_1d(r).view(op.unsigned) for r in op.raw]
        out = raws[0]
        for raw in raws[1:]:
            out = two(out, raw)
        return out

    return assign(op.bits, value)


def numbers(op: Operation, bits: Array) -> Array:
    """Bits as numbers that compare."""
    if op.element in ("f32", "f64"):
        return bits.view(F32 if op.element == "f32" else F64)
    return widen(op.element, bits)


# -- functions of one number -------------------------------------------------------------------------------------------


def _tame(function: Any) -> Callable[..., Array]:
    return lambda x: function(wide(x))


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "ex2": _tame(np.exp2),
    "lg2": _tame(np.log2),
    "sin": _tame(np.sin),
    "cos": _tame(np.cos),
    "tanh": _tame(np.tanh),
    "sqrt": _tame(np.sqrt),
    "rcp": lambda x: 1.0 / wide(x),
    "rsqrt": lambda x: 1.0 / np.sqrt(wide(x)),
}


@emulates("ex2", "lg2", "sin", "cos", "tanh", "sqrt", "rcp", "rsqrt")
def function(machine: MachineState, i: Instruction) -> Step:
    if "ftz" in i.modifiers and last_type(i).name == "f64":
        return gross(machine, i)
    op = Operation(machine, i, "approx")
    if op.element == "f64" and op.mode != "rn":
        divide = per_element("div", op.mode)
        if i.opcode == "rcp":
            return op.step(lambda x: divide(np.ones_like(x), x))
        return op.step(per_element("sqrt", op.mode))
    apply = _FUNCTIONS[i.opcode]
    return op.step(lambda x: np.atleast_1d(apply(x)))


def gross(machine: MachineState, i: Instruction) -> Step:
    """rcp and rsqrt .approx.ftz.f64: of the upper word of the operand alone; the lower one of the result is 0."""
    only(i, "approx", "ftz")
    type_ = last_type(i)
    target = machine.write(i.operands[0], type_, i).view(np.uint64)
    source = machine.read(i.operands[1], type_, i)
    upper = np.uint64(0xFFFFFFFF00000000)
    apply = _FUNCTIONS[i.opcode]

    def value() -> Array:
        x = (np.atleast_1d(source).view(np.uint64) & upper).view(F64)
        x = np.where(np.abs(x) < 2.0**-1022, np.copysign(0.0, x), x)
        result = apply(x)
        # Rounded to the 20 bits of mantissa in the upper word.
        bits = (result.view(np.uint64) + np.uint64(1 << 31)) & upper
        bits = np.where(np.isfinite(result), bits, result.view(np.uint64))
        return np.where(np.abs(result) < 2.0**-1022, bits & np.uint64(1 << 63), bits)

    return assign(target, value)


@emulates("testp")
def test(machine: MachineState, i: Instruction) -> Step:
    """finite, infinite, number, notanumber, normal or subnormal"""
    type_ = last_type(i)
    only(i, *_TESTS)
    target = machine.view(i.operands[0].name, _PRED, i)  # type: ignore[union-attr]
    source = machine.read(i.operands[1], type_, i)
    smallest = 2.0 ** FORMATS[type_.name].smallest
    check = _TESTS[next(m for m in i.modifiers if m in _TESTS)]
    return assign(target, lambda: check(np.abs(source), smallest))


_TESTS: dict[str, Callable[[Any, float], Any]] = {
    "finite": lambda x, _: np.isfinite(x),
    "infinite": lambda x, _: np.isinf(x),
    "number": lambda x, _: ~np.isnan(x),
    "notanumber": lambda x, _: np.isnan(x),
    "normal": lambda x, smallest: np.isfinite(x) & (x >= smallest),
    "subnormal": lambda x, smallest: (x != 0) & (x < smallest),
}
_PRED = Type("pred", "pred", 1, np.dtype(np.bool_))
