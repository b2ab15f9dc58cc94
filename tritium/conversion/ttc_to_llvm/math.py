"""Functions of the math dialect: calls of our own vector functions, or one instruction where there is one."""

from __future__ import annotations

from typing import Any

from ...dialects import math, tt
from ...ir import element_type, f16, f64, with_element
from ...support import UnsupportedOperation
from ..llvm.operations import FUNCTIONS, INTRINSICS, WITH_FLAG
from ..llvm.vecmath import MathFunction, vector_math_function
from .context import FunctionContext, lowers
from .resize import resize, through_single
from .types import bit_width, lanes_of, llvm_type, mangled

__all__: list[str] = []


def _require(e: FunctionContext, function: MathFunction) -> None:
    for needed in function.requires:
        _require(e, needed)
    for line in function.declares:
        e.module.declare(line)
    if function.text:
        e.module.define(function.symbol, function.text)


@lowers(*FUNCTIONS)
def _library(e: FunctionContext, op: Any) -> None:
    _call(e, op, FUNCTIONS[type(op)])


@lowers(tt.ExternElementwise)
def _extern(e: FunctionContext, op: tt.ExternElementwise) -> None:
    """The library of every CPU: our own vector functions."""
    if op.libname != "tritium":
        raise UnsupportedOperation(
            op, f"of {op.symbol!r}, a function of another target's library, is not supported on the CPU"
        )
    _call(e, op, op.symbol)


def _call(e: FunctionContext, op: Any, name: str) -> None:
    ty = op.result.type
    wide, operands = through_single(e, ty, [e(v) for v in op.operands])
    element = "f64" if bit_width(wide) == 64 else "f32"
    avx512 = e.module.target.has_avx512
    function = vector_math_function(name, element, lanes_of(wide), avx512)
    _require(e, function)
    text = llvm_type(wide)
    value = e.op(f"call {text} @{function.symbol}({', '.join(f'{text} {v}' for v in operands)})")
    e.bind(op.result, resize(e, value, wide, ty))


@lowers(*INTRINSICS)
def _intrinsic(e: FunctionContext, op: Any) -> None:
    ty = op.results[0].type
    operands = [e(v) for v in op.operands]
    wide = ty
    if type(op) is math.Fma and bit_width(ty) == 16:
        # in f32 it would be rounded twice, and of f16 LLVM makes a library call that is not there
        wide = with_element(ty, f64)
        operands = [resize(e, v, ty, wide) for v in operands]
    elif element_type(ty) is not f16 and type(op) is not math.Ctpop:
        wide, operands = through_single(e, ty, operands)
    text = llvm_type(wide)
    value = e.call(wide, f"{INTRINSICS[type(op)]}.{mangled(wide)}", *((text, v) for v in operands))
    e.bind(op.results[0], resize(e, value, wide, ty))


@lowers(*WITH_FLAG)
def _with_flag(e: FunctionContext, op: Any) -> None:
    ty, name = op.result.type, f"{WITH_FLAG[type(op)]}.{mangled(op.result.type)}"
    e.bind(op.result, e.call(ty, name, (llvm_type(ty), e(op.operand)), ("i1", "false")))
