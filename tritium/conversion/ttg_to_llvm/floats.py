"""Arithmetic on floats, register by register.

Additions and multiplications may be contracted to FMAs where the options allow it. f32 is divided to within two units
in the last place, as Triton does (`tt.precise_divf` rounds correctly); so are f16 and bf16, in f32.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ...dialects import arith, tt
from ...ir import Type, element_type, f32, f64
from ...support import UnsupportedOperation
from ..llvm.operations import FLOAT, MIN_MAX, clamp_intrinsics
from .casts import DIRECTIONS, resize
from .context import FunctionContext, elementwise, lowers
from .types import bit_width, is_float, llvm_type, mangled

__all__ = ["in_single"]


def in_single(e: FunctionContext, ty: Type, write: Callable[..., str], narrow: bool = True) -> Callable[..., str]:
    """`write`, which works on f32 and f64, for operands and a result of type `ty`: 16 bits are widened and rounded."""
    element = element_type(ty)
    if not narrow or bit_width(element) >= 32:
        return write
    return lambda *operands: resize(e, write(*(resize(e, v, element, f32) for v in operands)), f32, element)


def _single_of(ty: Type) -> Type:
    """The type that `in_single` computes in."""
    return f64 if element_type(ty) is f64 else f32


def _check(e: FunctionContext, op: Any) -> None:
    if not is_float(op.operands[0].type):
        raise UnsupportedOperation(op, f"on {element_type(op.operands[0].type)} is not supported on {e.target.name}")


@lowers(arith.AddF, arith.SubF, arith.MulF)
def _float(e: FunctionContext, op: Any) -> None:
    _check(e, op)
    if op.roundingmode not in (None, arith.RoundingMode.to_nearest_even):
        _rounded(e, op, FLOAT[type(op)][1:])
        return
    contracts = e.module.fusion and op.roundingmode is None
    head = f"{FLOAT[type(op)]}{' contract' if contracts else ''} {llvm_type(op.result.type)}"
    elementwise(e, op, lambda a, b: e.op(f"{head} {a}, {b}"))


def _rounded(e: FunctionContext, op: Any, name: str) -> None:
    """An instruction that rounds in one direction."""
    ty, mode = element_type(op.result.type), DIRECTIONS.get(op.roundingmode)
    if mode is None or ty not in (f32, f64):
        raise UnsupportedOperation(
            op, f"of {ty} with rounding {op.roundingmode.name} is not supported on {e.target.name}"
        )
    elementwise(e, op, lambda a, b: e.target.directed(e, op, name, mode, llvm_type(ty), a, b))


@lowers(arith.DivF)
def _divide(e: FunctionContext, op: arith.DivF) -> None:
    _check(e, op)
    ty = op.result.type
    if op.roundingmode not in (None, arith.RoundingMode.to_nearest_even):
        _rounded(e, op, "div")
    elif element_type(ty) is f64:
        elementwise(e, op, lambda a, b: e.op(f"fdiv double {a}, {b}"))
    else:
        _divide_singles(e, op)


def _divide_singles(e: FunctionContext, op: arith.DivF) -> None:
    """a / b to within two units in the last place, of f32 or what is widened to it: `div.full`.

    The assembler makes (a * s) * (1 / (b * s)) of it, with s a power of two that keeps b * s normal and its reciprocal,
    too. It does all but the reciprocal for each element anew, in four instructions, also where rows are divided by one
    number each. So where several elements have a divisor in common, s and the reciprocal are written once: the same
    bits in two. But not where the elements alone fill the registers of a thread: a row of 65536 in 1024 threads then
    had 54 of 64 in memory, and 50 with `div.full` (ptxas 13.0), which took 4 % of the time of a softmax.
    """
    element = element_type(op.result.type)
    uses = Counter(e(op.rhs)) if len(e(op.lhs)) < e.module.most_registers else Counter()
    shared: dict[str, tuple[str, str]] = {}

    def write(a: str, b: str) -> str:
        a = resize(e, a, element, f32)
        if uses[b] < 2 or not b.startswith("%"):
            quotient = e.target.divide(e, a, resize(e, b, element, f32))
        else:
            if b not in shared:
                shared[b] = _scaled_reciprocal(e, resize(e, b, element, f32))
            scale, reciprocal = shared[b]
            quotient = e.op(f"fmul float {e.op(f'fmul float {a}, {scale}')}, {reciprocal}")
        return resize(e, quotient, f32, element)

    elementwise(e, op, write)


_LARGE, _SMALL = "0x47D0000000000000", "0x3810000000000000"
"""2 ** 126, whose reciprocal is the least normal number, and 2 ** -126, which is that."""


def _scaled_reciprocal(e: FunctionContext, b: str) -> tuple[str, str]:
    """s and 1 / (b * s), as in `_divide_singles`."""
    size = e.call("float", "llvm.fabs.f32", ("float", b))
    large = e.op(f"fcmp ogt float {size}, {_LARGE}")
    small = e.op(f"fcmp olt float {size}, {_SMALL}")
    scale = e.op(f"select i1 {small}, float 16777216.0, float 1.0")
    scale = e.op(f"select i1 {large}, float 0.25, float {scale}")
    normal = e.op(f"fmul float {b}, {scale}")
    return scale, e.target.reciprocal(e, normal)


@lowers(tt.ApproxDivF)
def _divide_fast(e: FunctionContext, op: tt.ApproxDivF) -> None:
    elementwise(e, op, lambda a, b: e.target.divide(e, a, b, approximate=True))


@lowers(tt.PreciseDivF)
def _divide_precisely(e: FunctionContext, op: tt.PreciseDivF) -> None:
    ty = llvm_type(_single_of(op.result.type))
    elementwise(e, op, in_single(e, op.result.type, lambda a, b: e.op(f"fdiv {ty} {a}, {b}")))


@lowers(arith.NegF)
def _negate(e: FunctionContext, op: arith.NegF) -> None:
    _check(e, op)
    ty = llvm_type(op.result.type)
    elementwise(e, op, lambda a: e.op(f"fneg {ty} {a}"))


@lowers(arith.CmpF)
def _compare(e: FunctionContext, op: arith.CmpF) -> None:
    _check(e, op)
    ty, predicate = llvm_type(op.lhs.type), op.predicate.name
    elementwise(e, op, lambda a, b: e.op(f"fcmp {predicate} {ty} {a}, {b}"))


@lowers(*MIN_MAX)
def _min_max(e: FunctionContext, op: Any) -> None:
    ty = op.result.type
    narrow = is_float(ty) and not e.target.has_min_max(element_type(ty))
    wide = f32 if narrow else ty
    text, name = llvm_type(wide), f"{MIN_MAX[type(op)]}.{mangled(wide)}"
    elementwise(e, op, in_single(e, ty, lambda a, b: e.call(text, name, (text, a), (text, b)), narrow))


@lowers(tt.ClampF)
def _clamp(e: FunctionContext, op: tt.ClampF) -> None:
    _check(e, op)
    ty = op.result.type
    narrow = not e.target.has_min_max(element_type(ty))
    wide = f32 if narrow else ty
    text, suffix = llvm_type(wide), mangled(wide)
    larger, smaller = clamp_intrinsics(op)

    def write(x: str, least: str, most: str) -> str:
        above = e.call(text, f"{larger}.{suffix}", (text, x), (text, least))
        return e.call(text, f"{smaller}.{suffix}", (text, above), (text, most))

    elementwise(e, op, in_single(e, ty, write, narrow))
