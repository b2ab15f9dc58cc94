"""Functions of scalars applied to every element of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ...ir import Block, Region
from ..tensor import tensor
from ..tuples import tuple as tl_tuple
from .errors import type_error, value_error
from .reductions import call_function

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["map_elementwise"]


def map_elementwise(
    sem: SemanticContext, function: Any, args: Sequence[Any], pack: int, generator: Any
) -> tuple[list[tensor], bool]:
    """(results, whether the function returns a single value); it takes `pack` adjacent elements of each block."""
    if pack < 1:
        raise value_error(f"pack must be >= 1, got {pack}")
    if not args:
        raise value_error("map_elementwise must have at least 1 input tensor")
    inputs = sem.broadcast_tensors(*map(sem.to_tensor, args))
    if not inputs[0].type.is_block():
        raise type_error(f"map_elementwise takes blocks, got {inputs[0].type}", "call the function itself")
    values, single, region = _region(sem, function, [x.dtype for x in inputs for _ in range(pack)], generator)
    types = [v.type for v in values]
    if len(types) % pack or any(types[::pack] != types[i::pack] for i in range(1, pack)):
        found = ", ".join(map(str, types))
        raise type_error(
            f"type mismatch in unpacked results: with pack={pack} the function returns {pack} values of one type for"
            f" each result, got ({found})"
        )
    kinds = [inputs[0].type.with_element_ty(ty) for ty in types[::pack]]
    op = tt.MapElementwise([x.handle for x in inputs], pack, region, results_=[ty.to_ir() for ty in kinds])
    sem.builder.insert(op)
    return [tensor(v, ty) for v, ty in zip(op.results, kinds)], single


def _region(
    sem: SemanticContext, function: Any, types: Sequence[Any], generator: Any
) -> tuple[list[tensor], bool, Region]:
    builder = sem.builder
    block = Block()
    arguments = [tensor(block.add_argument(ty.to_ir(), builder.loc), ty) for ty in types]
    with builder.saved():
        builder.at_end(block)
        returned = call_function(sem, function, arguments, generator, "the function of map_elementwise")
        single = not isinstance(returned, tl_tuple)
        values = [sem.to_tensor(v) for v in ([returned] if single else returned.values)]
        builder.insert(tt.MapElementwiseReturn([v.handle for v in values]))
    return values, single, Region(block)
