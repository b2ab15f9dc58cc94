"""Arithmetic. Nothing here may be undefined at run time: a lane that is masked off still computes, so division by
zero, oversized shifts and out-of-range conversions get a defined result instead of a trap or poison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import arith, tt, ttc, ub
from ...ir import IntegerType, Type, Value, bf16, element_type, f32, f64, i16, i32, with_element
from ...support import UnsupportedOperation
from ..llvm.integers import PRECISION, fit_for_rounding
from ..llvm.operations import (
    CASTS,
    DIVISIONS,
    FLOAT,
    INTEGER,
    ROUNDED_DIVISIONS,
    SHIFTS,
    divides_safely,
    overflow_flags,
    shift_amount,
)
from .context import FunctionContext, lowers
from .resize import resize, through_single
from .types import bit_width, lanes_of, llvm_type, mangled
from .uniform_division import division_by_uniform

__all__: list[str] = []


@lowers(arith.Constant)
def _constant(e: FunctionContext, op: arith.Constant) -> None:
    e.constant(op.result, op.value)


@lowers(ub.Poison)
def _poison(e: FunctionContext, op: Any) -> None:
    e.bind(op.result, "poison")


@lowers(*INTEGER)
def _integer(e: FunctionContext, op: Any) -> None:
    e.bind(op.result, e.op(f"{INTEGER[type(op)]}{overflow_flags(op)} {e.typed(op.lhs)}, {e(op.rhs)}"))


@lowers(*FLOAT)
def _float(e: FunctionContext, op: Any) -> None:
    if op.roundingmode not in (None, arith.RoundingMode.to_nearest_even):
        raise UnsupportedOperation(op, "with a rounding mode is not supported on the CPU")
    if type(op) is arith.DivF and _divides_by_uniform(e, op):
        return
    fuse = " contract" if e.module.fusion and type(op) is not arith.DivF and op.roundingmode is None else ""
    _float_binary(e, op, lambda ty, a, b: e.op(f"{FLOAT[type(op)]}{fuse} {llvm_type(ty)} {a}, {b}"))


def _float_binary(e: FunctionContext, op: Any, write: Callable[[Type, str, str], str]) -> None:
    """An operation on floats; on bf16 it is done in f32 and rounded."""
    ty, (a, b) = op.results[0].type, op.operands
    if element_type(ty) is not bf16:
        e.bind(op.results[0], write(ty, e(a), e(b)))
        return
    wide, (x, y) = through_single(e, ty, [e(a), e(b)])
    e.bind(op.results[0], resize(e, write(wide, x, y), wide, ty))


def _divides_by_uniform(e: FunctionContext, op: arith.DivF) -> bool:
    splat, ty = op.rhs.defining_op, op.result.type
    fits = element_type(ty) is f32 and lanes_of(ty) in (8, 16) and e.module.target.has_fma
    if not fits or not isinstance(splat, ttc.Splat):
        return False
    symbol, text, declares = division_by_uniform(lanes_of(ty))
    e.module.define(symbol, text)
    for line in declares:
        e.module.declare(line)
    vector = llvm_type(ty)
    e.bind(op.result, e.op(f"call {vector} @{symbol}({e.typed(op.lhs)}, {e.typed(splat.src)})"))
    return True


@lowers(tt.PreciseDivF, tt.ApproxDivF)
def _precise_div(e: FunctionContext, op: Any) -> None:
    """CPUs divide exactly at no great cost: an approximate division may be that."""
    _float_binary(e, op, lambda ty, a, b: e.op(f"fdiv {llvm_type(ty)} {a}, {b}"))


@lowers(arith.NegF)
def _neg(e: FunctionContext, op: arith.NegF) -> None:
    ty = op.result.type
    if element_type(ty) is bf16:
        e.bind(op.result, e.op(f"xor {e.typed(op.operand)}, {_number(with_element(ty, i16), -(1 << 15))}"))
    else:
        e.bind(op.result, e.op(f"fneg {e.typed(op.operand)}"))


def _safe_divisor(e: FunctionContext, op: Any, signed: bool) -> str:
    """The divisor, with 1 where dividing would trap: by zero, or the least integer by -1."""
    rhs = e(op.rhs)
    if divides_safely(op.rhs):
        return rhs
    ty = op.rhs.type
    text, mask = llvm_type(ty), llvm_type(with_element(ty, IntegerType(1)))
    one = _number(ty, 1)
    bad = e.op(f"icmp eq {text} {rhs}, {_number(ty, 0)}")
    if signed:
        minus = e.op(f"icmp eq {text} {rhs}, {_number(ty, -1)}")
        least = e.op(f"icmp eq {e.typed(op.lhs)}, {_number(ty, -(1 << (bit_width(ty) - 1)))}")
        both = e.op(f"and {mask} {minus}, {least}")
        bad = e.op(f"or {mask} {bad}, {both}")
    return e.op(f"select {mask} {bad}, {text} {one}, {text} {rhs}")


def _number(ty: Type, value: int) -> str:
    lanes = lanes_of(ty)
    return str(value) if lanes == 1 else f"splat ({llvm_type(element_type(ty))} {value})"


@lowers(*DIVISIONS)
def _division(e: FunctionContext, op: Any) -> None:
    name, signed, is_rem = DIVISIONS[type(op)]
    ty = op.result.type
    divisor = _safe_divisor(e, op, signed)
    if lanes_of(ty) > 1 and bit_width(ty) <= 32 and not divides_safely(op.rhs):
        quotient = _vector_quotient(e, op, divisor, signed)
        if not is_rem:
            e.bind(op.result, quotient)
            return
        product = e.op(f"mul {llvm_type(ty)} {quotient}, {divisor}")
        e.bind(op.result, e.op(f"sub {e.typed(op.lhs)}, {product}"))
        return
    e.bind(op.result, e.op(f"{name} {e.typed(op.lhs)}, {divisor}"))


def _vector_quotient(e: FunctionContext, op: Any, divisor: str, signed: bool) -> str:
    """Integer division of vectors through f64, whose 53 bits make the truncated quotient of 32-bit integers exact;
    processors have no vector division of integers, and LLVM would divide lane by lane."""
    ty = op.result.type
    text, lanes = llvm_type(ty), lanes_of(ty)
    double = f"<{lanes} x double>"
    to, back = ("sitofp", "llvm.fptosi.sat") if signed else ("uitofp", "llvm.fptoui.sat")
    a = e.op(f"{to} {e.typed(op.lhs)} to {double}")
    b = e.op(f"{to} {text} {divisor} to {double}")
    q = e.op(f"fdiv {double} {a}, {b}")
    wide = with_element(ty, i32) if bit_width(ty) < 32 else ty
    q32 = e.call(wide, f"{back}.{mangled(wide)}.v{lanes}f64", (double, q))
    return q32 if wide is ty else e.op(f"trunc {llvm_type(wide)} {q32} to {text}")


@lowers(*ROUNDED_DIVISIONS)
def _rounded_division(e: FunctionContext, op: Any) -> None:
    signed, upwards = ROUNDED_DIVISIONS[type(op)]
    ty = llvm_type(op.result.type)
    mask = llvm_type(with_element(op.result.type, IntegerType(1)))
    divisor = _safe_divisor(e, op, signed)
    name = "sdiv" if signed else "udiv"
    q = e.op(f"{name} {e.typed(op.lhs)}, {divisor}")
    product = e.op(f"mul {ty} {q}, {divisor}")
    inexact = e.op(f"icmp ne {ty} {product}, {e(op.lhs)}")
    if signed:
        signs = e.op(f"xor {e.typed(op.lhs)}, {divisor}")
        relation = "sge" if upwards else "slt"
        side = e.op(f"icmp {relation} {ty} {signs}, {_number(op.result.type, 0)}")
        inexact = e.op(f"and {mask} {inexact}, {side}")
    step = e.op(f"zext {mask} {inexact} to {ty}")
    e.bind(op.result, e.op(f"{'add' if upwards else 'sub'} {ty} {q}, {step}"))


@lowers(*SHIFTS)
def _shift(e: FunctionContext, op: Any) -> None:
    name, ty = SHIFTS[type(op)], op.result.type
    text, width = llvm_type(ty), bit_width(ty)
    if shift_amount(op.rhs, width) is not None:
        e.bind(op.result, e.op(f"{name} {e.typed(op.lhs)}, {e(op.rhs)}"))
        return
    if name == "ashr":
        clamped = e.call(ty, f"llvm.umin.{mangled(ty)}", (text, e(op.rhs)), (text, _number(ty, width - 1)))
        e.bind(op.result, e.op(f"ashr {e.typed(op.lhs)}, {clamped}"))
        return
    mask = llvm_type(with_element(ty, IntegerType(1)))
    inside = e.op(f"icmp ult {text} {e(op.rhs)}, {_number(ty, width)}")
    shifted = e.op(f"{name} {e.typed(op.lhs)}, {e(op.rhs)}")
    e.bind(op.result, e.op(f"select {mask} {inside}, {text} {shifted}, {text} {_number(ty, 0)}"))


@lowers(*(CASTS.keys() - {arith.TruncF}))
def _cast(e: FunctionContext, op: Any) -> None:
    ty = op.out.type
    if type(op) is arith.ExtF:
        e.bind(op.out, resize(e, e(op.in_), op.in_.type, ty))
        return
    result, value = ty, e(op.in_)
    if element_type(ty) is bf16:
        bits, signed = bit_width(op.in_.type), type(op) is arith.SIToFP
        result = with_element(ty, f64 if bits == 64 else f32)
        if bits in PRECISION:
            value = fit_for_rounding(e.op, value, llvm_type(op.in_.type), bits, signed)
    value = e.op(f"{CASTS[type(op)]} {llvm_type(op.in_.type)} {value} to {llvm_type(result)}")
    e.bind(op.out, resize(e, value, result, ty))


@lowers(arith.FPToSI, arith.FPToUI)
def _float_to_int(e: FunctionContext, op: Any) -> None:
    name = "llvm.fptosi.sat" if type(op) is arith.FPToSI else "llvm.fptoui.sat"
    source = op.in_.type
    operand = e(op.in_)
    if bit_width(source) < 32:
        wide = with_element(source, f32)
        operand = resize(e, operand, source, wide)
        source = wide
    name = f"{name}.{mangled(op.out.type)}.{mangled(source)}"
    e.bind(op.out, e.call(op.out.type, name, (llvm_type(source), operand)))


@lowers(arith.IndexCast, arith.IndexCastUI)
def _index_cast(e: FunctionContext, op: Any) -> None:
    before, after = bit_width(op.in_.type), bit_width(op.out.type)
    if before == after:
        e.bind(op.out, e(op.in_))
        return
    name = "trunc" if before > after else ("sext" if type(op) is arith.IndexCast else "zext")
    e.bind(op.out, e.op(f"{name} {e.typed(op.in_)} to {llvm_type(op.out.type)}"))


@lowers(arith.Bitcast, tt.Bitcast)
def _bitcast(e: FunctionContext, op: Any) -> None:
    source, result = op.operands[0], op.results[0]
    if llvm_type(source.type) == llvm_type(result.type):
        e.bind(result, e(source))
        return
    e.bind(result, e.op(f"bitcast {e.typed(source)} to {llvm_type(result.type)}"))


@lowers(tt.IntToPtr)
def _int_to_ptr(e: FunctionContext, op: tt.IntToPtr) -> None:
    e.bind(op.result, e.op(f"inttoptr {e.typed(op.src)} to {llvm_type(op.result.type)}"))


@lowers(tt.PtrToInt)
def _ptr_to_int(e: FunctionContext, op: tt.PtrToInt) -> None:
    e.bind(op.result, e.op(f"ptrtoint {e.typed(op.src)} to {llvm_type(op.result.type)}"))


@lowers(arith.CmpI)
def _cmpi(e: FunctionContext, op: arith.CmpI) -> None:
    e.bind(op.result, e.op(f"icmp {op.predicate.name} {e.typed(op.lhs)}, {e(op.rhs)}"))


@lowers(arith.CmpF)
def _cmpf(e: FunctionContext, op: arith.CmpF) -> None:
    ty, (a, b) = through_single(e, op.lhs.type, [e(op.lhs), e(op.rhs)])
    e.bind(op.result, e.op(f"fcmp {op.predicate.name} {llvm_type(ty)} {a}, {b}"))


@lowers(arith.Select)
def _select(e: FunctionContext, op: arith.Select) -> None:
    e.bind(op.result, e.op(f"select {e.typed(op.condition)}, {e.typed(op.true_value)}, {e.typed(op.false_value)}"))


@lowers(arith.MulSIExtended, arith.MulUIExtended)
def _mul_extended(e: FunctionContext, op: Any) -> None:
    extend = "sext" if type(op) is arith.MulSIExtended else "zext"
    low, high = _wide_product(e, op.lhs, op.rhs, extend)
    e.bind(op.low, low)
    e.bind(op.high, high)


@lowers(tt.MulhiUI)
def _mulhi(e: FunctionContext, op: tt.MulhiUI) -> None:
    e.bind(op.result, _wide_product(e, op.x, op.y, "zext")[1])


def _wide_product(e: FunctionContext, lhs: Value, rhs: Value, extend: str) -> tuple[str, str]:
    ty, width = lhs.type, bit_width(lhs.type)
    wide = with_element(ty, IntegerType(2 * width))
    text, narrow = llvm_type(wide), llvm_type(ty)
    a = e.op(f"{extend} {e.typed(lhs)} to {text}")
    b = e.op(f"{extend} {e.typed(rhs)} to {text}")
    product = e.op(f"mul {text} {a}, {b}")
    top = e.op(f"lshr {text} {product}, {_number(wide, width)}")
    return e.op(f"trunc {text} {product} to {narrow}"), e.op(f"trunc {text} {top} to {narrow}")


@lowers(arith.AddUIExtended)
def _add_extended(e: FunctionContext, op: arith.AddUIExtended) -> None:
    total = e.op(f"add {e.typed(op.lhs)}, {e(op.rhs)}")
    e.bind(op.sum, total)
    e.bind(op.overflow, e.op(f"icmp ult {llvm_type(op.lhs.type)} {total}, {e(op.lhs)}"))
