"""Which instruction or intrinsic of LLVM an operation becomes, where that is the same on every target.

Lowerings of CPUs and GPUs read these tables; what has no row needs more than one instruction, or differs between them.
"""

from __future__ import annotations

from typing import Any

from ...dialects import arith, math, tt
from ...ir import Value

__all__ = [
    "CASTS",
    "DIVISIONS",
    "FLOAT",
    "FUNCTIONS",
    "INTEGER",
    "INTRINSICS",
    "MIN_MAX",
    "ROUNDED_DIVISIONS",
    "SHIFTS",
    "WITH_FLAG",
    "clamp_intrinsics",
    "divides_safely",
    "overflow_flags",
    "shift_amount",
]

INTEGER = {
    arith.AddI: "add",
    arith.SubI: "sub",
    arith.MulI: "mul",
    arith.AndI: "and",
    arith.OrI: "or",
    arith.XOrI: "xor",
}
FLOAT = {arith.AddF: "fadd", arith.SubF: "fsub", arith.MulF: "fmul", arith.DivF: "fdiv"}
MIN_MAX = {
    arith.MaxSI: "llvm.smax",
    arith.MinSI: "llvm.smin",
    arith.MaxUI: "llvm.umax",
    arith.MinUI: "llvm.umin",
    arith.MaximumF: "llvm.maximum",
    arith.MinimumF: "llvm.minimum",
    arith.MaxNumF: "llvm.maxnum",
    arith.MinNumF: "llvm.minnum",
}
CASTS = {
    arith.ExtSI: "sext",
    arith.ExtUI: "zext",
    arith.TruncI: "trunc",
    arith.ExtF: "fpext",
    arith.TruncF: "fptrunc",
    arith.SIToFP: "sitofp",
    arith.UIToFP: "uitofp",
}
DIVISIONS = {  # instruction, with a sign, whether the rest is wanted
    arith.DivSI: ("sdiv", True, False),
    arith.DivUI: ("udiv", False, False),
    arith.RemSI: ("srem", True, True),
    arith.RemUI: ("urem", False, True),
}
ROUNDED_DIVISIONS = {  # with a sign, whether upwards
    arith.CeilDivSI: (True, True),
    arith.CeilDivUI: (False, True),
    arith.FloorDivSI: (True, False),
}
SHIFTS = {arith.ShLI: "shl", arith.ShRSI: "ashr", arith.ShRUI: "lshr"}
INTRINSICS = {
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
FUNCTIONS = {
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
"""Functions of a library, by C's names for them."""
WITH_FLAG = {math.AbsI: "llvm.abs", math.Ctlz: "llvm.ctlz", math.Cttz: "llvm.cttz"}
"""Intrinsics with a second operand: whether there are numbers for which the result does not matter."""


def overflow_flags(op: Any) -> str:
    """` nuw nsw`, as far as an operation promises it."""
    text = str(op.attributes.get("overflowFlags", ""))
    return "".join(f" {flag}" for flag in ("nuw", "nsw") if flag in text)


def clamp_intrinsics(op: tt.ClampF) -> tuple[str, str]:
    """The max and the min intrinsic of a clamp."""
    if op.propagateNan == tt.PropagateNan.all:
        return "llvm.maximum", "llvm.minimum"
    return "llvm.maxnum", "llvm.minnum"


def divides_safely(value: Value) -> bool:
    """Whether a divisor is a constant that no division traps on: neither 0 nor -1."""
    op = value.defining_op
    number = op.splat_value() if isinstance(op, arith.Constant) else None
    return number is not None and number not in (0, -1)


def shift_amount(value: Value, width: int) -> int | None:
    """The distance of a shift, where it is one constant below `width`; what LLVM defines is only that."""
    op = value.defining_op
    amount = op.splat_value() if isinstance(op, arith.Constant) else None
    return amount if isinstance(amount, int) and 0 <= amount < width else None
