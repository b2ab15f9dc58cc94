"""Constants and arithmetic on integers, register by register.

Nothing here is undefined at run time, though LLVM would like divisions by zero and long shifts to be: what a program
computes for elements that it does not use must not spoil the others. As on CPUs, x / 0 is x, x % 0 is 0, and the least
integer by -1 is itself.
"""

from __future__ import annotations

from typing import Any

from ...dialects import arith, tt, ub
from ...dialects.ttg_context import OPAQUE
from ...ir import Operation, TensorType, Value
from ...support import UnsupportedOperation
from ..llvm.operations import (
    DIVISIONS,
    INTEGER,
    ROUNDED_DIVISIONS,
    SHIFTS,
    divides_safely,
    overflow_flags,
    shift_amount,
)
from .constant_offsets import add_offsets, multiply_offsets
from .context import FunctionContext, elementwise, elementwise_several, lowers
from .types import bit_width, literal, llvm_type, mangled, registers_of, types_of

__all__: list[str] = []


@lowers(arith.Constant)
def _constant(e: FunctionContext, op: arith.Constant) -> None:
    values, ty = literal(op.value), op.result.type
    if OPAQUE in op.attributes:
        values = [e.asm("mov.b32 $0, $1;", "=f,f", [("float", v)], "float", side_effects=False) for v in values]
    if isinstance(ty, TensorType):
        if len(values) > 1:
            raise UnsupportedOperation(op, f"with different elements is not supported on {e.target.name}")
        values = values * registers_of(ty)
    e.bind(op.result, values)


@lowers(ub.Poison)
def _poison(e: FunctionContext, op: ub.Poison) -> None:
    """Integers are zero: masks may be made of them that are "and no", which of LLVM's poison would be anything."""
    e.bind(op.result, ["0" if ty[0] == "i" else "poison" for ty in types_of(op.result.type)])


@lowers(*INTEGER)
def _integer(e: FunctionContext, op: Any) -> None:
    width = bit_width(op.result.type)
    if type(op) is arith.MulI and not overflow_flags(op) and _has_other_half(op, tt.MulhiUI):
        elementwise(e, op, lambda a, b: _halves(e, a, b)[0])
        return
    write = {arith.AddI: add_offsets, arith.MulI: multiply_offsets}.get(type(op))
    if write is not None and not overflow_flags(op) and width > 1:
        elementwise(e, op, lambda a, b: write(e, width, a, b))
        return
    head = f"{INTEGER[type(op)]}{overflow_flags(op)} {llvm_type(op.result.type)}"
    elementwise(e, op, lambda a, b: e.op(f"{head} {a}, {b}"))


@lowers(arith.CmpI)
def _compare(e: FunctionContext, op: arith.CmpI) -> None:
    head = f"icmp {op.predicate.name} {llvm_type(op.lhs.type)}"
    elementwise(e, op, lambda a, b: e.op(f"{head} {a}, {b}"))


@lowers(arith.Select)
def _select(e: FunctionContext, op: arith.Select) -> None:
    ty = llvm_type(op.result.type)
    parts = e(op.condition)
    if not isinstance(op.condition.type, TensorType):
        parts = parts * len(e(op.true_value))
    elementwise(
        e,
        op,
        lambda c, a, b: a if a == b else e.op(f"select i1 {c}, {ty} {a}, {ty} {b}"),
        [parts, e(op.true_value), e(op.false_value)],
    )


# -- divisions ----------------------------------------------------------------------------------------------------


@lowers(*DIVISIONS)
def _division(e: FunctionContext, op: Any) -> None:
    name, signed, rest = DIVISIONS[type(op)]
    ty = llvm_type(op.result.type)
    if divides_safely(op.rhs):
        elementwise(e, op, lambda a, b: e.op(f"{name} {ty} {a}, {b}"))
    elif signed:
        elementwise(e, op, lambda a, b: _signed(e, op.result, a, b)[rest])
    else:
        elementwise(e, op, lambda a, b: _unsigned(e, op.result, a, b)[rest])


def _unsigned(e: FunctionContext, like: Value, a: str, b: str) -> tuple[str, str]:
    """Quotient and rest; LLVM drops the one that is not used."""
    ty = llvm_type(like.type)
    divisor = e.call(ty, f"llvm.umax.{mangled(like.type)}", (ty, b), (ty, "1"))
    return e.op(f"udiv {ty} {a}, {divisor}"), e.op(f"urem {ty} {a}, {divisor}")


def _signed(e: FunctionContext, like: Value, a: str, b: str) -> tuple[str, str]:
    """Divide the magnitudes and restore the sign: the hardware does the same, and -2^31 / -1 needs no test."""
    ty, suffix = llvm_type(like.type), mangled(like.type)
    sizes = [e.call(ty, f"llvm.abs.{suffix}", (ty, v), ("i1", "false")) for v in (a, b)]
    quotient, rest = _unsigned(e, like, *sizes)
    opposite = e.op(f"icmp slt {ty} {e.op(f'xor {ty} {a}, {b}')}, 0")
    negative = e.op(f"icmp slt {ty} {a}, 0")
    signed = []
    for value, below in ((quotient, opposite), (rest, negative)):
        signed.append(e.op(f"select i1 {below}, {ty} {e.op(f'sub {ty} 0, {value}')}, {ty} {value}"))
    return signed[0], signed[1]


@lowers(*ROUNDED_DIVISIONS)
def _rounded_division(e: FunctionContext, op: Any) -> None:
    signed, upwards = ROUNDED_DIVISIONS[type(op)]
    ty = llvm_type(op.result.type)

    def write(a: str, b: str) -> str:
        quotient, rest = (_signed if signed else _unsigned)(e, op.result, a, b)
        inexact = e.op(f"icmp ne {ty} {rest}, 0")
        if signed:
            side = e.op(f"icmp {'sge' if upwards else 'slt'} {ty} {e.op(f'xor {ty} {a}, {b}')}, 0")
            inexact = e.op(f"and i1 {inexact}, {side}")
        step = e.op(f"zext i1 {inexact} to {ty}")
        return e.op(f"{'add' if upwards else 'sub'} {ty} {quotient}, {step}")

    elementwise(e, op, write)


# -- shifts -------------------------------------------------------------------------------------------------------


@lowers(*SHIFTS)
def _shift(e: FunctionContext, op: Any) -> None:
    """A shift by the width or more gives 0 (or the sign), as in hardware."""
    name, ty, width = SHIFTS[type(op)], llvm_type(op.result.type), bit_width(op.result.type)
    least = f"llvm.umin.{mangled(op.result.type)}"
    short = shift_amount(op.rhs, width) is not None

    def write(a: str, b: str) -> str:
        if short:
            return e.op(f"{name} {ty} {a}, {b}")
        if name == "ashr":
            return e.op(f"ashr {ty} {a}, {e.call(ty, least, (ty, b), (ty, str(width - 1)))}")
        if width == 64:
            return e.target.long_shift(e, name, a, e.call(ty, least, (ty, b), (ty, str(width))))
        inside = e.op(f"icmp ult {ty} {b}, {width}")
        shifted = e.op(f"{name} {ty} {a}, {b}")
        return e.op(f"select i1 {inside}, {ty} {shifted}, {ty} 0")

    elementwise(e, op, write)


# -- more bits than the operands have -----------------------------------------------------------------------------


def _wide_product(e: FunctionContext, like: Value, a: str, b: str, extend: str) -> tuple[str, str]:
    width, ty = bit_width(like.type), llvm_type(like.type)
    wide = f"i{2 * width}"
    x, y = (e.op(f"{extend} {ty} {v} to {wide}") for v in (a, b))
    product = e.op(f"mul {wide} {x}, {y}")
    top = e.op(f"lshr {wide} {product}, {width}")
    return e.op(f"trunc {wide} {product} to {ty}"), e.op(f"trunc {wide} {top} to {ty}")


@lowers(arith.MulSIExtended, arith.MulUIExtended)
def _mul_extended(e: FunctionContext, op: Any) -> None:
    extend = "sext" if type(op) is arith.MulSIExtended else "zext"
    elementwise_several(e, op, lambda a, b: _wide_product(e, op.lhs, a, b, extend))


@lowers(tt.MulhiUI)
def _mulhi(e: FunctionContext, op: tt.MulhiUI) -> None:
    if _has_other_half(op, arith.MulI):
        elementwise(e, op, lambda a, b: _halves(e, a, b)[1])
    else:
        elementwise(e, op, lambda a, b: _wide_product(e, op.x, a, b, "zext")[1])


def _has_other_half(op: Any, other: type[Operation]) -> bool:
    """Whether both halves of a 32-bit multiplication are used in one block, as by random numbers.

    Scalars are left to LLVM: the same in all threads, they are computed once a warp.
    """
    ty = op.result.type
    if not isinstance(ty, TensorType) or bit_width(ty) != 32:
        return False
    factors = set(op.operands)
    rarer = min(op.operands, key=lambda v: len(v.users))
    return any(
        type(user) is other and user.parent is op.parent and set(user.operands) == factors for user in rarer.users
    )


def _halves(e: FunctionContext, a: str, b: str) -> tuple[str, str]:
    """The lower and the upper half of a * b, by one multiplication."""
    a, b = sorted((a, b), key=lambda v: (not v.startswith("%"), v))
    key = f"both halves of {a} * {b}"
    pair = e.known_values.get(key)
    if pair is None:
        pair = e.known_values[key] = e.target.wide_multiply(e, a, b)
    low, high = e.fields(_HALVES, pair, 2)
    return low, high


_HALVES = "{ i32, i32 }"


@lowers(arith.AddUIExtended)
def _add_extended(e: FunctionContext, op: arith.AddUIExtended) -> None:
    ty = llvm_type(op.lhs.type)

    def write(a: str, b: str) -> tuple[str, str]:
        total = e.op(f"add {ty} {a}, {b}")
        return total, e.op(f"icmp ult {ty} {total}, {a}")

    elementwise_several(e, op, write)
