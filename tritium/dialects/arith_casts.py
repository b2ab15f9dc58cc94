"""The arith operations that change the type of a number."""

from __future__ import annotations

from ..ir import CAST, ELEMENTWISE, EXTENDS, PURE, REMATERIALIZABLE, Flag, Op, Operand, Result
from .arith_flags import OptionalFastMathField, OverflowField, RoundingField
from .constraints import extend, floats_to_integers, index_cast, integers_to_floats, same_bits, truncate

__all__ = [
    "Bitcast",
    "ExtF",
    "ExtSI",
    "ExtUI",
    "FPToSI",
    "FPToUI",
    "IndexCast",
    "IndexCastUI",
    "SIToFP",
    "TruncF",
    "TruncI",
    "UIToFP",
]

_CAST = PURE | ELEMENTWISE | CAST
_TO = "$in_ attr-dict `:` type($in_) `to` type($out)"


class ExtSI(Op, name="arith.extsi", traits=_CAST | EXTENDS | REMATERIALIZABLE, assembly=_TO):
    """out = in, sign-extended."""

    verify_op = extend.integers

    in_: Operand
    out: Result


class ExtUI(
    Op,
    name="arith.extui",
    traits=_CAST | EXTENDS | REMATERIALIZABLE,
    assembly="$in_ (`nneg` $nonNeg^)? attr-dict `:` type($in_) `to` type($out)",
):
    """out = in, zero-extended."""

    verify_op = extend.integers

    in_: Operand
    nonNeg: Flag = False
    out: Result


class TruncI(
    Op,
    name="arith.trunci",
    traits=_CAST | REMATERIALIZABLE,
    assembly="$in_ (`overflow` `` $overflowFlags^)? attr-dict `:` type($in_) `to` type($out)",
):
    """out = the low bits of in."""

    verify_op = truncate.integers

    in_: Operand
    overflowFlags: OverflowField = None
    out: Result


class ExtF(
    Op,
    name="arith.extf",
    traits=_CAST | EXTENDS,
    assembly="$in_ (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `to` type($out)",
):
    """out = in, exactly, in a wider type."""

    verify_op = extend.floats

    in_: Operand
    fastmath: OptionalFastMathField = None
    out: Result


class TruncF(
    Op,
    name="arith.truncf",
    traits=_CAST,
    assembly="$in_ ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in_) `to` type($out)",
):
    """out = in rounded to a narrower type, to nearest even unless `roundingmode` says otherwise."""

    verify_op = truncate.floats

    in_: Operand
    roundingmode: RoundingField = None
    fastmath: OptionalFastMathField = None
    out: Result


class SIToFP(Op, name="arith.sitofp", traits=_CAST, assembly=_TO):
    """out = the signed integer as a float, rounded to nearest even."""

    verify_op = integers_to_floats

    in_: Operand
    out: Result


class UIToFP(
    Op,
    name="arith.uitofp",
    traits=_CAST,
    assembly="$in_ (`nneg` $nonNeg^)? attr-dict `:` type($in_) `to` type($out)",
):
    """out = the unsigned integer as a float, rounded to nearest even."""

    verify_op = integers_to_floats

    in_: Operand
    nonNeg: Flag = False
    out: Result


class FPToSI(Op, name="arith.fptosi", traits=_CAST, assembly=_TO):
    """out = in rounded towards zero, as a signed integer; undefined out of range."""

    verify_op = floats_to_integers

    in_: Operand
    out: Result


class FPToUI(Op, name="arith.fptoui", traits=_CAST, assembly=_TO):
    """out = in rounded towards zero, as an unsigned integer; undefined out of range."""

    verify_op = floats_to_integers

    in_: Operand
    out: Result


class Bitcast(Op, name="arith.bitcast", traits=_CAST, assembly=_TO):
    """out = the bits of in as a type of the same width."""

    verify_op = same_bits

    in_: Operand
    out: Result


class IndexCast(Op, name="arith.index_cast", traits=_CAST, assembly=_TO):
    """out = in as index or back, sign-extended or truncated."""

    verify_op = index_cast

    in_: Operand
    out: Result


class IndexCastUI(
    Op,
    name="arith.index_castui",
    traits=_CAST,
    assembly="$in_ (`nneg` $nonNeg^)? attr-dict `:` type($in_) `to` type($out)",
):
    """out = in as index or back, zero-extended or truncated."""

    verify_op = index_cast

    in_: Operand
    nonNeg: Flag = False
    out: Result
