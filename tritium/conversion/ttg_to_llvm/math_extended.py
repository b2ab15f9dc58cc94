"""Operations of arith and math that the language does not produce: float classification, clamp, sincos, powi."""

from __future__ import annotations

import math as numbers
from typing import Any

from ...dialects import arith_rare, math_rare
from ...ir import FloatAttr, element_type, f32, f64
from ...support import UnsupportedOperation
from .context import FunctionContext, elementwise, elementwise_several, lowers
from .floats import in_single
from .types import bit_width, literal, llvm_type, mangled

__all__: list[str] = []

_SMALLEST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}


@lowers(arith_rare.SubUIExtended)
def _sub_extended(e: FunctionContext, op: arith_rare.SubUIExtended) -> None:
    ty = llvm_type(op.lhs.type)
    elementwise_several(e, op, lambda a, b: (e.op(f"sub {ty} {a}, {b}"), e.op(f"icmp ult {ty} {a}, {b}")))


# -- classification -----------------------------------------------------------------------------------------------


def _bounds(op: Any) -> tuple[str, str, str]:
    """The LLVM type of the operand, infinity, and the smallest normal number in it."""
    ty: Any = element_type(op.operand.type)
    (infinity,), (least,) = literal(FloatAttr(numbers.inf, ty)), literal(FloatAttr(_SMALLEST_NORMAL[str(ty)], ty))
    return llvm_type(ty), infinity, least


def _size(e: FunctionContext, op: Any, value: str) -> str:
    ty = llvm_type(op.operand.type)
    return e.call(ty, f"llvm.fabs.{mangled(op.operand.type)}", (ty, value))


@lowers(math_rare.IsNaN)
def _is_nan(e: FunctionContext, op: math_rare.IsNaN) -> None:
    ty = llvm_type(op.operand.type)
    elementwise(e, op, lambda a: e.op(f"fcmp uno {ty} {a}, {a}"))


@lowers(math_rare.IsInf)
def _is_inf(e: FunctionContext, op: math_rare.IsInf) -> None:
    ty, infinity, _ = _bounds(op)
    elementwise(e, op, lambda a: e.op(f"fcmp oeq {ty} {_size(e, op, a)}, {infinity}"))


@lowers(math_rare.IsFinite)
def _is_finite(e: FunctionContext, op: math_rare.IsFinite) -> None:
    ty, infinity, _ = _bounds(op)
    elementwise(e, op, lambda a: e.op(f"fcmp olt {ty} {_size(e, op, a)}, {infinity}"))


@lowers(math_rare.IsNormal)
def _is_normal(e: FunctionContext, op: math_rare.IsNormal) -> None:
    ty, infinity, least = _bounds(op)

    def write(a: str) -> str:
        size = _size(e, op, a)
        below = e.op(f"fcmp olt {ty} {size}, {infinity}")
        return e.op(f"and i1 {below}, {e.op(f'fcmp oge {ty} {size}, {least}')}")

    elementwise(e, op, write)


# -- functions ----------------------------------------------------------------------------------------------------


def _single(ty: Any) -> str:
    """The type that the target's library computes in."""
    return "double" if element_type(ty) is f64 else "float"


@lowers(math_rare.ClampF)
def _clamp(e: FunctionContext, op: math_rare.ClampF) -> None:
    ty = f64 if element_type(op.result.type) is f64 else f32
    text, suffix = llvm_type(ty), mangled(ty)

    def write(value: str, least: str, most: str) -> str:
        below = e.call(text, f"llvm.minnum.{suffix}", (text, value), (text, most))
        return e.call(text, f"llvm.maxnum.{suffix}", (text, below), (text, least))

    elementwise(e, op, in_single(e, op.result.type, write))


@lowers(math_rare.SinCos)
def _sin_cos(e: FunctionContext, op: math_rare.SinCos) -> None:
    ty = _single(op.operand.type)
    functions = [
        in_single(e, op.sin.type, lambda a, name=name: e.target.function(e, op, name, ty, (ty, a)))
        for name in ("sin", "cos")
    ]
    elementwise_several(e, op, lambda a: [function(a) for function in functions])


@lowers(math_rare.FPowI)
def _power(e: FunctionContext, op: math_rare.FPowI) -> None:
    ty = _single(op.result.type)
    width, integer = bit_width(op.rhs.type), llvm_type(op.rhs.type)
    if width > 32:
        raise UnsupportedOperation(op, f"with a power of type i{width} is not supported on {e.target.name}")

    def write(base: str, power: str) -> str:
        if width != 32:
            power = e.op(f"sext {integer} {power} to i32")
        call = in_single(e, op.result.type, lambda a: e.target.function(e, op, "powi", ty, (ty, a), ("i32", power)))
        return call(base)

    elementwise(e, op, write)
