"""Promotion: the type in which a binary operation is computed, and constants of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import arith, tt
from ...ir.floats import round_float, saturated
from ...ir.types import FLOATS
from ..constexpr import constexpr
from ..dtypes import bfloat16, dtype, float8e4b15, float16, float32, float64, int1, int32, int64, uint32, uint64
from ..errors import UnsupportedUse
from ..tensor import tensor
from .errors import IncompatibleTypes, type_error, value_error

if TYPE_CHECKING:
    from .context import Operand, SemanticContext

__all__ = [
    "binary_operands",
    "computation_type",
    "full",
    "integer_promote",
    "number_type",
    "scalar_constant",
    "to_condition",
    "to_tensor",
]

MIN_NORMAL_F32 = 2.0**-126
MAX_F32 = (2 - 2.0**-23) * 2.0**127


def integer_promote(sem: SemanticContext, a: dtype, b: dtype) -> dtype:
    """C's usual arithmetic conversions: the wider type; of two equally wide ones, the unsigned."""
    if a.int_signedness is b.int_signedness:
        return a if a.int_bitwidth > b.int_bitwidth else b
    if a.is_int_unsigned():
        return a if a.int_bitwidth >= b.int_bitwidth else b
    return b if b.int_bitwidth >= a.int_bitwidth else a


def computation_type(
    sem: SemanticContext, a: dtype, a_number: bool, b: dtype, b_number: bool, div_or_mod: bool
) -> dtype:
    """The type that `a op b` is computed in; `*_number` marks operands that are Python numbers.

    A number of the same or a lower kind (bool < integer < float) gets the other's type. Else the widest float wins:
    fp64, fp32, fp16; two bf16 stay bf16, one gives fp32; two different fp8 give fp16. Division and remainder of floats
    of fewer than 32 bits, or of one and an integer, are computed in fp32.
    """
    if a_number is not b_number:
        number, other = (a, b) if a_number else (b, a)
        if number.kind().value <= other.kind().value:
            return float32 if div_or_mod and other.is_floating() and other is not float64 else other
    if a is float64 or b is float64:
        return float64
    if a is float32 or b is float32 or (div_or_mod and (a.is_floating() or b.is_floating())):
        return float32
    if a is float16 or b is float16:
        return float16
    if a is bfloat16 and b is bfloat16:
        return bfloat16
    if a is bfloat16 or b is bfloat16:
        return float32
    if a.is_fp8() and b.is_fp8():
        return a if a is b else float16
    if not a.is_int() or not b.is_int():
        raise type_error(f"unexpected type {a} and {b}", "cast the 8-bit float with .to(tl.float16) first")
    if div_or_mod and a.int_signedness is not b.int_signedness:
        raise type_error(
            f"Cannot use /, //, or % with {a} and {b} because they have different signedness; this is unlikely to"
            " result in a useful answer.",
            "Cast them to the same signedness.",
        )
    return integer_promote(sem, a, b)


def number_type(x: Any) -> dtype:
    """The type of a Python number: int1, the first of int32 uint32 int64 uint64 that holds it, fp32, fp64.

    Floats that overflow or are subnormal in fp32 are fp64.
    """
    if isinstance(x, bool):
        return int1
    if isinstance(x, int):
        if -(1 << 31) <= x < 1 << 31:
            return int32
        if 0 <= x < 1 << 32:
            return uint32
        if -(1 << 63) <= x < 1 << 63:
            return int64
        if 0 <= x < 1 << 64:
            return uint64
        raise value_error(f"Nonrepresentable integer {x}.", "integers have at most 64 bits")
    if isinstance(x, float):
        size = abs(x)
        if size == 0.0 or x != x or size == float("inf") or MIN_NORMAL_F32 <= size <= MAX_F32:
            return float32
        return float64
    text = repr(x)
    shown = f"{text} of type " if len(text) <= 40 and "\n" not in text else "a value of Python type "
    array = type(x).__module__.partition(".")[0] in ("numpy", "torch", "jax", "cupy")
    hint = "kernels make blocks by tl.arange and tl.full; an array is an argument of the launch" if array else None
    hint = hint or getattr(type(x), "operand_hint", None)
    raise type_error(f"cannot convert {shown}{type(x).__name__} to tensor", hint)


def scalar_constant(sem: SemanticContext, value: Any, ty: dtype) -> tensor:
    """The number `value` as a scalar of `ty`."""
    if value.__class__ is constexpr:
        value = value.value
    if ty.is_ptr():
        return sem.cast(scalar_constant(sem, value, int64), ty)
    if ty is float8e4b15:  # not a type of the IR: the bits are computed
        return sem.cast(scalar_constant(sem, value, float32), ty)
    if ty.is_int() and value.__class__ is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise value_error(f"{value} has no value of type {ty}")
        value = int(value)
    if ty.is_fp8():  # as converted from fp32; Triton accepts exactly representable numbers and infinity
        value = saturated(round_float(float(value), FLOATS["f32"]), ty.ir)
    return tensor(sem.builder.add(arith.Constant.of(value, ty.to_ir())), ty)


def to_tensor(sem: SemanticContext, x: Operand) -> tensor:
    """A number as a scalar tensor; tensors unchanged. Raises TypeError for other values."""
    if x.__class__ is tensor:
        return x
    if x.__class__ is constexpr:
        x = x.value
    return scalar_constant(sem, x, number_type(x))


def to_condition(sem: SemanticContext, x: Operand) -> tensor:
    """The truth of a scalar as int1: the condition of `if` and `while`."""
    x = to_tensor(sem, x)
    if x.type.is_block():
        if x.type.numel != 1:
            shape = list(x.type.shape)
            raise UnsupportedUse(
                f"ValueError: Boolean value of Tensor with more than one value is ambiguous (shape {shape})",
                "use tl.where for a choice per element, or reduce the condition with tl.max",
            )
        x = tensor(sem.builder.add(tt.Unsplat(x.handle)), x.dtype)
    if x.type.is_ptr():
        x = sem.cast(x, int64)
    return x if x.type is int1 else sem.ne(x, 0)


def full(sem: SemanticContext, shape: Any, value: Operand, ty: dtype) -> tensor:
    """A block of `shape` filled with the scalar `value`."""
    if value.__class__ is tensor:
        if value.type.is_block() and value.type.numel != 1:
            raise value_error(f"tl.full takes a scalar value, got a block of shape {list(value.type.shape)}")
        if value.type.is_block():
            value = tensor(sem.builder.add(tt.Unsplat(value.handle)), value.dtype)
        scalar = sem.cast(value, ty)
    else:
        scalar = scalar_constant(sem, value, ty)
    return sem.splat(scalar, shape)


def _check_pointer(a: dtype, b: dtype, allowed: bool, roles: tuple[str, str] = ("lhs", "rhs")) -> None:
    """Raise for a pointer, of type `a`, that does not go with an operand of type `b`; `roles` are those of the two."""
    if a.is_ptr() and (not allowed or (b.is_ptr() and a is not b) or b.is_floating()):
        operands = {roles[0]: "is a pointer"}
        types = (a, b) if roles[0] == "lhs" else (b, a)
        raise IncompatibleTypes(*types, _pointer_hint(b, f"{{{roles[0]}}}", allowed), operands)


def _pointer_hint(other: dtype, pointer: str, allowed: bool) -> str:
    """The hint for a pointer combined with `other`; `allowed` says that integers can be added to it."""
    if other.is_ptr():
        return f"compare or combine addresses as integers: {pointer}.to(tl.int64)"
    values = f"the values there are `tl.load({pointer})`"
    if other.is_floating():
        return f"a pointer takes integers as offsets (// divides these); {values}" if allowed else values
    return f"{values}; a number in a tensor is passed as number.item()"


def binary_operands(
    sem: SemanticContext,
    lhs: Operand,
    rhs: Operand,
    lhs_pointer: bool = False,
    rhs_pointer: bool = False,
    arithmetic: bool = True,
    div_or_mod: bool = False,
) -> tuple[tensor, tensor]:
    """Both operands in one type and shape: numbers get the type of the other operand if they fit.

    `*_pointer` allow pointers on that side, `arithmetic` enables promotion. Raises LanguageError for incompatible types
    or shapes, negative numbers with unsigned operands, numbers out of range.
    """
    if lhs.__class__ is tensor and rhs.__class__ is tensor:
        a, b = lhs.dtype, rhs.dtype
        if a is not b or a.is_ptr() or div_or_mod:
            _check_pointer(a, b, lhs_pointer)
            _check_pointer(b, a, rhs_pointer, ("rhs", "lhs"))
            if arithmetic and not a.is_ptr() and not b.is_ptr():
                ty = computation_type(sem, a, False, b, False, div_or_mod)
                lhs, rhs = sem.cast(lhs, ty), sem.cast(rhs, ty)
    else:
        lhs, rhs = _with_number(sem, lhs, rhs, lhs_pointer, rhs_pointer, arithmetic, div_or_mod)
    if lhs.type is rhs.type:
        return lhs, rhs
    return sem.broadcast_value(lhs, rhs)


def _with_number(
    sem: SemanticContext,
    lhs: Any,
    rhs: Any,
    lhs_pointer: bool,
    rhs_pointer: bool,
    arithmetic: bool,
    div_or_mod: bool,
) -> tuple[tensor, tensor]:
    lhs = lhs.value if lhs.__class__ is constexpr else lhs
    rhs = rhs.value if rhs.__class__ is constexpr else rhs
    a_number, b_number = lhs.__class__ is not tensor, rhs.__class__ is not tensor
    a = number_type(lhs) if a_number else lhs.dtype
    b = number_type(rhs) if b_number else rhs.dtype
    _check_pointer(a, b, lhs_pointer)
    _check_pointer(b, a, rhs_pointer)
    if not arithmetic or a.is_ptr() or b.is_ptr():
        return to_tensor(sem, lhs), to_tensor(sem, rhs)
    ty = computation_type(sem, a, a_number, b, b_number, div_or_mod)
    if ty.is_int():
        for is_number, value in ((a_number, lhs), (b_number, rhs)):
            if is_number:
                _check_range(value, ty)
    x = scalar_constant(sem, lhs, ty) if a_number else sem.cast(lhs, ty)
    y = scalar_constant(sem, rhs, ty) if b_number else sem.cast(rhs, ty)
    return x, y


def _check_range(value: Any, ty: dtype) -> None:
    if value < 0 and ty.is_int_unsigned():
        raise value_error(
            "Cannot perform a binary operation between an unsigned tensor and a negative scalar.",
            "Perform a explicit cast on one of them.",
        )
    if not ty.get_int_min_value() <= value <= ty.get_int_max_value():
        raise value_error(f"Scalar {value} is out of range for type {ty}", "cast the tensor to a wider type first")
