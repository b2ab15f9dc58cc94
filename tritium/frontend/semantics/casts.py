"""Conversions between types: `x.to(dtype)`, with a rounding mode or as a bitcast."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...dialects import arith, tt
from ..dtypes import dtype, float8e4b15, float16, float32, float64, int1, int8, int32, int64, uint8, uint16
from ..tensor import tensor
from .errors import type_error, value_error

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["bitcast", "cast", "check_supported", "unsupported_fp8"]

ROUNDING = {"rtne": tt.RoundingMode.rtne, "rtz": tt.RoundingMode.rtz}


def bitcast(sem: SemanticContext, x: tensor, to: dtype) -> tensor:
    """The bits of `x` as another type of the same width."""
    target = x.type.with_element_ty(to.scalar)
    if x.type is target:
        return x
    a, b = x.dtype, target.scalar
    if a.is_ptr() or b.is_ptr():
        return cast(sem, x, target)
    if a.primitive_bitwidth != b.primitive_bitwidth:
        raise value_error(
            f"Cannot bitcast data-type of size {a.primitive_bitwidth} to data-type of size {b.primitive_bitwidth}",
            "cast without bitcast=True to convert the value",
        )
    if b.is_fp8():
        check_supported(sem, b)
    if a.ir is b.ir:  # the IR types have no signedness
        return tensor(x.handle, target)
    return tensor(sem.builder.add(tt.Bitcast(x.handle, result=target.ir)), target)


def cast(sem: SemanticContext, x: tensor, to: dtype, fp_downcast_rounding: str | None = None) -> tensor:
    """The value of `x` in the scalar type `to`, rounded to nearest even (or `rtz`: towards zero)."""
    a, b = x.dtype, to.scalar
    if a is b:
        return x
    target = x.type.with_element_ty(b)
    if fp_downcast_rounding is not None:
        _check_rounding(a, b, fp_downcast_rounding)
    if b.is_fp8():
        check_supported(sem, b)
    if a is float8e4b15 or b is float8e4b15:
        return _cast_fp8e4b15(sem, x, b, fp_downcast_rounding)
    if a.is_floating():
        if b.is_floating():
            return _float_to_float(sem, x, target, fp_downcast_rounding)
        if b.is_int():
            return _float_to_int(sem, x, target)
    elif a.is_int():
        if b.is_int():
            return _int_to_int(sem, x, target)
        if b.is_floating():
            return _int_to_float(sem, x, target)
        if b.is_ptr():
            if a.int_bitwidth != 64:
                x = cast(sem, x, int64)
            return tensor(sem.builder.add(tt.IntToPtr(x.handle, result=target.ir)), target)
    elif a.is_ptr():
        if b.is_ptr():
            return tensor(sem.builder.add(tt.Bitcast(x.handle, result=target.ir)), target)
        if b.is_int() and b.int_bitwidth == 64:
            return tensor(sem.builder.add(tt.PtrToInt(x.handle, result=target.ir)), target)
        if b is int1:
            return sem.ne(cast(sem, x, int64), 0)
    raise type_error(f"cannot cast {x.type} to {target}", _HINTS.get((a.is_ptr(), b.is_ptr())))


_HINTS = {
    (True, False): "a pointer becomes an integer by .to(tl.int64)",
    (False, True): "an integer address becomes a pointer by .to(tl.pointer_type(dtype))",
}


def check_supported(sem: SemanticContext, ty: dtype) -> None:
    """Raise ValueError for an 8-bit float that the target does not support."""
    if ty.name not in sem.supported_fp8_dtypes:
        raise value_error(unsupported_fp8(ty, sem.supported_fp8_dtypes))


def unsupported_fp8(ty: dtype, supported: Iterable[str]) -> str:
    """The message for an 8-bit float that is not among the supported ones."""
    return f"type {ty} not supported in this architecture. The supported fp8 dtypes are {[*supported]}"


def _check_rounding(a: dtype, b: dtype, rounding: str) -> None:
    if rounding not in ROUNDING:
        raise value_error(f"Invalid rounding mode: {rounding}. Supported rounding modes are 'rtne' and 'rtz'.")
    if not (a.is_floating() and b.is_floating() and b.primitive_bitwidth < a.primitive_bitwidth):
        raise value_error(
            "fp_downcast_rounding should be set only for truncating fp conversions. Source scalar type is"
            f" {a} and destination type is {b}"
        )


def _float_to_float(sem: SemanticContext, x: tensor, target: Any, rounding: str | None) -> tensor:
    a, b = x.dtype, target.scalar
    narrows = b.primitive_bitwidth < a.primitive_bitwidth
    if a.is_fp8() or b.is_fp8() or (rounding is not None and rounding != "rtne"):
        mode = ROUNDING[rounding or "rtne"] if narrows else None
        return tensor(sem.builder.add(tt.FpToFp(x.handle, mode, result=target.ir)), target)
    if a.primitive_bitwidth == 16 and b is not float32:  # between fp16 and bf16 by way of fp32
        return cast(sem, cast(sem, x, float32), b)
    op = arith.TruncF if narrows else arith.ExtF
    return tensor(sem.builder.add(op(x.handle, out=target.ir)), target)


def _float_to_int(sem: SemanticContext, x: tensor, target: Any) -> tensor:
    a, b = x.dtype, target.scalar
    if a.is_fp8():
        return cast(sem, cast(sem, x, float16), b)
    if a.primitive_bitwidth == 16:
        x = cast(sem, x, float32)
    if b is int1:
        return sem.ne(x, sem.scalar_constant(0, x.dtype))
    if sem.checks_conversions:
        _assert_fits(sem, x, a, b)
    op = arith.FPToSI if b.is_int_signed() else arith.FPToUI
    return tensor(sem.builder.add(op(x.handle, out=target.ir)), target)


def _assert_fits(sem: SemanticContext, x: tensor, source: dtype, target: dtype) -> None:
    """Stop the launch unless all elements are within the range of an integer type when rounded towards zero."""
    low, high = target.get_int_min_value(), target.get_int_max_value()
    exact = target.int_bitwidth < (53 if x.dtype is float64 else 24)  # low - 1 is representable in the type of x
    above = sem.gt(x, sem.scalar_constant(low - 1, x.dtype)) if exact or low == 0 else None
    if above is None:
        above = sem.ge(x, sem.scalar_constant(low, x.dtype))
    inside = sem.and_(above, sem.lt(x, sem.scalar_constant(high + 1, x.dtype)))
    sem.builder.insert(
        tt.Assert(inside.handle, f"{source} out of range of {target}: the result is the nearest integer")
    )


def _int_to_float(sem: SemanticContext, x: tensor, target: Any) -> tensor:
    b = target.scalar
    if b.is_fp8():
        return cast(sem, _int_to_float(sem, x, x.type.with_element_ty(float32)), b)
    op = arith.SIToFP if x.dtype.is_int_signed() else arith.UIToFP
    return tensor(sem.builder.add(op(x.handle, out=target.ir)), target)


def _int_to_int(sem: SemanticContext, x: tensor, target: Any) -> tensor:
    a, b = x.dtype, target.scalar
    if b is int1:
        return sem.ne(x, sem.scalar_constant(0, a))
    if a.int_bitwidth == b.int_bitwidth:
        return tensor(x.handle, target)
    if a.int_bitwidth > b.int_bitwidth:
        op: Any = arith.TruncI
    else:
        op = arith.ExtSI if a.is_int_signed() else arith.ExtUI
    return tensor(sem.builder.add(op(x.handle, out=target.ir)), target)


# -- fp8e4b15 -----------------------------------------------------------------------------------------------------
# Its exponent has the bias of fp16 and one bit less, so the bits of a value are those of fp16 without the top exponent
# bit and the low mantissa bits; there is no NaN or infinity, the largest value is 1.875 (fp16 bits 0x3F80).


def _cast_fp8e4b15(sem: SemanticContext, x: tensor, to: dtype, rounding: str | None) -> tensor:
    if x.dtype is float8e4b15:
        half = _decode_fp8e4b15(sem, x)
        return half if to is float16 else cast(sem, half, to)
    towards_zero = rounding == "rtz"
    if x.dtype is float16:
        return _encode_fp8e4b15(sem, sem.cast(sem.bitcast(x, uint16), int32), towards_zero)
    # avoid double rounding by way of fp16: truncate, with a sticky last bit
    wide = x if x.dtype is float64 else cast(sem, x, float32)
    half = cast(sem, wide, float16, "rtz")
    bits = cast(sem, bitcast(sem, half, uint16), int32)
    lost = cast(sem, sem.ne(cast(sem, half, wide.dtype), wide), int32)
    return _encode_fp8e4b15(sem, bits if towards_zero else sem.or_(bits, lost), towards_zero)


def _decode_fp8e4b15(sem: SemanticContext, x: tensor) -> tensor:
    bits = cast(sem, tensor(x.handle, x.type.with_element_ty(uint8)), uint16)
    sign = sem.lshift(sem.and_(bits, 0x80), 8)
    return bitcast(sem, sem.or_(sign, sem.lshift(sem.and_(bits, 0x7F), 7)), float16)


def _encode_fp8e4b15(sem: SemanticContext, bits: tensor, towards_zero: bool) -> tensor:
    """fp8e4b15 from the bits of an fp16 value, as int32."""
    size = sem.minimum(sem.and_(bits, 0x7FFF), 0x3F80)
    if not towards_zero:
        size = sem.add(size, sem.add(sem.and_(sem.rshift(size, 7), 1), 0x3F, False), False)
    byte = sem.or_(sem.rshift(size, 7), sem.and_(sem.rshift(bits, 8), 0x80))
    narrow = cast(sem, byte, int8)
    return tensor(narrow.handle, narrow.type.with_element_ty(float8e4b15))
