"""Operations that give a tensor another shape, or spread a scalar: no thread talks to another here."""

from __future__ import annotations

from ...dialects import tt
from .context import FunctionContext, lowers
from .positions import positions
from .types import registers_of

__all__: list[str] = []


@lowers(tt.MakeRange)
def _make_range(e: FunctionContext, op: tt.MakeRange) -> None:
    coordinates = [row[0] for row in positions(e, e.layout(op.result))]
    if op.start:
        sums = {c: e.op(f"add i32 {c}, {op.start}") for c in dict.fromkeys(coordinates)}
        coordinates = [sums[c] for c in coordinates]
    e.bind(op.result, coordinates)


@lowers(tt.Splat)
def _splat(e: FunctionContext, op: tt.Splat) -> None:
    e.bind(op.result, [e.scalar(op.src)] * registers_of(op.result.type))
