"""Arithmetic and conversions of the llvm dialect."""

from __future__ import annotations

from typing import Annotated

from ..ir import COMMUTATIVE, PURE, TRAPS, Attribute, Op, Operand, Result, dialect_attr_field

__all__ = [
    "AShr",
    "Add",
    "AddrSpaceCast",
    "And",
    "Bitcast",
    "FAdd",
    "FDiv",
    "FMul",
    "FPExt",
    "FPTrunc",
    "FSub",
    "IntToPtr",
    "LShr",
    "Mul",
    "Or",
    "Poison",
    "PtrToInt",
    "SDiv",
    "SExt",
    "SRem",
    "Shl",
    "Sub",
    "Trunc",
    "UDiv",
    "URem",
    "Undef",
    "Xor",
    "ZExt",
    "Zero",
]

_BINARY = "$lhs `,` $rhs attr-dict `:` type($res)"
_OVERFLOW = "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($res)"
_CAST = "$arg attr-dict `:` type($arg) `to` type($res)"

OverflowField = Annotated[Attribute | None, dialect_attr_field("llvm.overflow")]


class Add(Op, name="llvm.add", traits=PURE | COMMUTATIVE, assembly=_OVERFLOW):
    """res = lhs + rhs, wrapping; `overflowFlags` may say that it does not."""

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    res: Result


class Sub(Op, name="llvm.sub", traits=PURE, assembly=_OVERFLOW):
    """res = lhs - rhs, wrapping; `overflowFlags` may say that it does not."""

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    res: Result


class Mul(Op, name="llvm.mul", traits=PURE | COMMUTATIVE, assembly=_OVERFLOW):
    """res = lhs * rhs, wrapping; `overflowFlags` may say that it does not."""

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    res: Result


class Shl(Op, name="llvm.shl", traits=PURE, assembly=_OVERFLOW):
    """res = lhs << rhs; `overflowFlags` may say that no bit is lost."""

    lhs: Operand
    rhs: Operand
    overflowFlags: OverflowField = None
    res: Result


class UDiv(Op, name="llvm.udiv", traits=PURE | TRAPS, assembly=_BINARY):
    """res = lhs / rhs, unsigned."""

    lhs: Operand
    rhs: Operand
    res: Result


class SDiv(Op, name="llvm.sdiv", traits=PURE | TRAPS, assembly=_BINARY):
    """res = lhs / rhs, signed, rounded towards zero."""

    lhs: Operand
    rhs: Operand
    res: Result


class URem(Op, name="llvm.urem", traits=PURE | TRAPS, assembly=_BINARY):
    """res = lhs mod rhs, unsigned."""

    lhs: Operand
    rhs: Operand
    res: Result


class SRem(Op, name="llvm.srem", traits=PURE | TRAPS, assembly=_BINARY):
    """res = lhs mod rhs, with the sign of lhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class And(Op, name="llvm.and", traits=PURE | COMMUTATIVE, assembly=_BINARY):
    """res = lhs & rhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class Or(Op, name="llvm.or", traits=PURE | COMMUTATIVE, assembly=_BINARY):
    """res = lhs | rhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class Xor(Op, name="llvm.xor", traits=PURE | COMMUTATIVE, assembly=_BINARY):
    """res = lhs ^ rhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class LShr(Op, name="llvm.lshr", traits=PURE, assembly=_BINARY):
    """res = lhs >> rhs, zeros shifted in."""

    lhs: Operand
    rhs: Operand
    res: Result


class AShr(Op, name="llvm.ashr", traits=PURE, assembly=_BINARY):
    """res = lhs >> rhs, sign bits shifted in."""

    lhs: Operand
    rhs: Operand
    res: Result


class FAdd(Op, name="llvm.fadd", traits=PURE | COMMUTATIVE, assembly=_BINARY):
    """res = lhs + rhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class FSub(Op, name="llvm.fsub", traits=PURE, assembly=_BINARY):
    """res = lhs - rhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class FMul(Op, name="llvm.fmul", traits=PURE | COMMUTATIVE, assembly=_BINARY):
    """res = lhs * rhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class FDiv(Op, name="llvm.fdiv", traits=PURE, assembly=_BINARY):
    """res = lhs / rhs."""

    lhs: Operand
    rhs: Operand
    res: Result


class PtrToInt(Op, name="llvm.ptrtoint", traits=PURE, assembly=_CAST):
    """res = the address `arg` as an integer."""

    arg: Operand
    res: Result


class IntToPtr(Op, name="llvm.inttoptr", traits=PURE, assembly=_CAST):
    """res = the integer `arg` as an address."""

    arg: Operand
    res: Result


class AddrSpaceCast(Op, name="llvm.addrspacecast", traits=PURE, assembly=_CAST):
    """res = the address `arg` in another address space."""

    arg: Operand
    res: Result


class Bitcast(Op, name="llvm.bitcast", traits=PURE, assembly=_CAST):
    """res = the bits of `arg` in another type of the same width."""

    arg: Operand
    res: Result


class Trunc(Op, name="llvm.trunc", traits=PURE, assembly=_CAST):
    """res = the low bits of `arg`."""

    arg: Operand
    res: Result


class ZExt(Op, name="llvm.zext", traits=PURE, assembly=_CAST):
    """res = `arg` with zeros in front."""

    arg: Operand
    res: Result


class SExt(Op, name="llvm.sext", traits=PURE, assembly=_CAST):
    """res = `arg` with its sign bit repeated."""

    arg: Operand
    res: Result


class FPTrunc(Op, name="llvm.fptrunc", traits=PURE, assembly=_CAST):
    """res = `arg` rounded to a narrower type."""

    arg: Operand
    res: Result


class FPExt(Op, name="llvm.fpext", traits=PURE, assembly=_CAST):
    """res = `arg` in a wider type."""

    arg: Operand
    res: Result


class Undef(Op, name="llvm.mlir.undef", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = a value that nothing may depend on."""

    res: Result


class Poison(Op, name="llvm.mlir.poison", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = a value such that whatever depends on it is undefined."""

    res: Result


class Zero(Op, name="llvm.mlir.zero", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = zero in every field."""

    res: Result
