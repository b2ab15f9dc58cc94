"""Functions of the math dialect: hardware instructions, or functions of the target's library (`TargetInfo.function`).

exp of f32 is 2 ** (x * log2(e)) with the hardware instruction, as Triton's is.
Floats of 16 bits are computed in f32 and rounded.
"""

from __future__ import annotations

from typing import Any

from ...dialects import math
from ...ir import element_type, f32, f64
from ..llvm.operations import FUNCTIONS, INTRINSICS, WITH_FLAG
from .context import FunctionContext, elementwise, lowers
from .floats import in_single
from .types import llvm_type, mangled

__all__: list[str] = []


@lowers(*FUNCTIONS)
def _library(e: FunctionContext, op: Any) -> None:
    ty, name = "double" if element_type(op.result.type) is f64 else "float", FUNCTIONS[type(op)]
    write = in_single(e, op.result.type, lambda *a: e.target.function(e, op, name, ty, *((ty, v) for v in a)))
    elementwise(e, op, write)


LOG2_E = "0x3FF7154760000000"  # as f32


@lowers(math.Exp)
def _exp(e: FunctionContext, op: math.Exp) -> None:
    if element_type(op.result.type) is f64:
        _library(e, op)
        return

    def write(a: str) -> str:
        return e.target.exp2(e, e.op(f"fmul float {a}, {LOG2_E}"))

    elementwise(e, op, in_single(e, op.result.type, write))


@lowers(*INTRINSICS)
def _intrinsic(e: FunctionContext, op: Any) -> None:
    ty = op.results[0].type
    narrow = type(op) not in (math.AbsF, math.CopySign, math.Ctpop) and not (
        type(op) is math.Fma and e.target.has_fma(element_type(ty))
    )
    wide = f32 if narrow and element_type(ty) is not f64 else ty
    text, name = llvm_type(wide), f"{INTRINSICS[type(op)]}.{mangled(wide)}"
    elementwise(e, op, in_single(e, ty, lambda *a: e.call(text, name, *((text, v) for v in a)), narrow))


@lowers(math.Sqrt)
def _sqrt(e: FunctionContext, op: math.Sqrt) -> None:
    if element_type(op.result.type) is f64:
        _intrinsic(e, op)
        return
    elementwise(e, op, in_single(e, op.result.type, lambda a: e.target.sqrt(e, a)))


@lowers(*WITH_FLAG)
def _with_flag(e: FunctionContext, op: Any) -> None:
    ty, name = llvm_type(op.result.type), f"{WITH_FLAG[type(op)]}.{mangled(op.result.type)}"
    elementwise(e, op, lambda a: e.call(ty, name, (ty, a), ("i1", "false")))
