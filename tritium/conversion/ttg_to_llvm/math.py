"""Functions of the math dialect: hardware instructions or functions of libdevice.

exp of f32 is 2 ** (x * log2(e)) with the hardware instruction, as Triton's is; the rest is as accurate as libdevice.
Floats of 16 bits are computed in f32 and rounded.
"""

from __future__ import annotations

from typing import Any

from ...dialects import math
from ...ir import element_type, f16, f32, f64
from ..llvm.operations import FUNCTIONS, INTRINSICS, WITH_FLAG
from .context import FunctionContext, elementwise, lowers
from .floats import in_single
from .types import llvm_type, mangled

__all__ = ["library_call"]


def library_call(e: FunctionContext, result: str, symbol: str, *operands: tuple[str, str]) -> str:
    """A function of libdevice: it reads no memory and depends on nothing but its operands."""
    return e.call(result, symbol, *operands, attributes=" #2")


@lowers(*FUNCTIONS)
def _library(e: FunctionContext, op: Any) -> None:
    double = element_type(op.result.type) is f64
    ty, symbol = ("double", f"__nv_{FUNCTIONS[type(op)]}") if double else ("float", f"__nv_{FUNCTIONS[type(op)]}f")
    write = in_single(e, op.result.type, lambda *a: library_call(e, ty, symbol, *((ty, v) for v in a)))
    elementwise(e, op, write)


LOG2_E = "0x3FF7154760000000"  # as f32


@lowers(math.Exp)
def _exp(e: FunctionContext, op: math.Exp) -> None:
    if element_type(op.result.type) is f64:
        _library(e, op)
        return

    def write(a: str) -> str:
        return e.call("float", "llvm.nvvm.ex2.approx.f", ("float", e.op(f"fmul float {a}, {LOG2_E}")))

    elementwise(e, op, in_single(e, op.result.type, write))


@lowers(*INTRINSICS)
def _intrinsic(e: FunctionContext, op: Any) -> None:
    ty = op.results[0].type
    narrow = type(op) not in (math.AbsF, math.CopySign, math.Ctpop) and not (type(op) is math.Fma and _fuses(e, ty))
    wide = f32 if narrow and element_type(ty) is not f64 else ty
    text, name = llvm_type(wide), f"{INTRINSICS[type(op)]}.{mangled(wide)}"
    elementwise(e, op, in_single(e, ty, lambda *a: e.call(text, name, *((text, v) for v in a)), narrow))


def _fuses(e: FunctionContext, ty: Any) -> bool:
    """Whether the target has an FMA of this type."""
    return element_type(ty) is f16 or e.module.capability >= 80


@lowers(math.Sqrt)
def _sqrt(e: FunctionContext, op: math.Sqrt) -> None:
    if element_type(op.result.type) is f64:
        _intrinsic(e, op)
        return
    root = "llvm.nvvm.sqrt.approx.f"
    elementwise(e, op, in_single(e, op.result.type, lambda a: e.call("float", root, ("float", a))))


@lowers(*WITH_FLAG)
def _with_flag(e: FunctionContext, op: Any) -> None:
    ty, name = llvm_type(op.result.type), f"{WITH_FLAG[type(op)]}.{mangled(op.result.type)}"
    elementwise(e, op, lambda a: e.call(ty, name, (ty, a), ("i1", "false")))
