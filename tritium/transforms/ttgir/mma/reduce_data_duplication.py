"""reduce-data-duplication: what several warps need of an operand is kept in shared memory, not in registers of each.

    %b = ttg.convert_layout %a : #blocked -> #dot_op      =>    %m = ttg.local_alloc %a : … -> !ttg.memdesc<…, #shared>
                                                                %b = ttg.local_load %m : … -> #dot_op

In the layout of an operand of a product, all warps along the other operand's dimension hold copies. A conversion there
goes through shared memory in any case, unless all that a warp needs is in its own lanes; written out, the buffer can
have the swizzle from which the operand is read without conflicts, other passes can move the two parts away from each
other, and a product of Hopper may read its operand straight from memory.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg
from ....dialects.ttg_layouts import DotOperand
from ....dialects.ttg_maps import map_or_none
from ....dialects.ttg_memory import MemDescType, SharedMemorySpace
from ....dialects.ttg_operands import cluster_bases, memory_order, swizzled_for
from ....ir import Builder, Operation, count, functions_of, may_change, pass_on
from ...layout_flow import layout_of
from ..layout.cost import stays_in_cta, stays_in_warp

__all__ = ["reduce_data_duplication"]


@pass_on("function", statistics={"operands in memory": "conversions to operands that are a buffer now"})
def reduce_data_duplication(op: Operation) -> bool:
    """Keep operands that warps share in shared memory, in a function or all functions of a module."""
    changed = 0
    for func in functions_of(op):
        for conversion in [op for op in func.walk() if op.__class__ is ttg.ConvertLayout]:
            if _through_memory(conversion) and may_change("reduce-data-duplication", conversion):
                _write_out(conversion)
                changed += 1
    count("operands in memory", changed)
    return changed > 0


def _through_memory(conversion: Any) -> bool:
    """Whether a conversion brings an operand from other warps, but not from other blocks of a cluster."""
    before, after, shape = layout_of(conversion.src), layout_of(conversion.result), conversion.src.type.shape
    if not isinstance(after, DotOperand) or map_or_none(before, shape) is None or stays_in_warp(shape, before, after):
        return False
    return before.ctas == 1 or stays_in_cta(shape, before, after)


def _write_out(conversion: Any) -> None:
    """A buffer and a read of it in place of the conversion."""
    ty, operand = conversion.src.type, layout_of(conversion.result)
    layout = ty.encoding
    order = memory_order(layout, ty.shape)
    shared = swizzled_for(operand, ty.shape, order, ty.element.width, cluster_bases(layout, ty.shape))
    b = Builder(conversion.parent, conversion, conversion.loc)
    memory = MemDescType(ty.shape, ty.element, shared, SharedMemorySpace())
    buffer = b.add(ttg.LocalAlloc(conversion.src, result=memory))
    loaded = b.add(ttg.LocalLoad(buffer, result=conversion.result.type))
    loaded.hint = conversion.result.hint
    conversion.replace_with([loaded])
