"""Dots exclude the padding: both operands are zero in the padding along K.

One zero operand would not suffice: 0 * NaN is NaN. Padding along M and N becomes padding of the result.
"""

from __future__ import annotations

from typing import Any

from ...dialects import arith, tt
from ...ir import FloatType, element_type
from .shapes import Padder

__all__ = ["DOTS"]

_ONE = 127  # of exponent scales


def _dot(op: Any, p: Padder) -> None:
    a, b = p.sources[:2]
    op.set_operand(0, p.fill(op.a, a, 0.0, [len(a) - 1]))
    op.set_operand(1, p.fill(op.b, b, 0.0, [len(b) - 2]))


def _scaled(op: Any, p: Padder) -> None:
    """Scales are 1 in the padding: a NaN scale would make NaN from zero."""
    a, b = p.sources[:2]
    operands = list(op.operands)
    operands[0] = p.fill(operands[0], a, 0, [len(a) - 1])
    operands[1] = p.fill(operands[1], b, 0, [len(b) - 2])
    for i, (value, shape) in enumerate(zip(operands, p.sources)):
        if value is op.a_scale or value is op.b_scale:
            one = 1.0 if isinstance(element_type(value.type), FloatType) else _ONE
            operands[i] = p.fill(value, shape, one, [len(shape) - 1]) if shape else value
    op.set_operands(operands)


def _keeps_zero(op: Any, p: Padder) -> None:
    """A conversion between number types, which maps zero to zero."""
    if p.filled.get(op.operands[0]) == 0:
        p.filled[op.results[0]] = 0


DOTS: dict[type, Any] = {
    tt.Dot: _dot,
    tt.DotScaled: _scaled,
    tt.FpToFp: _keeps_zero,
    arith.ExtF: _keeps_zero,
    arith.TruncF: _keeps_zero,
    arith.SIToFP: _keeps_zero,
    arith.UIToFP: _keeps_zero,
    arith.ExtSI: _keeps_zero,
    arith.ExtUI: _keeps_zero,
    arith.TruncI: _keeps_zero,
}
