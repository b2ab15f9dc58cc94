"""Conversions of 8-bit floats (`llvm.small_floats`), and rounding towards zero: what LLVM has no instruction for."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, tt
from ...ir import FloatType, IntegerType, Type, VectorType, element_type, f32, with_element
from ..llvm.small_floats import FORMATS, Words, narrow, stepped_back, widen
from .context import FunctionContext, lowers
from .resize import resize, to_single
from .types import bit_width, lanes_of, llvm_type, mangled

__all__: list[str] = []


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
    words = Words(e.op, lanes_of(source) if isinstance(source, VectorType) else 0)
    if before is not None:
        value, source = widen(words, value, before), single
    if after is not None:
        value = to_single(e, value, source)
        result = narrow(words, value, after)
        if op.rounding == tt.RoundingMode.rtz:
            result = stepped_back(words, value, result, after)
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
