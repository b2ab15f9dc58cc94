"""8-bit floats as LLVM text, in integer arithmetic: for scalars and vectors, on targets without instructions for them.

An 8-bit float is an f32 with fewer bits: shifted into place, its exponent is off by a constant, which one exact
multiplication by a power of two puts right, for denormals too. The way back rounds once: normal results by adding
half a unit to the bits, denormal ones by adding a number whose unit in the last place is theirs. Values too large
become the largest finite number (as NVIDIA's `cvt.satfinite` has it), NaN stays NaN.
"""

from __future__ import annotations

from collections.abc import Callable

from ...support.dataclasses import dataclass

__all__ = ["FORMATS", "Format", "Words", "narrow", "stepped_back", "widen"]


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


@dataclass(frozen=True)
class Words:
    """Short spellings for integer and float code on f32 scalars, or vectors of `lanes` of them.

    `op` emits an instruction and gives its operand.
    """

    op: Callable[[str], str]
    lanes: int = 0

    def of(self, element: str) -> str:
        """The LLVM type of these elements."""
        return f"<{self.lanes} x {element}>" if self.lanes else element

    def number(self, value: int) -> str:
        """An i32 constant."""
        return f"splat (i32 {value})" if self.lanes else str(value)

    def real(self, bits: int) -> str:
        """The f32 constant of these bits, through an integer so that nothing is rounded."""
        return self.as_float(self.number(bits))

    def binary(self, name: str, a: str, b: str | int) -> str:
        """An i32 instruction."""
        other = self.number(b) if isinstance(b, int) else b
        return self.op(f"{name} {self.of('i32')} {a}, {other}")

    def compare(self, relation: str, a: str, b: int) -> str:
        """icmp with a constant."""
        return self.op(f"icmp {relation} {self.of('i32')} {a}, {self.number(b)}")

    def select(self, condition: str, a: str, b: str) -> str:
        """condition ? a : b, of i32."""
        return self.op(f"select {self.of('i1')} {condition}, {self.of('i32')} {a}, {self.of('i32')} {b}")

    def bits(self, value: str) -> str:
        """The bits of an f32."""
        return self.op(f"bitcast {self.of('float')} {value} to {self.of('i32')}")

    def as_float(self, value: str) -> str:
        """The f32 of these bits."""
        return self.op(f"bitcast {self.of('i32')} {value} to {self.of('float')}")

    def from_byte(self, value: str) -> str:
        """i8 as i32, without a sign."""
        return self.op(f"zext {self.of('i8')} {value} to {self.of('i32')}")

    def to_byte(self, value: str) -> str:
        """The low bits of i32 as i8."""
        return self.op(f"trunc {self.of('i32')} {value} to {self.of('i8')}")


def widen(w: Words, value: str, form: Format) -> str:
    """8-bit patterns as f32, exactly."""
    wide = w.from_byte(value)
    magnitude = w.binary("and", wide, 0x7F)
    placed = w.as_float(w.binary("shl", magnitude, 23 - form.mantissa))
    scale = w.real((127 + 127 - form.bias) << 23)
    number = w.bits(w.op(f"fmul {w.of('float')} {placed}, {scale}"))
    quiet = w.number(0x7FC00000)
    if form.nan == "ieee":
        special = w.compare("uge", magnitude, 0x7C)
        infinite = w.compare("eq", magnitude, 0x7C)
        number = w.select(special, w.select(infinite, w.number(0x7F800000), quiet), number)
    elif form.nan == "top":
        number = w.select(w.compare("eq", magnitude, 0x7F), quiet, number)
    sign = w.binary("shl", w.binary("and", wide, 0x80), 24)
    if form.nan == "minus-zero":
        is_nan = w.compare("eq", wide, 0x80)
        return w.as_float(w.select(is_nan, quiet, w.binary("or", number, sign)))
    return w.as_float(w.binary("or", number, sign))


def narrow(w: Words, value: str, form: Format) -> str:
    """f32 as 8-bit patterns, rounded to nearest even."""
    bits = w.bits(value)
    magnitude = w.binary("and", bits, 0x7FFFFFFF)
    is_nan = w.compare("ugt", magnitude, 0x7F800000)
    shift = 23 - form.mantissa
    odd = w.binary("and", w.binary("lshr", magnitude, shift), 1)
    rounded = w.binary("add", w.binary("add", magnitude, odd), (1 << (shift - 1)) - 1)
    normal = w.binary("sub", w.binary("lshr", rounded, shift), (127 - form.bias) << form.mantissa)
    smallest_normal = (127 + 1 - form.bias) << 23
    magic = (127 + 1 - form.bias + shift) << 23  # its unit in the last place is that of the denormals
    added = w.op(f"fadd {w.of('float')} {w.as_float(magnitude)}, {w.real(magic)}")
    denormal = w.binary("sub", w.bits(added), magic)
    result = w.select(w.compare("ult", magnitude, smallest_normal), denormal, normal)
    capped = w.select(w.compare("ult", result, form.largest), result, w.number(form.largest))
    overflow = w.compare("uge", magnitude, (127 + 17) << 23)  # far beyond every format: `normal` may have wrapped
    result = w.select(overflow, w.number(form.largest), capped)
    sign = w.binary("and", w.binary("lshr", bits, 24), 0x80)
    if form.nan == "minus-zero":  # there is no -0
        nonzero = w.compare("ne", result, 0)
        result = w.binary("or", result, w.select(nonzero, sign, w.number(0)))
        result = w.select(is_nan, w.number(0x80), result)
    else:
        nan = {"ieee": 0x7F, "top": 0x7F, "none": form.largest}[form.nan]
        result = w.binary("or", w.select(is_nan, w.number(nan), result), sign)
    return w.to_byte(result)


def stepped_back(w: Words, value: str, near: str, form: Format) -> str:
    """The pattern `near`, or the one before it if rounding took the f32 `value` away from zero."""
    back = widen(w, near, form)
    sizes = [w.binary("and", w.bits(x), 0x7FFFFFFF) for x in (back, value)]
    numbers = [w.as_float(size) for size in sizes]
    beyond = w.op(f"fcmp ogt {w.of('float')} {numbers[0]}, {numbers[1]}")
    wide = w.from_byte(near)
    before = w.binary("sub", wide, 1)
    if form.nan == "minus-zero":
        before = w.select(w.compare("eq", before, 0x80), w.number(0), before)
    return w.to_byte(w.select(beyond, before, wide))
