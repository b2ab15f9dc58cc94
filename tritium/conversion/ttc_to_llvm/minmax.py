"""Minima, maxima and clamps. Of floats, -0.0 is less than 0.0 (docs/semantics.md), which LLVM's `maxnum` leaves open.

On AArch64 the instruction of `maxnum` orders zeros so. x86 has none that does: `maxps` gives its second operand where
both are zero. Elements that are equal have the same bits, or are zeros of different signs: the maximum of these is the
"and" of their bits, the minimum the "or", and it replaces `maxnum` where the operands are equal:

    max(a, b) = a == b ? bits(a) & bits(b) : maxnum(a, b)

That is off the critical path of `maxnum`. (LLVM's own `maximumnum` exchanges operands by the sign of one first, which
is one instruction less, but makes a chain of maxima twice as long, and a branch of scalars.) With a constant one
comparison is enough, with which LLVM makes an instruction or two:

| | 0.0 | -0.0 |
|---|---|---|
| max(x, c) | x > c ? x : c | x >= c ? x : c |
| min(x, c) | x <= c ? x : c | x < c ? x : c |

and against any other constant zeros do not meet: `maxnum` it is.
"""

from __future__ import annotations

import math
from typing import Any

from ...dialects import arith, tt, ttc
from ...ir import IntegerType, Type, Value, bf16, element_type, with_element
from ..llvm.operations import MIN_MAX, clamp_intrinsics
from .context import FunctionContext, lowers
from .resize import resize, through_single
from .types import bit_width, is_float, llvm_type, mangled

__all__ = ["number_extreme"]


@lowers(*MIN_MAX)
def _min_max(e: FunctionContext, op: Any) -> None:
    original, name = op.result.type, MIN_MAX[type(op)]
    ty, a, b = original, e(op.lhs), e(op.rhs)
    if element_type(original) is bf16:
        ty, (a, b) = through_single(e, original, [a, b])
    if "nsz" in str(op.attributes.get("fastmath", "")):
        value = _intrinsic(e, name, ty, a, b)
    else:
        value = _extreme(e, name, ty, a, b, _constant(op.rhs))
    e.bind(op.result, resize(e, value, ty, original))


@lowers(tt.ClampF)
def _clamp(e: FunctionContext, op: tt.ClampF) -> None:
    original = op.result.type
    ty, (x, least, most) = through_single(e, original, [e(op.x), e(op.min), e(op.max)])
    lower, upper = clamp_intrinsics(op)
    above = _extreme(e, lower, ty, x, least, _constant(op.min))
    e.bind(op.result, resize(e, _extreme(e, upper, ty, above, most, _constant(op.max)), ty, original))


def _extreme(e: FunctionContext, name: str, ty: Type, a: str, b: str, constant: float | None = None) -> str:
    if name in ("llvm.maxnum", "llvm.minnum"):
        return number_extreme(e, name == "llvm.maxnum", ty, a, b, constant)
    return _intrinsic(e, name, ty, a, b)


def _intrinsic(e: FunctionContext, name: str, ty: Type, a: str, b: str) -> str:
    text = llvm_type(ty)
    return e.call(ty, f"{name}.{mangled(ty)}", (text, a), (text, b))


def number_extreme(e: FunctionContext, maximum: bool, ty: Type, a: str, b: str, constant: float | None = None) -> str:
    """The greater or the less of two floats of type `ty`, the other one of a NaN; `constant` is `b` if it is one."""
    text, mask = llvm_type(ty), llvm_type(with_element(ty, IntegerType(1)))
    if constant == 0.0:
        strict = (math.copysign(1.0, constant) > 0) == maximum
        predicate = f"{'og' if maximum else 'ol'}{'t' if strict else 'e'}"
        return e.op(f"select {mask} {e.op(f'fcmp {predicate} {text} {a}, {b}')}, {text} {a}, {text} {b}")
    either = _intrinsic(e, f"llvm.{'max' if maximum else 'min'}num", ty, a, b)
    if constant is not None or e.module.target.arch == "aarch64":
        return either
    integer = llvm_type(with_element(ty, IntegerType(bit_width(ty))))
    bits = [e.op(f"bitcast {text} {v} to {integer}") for v in (a, b)]
    both = e.op(f"{'and' if maximum else 'or'} {integer} {bits[0]}, {bits[1]}")
    same = e.op(f"fcmp oeq {text} {a}, {b}")
    return e.op(f"select {mask} {same}, {text} {e.op(f'bitcast {integer} {both} to {text}')}, {text} {either}")


def _constant(value: Value) -> float | None:
    """The number in every lane of a constant that is a float and no NaN."""
    op = value.defining_op
    if isinstance(op, ttc.Splat):
        op = op.src.defining_op
    if not isinstance(op, arith.Constant) or not (is_float(value.type) or element_type(value.type) is bf16):
        return None
    number = op.splat_value()
    return None if number is None or math.isnan(number) else float(number)
