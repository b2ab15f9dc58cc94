"""Functions of the math dialect: calls of our own vector functions, or one instruction where there is one."""

from __future__ import annotations

from typing import Any

from ...dialects import math, tt
from ...ir import Type, bf16, element_type, f16, f64, i1, i64, with_element
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
    if type(op) is math.Fma and element_type(ty) is bf16:
        wide = with_element(ty, f64)
        value = _fma_to_odd(e, wide, *(resize(e, v, ty, wide) for v in operands))
        e.bind(op.results[0], resize(e, value, wide, ty))
        return
    if type(op) is math.Fma and bit_width(ty) == 16:
        # in f32 it would be rounded twice, and of f16 LLVM makes a library call that is not there
        wide = with_element(ty, f64)
        operands = [resize(e, v, ty, wide) for v in operands]
    elif element_type(ty) is not f16 and type(op) is not math.Ctpop:
        wide, operands = through_single(e, ty, operands)
    text = llvm_type(wide)
    value = e.call(wide, f"{INTRINSICS[type(op)]}.{mangled(wide)}", *((text, v) for v in operands))
    e.bind(op.results[0], resize(e, value, wide, ty))


def _fma_to_odd(e: FunctionContext, ty: Type, a: str, b: str, c: str) -> str:
    """a * b + c of bf16 as f64, rounded to odd: terms may be further apart than its 53 bits, and a tie is then none.

    The multiplication is exact, and so is the error of the addition (Knuth's sum of two).
    """
    double, int_type, mask = (llvm_type(with_element(ty, x)) for x in (f64, i64, i1))
    product = e.op(f"fmul {double} {a}, {b}")
    total = e.op(f"fadd {double} {product}, {c}")
    part = e.op(f"fsub {double} {total}, {product}")
    rest = e.op(f"fsub {double} {product}, {e.op(f'fsub {double} {total}, {part}')}")
    error = e.op(f"fadd {double} {rest}, {e.op(f'fsub {double} {c}, {part}')}")
    lost = e.op(f"fcmp one {double} {error}, zeroinitializer")
    bits, signs = (e.op(f"bitcast {double} {x} to {int_type}") for x in (total, error))
    apart = e.op(f"icmp slt {int_type} {e.op(f'xor {int_type} {bits}, {signs}')}, zeroinitializer")
    beyond = e.op(f"zext {mask} {e.op(f'and {mask} {lost}, {apart}')} to {int_type}")
    cut = e.op(f"sub {int_type} {bits}, {beyond}")
    odd = e.op(f"or {int_type} {cut}, {e.op(f'zext {mask} {lost} to {int_type}')}")
    return e.op(f"bitcast {int_type} {odd} to {double}")


@lowers(*WITH_FLAG)
def _with_flag(e: FunctionContext, op: Any) -> None:
    ty, name = op.result.type, f"{WITH_FLAG[type(op)]}.{mangled(op.result.type)}"
    e.bind(op.result, e.call(ty, name, (llvm_type(ty), e(op.operand)), ("i1", "false")))
