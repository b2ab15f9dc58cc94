"""Rules of the amdg dialect: tensors that are put together and taken apart again. `canonicalize` includes them once the
dialect is loaded."""

from __future__ import annotations

from ...dialects import amdg
from ...ir import Rule, TensorType, Value, rule

__all__ = ["AMDG_RULES"]


@rule(amdg.Concat)
def concat_of_one(op: amdg.Concat) -> Value | None:
    """concat x = x"""
    return op.sources[0] if len(op.sources) == 1 and op.sources[0].type is op.result.type else None


@rule(amdg.ExtractSlice)
def part_of_concat(op: amdg.ExtractSlice) -> Value | None:
    """extract_slice (concat …, x, …) [where x is] = x"""
    whole = op.source.defining_op
    if not isinstance(whole, amdg.Concat):
        return None
    part, result = whole.sources[0].type, op.result.type
    if part is not result or not isinstance(part, TensorType) or not isinstance(op.source.type, TensorType):
        return None
    number = 0
    for offset, size, extent in zip(op.static_offsets, part.shape, op.source.type.shape):
        if offset % size:
            return None
        number = number * (extent // size) + offset // size
    return whole.sources[number]


AMDG_RULES: list[Rule] = [concat_of_one, part_of_concat]
