"""From one type of number to another: integers, floats, addresses, and bits as they are.

Floats become integers towards zero; what is out of range becomes the nearest integer there is, and NaN becomes 0, as
on CPUs. (Triton leaves that to LLVM, for which such a result may be anything.) Integers become bf16 with one rounding:
the hardware's from sm_90 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.dataflow import reachable
from ...dialects import arith, arith_rare, tt
from ...ir import (
    REARRANGES,
    DotLike,
    FloatAttr,
    MemoryAccess,
    Operation,
    TensorType,
    Type,
    Value,
    bf16,
    element_type,
    f16,
    f32,
    f64,
)
from ...support import UnsupportedOperation
from ...support.lazy import LazyModule
from ..llvm.integers import PRECISION, fit_for_rounding
from ..llvm.operations import CASTS, MIN_MAX
from .constant_offsets import extend_offset
from .context import FunctionContext, copied_bits, elementwise, lowers
from .types import bit_width, is_float, literal, llvm_type, mangled

__all__ = ["DIRECTIONS", "resize"]

_narrow_floats = LazyModule(".narrow_floats", __package__)


@lowers(arith.ExtSI, arith.ExtUI, arith.TruncI)
def _integer_cast(e: FunctionContext, op: arith.ExtSI | arith.ExtUI | arith.TruncI) -> None:
    name, before, after = CASTS[type(op)], bit_width(op.in_.type), bit_width(op.out.type)
    if name == "trunc":
        elementwise(e, op, lambda a: e.op(f"trunc i{before} {a} to i{after}"))
    else:
        elementwise(e, op, lambda a: extend_offset(e, name, a, before, after))


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
    ty, bits, name = element_type(op.out.type), bit_width(op.in_.type), CASTS[type(op)]
    integer, first = llvm_type(op.in_.type), ty
    fits = ty is not bf16 or bits not in PRECISION or e.target.rounds_integers_to_bf16()
    if ty is bf16 and not (fits and bits in PRECISION):
        first = f64 if bits == 64 else f32

    def write(a: str) -> str:
        if not fits:
            a = fit_for_rounding(e.op, a, integer, bits, name == "sitofp")
        return resize(e, e.op(f"{name} {integer} {a} to {llvm_type(first)}"), first, ty)

    elementwise(e, op, write)


# -- floats to integers -------------------------------------------------------------------------------------------


@lowers(arith.FPToSI, arith.FPToUI)
def _float_to_integer(e: FunctionContext, op: Any) -> None:
    signed = type(op) is arith.FPToSI
    source, target = element_type(op.in_.type), element_type(op.out.type)
    single = f64 if source is f64 else f32
    elementwise(e, op, lambda a: _rounded_off(e, resize(e, a, source, single), single, signed, bit_width(target)))


def _rounded_off(e: FunctionContext, value: str, ty: Type, signed: bool, width: int) -> str:
    """`value` of type f32 or f64 as an integer of `width` bits."""
    through = 32 if width <= 32 else 64
    wide = f"i{through}"
    number = e.target.to_integer(e, value, llvm_type(ty), signed, through)
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


DIRECTIONS = {
    arith.RoundingMode.downward: "rm",
    arith.RoundingMode.upward: "rp",
    arith.RoundingMode.toward_zero: "rz",
}
"""PTX's words for how a result is rounded; to nearest even is usual, and has none."""


@lowers(tt.FpToFp, arith.ExtF, arith.TruncF, arith_rare.ConvertF)
def _float_cast(e: FunctionContext, op: Any) -> None:
    source, target = (element_type(v.type) for v in (op.operands[0], op.results[0]))
    if not (is_float(source) and is_float(target)):
        _narrow_floats.small_float_cast(e, op)
        return
    mode = _direction(e, op)
    chosen = _chosen(e, op.operands[0], target) if mode is None and e.target.has_min_max(target) else None
    if chosen is not None:
        e.bind(op.results[0], chosen)
    elif mode in (None, "rz") and source is f32 and target is f16 and _rounds_in_pairs(e, op):
        e.bind(op.results[0], _rounded_pairs(e, e(op.operands[0]), mode))
    elif mode is None or bit_width(target) > bit_width(source):
        elementwise(e, op, lambda a: resize(e, a, source, target))
    elif target is bf16 and mode != "rz":
        raise UnsupportedOperation(op, f"to bf16 with rounding {mode} is not supported on {e.target.name}")
    else:
        elementwise(e, op, lambda a: _rounded(e, op, a, source, target, mode))


def _rounds_in_pairs(e: FunctionContext, op: Operation) -> bool:
    """Whether f32 is rounded to f16 by the packed instruction, two registers at a time.

    That is done in kernels with WGMMAs: ptxas moves a `cvt.rn.f16.f32` of an accumulator up across the wait for its
    WGMMAs, and then serializes them (C7514 by 12.8 to 13.5). It does not move `cvt.rn.f16x2.f32`, nor any other
    instruction that was tried. Where the result is only stored, or the operand of a dot, LLVM packs it.
    """
    ty = op.operands[0].type
    even = isinstance(ty, TensorType) and len(e(op.operands[0])) % 2 == 0
    return e.module.has_wgmma and even and not copied_bits(ty) and not _is_packed(op.results[0])


def _is_packed(value: Value) -> bool:
    """Whether a tensor of f16, perhaps rearranged, is only stored or multiplied by tensor cores."""
    users = reachable(
        value.users, lambda op: [u for r in op.results for u in r.users] if op.traits & REARRANGES else []
    )
    return all(op.traits & REARRANGES or isinstance(op, (MemoryAccess, DotLike)) for op in users)


def _rounded_pairs(e: FunctionContext, values: Sequence[str], mode: str | None) -> list[str]:
    """f32 as f16, to nearest even or (`rz`) towards zero."""
    name = f"llvm.nvvm.ff2f16x2.{mode or 'rn'}"
    out: list[str] = []
    for low, high in zip(values[::2], values[1::2]):
        pair = e.call("<2 x half>", name, ("float", high), ("float", low))
        out += [e.op(f"extractelement <2 x half> {pair}, i32 {i}") for i in range(2)]
    return out


def _chosen(e: FunctionContext, value: Value, target: Type) -> list[str] | None:
    """A minimum or maximum of f32 as `target`, by that type's own instruction; None for anything else.

    It is one of its operands; where these were extended from `target`, the widening and rounding change nothing. The
    frontend widens bf16 there, and LLVM 22 does not see through it.
    """
    op = value.defining_op
    if type(op) not in MIN_MAX or bit_width(target) != 16:
        return None
    operands = [_before_widening(e, v, target) for v in op.operands]  # type: ignore[union-attr]
    if None in operands:
        return None
    ty, name = llvm_type(target), f"{MIN_MAX[type(op)]}.{mangled(target)}"  # type: ignore[index]
    return [e.call(ty, name, (ty, a), (ty, b)) for a, b in zip(*operands)]  # type: ignore[misc]


def _before_widening(e: FunctionContext, value: Value, narrow: Type) -> list[str] | None:
    """The parts of what `value` was extended from, or of the same constant in the type `narrow`."""
    op = value.defining_op
    if isinstance(op, (arith.ExtF, tt.FpToFp)) and element_type(op.operands[0].type) is narrow:
        return e(op.operands[0])
    number = op.splat_value() if isinstance(op, arith.Constant) else None
    if number is None:
        return _chosen(e, value, narrow)
    same = FloatAttr(number, narrow)  # type: ignore[arg-type]
    return literal(same) * len(e(value)) if same.value == number else None


def _direction(e: FunctionContext, op: Any) -> str | None:
    """How a cast rounds, None for to nearest even."""
    if isinstance(op, tt.FpToFp):  # its modes have the numbers of other ones of arith
        return "rz" if op.rounding is tt.RoundingMode.rtz else None
    mode = getattr(op, "roundingmode", None)
    if mode in (None, arith.RoundingMode.to_nearest_even):
        return None
    if mode not in DIRECTIONS:
        raise UnsupportedOperation(op, f"with rounding {mode.name} is not supported on {e.target.name}")
    return DIRECTIONS[mode]


def _rounded(e: FunctionContext, op: Operation, value: str, source: Type, target: Type, mode: str) -> str:
    """In one direction to a narrower type; f64 by way of f32, which changes nothing: both steps go the same way."""
    if source is f64:
        value = e.target.narrow_double(e, e.current, value, mode)
    elif source is not f32:
        value = resize(e, value, source, f32)
    if target is f32:
        return value
    if not e.target.narrows_singles(str(target)):
        return _upper_half(e, value)
    bits = e.target.narrow_single(e, op, value, str(target), mode)
    return e.op(f"bitcast i16 {bits} to {llvm_type(target)}")


def _upper_half(e: FunctionContext, value: str) -> str:
    """An f32 as bf16, the bits that do not fit dropped; a NaN stays one."""
    bits = e.op(f"bitcast float {value} to i32")
    number = e.op(f"fcmp ord float {value}, {value}")
    kept = e.op(f"select i1 {number}, i32 {bits}, i32 {e.op(f'or i32 {bits}, 4194304')}")
    half = e.op(f"trunc i32 {e.op(f'lshr i32 {kept}, 16')} to i16")
    return e.op(f"bitcast i16 {half} to bfloat")


# -- bits and addresses -------------------------------------------------------------------------------------------


_BITS = {
    (False, False): "bitcast",
    (False, True): "inttoptr",
    (True, False): "ptrtoint",
    (True, True): "addrspacecast",
}


@lowers(arith.Bitcast, tt.Bitcast)
def _bitcast(e: FunctionContext, op: Any) -> None:
    source, target = llvm_type(op.operands[0].type), llvm_type(op.results[0].type)
    if source == target:
        e.bind(op.results[0], e(op.operands[0]))
        return
    name = _BITS[source.startswith("ptr"), target.startswith("ptr")]
    elementwise(e, op, lambda a: e.op(f"{name} {source} {a} to {target}"))


@lowers(tt.IntToPtr)
def _int_to_ptr(e: FunctionContext, op: tt.IntToPtr) -> None:
    source, target = llvm_type(op.src.type), llvm_type(op.result.type)
    elementwise(e, op, lambda a: e.op(f"inttoptr {source} {a} to {target}"))


@lowers(tt.PtrToInt)
def _ptr_to_int(e: FunctionContext, op: tt.PtrToInt) -> None:
    source, target = llvm_type(op.src.type), llvm_type(op.result.type)
    elementwise(e, op, lambda a: e.op(f"ptrtoint {source} {a} to {target}"))
