"""The dots of the tt dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import I32 as I32Field
from ..ir import PURE, Attribute, Bool, DotLike, Op, Operand, OptionalOperand, Result, Type, Value, i8, shape_of
from .constraints import GOOD, bit_width, is_float, is_integer, listed
from .tt_checks import alike
from .tt_types import InputPrecision, PrecisionField, ScaleDotElemType, ScaleElemField

__all__ = ["Dot", "DotScaled"]


def _dot(op: Any) -> Sequence[str]:
    """(…, M, K) @ (…, K, N) + (…, M, N), all of integers of one width or all of floats."""
    a, b, c, d = op.a.type, op.b.type, op.c.type, op.results[0].type
    sa, sb, sc = shape_of(a), shape_of(b), shape_of(c)
    if len(sa) not in (2, 3) or len(sb) != len(sa) or len(sc) != len(sa):
        return (f"needs operands of rank 2 or 3, not {listed([a, b, c])}",)
    if sa[:-2] != sb[:-2] or sa[-1] != sb[-2] or sc != (*sa[:-1], sb[-1]):
        return (f"the shapes do not fit: {a} @ {b} + {c}",)
    if not alike(c, d):
        return (f"the result must be {c}, not {d}",)
    if is_integer[a] != is_integer[b] or is_integer[a] != is_integer[c]:
        return (f"integers and floats are mixed: {a} @ {b} + {c}",)
    if is_integer[a] and bit_width(a) != bit_width(b):
        return (f"the operands have different widths: {a} @ {b}",)
    return GOOD


def _factors(op: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """How many elements a number holds along (M, K) of a and along (K, N) of b: two where 4-bit elements are packed."""
    a = 2 if op.a_elem_type is ScaleDotElemType.e2m1 else 1
    b = 2 if op.b_elem_type is ScaleDotElemType.e2m1 else 1
    return ((1, a) if op.lhs_k_pack else (a, 1)), ((b, 1) if op.rhs_k_pack else (1, b))


def _dot_scaled(op: Any) -> Sequence[str]:
    """As `tt.dot`, elements counted unpacked; a scale for each 16 or 32 elements along K of a row or column."""
    a, b, c = op.a.type, op.b.type, op.c.type
    sa, sb, sc = shape_of(a), shape_of(b), shape_of(c)
    if len(sa) < 2 or len(sb) != len(sa) or len(sc) != len(sa):
        return (f"needs operands of one rank, at least 2, not {listed([a, b, c])}",)
    (am, ak), (bk, bn) = _factors(op)
    m, k, n = sa[-2] * am, sa[-1] * ak, sb[-1] * bn
    if sa[:-2] != sb[:-2] or k != sb[-2] * bk or sc != (*sa[:-2], m, n):
        return (f"the shapes do not fit: {a} @ {b} + {c}",)
    if not is_float[c] or not alike(c, op.results[0].type):
        return (f"the accumulator and the result are floats of one type, not {c} and {op.results[0].type}",)
    return [*_scale(op.a_scale, m, k, "a"), *_scale(op.b_scale, n, k, "b")] or _same_factor(op, k)


def _scale(scale: Value | None, rows: int, k: int, name: str) -> list[str]:
    shape = () if scale is None else shape_of(scale.type)
    if scale is None or all(n == 1 for n in shape):
        return []
    if not is_float[scale.type] and bit_width(scale.type) != i8.width:
        return [f"the scales of {name} are bytes or floats, not {scale.type}"]
    if len(shape) < 2 or shape[-2] != rows or shape[-1] == 0 or k / shape[-1] not in (16, 32):
        return [f"the scales of {name} are {scale.type}: there must be {rows} rows of {k} / 16 or {k} / 32"]
    return []


def _same_factor(op: Any, k: int) -> Sequence[str]:
    counts = {k // shape_of(s.type)[-1] for s in (op.a_scale, op.b_scale) if s is not None and shape_of(s.type)[-1] > 1}
    return GOOD if len(counts) < 2 else (f"one operand has a scale for {min(counts)} elements, one for {max(counts)}",)


class _LikeAccumulator:
    """Mixin: the result has the type of operand 2."""

    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The type of the accumulator."""
        return [operands[2].type]


class Dot(
    DotLike,
    _LikeAccumulator,
    Op,
    name="tt.dot",
    traits=PURE,
    assembly="$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict"
    " `:` type($a) `*` type($b) `->` type($d)",
):
    """d = a @ b + c; a is (…, M, K), b is (…, K, N), c and d are (…, M, N)."""

    verify_op = _dot

    a: Operand
    b: Operand
    c: Operand
    inputPrecision: PrecisionField = InputPrecision.ieee
    maxNumImpreciseAcc: I32Field = 0
    d: Result


class DotScaled(
    DotLike,
    _LikeAccumulator,
    Op,
    name="tt.dot_scaled",
    traits=PURE,
    assembly="$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c"
    " `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict"
    " `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)",
):
    """d = (a * a_scale) @ (b * b_scale) + c, with one scale for 16 or 32 adjacent elements along K.

    Elements are of the formats `a_elem_type` and `b_elem_type`; two 4-bit elements are packed in a byte, along K, or
    along M and N where `lhs_k_pack` and `rhs_k_pack` are false. Both scales have K as their last dimension. A scale
    that is missing is 1.
    """

    verify_op = _dot_scaled

    a: Operand
    b: Operand
    c: Operand
    a_scale: OptionalOperand
    b_scale: OptionalOperand
    a_elem_type: ScaleElemField
    b_elem_type: ScaleElemField
    fastMath: Bool
    lhs_k_pack: Bool = True
    rhs_k_pack: Bool = True
    d: Result
