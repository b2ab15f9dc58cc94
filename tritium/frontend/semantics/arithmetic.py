"""Arithmetic, bitwise and logical operators, comparisons, minimum, maximum, clamp."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...dialects import arith, tt
from ...dialects.arith import CmpFPredicate, CmpIPredicate
from ..constexpr import constexpr, unwrap
from ..dtypes import float16, float32, int1, int64
from ..tensor import tensor
from .errors import OperandError, type_error, value_error
from .promotion import binary_operands, scalar_constant, to_tensor

if TYPE_CHECKING:
    from .context import Operand, SemanticContext

__all__ = [
    "add",
    "and_",
    "ashr",
    "clamp",
    "eq",
    "fdiv",
    "floordiv",
    "ge",
    "gt",
    "invert",
    "le",
    "logical_and",
    "logical_or",
    "lshift",
    "lshr",
    "lt",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "ne",
    "neg",
    "not_",
    "or_",
    "pos",
    "rshift",
    "sub",
    "truediv",
    "xor_",
]


def _float(sem: SemanticContext, op: Any, lhs: tensor, rhs: tensor) -> tensor:
    """A float operation on operands of one type; 8-bit floats are computed in fp32 and rounded back."""
    if lhs.dtype.is_fp8():
        wide = _float(sem, op, sem.cast(lhs, float32), sem.cast(rhs, float32))
        return sem.cast(wide, lhs.dtype)
    return tensor(sem.builder.add(op(lhs.handle, rhs.handle)), lhs.type)


def add(sem: SemanticContext, lhs: Operand, rhs: Operand, sanitize_overflow: bool = True) -> tensor:
    """lhs + rhs; a pointer plus an integer is a pointer offset by that many elements."""
    lhs, rhs = binary_operands(sem, lhs, rhs, True, True)
    kind = lhs.dtype
    if kind.is_floating():
        return _float(sem, arith.AddF, lhs, rhs)
    if kind.is_int() and not rhs.dtype.is_ptr():
        if sanitize_overflow and sem.sanitize_overflow:
            _check_overflow(sem, "add", arith.AddI, lhs, rhs)
        return tensor(sem.builder.add(arith.AddI(lhs.handle, rhs.handle)), lhs.type)
    if kind.is_ptr() and rhs.dtype.is_ptr():
        raise type_error(
            "cannot add pointers together",
            "offsets are integers; the values there are tl.load(pointer + offsets)",
        )
    if rhs.dtype.is_ptr():
        lhs, rhs = rhs, lhs
    if not lhs.dtype.is_ptr() or not rhs.dtype.is_int():
        raise type_error(f"unexpected type {lhs.dtype} and {rhs.dtype}")
    if lhs.dtype.element_ty.is_block():
        raise type_error("a block pointer takes no offset by +", "use tl.advance(ptr, offsets)")
    offset = rhs.handle
    if rhs.dtype.is_int_unsigned() and rhs.dtype.int_bitwidth < 64:
        # tt.addptr reads its offset as signed
        offset = sem.builder.add(arith.ExtUI(offset, out=rhs.type.with_element_ty(int64).ir))
    return tensor(sem.builder.add(tt.AddPtr(lhs.handle, offset)), lhs.type)


def sub(sem: SemanticContext, lhs: Operand, rhs: Operand, sanitize_overflow: bool = True) -> tensor:
    """lhs - rhs; a pointer minus an integer is a pointer."""
    lhs, rhs = binary_operands(sem, lhs, rhs, True, False)
    kind = lhs.dtype
    if kind.is_floating():
        return _float(sem, arith.SubF, lhs, rhs)
    if kind.is_int():
        if sanitize_overflow and sem.sanitize_overflow:
            _check_overflow(sem, "sub", arith.SubI, lhs, rhs)
        return tensor(sem.builder.add(arith.SubI(lhs.handle, rhs.handle)), lhs.type)
    if kind.is_ptr():
        if rhs.dtype.is_ptr():
            raise type_error(
                "pointers cannot be subtracted", "subtract addresses: (a.to(tl.int64) - b.to(tl.int64)) // size"
            )
        return add(sem, lhs, neg(sem, rhs), False)
    raise type_error(f"unexpected type {kind}")


def mul(sem: SemanticContext, lhs: Operand, rhs: Operand, sanitize_overflow: bool = True) -> tensor:
    """lhs * rhs"""
    lhs, rhs = binary_operands(sem, lhs, rhs)
    if lhs.dtype.is_floating():
        return _float(sem, arith.MulF, lhs, rhs)
    if sanitize_overflow and sem.sanitize_overflow:
        _check_overflow(sem, "mul", arith.MulI, lhs, rhs)
    return tensor(sem.builder.add(arith.MulI(lhs.handle, rhs.handle)), lhs.type)


def _check_overflow(sem: SemanticContext, name: str, op: Any, lhs: tensor, rhs: tensor) -> None:
    """In debug mode, assert that the operation in 64 bits stays in the range of its type."""
    kind = lhs.dtype
    if kind.int_bitwidth >= 64 or kind.int_bitwidth == 1:
        return
    x, y = sem.cast(lhs, int64), sem.cast(rhs, int64)
    wide = tensor(sem.builder.add(op(x.handle, y.handle)), x.type)
    high = scalar_constant(sem, kind.get_int_max_value(), int64)
    low = scalar_constant(sem, kind.get_int_min_value(), int64)
    inside = and_(sem, le(sem, wide, high), ge(sem, wide, low))
    sem.device_assert(inside, f"int{kind.int_bitwidth} overflow detected for operation {name}", None)


def truediv(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs / rhs; of integers in fp32."""
    lhs, rhs = binary_operands(sem, lhs, rhs, div_or_mod=True)
    if lhs.dtype.is_int():
        lhs, rhs = sem.cast(lhs, float32), sem.cast(rhs, float32)
    return _float(sem, arith.DivF, lhs, rhs)


def floordiv(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs // rhs of integers, rounded towards zero as in C."""
    lhs, rhs = binary_operands(sem, lhs, rhs, div_or_mod=True)
    if not lhs.dtype.is_int():
        raise type_error(f"unexpected type {lhs.dtype}: // takes integers", "use tl.floor(x / y)")
    op = arith.DivSI if lhs.dtype.is_int_signed() else arith.DivUI
    return tensor(sem.builder.add(op(lhs.handle, rhs.handle)), lhs.type)


def mod(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs % rhs with the sign of lhs, as in C."""
    lhs, rhs = binary_operands(sem, lhs, rhs, div_or_mod=True)
    if lhs.dtype.is_floating():
        return _float(sem, arith.RemF, lhs, rhs)
    op = arith.RemSI if lhs.dtype.is_int_signed() else arith.RemUI
    return tensor(sem.builder.add(op(lhs.handle, rhs.handle)), lhs.type)


def fdiv(sem: SemanticContext, lhs: Operand, rhs: Operand, ieee_rounding: bool = False, approx: bool = False) -> tensor:
    """lhs / rhs of floats: by the division of the target, correctly rounded, or approximate (of fp32)."""
    if ieee_rounding and approx:
        raise value_error("approx and ieee_rounding cannot both be True", "choose one")
    lhs, rhs = to_tensor(sem, lhs), to_tensor(sem, rhs)
    if not lhs.dtype.is_floating() or not rhs.dtype.is_floating():
        raise type_error("both operands of fdiv must have floating scalar type", "use / for integers")
    lhs, rhs = binary_operands(sem, lhs, rhs)
    if approx and not lhs.dtype.is_fp32():
        raise value_error(f"approx division requires float32 operands, got {lhs.dtype}", "cast them to tl.float32")
    op: Any = tt.ApproxDivF if approx else tt.PreciseDivF if ieee_rounding else arith.DivF
    return _float(sem, op, lhs, rhs)


# -- minimum, maximum ---------------------------------------------------------------------------------------------


def _propagates(propagate_nan: tt.PropagateNan | constexpr) -> bool:
    propagate_nan = unwrap(propagate_nan)
    if propagate_nan not in (tt.PropagateNan.none, tt.PropagateNan.all):
        raise value_error(f"Unexpected propagate_nan {propagate_nan!r}", "tl.PropagateNan.NONE or tl.PropagateNan.ALL")
    return bool(propagate_nan == tt.PropagateNan.all)


_EXTREMA = {
    "minimum": (arith.MinNumF, arith.MinimumF, arith.MinSI, arith.MinUI),
    "maximum": (arith.MaxNumF, arith.MaximumF, arith.MaxSI, arith.MaxUI),
}


def _extremum(
    sem: SemanticContext, name: str, x: Operand, y: Operand, propagate_nan: tt.PropagateNan | constexpr
) -> tensor:
    x, y = binary_operands(sem, x, y)
    numbers, nans, signed, unsigned = _EXTREMA[name]
    if x.dtype.is_floating():
        return _float(sem, nans if _propagates(propagate_nan) else numbers, x, y)
    op: Any = signed if x.dtype.is_int_signed() else unsigned
    return tensor(sem.builder.add(op(x.handle, y.handle)), x.type)


def minimum(
    sem: SemanticContext, x: Operand, y: Operand, propagate_nan: tt.PropagateNan | constexpr = tt.PropagateNan.none
) -> tensor:
    """min(x, y) per element."""
    return _extremum(sem, "minimum", x, y, propagate_nan)


def maximum(
    sem: SemanticContext, x: Operand, y: Operand, propagate_nan: tt.PropagateNan | constexpr = tt.PropagateNan.none
) -> tensor:
    """max(x, y) per element."""
    return _extremum(sem, "maximum", x, y, propagate_nan)


def _parameters(sem: SemanticContext, first: str, a: Operand, second: str, b: Operand) -> tuple[tensor, tensor]:
    """Both in one type and shape, named as parameters of the function where they do not fit."""
    try:
        return binary_operands(sem, a, b)
    except OperandError as error:
        error.rename({"lhs": first, "rhs": second})
        raise


def clamp(
    sem: SemanticContext,
    x: Operand,
    low: Operand,
    high: Operand,
    propagate_nan: tt.PropagateNan | constexpr = tt.PropagateNan.none,
) -> tensor:
    """min(max(x, low), high) per element."""
    low, high = _parameters(sem, "min", to_tensor(sem, low), "max", to_tensor(sem, high))
    x, low = _parameters(sem, "x", x, "min", low)
    x, high = _parameters(sem, "x", x, "max", high)
    if low.type is not x.type:  # the maximum may have widened or broadcast x
        low = binary_operands(sem, low, x)[0]
    if x.dtype.is_int():
        return minimum(sem, maximum(sem, x, low), high)
    if not x.dtype.is_floating():
        raise type_error(f"Unexpected dtype {x.dtype}", "clamp takes integers and floats")
    if x.dtype.is_fp8():
        wide = clamp(sem, sem.cast(x, float32), sem.cast(low, float32), sem.cast(high, float32), propagate_nan)
        return sem.cast(wide, x.dtype)
    nans = tt.PropagateNan.all if _propagates(propagate_nan) else tt.PropagateNan.none
    return tensor(sem.builder.add(tt.ClampF(x.handle, low.handle, high.handle, nans)), x.type)


# -- bits ---------------------------------------------------------------------------------------------------------


def _is_integer(x: Operand) -> bool:
    return x.dtype.is_int() if isinstance(x, tensor) else not isinstance(unwrap(x), float)


def _described(x: Operand) -> str:
    return f"has type {x.type}" if isinstance(x, tensor) else f"is a {type(unwrap(x)).__name__}"


def _bitwise(sem: SemanticContext, op: Any, lhs: Operand, rhs: Operand) -> tensor:
    given = {"lhs": lhs, "rhs": rhs}
    lhs, rhs = binary_operands(sem, lhs, rhs)
    if not lhs.dtype.is_int():
        floats = {role: _described(x) for role, x in given.items() if not _is_integer(x)}
        message = f"TypeError: invalid operands of type {lhs.dtype} and {rhs.dtype}"
        raise OperandError(message, floats, "bitwise operators take integers")
    return tensor(sem.builder.add(op(lhs.handle, rhs.handle)), lhs.type)


def and_(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs & rhs"""
    return _bitwise(sem, arith.AndI, lhs, rhs)


def or_(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs | rhs"""
    return _bitwise(sem, arith.OrI, lhs, rhs)


def xor_(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs ^ rhs"""
    return _bitwise(sem, arith.XOrI, lhs, rhs)


def lshift(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs << rhs"""
    _check_shift(lhs, rhs)
    return _bitwise(sem, arith.ShLI, lhs, rhs)


def rshift(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """lhs >> rhs: arithmetic for signed integers, logical for unsigned ones."""
    _check_shift(lhs, rhs)
    signed = to_tensor(sem, lhs).dtype.is_int_signed() if lhs.__class__ is not tensor else lhs.dtype.is_int_signed()
    return _bitwise(sem, arith.ShRSI if signed else arith.ShRUI, lhs, rhs)


def lshr(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """Logical lhs >> rhs."""
    return _bitwise(sem, arith.ShRUI, lhs, rhs)


def ashr(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """Arithmetic lhs >> rhs."""
    return _bitwise(sem, arith.ShRSI, lhs, rhs)


def _check_shift(lhs: Operand, rhs: Operand) -> None:
    count = unwrap(rhs)
    if count.__class__ is int and lhs.__class__ is tensor and lhs.dtype.is_int():
        if not 0 <= count < lhs.dtype.int_bitwidth:
            raise value_error(
                f"a shift by {count} bits is out of range for {lhs.dtype}",
                "shift by 0 to width - 1, or cast to a wider type",
            )


def _as_bool(sem: SemanticContext, x: Operand) -> tensor:
    x = to_tensor(sem, x)
    return x if x.dtype is int1 else sem.cast(x, int1)


def logical_and(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """Logical and, per element."""
    return and_(sem, _as_bool(sem, lhs), _as_bool(sem, rhs))


def logical_or(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
    """Logical or, per element."""
    return or_(sem, _as_bool(sem, lhs), _as_bool(sem, rhs))


def not_(sem: SemanticContext, x: Operand) -> tensor:
    """Logical not, per element."""
    return invert(sem, _as_bool(sem, x))


def pos(sem: SemanticContext, x: Operand) -> tensor:
    """x"""
    return to_tensor(sem, x)


def neg(sem: SemanticContext, x: Operand) -> tensor:
    """-x: 0 - x for integers; the sign bit flipped for floats, zeros and NaNs too."""
    x = to_tensor(sem, x)
    kind = x.dtype
    if kind.is_ptr():
        raise value_error(f"wrong type argument to unary minus ({kind})")
    if kind.is_fp8():
        return sem.cast(neg(sem, sem.cast(x, float32)), kind)
    if kind.is_floating():
        return tensor(sem.builder.add(arith.NegF(x.handle)), x.type)
    zero = scalar_constant(sem, 0, kind)
    return sub(sem, zero, x, False)


def invert(sem: SemanticContext, x: Operand) -> tensor:
    """~x"""
    x = to_tensor(sem, x)
    kind = x.dtype
    if kind.is_ptr() or kind.is_floating():
        raise value_error(f"wrong type argument to unary invert ({kind})")
    return xor_(sem, x, scalar_constant(sem, 1 if kind is int1 else -1, kind))


# -- comparison ---------------------------------------------------------------------------------------------------


def _comparison(
    name: str, floats: CmpFPredicate, signed: CmpIPredicate, unsigned: CmpIPredicate
) -> Callable[[SemanticContext, Operand, Operand], tensor]:
    def compare(sem: SemanticContext, lhs: Operand, rhs: Operand) -> tensor:
        lhs, rhs = binary_operands(sem, lhs, rhs)
        kind = lhs.dtype
        if kind.is_fp8():
            return compare(sem, sem.cast(lhs, float16), sem.cast(rhs, float16))
        if kind.is_floating():
            op: Any = arith.CmpF(floats, lhs.handle, rhs.handle)
        else:
            op = arith.CmpI(signed if kind.is_int_signed() else unsigned, lhs.handle, rhs.handle)
        return tensor(sem.builder.add(op), lhs.type.with_element_ty(int1))

    compare.__name__ = name
    compare.__doc__ = f"lhs {name} rhs per element, as int1; false for NaN except `ne`."
    return compare


eq = _comparison("eq", CmpFPredicate.oeq, CmpIPredicate.eq, CmpIPredicate.eq)
ne = _comparison("ne", CmpFPredicate.une, CmpIPredicate.ne, CmpIPredicate.ne)
lt = _comparison("lt", CmpFPredicate.olt, CmpIPredicate.slt, CmpIPredicate.ult)
le = _comparison("le", CmpFPredicate.ole, CmpIPredicate.sle, CmpIPredicate.ule)
gt = _comparison("gt", CmpFPredicate.ogt, CmpIPredicate.sgt, CmpIPredicate.ugt)
ge = _comparison("ge", CmpFPredicate.oge, CmpIPredicate.sge, CmpIPredicate.uge)
