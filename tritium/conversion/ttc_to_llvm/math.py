"""Functions of the math dialect: calls of our own vector functions, or one instruction where there is one."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, math, tt
from ...ir import element_type, f16
from ..llvm.vecmath import MathFunction, vector_math_function
from .context import FunctionContext, lowers
from .resize import resize, through_single
from .types import bit_width, lanes_of, llvm_type, mangled

__all__: list[str] = []

_FUNCTIONS = {
    math.Exp: "exp",
    math.Exp2: "exp2",
    math.ExpM1: "expm1",
    math.Log: "log",
    math.Log2: "log2",
    math.Log10: "log10",
    math.Log1p: "log1p",
    math.Sin: "sin",
    math.Cos: "cos",
    math.Tan: "tan",
    math.Asin: "asin",
    math.Acos: "acos",
    math.Atan: "atan",
    math.Sinh: "sinh",
    math.Cosh: "cosh",
    math.Tanh: "tanh",
    math.Asinh: "asinh",
    math.Acosh: "acosh",
    math.Atanh: "atanh",
    math.Rsqrt: "rsqrt",
    math.Cbrt: "cbrt",
    math.Erf: "erf",
    math.Erfc: "erfc",
    math.Atan2: "atan2",
    math.PowF: "pow",
    arith.RemF: "fmod",  # LLVM makes a library call a lane of frem
}
_INTRINSICS = {
    math.Sqrt: "llvm.sqrt",
    tt.PreciseSqrt: "llvm.sqrt",
    math.AbsF: "llvm.fabs",
    math.Ceil: "llvm.ceil",
    math.Floor: "llvm.floor",
    math.Trunc: "llvm.trunc",
    math.Round: "llvm.round",
    math.RoundEven: "llvm.roundeven",
    math.CopySign: "llvm.copysign",
    math.Fma: "llvm.fma",
    math.Ctpop: "llvm.ctpop",
}


def _require(e: FunctionContext, function: MathFunction) -> None:
    for needed in function.requires:
        _require(e, needed)
    for line in function.declares:
        e.module.declare(line)
    if function.text:
        e.module.define(function.symbol, function.text)


@lowers(*_FUNCTIONS)
def _library(e: FunctionContext, op: Any) -> None:
    ty = op.result.type
    wide, operands = through_single(e, ty, [e(v) for v in op.operands])
    element = "f64" if bit_width(wide) == 64 else "f32"
    avx512 = e.module.target.has_avx512
    function = vector_math_function(_FUNCTIONS[type(op)], element, lanes_of(wide), avx512)
    _require(e, function)
    text = llvm_type(wide)
    value = e.op(f"call {text} @{function.symbol}({', '.join(f'{text} {v}' for v in operands)})")
    e.bind(op.result, resize(e, value, wide, ty))


@lowers(*_INTRINSICS)
def _intrinsic(e: FunctionContext, op: Any) -> None:
    ty = op.results[0].type
    operands = [e(v) for v in op.operands]
    wide = ty
    if element_type(ty) is not f16 and type(op) is not math.Ctpop:
        wide, operands = through_single(e, ty, operands)
    text = llvm_type(wide)
    value = e.call(wide, f"{_INTRINSICS[type(op)]}.{mangled(wide)}", *((text, v) for v in operands))
    e.bind(op.results[0], resize(e, value, wide, ty))


@lowers(math.AbsI, math.Ctlz, math.Cttz)
def _with_flag(e: FunctionContext, op: Any) -> None:
    name = {math.AbsI: "llvm.abs", math.Ctlz: "llvm.ctlz", math.Cttz: "llvm.cttz"}[type(op)]
    ty = llvm_type(op.result.type)
    e.bind(op.result, e.call(op.result.type, f"{name}.{mangled(op.result.type)}", (ty, e(op.operand)), ("i1", "false")))
