"""decompose-scaled-dot: Decompose dots of block-scaled formats into dots of wider types.

    %d = tt.dot_scaled %a scale %s, %b scale %t, %c    =>    %x = %a as f32 * %s, one per 32 (or 16) elements
                                                             %y = %b as f32 * %t
                                                             %d = tt.dot %x, %y, %c, inputPrecision = ieee

For targets without instructions for such formats. All elements fit into fp32, and so do elements times scales,
which are powers of two or fp8: nothing is rounded before the sum.

With `tensor_cores`, the operands have types that those support, where nothing is lost: an element times its scale has
as many significant bits as both together (powers of two have none), and bf16 holds 8, tf32 holds 11.

    %x = %a as bf16 * %s as bf16;  %d = tt.dot %x, %y, %c

In a dot with bf16, fp16, which has 11 bits, is split into a sum of two bf16; in fp16 the scaled values would overflow,
as they may with `fastMath`: then the operands are fp16. Only where fp16 is scaled as well are they tf32, and f32 where
that has too few bits.

    %h = the bf16 next below %a in size;  %l = %a - %h;  %0 = tt.dot %l, %y, %c;  %d = tt.dot %h, %y, %0

Both parts of a nonzero value are nonzero and have its sign, so that either, multiplied by infinity, gives the infinity
that the whole gives; a rounded split would give NaN next to a part of 0. And no multiplication of a part overflows
before that of the whole.
Infinity is split into the largest bf16 and infinity. Bits of scaled values below 2^-133, the smallest bf16, are rounded
to a multiple of it.

An element of 4 bits is a sign, two bits of exponent e and one of mantissa m: (1 + m/2) * 2^(e-1), or m/2 where e = 0.
Shifted to the exponent and mantissa of a wider float, its bits are those of the value with another bias. A scale of 8
bits is the exponent of a power of two, with 127 for 1, and 255 for NaN.
"""

from __future__ import annotations

from typing import Any

from ..dialects import arith, tt
from ..ir import (
    Builder,
    FloatType,
    IntegerType,
    Operation,
    TensorType,
    Type,
    Value,
    bf16,
    count,
    f16,
    f32,
    functions_of,
    i32,
    pass_on,
)
from ..support.dataclasses import dataclass
from .dialect_conversion import ConversionTarget, apply_partial_conversion, converts
from .rules.constants import constant_attr

__all__ = ["ScaledDotOptions", "decompose_scaled_dot"]

_FOUR_BITS = tt.ScaleDotElemType.e2m1


@dataclass(frozen=True)
class ScaledDotOptions:
    """`tensor_cores`: the target has faster dots of bf16 and tf32 than of f32."""

    tensor_cores: bool = False


@pass_on("function")
def decompose_scaled_dot(op: Operation, options: ScaledDotOptions = ScaledDotOptions()) -> bool:
    """Decompose the scaled dots of a function, or of all functions of a module."""
    decomposed = 0

    @converts(tt.DotScaled)
    def decompose(dot: Any, operands: list[Value], builder: Builder) -> Value:
        nonlocal decomposed
        decomposed += 1
        return _decomposed(dot, options)

    target = ConversionTarget(illegal=[tt.DotScaled])
    for func in functions_of(op):
        if any(inner.__class__ is tt.DotScaled for inner in func.walk()):
            apply_partial_conversion(func, target, [decompose])
    count("dots decomposed", decomposed)
    return decomposed > 0


def _decomposed(dot: Any, options: ScaledDotOptions) -> Value:
    """The result of a scaled dot, by operations before it."""
    multiplied, precision = _multiplied(dot, options)
    b = _Writer(dot, multiplied, dot.a_elem_type)
    lhs = b.elements(dot.a, dot.a_elem_type, along_rows=not dot.lhs_k_pack)
    if dot.a_scale is not None:
        lhs = b.scaled(lhs, b.scales(dot.a_scale, lhs.type, dot.fastMath))
    left = b.parts(lhs, multiplied, dot.a_elem_type)
    b = _Writer(dot, multiplied, dot.b_elem_type)
    rhs = b.elements(dot.b, dot.b_elem_type, along_rows=dot.rhs_k_pack)
    if dot.b_scale is not None:
        columns = b.scales(dot.b_scale, b.transposed_type(rhs.type), dot.fastMath)
        rhs = b.scaled(rhs, b.transposed(columns))
    right = b.parts(rhs, multiplied, dot.b_elem_type)
    result = dot.c if dot.c.type.element is f32 else b.add(arith.ExtF(dot.c, out=_like(dot.c.type, f32)))
    for x in left:
        for y in right:
            result = b.add(tt.Dot(x, y, result, precision, 0))
    if dot.c.type.element is not f32:
        result = b.add(arith.TruncF(result, out=dot.c.type))
    result.hint = dot.d.hint
    made: Value = result
    return made


def _multiplied(dot: Any, options: ScaledDotOptions) -> tuple[FloatType, tt.InputPrecision]:
    """The operand type of the resulting dot, and the input precision if it is f32."""
    ieee, half = tt.InputPrecision.ieee, tt.ScaleDotElemType.fp16
    if not options.tensor_cores:
        return f32, ieee
    sides = ((dot.a_elem_type, dot.a_scale), (dot.b_elem_type, dot.b_scale))
    plain_halves = [kind is half and scale is None for kind, scale in sides]
    if all(plain_halves):
        return f16, ieee
    bits = [_bits(*side) for side in sides]
    if dot.fastMath and any(plain_halves) and all(_fits_halves(*side) for side in sides):
        return f16, ieee
    if all(n <= _BF16_BITS or plain for n, plain in zip(bits, plain_halves)):
        return bf16, ieee
    return f32, tt.InputPrecision.tf32 if max(bits) <= _TF32_BITS else ieee


#: Significant bits of the element formats, with the implicit leading one.
_SIGNIFICANT = {"e2m1": 2, "e2m3": 4, "e3m2": 3, "e4m3": 4, "e5m2": 3, "bf16": 8, "fp16": 11}
_BF16_BITS, _TF32_BITS = 8, 11


def _bits(kind: tt.ScaleDotElemType, scale: Any) -> int:
    """Significant bits of an element times its scale."""
    ty = None if scale is None else scale.type.element
    return _SIGNIFICANT[kind.name] + (ty.mantissa + 1 if isinstance(ty, FloatType) else 0)


def _fits_halves(kind: tt.ScaleDotElemType, scale: Any) -> bool:
    """Whether fp16 holds the elements, and their scaled values except for exponents out of range."""
    if kind is tt.ScaleDotElemType.fp16:
        return scale is None
    return kind is not tt.ScaleDotElemType.bf16 and _bits(kind, scale) <= _SIGNIFICANT["fp16"]


def _like(ty: Any, element: Type) -> TensorType:
    return TensorType(ty.shape, element)


class _Writer(Builder):
    """A builder before a dot, with helpers for repeated operations.

    `wide` is the type in which elements are scaled: f32, or bf16, which has the same exponents, or fp16. `bits` is an
    integer type of the same width.
    """

    __slots__ = ("bits", "wide")

    def __init__(self, dot: Any, multiplied: FloatType, kind: tt.ScaleDotElemType) -> None:
        super().__init__(dot.parent, dot, dot.loc)
        # 8-bit floats are converted to f32, 4-bit ones from integers that may as well be short
        self.wide = multiplied if multiplied is f16 or kind in (_FOUR_BITS, tt.ScaleDotElemType.bf16) else f32
        self.bits = IntegerType(self.wide.width)

    def as_multiplied(self, value: Any, ty: FloatType) -> Any:
        """A tile in the operand type, which represents its values exactly."""
        return value if value.type.element is ty else self.add(arith.TruncF(value, out=_like(value.type, ty)))

    def parts(self, value: Any, ty: FloatType, kind: Any) -> list[Any]:
        """Tiles in the operand type whose sum is `value`, smallest first; two for fp16 in bf16."""
        if ty is not bf16 or kind is not tt.ScaleDotElemType.fp16:
            return [self.as_multiplied(value, ty)]
        integers = _like(value.type, i32)
        zero = self.number(0.0, value.type)
        less = self.add(arith.ExtUI(self.add(arith.CmpF(arith.CmpFPredicate.une, value, zero)), out=integers))
        bits = self.add(arith.SubI(self.add(arith.Bitcast(value, out=integers)), less))
        # the upper half of an f32 is the bf16 rounded toward zero
        high = self.add(arith.AndI(bits, self.number(-0x10000, integers)))
        large = self.add(arith.Bitcast(high, out=value.type))
        small = self.add(arith.SubF(value, large))
        return [self.as_multiplied(part, ty) for part in (small, large)]

    def number(self, value: Any, ty: Any) -> Value:
        """A tile filled with a constant."""
        return self.add(arith.Constant.create([], [ty], {"value": constant_attr(value, ty)}))  # type: ignore[no-any-return]

    def transposed_type(self, ty: Any) -> TensorType:
        """The type with the last two dimensions exchanged."""
        *batch, rows, columns = ty.shape
        return TensorType((*batch, columns, rows), ty.element)

    def transposed(self, value: Any) -> Value:
        """The last two dimensions exchanged."""
        rank = value.type.rank
        order = [*range(rank - 2), rank - 1, rank - 2]
        return self.add(tt.Trans(value, order, result=self.transposed_type(value.type)))  # type: ignore[no-any-return]

    def elements(self, value: Any, kind: Any, along_rows: bool) -> Any:
        """The elements of an operand, widened; two packed in a byte are adjacent in a row or column."""
        if kind is not _FOUR_BITS:
            wide = _like(value.type, self.wide)
            if value.type is wide:
                return value
            if value.type.element.width == 8:
                return self.add(tt.FpToFp(value, None, result=wide))
            return self.add(arith.ExtF(value, out=wide))
        if along_rows:
            return self.transposed(self.unpacked(self.transposed(value)))
        return self.unpacked(value)

    def unpacked(self, value: Any) -> Any:
        """4-bit elements packed along the last dimension, the first in the low bits."""
        bits = self.add(arith.ExtUI(value, out=_like(value.type, self.bits)))
        high = self.add(arith.ShRUI(bits, self.number(4, bits.type)))
        halves = [self.small_float(half) for half in (bits, high)]
        *front, last = value.type.shape
        pairs = self.add(tt.Join(*halves, result=TensorType((*front, last, 2), self.wide)))
        return self.add(tt.Reshape(pairs, result=TensorType((*front, 2 * last), self.wide)))

    def small_float(self, bits: Any) -> Value:
        """The float of the low 4 bits of each element of `bits`."""
        ty, mantissa = bits.type, self.wide.mantissa
        half = self.number((14 if self.wide is f16 else 126) << mantissa, ty)
        size = self.add(arith.AndI(bits, self.number(7, ty)))
        placed = self.add(arith.AddI(self.add(arith.ShLI(size, self.number(mantissa - 1, ty))), half))
        # the subnormal values, 0 and 1/2, have no leading one
        small = self.add(arith.CmpI(arith.CmpIPredicate.ult, size, self.number(2, ty)))
        number = self.add(arith.Select(small, self.add(arith.MulI(size, half)), placed))
        sign = self.add(arith.AndI(bits, self.number(8, ty)))
        sign = self.add(arith.ShLI(sign, self.number(ty.element.width - 4, ty)))
        return self.add(arith.Bitcast(self.add(arith.OrI(number, sign)), out=_like(ty, self.wide)))  # type: ignore[no-any-return]

    def scales(self, scale: Any, ty: Any, fast: bool) -> Value:
        """A factor for each element of a tile of type `ty`, whose last dimension is K."""
        value = self.factors(scale, fast)
        full = _like(ty, self.wide)
        if scale.type.numel == 1:
            return self.add(tt.Splat(self.add(tt.Unsplat(value, result=self.wide)), result=full))  # type: ignore[no-any-return]
        *front, k = full.shape
        groups = scale.type.shape[-1]
        column = self.add(tt.ExpandDims(value, len(full.shape)))
        wide = self.add(tt.Broadcast(column, result=TensorType((*front, groups, k // groups), self.wide)))
        return self.add(tt.Reshape(wide, result=full))  # type: ignore[no-any-return]

    def factors(self, scale: Any, fast: bool) -> Value:
        """Scales, of fp8 or exponents, widened; exponents out of the range of fp16 become those of 0 and infinity."""
        if isinstance(scale.type.element, FloatType):
            return self.add(tt.FpToFp(scale, None, result=_like(scale.type, self.wide)))  # type: ignore[no-any-return]
        ty = f32 if self.wide is f16 else self.wide
        wide, bits = _like(scale.type, ty), _like(scale.type, IntegerType(ty.width))
        exponent = self.add(arith.ExtUI(scale, out=bits))
        shifted = self.add(arith.ShLI(exponent, self.number(ty.mantissa, bits)))
        least = self.add(arith.CmpI(arith.CmpIPredicate.eq, exponent, self.number(0, bits)))
        shifted = self.add(arith.Select(least, self.number(1 << (ty.mantissa - 1), bits), shifted))
        value = self.add(arith.Bitcast(shifted, out=wide))
        if fast:
            return self.as_multiplied(value, self.wide) if self.wide is f16 else value
        nan = self.add(arith.CmpI(arith.CmpIPredicate.eq, exponent, self.number(255, bits)))
        return self.add(arith.Select(nan, self.number(float("nan"), wide), value))  # type: ignore[no-any-return]

    def scaled(self, value: Any, factors: Any) -> Any:
        """Elementwise product."""
        return self.add(arith.MulF(value, factors))
