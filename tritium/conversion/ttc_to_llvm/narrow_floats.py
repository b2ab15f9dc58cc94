"""Conversions of 8-bit floats, and rounding towards zero: what LLVM has no instruction for.

An 8-bit float is an f32 with fewer bits: shifted into place, its exponent is off by a constant, which one exact
multiplication by a power of two puts right, for denormals too. The way back rounds once: normal results by adding
half a unit to the bits, denormal ones by adding a number whose unit in the last place is theirs. Values too large
become the largest finite number (as NVIDIA's `cvt.satfinite` has it), NaN stays NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...dialects import arith, tt
from ...ir import FloatType, IntegerType, Type, element_type, f32, i8, i32, with_element
from .context import FunctionContext, lowers
from .resize import resize
from .types import bit_width, llvm_type, mangled

__all__: list[str] = []


@dataclass(frozen=True)
class Format:
    """An 8-bit float: stored mantissa bits, exponent bias, largest finite pattern, and what stands for NaN.

    `nan` is "ieee" (exponent all ones; infinities too), "top" (0x7f and 0xff), "minus-zero" (0x80) or "none".
    """

    mantissa: int
    bias: int
    largest: int
    nan: str


FORMATS = {
    "f8E5M2": Format(2, 15, 0x7B, "ieee"),
    "f8E4M3FN": Format(3, 7, 0x7E, "top"),
    "f8E5M2FNUZ": Format(2, 16, 0x7F, "minus-zero"),
    "f8E4M3FNUZ": Format(3, 8, 0x7F, "minus-zero"),
    "f8E4M3B11FNUZ": Format(3, 15, 0x7E, "none"),  # Triton's float8e4b15
}


class _Vector:
    """Short spellings for integer and float code on a vector (or scalar) of the shape of `like`."""

    def __init__(self, e: FunctionContext, like: Type) -> None:
        self.e = e
        self.int_type, self.float_type = with_element(like, i32), with_element(like, f32)
        self.int, self.float = llvm_type(self.int_type), llvm_type(self.float_type)
        self.mask = llvm_type(with_element(like, IntegerType(1)))
        self.is_vector = self.int != "i32"

    def number(self, value: int) -> str:
        return f"splat (i32 {value})" if self.is_vector else str(value)

    def real(self, bits: int) -> str:
        """The f32 constant of these bits, through an integer so that nothing is rounded."""
        return self.e.op(f"bitcast {self.int} {self.number(bits)} to {self.float}")

    def binary(self, name: str, a: str, b: str | int) -> str:
        other = self.number(b) if isinstance(b, int) else b
        return self.e.op(f"{name} {self.int} {a}, {other}")

    def compare(self, relation: str, a: str, b: int) -> str:
        return self.e.op(f"icmp {relation} {self.int} {a}, {self.number(b)}")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.e.op(f"select {self.mask} {condition}, {self.int} {a}, {self.int} {b}")

    def bits(self, value: str) -> str:
        return self.e.op(f"bitcast {self.float} {value} to {self.int}")

    def as_float(self, value: str) -> str:
        return self.e.op(f"bitcast {self.int} {value} to {self.float}")


def _widen(e: FunctionContext, value: str, ty: Type, form: Format) -> str:
    """8-bit patterns as f32."""
    v = _Vector(e, ty)
    wide = e.op(f"zext {llvm_type(with_element(ty, i8))} {value} to {v.int}")
    magnitude = v.binary("and", wide, 0x7F)
    placed = v.as_float(v.binary("shl", magnitude, 23 - form.mantissa))
    scale = v.real((127 + 127 - form.bias) << 23)
    number = v.bits(e.op(f"fmul {v.float} {placed}, {scale}"))
    quiet = v.number(0x7FC00000)
    if form.nan == "ieee":
        special = v.compare("uge", magnitude, 0x7C)
        infinite = v.compare("eq", magnitude, 0x7C)
        number = v.select(special, v.select(infinite, v.number(0x7F800000), quiet), number)
    elif form.nan == "top":
        number = v.select(v.compare("eq", magnitude, 0x7F), quiet, number)
    sign = v.binary("shl", v.binary("and", wide, 0x80), 24)
    if form.nan == "minus-zero":
        is_nan = v.compare("eq", wide, 0x80)
        return v.as_float(v.select(is_nan, quiet, v.binary("or", number, sign)))
    return v.as_float(v.binary("or", number, sign))


def _narrow(e: FunctionContext, value: str, ty: Type, form: Format) -> str:
    """f32 as 8-bit patterns, rounded to nearest even."""
    v = _Vector(e, ty)
    bits = v.bits(value)
    magnitude = v.binary("and", bits, 0x7FFFFFFF)
    is_nan = v.compare("ugt", magnitude, 0x7F800000)
    shift = 23 - form.mantissa
    odd = v.binary("and", v.binary("lshr", magnitude, shift), 1)
    rounded = v.binary("add", v.binary("add", magnitude, odd), (1 << (shift - 1)) - 1)
    normal = v.binary("sub", v.binary("lshr", rounded, shift), (127 - form.bias) << form.mantissa)
    smallest_normal = (127 + 1 - form.bias) << 23
    magic = (127 + 1 - form.bias + shift) << 23  # its unit in the last place is that of the denormals
    added = e.op(f"fadd {v.float} {v.as_float(magnitude)}, {v.real(magic)}")
    denormal = v.binary("sub", v.bits(added), magic)
    result = v.select(v.compare("ult", magnitude, smallest_normal), denormal, normal)
    capped = e.call(v.int_type, f"llvm.umin.{mangled(v.int_type)}", (v.int, result), (v.int, v.number(form.largest)))
    overflow = v.compare("uge", magnitude, (127 + 17) << 23)  # far beyond every format: `normal` may have wrapped
    result = v.select(overflow, v.number(form.largest), capped)
    sign = v.binary("and", v.binary("lshr", bits, 24), 0x80)
    if form.nan == "minus-zero":  # there is no -0
        nonzero = v.compare("ne", result, 0)
        result = v.binary("or", result, v.select(nonzero, sign, v.number(0)))
        result = v.select(is_nan, v.number(0x80), result)
    else:
        nan = {"ieee": 0x7F, "top": 0x7F, "none": form.largest}[form.nan]
        result = v.binary("or", v.select(is_nan, v.number(nan), result), sign)
    return e.op(f"trunc {v.int} {result} to {llvm_type(with_element(ty, i8))}")


def _stepped_back(e: FunctionContext, value: str, near: str, ty: Type, form: Format) -> str:
    """The pattern `near`, or the one before it if rounding took `value` away from zero."""
    v = _Vector(e, ty)
    back = _widen(e, near, with_element(ty, i8), form)
    sizes = [e.call(ty, f"llvm.fabs.{mangled(ty)}", (v.float, x)) for x in (back, value)]
    beyond = e.op(f"fcmp ogt {v.float} {sizes[0]}, {sizes[1]}")
    wide = e.op(f"zext {llvm_type(with_element(ty, i8))} {near} to {v.int}")
    before = v.binary("sub", wide, 1)
    if form.nan == "minus-zero":
        before = v.select(v.compare("eq", before, 0x80), v.number(0), before)
    return e.op(f"trunc {v.int} {v.select(beyond, before, wide)} to {llvm_type(with_element(ty, i8))}")


def _towards_zero(e: FunctionContext, value: str, source: Type, target: Type) -> str:
    """Round to nearest, then step back where that went away from zero (an infinity becomes the largest number)."""
    near = resize(e, value, source, target)
    wide, narrow = llvm_type(source), llvm_type(target)
    back = resize(e, near, target, source)
    sizes = [e.call(source, f"llvm.fabs.{mangled(source)}", (wide, x)) for x in (back, value)]
    mask = llvm_type(with_element(source, IntegerType(1)))
    beyond = e.op(f"fcmp ogt {wide} {sizes[0]}, {sizes[1]}")
    integer = llvm_type(with_element(target, IntegerType(bit_width(target))))
    bits = e.op(f"bitcast {narrow} {near} to {integer}")
    step = e.op(f"zext {mask} {beyond} to {integer}")
    return e.op(f"bitcast {integer} {e.op(f'sub {integer} {bits}, {step}')} to {narrow}")


@lowers(tt.FpToFp)
def _fp_to_fp(e: FunctionContext, op: tt.FpToFp) -> None:
    source, target = op.src.type, op.result.type
    before, after = FORMATS.get(_name(source)), FORMATS.get(_name(target))
    value = e(op.src)
    single = with_element(source, f32)
    if before is not None:
        value, source = _widen(e, value, source, before), single
    if after is not None:
        value = resize(e, value, source, single)
        result = _narrow(e, value, single, after)
        if op.rounding == tt.RoundingMode.rtz:
            result = _stepped_back(e, value, result, single, after)
        e.bind(op.result, result)
    elif op.rounding == tt.RoundingMode.rtz and bit_width(target) < bit_width(source):
        e.bind(op.result, _towards_zero(e, value, source, target))
    else:
        e.bind(op.result, resize(e, value, source, target))


def _name(ty: Type) -> str:
    element = element_type(ty)
    return element.name if isinstance(element, FloatType) else ""


@lowers(arith.TruncF)
def _truncf(e: FunctionContext, op: Any) -> None:
    mode = str(op.attributes.get("roundingmode", ""))
    if "zero" in mode or mode.startswith("3"):
        e.bind(op.out, _towards_zero(e, e(op.in_), op.in_.type, op.out.type))
    else:
        e.bind(op.out, resize(e, e(op.in_), op.in_.type, op.out.type))
