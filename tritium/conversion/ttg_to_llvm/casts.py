"""From one type of number to another: integers, floats, addresses, and bits as they are.

Floats become integers towards zero; what is out of range becomes the nearest integer there is, and NaN becomes 0, as
on CPUs. (Triton leaves that to LLVM, for which such a result may be anything.) Integers become bf16 by way of f32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import arith, arith_rare, tt
from ...ir import Type, bf16, element_type, f32, f64
from ...support import UnsupportedOperation
from ..llvm.operations import CASTS
from .context import FunctionContext, elementwise, lowers
from .narrow_floats import small_float_cast
from .types import bit_width, is_float, llvm_type

__all__ = ["resize"]

_INTEGER_CASTS = (arith.ExtSI, arith.ExtUI, arith.TruncI)


@lowers(*_INTEGER_CASTS)
def _integer_cast(e: FunctionContext, op: Any) -> None:
    text = f"{CASTS[type(op)]} {llvm_type(op.in_.type)}", llvm_type(op.out.type)
    elementwise(e, op, lambda a: e.op(f"{text[0]} {a} to {text[1]}"))


@lowers(arith.IndexCast, arith.IndexCastUI)
def _index_cast(e: FunctionContext, op: Any) -> None:
    before, after = bit_width(op.in_.type), bit_width(op.out.type)
    if before == after:
        e.bind(op.out, e(op.in_))
        return
    name = "trunc" if before > after else ("sext" if type(op) is arith.IndexCast else "zext")
    elementwise(e, op, lambda a: e.op(f"{name} {llvm_type(op.in_.type)} {a} to {llvm_type(op.out.type)}"))


@lowers(arith.SIToFP, arith.UIToFP)
def _integer_to_float(e: FunctionContext, op: Any) -> None:
    ty = element_type(op.out.type)
    first = f32 if ty is bf16 else ty
    head = f"{CASTS[type(op)]} {llvm_type(op.in_.type)}"
    elementwise(e, op, lambda a: resize(e, e.op(f"{head} {a} to {llvm_type(first)}"), first, ty))


# -- floats to integers -------------------------------------------------------------------------------------------

_TO_INTEGER = {  # (source, with a sign, bits): what the chip does is defined for all numbers
    ("f32", True, 32): "llvm.nvvm.f2i.rz",
    ("f32", False, 32): "llvm.nvvm.f2ui.rz",
    ("f32", True, 64): "llvm.nvvm.f2ll.rz",
    ("f32", False, 64): "llvm.nvvm.f2ull.rz",
    ("f64", True, 32): "llvm.nvvm.d2i.rz",
    ("f64", False, 32): "llvm.nvvm.d2ui.rz",
    ("f64", True, 64): "llvm.nvvm.d2ll.rz",
    ("f64", False, 64): "llvm.nvvm.d2ull.rz",
}


@lowers(arith.FPToSI, arith.FPToUI)
def _float_to_integer(e: FunctionContext, op: Any) -> None:
    signed = type(op) is arith.FPToSI
    source, target = element_type(op.in_.type), element_type(op.out.type)
    single = f64 if source is f64 else f32
    elementwise(e, op, lambda a: _rounded_off(e, resize(e, a, source, single), single, signed, bit_width(target)))


def _rounded_off(e: FunctionContext, value: str, ty: Type, signed: bool, width: int) -> str:
    """`value` of type f32 or f64 as an integer of `width` bits."""
    through = 32 if width <= 32 else 64
    float_type, wide = llvm_type(ty), f"i{through}"
    number = e.call(wide, _TO_INTEGER[str(ty), signed, through], (float_type, value))
    if through == 64 or ty is f64:  # there, NaN does not become 0
        ordered = e.op(f"fcmp ord {float_type} {value}, {value}")
        number = e.op(f"select i1 {ordered}, {wide} {number}, {wide} 0")
    if width == through:
        return number
    least, most = (-1 << (width - 1), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    if signed:
        number = e.call(wide, f"llvm.smax.{wide}", (wide, number), (wide, str(least)))
    number = e.call(wide, f"llvm.{'smin' if signed else 'umin'}.{wide}", (wide, number), (wide, str(most)))
    return e.op(f"trunc {wide} {number} to i{width}")


# -- floats to floats ---------------------------------------------------------------------------------------------


def resize(e: FunctionContext, value: str, source: Type, target: Type) -> str:
    """A float as another of LLVM's float types, to nearest even."""
    if source is target:
        return value
    name = "fpext" if bit_width(target) > bit_width(source) else "fptrunc"
    if bit_width(source) == bit_width(target):  # f16 and bf16
        return resize(e, resize(e, value, source, f32), f32, target)
    return e.op(f"{name} {llvm_type(source)} {value} to {llvm_type(target)}")


_NEAREST = (None, tt.RoundingMode.rtne, arith.RoundingMode.to_nearest_even)
_TOWARDS_ZERO = (tt.RoundingMode.rtz, arith.RoundingMode.toward_zero)


@lowers(tt.FpToFp, arith.ExtF, arith.TruncF, arith_rare.ConvertF)
def _float_cast(e: FunctionContext, op: Any) -> None:
    source, target = (element_type(v.type) for v in (op.operands[0], op.results[0]))
    if not (is_float(source) and is_float(target)):
        small_float_cast(e, op)
        return
    rounding = getattr(op, "rounding", None) if isinstance(op, tt.FpToFp) else getattr(op, "roundingmode", None)
    if rounding in _NEAREST or bit_width(target) > bit_width(source):
        elementwise(e, op, lambda a: resize(e, a, source, target))
    elif rounding in _TOWARDS_ZERO:
        elementwise(e, op, _cut(e, op, source, target))
    else:
        raise UnsupportedOperation(op, f"with rounding {rounding.name} is not supported on NVIDIA GPUs")


def _cut(e: FunctionContext, op: Any, source: Type, target: Type) -> Callable[[str], str]:
    """Towards zero, from f32 to 16 bits or from f64 to f32."""
    if target is f32:
        return lambda a: e.call("float", "llvm.nvvm.d2f.rz", ("double", a))
    if bit_width(target) != 16 or bit_width(source) > 32:
        raise UnsupportedOperation(op, f"from {source} to {target} towards zero is not supported on NVIDIA GPUs")
    bits, ty = llvm_type(target), str(target)

    def write(a: str) -> str:
        single = resize(e, a, source, f32)
        if target is bf16 and e.module.capability < 80:
            return _upper_half(e, single)
        text = f"cvt.rz.{ty}.f32 $0, $1;"
        return e.op(f"bitcast i16 {e.asm(text, '=h,f', [('float', single)], 'i16', False)} to {bits}")

    return write


def _upper_half(e: FunctionContext, value: str) -> str:
    """An f32 as bf16, the bits that do not fit dropped; a NaN stays one."""
    bits = e.op(f"bitcast float {value} to i32")
    number = e.op(f"fcmp ord float {value}, {value}")
    kept = e.op(f"select i1 {number}, i32 {bits}, i32 {e.op(f'or i32 {bits}, 4194304')}")
    half = e.op(f"trunc i32 {e.op(f'lshr i32 {kept}, 16')} to i16")
    return e.op(f"bitcast i16 {half} to bfloat")


# -- bits and addresses -------------------------------------------------------------------------------------------


@lowers(arith.Bitcast, tt.Bitcast)
def _bitcast(e: FunctionContext, op: Any) -> None:
    source, target = llvm_type(op.operands[0].type), llvm_type(op.results[0].type)
    if source == target:
        e.bind(op.results[0], e(op.operands[0]))
        return
    name = "addrspacecast" if source.startswith("ptr") and target.startswith("ptr") else "bitcast"
    elementwise(e, op, lambda a: e.op(f"{name} {source} {a} to {target}"))


@lowers(tt.IntToPtr)
def _int_to_ptr(e: FunctionContext, op: tt.IntToPtr) -> None:
    source, target = llvm_type(op.src.type), llvm_type(op.result.type)
    elementwise(e, op, lambda a: e.op(f"inttoptr {source} {a} to {target}"))


@lowers(tt.PtrToInt)
def _ptr_to_int(e: FunctionContext, op: tt.PtrToInt) -> None:
    source, target = llvm_type(op.src.type), llvm_type(op.result.type)
    elementwise(e, op, lambda a: e.op(f"ptrtoint {source} {a} to {target}"))
