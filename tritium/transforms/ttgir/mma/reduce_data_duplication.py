"""reduce-data-duplication: Stage replicated dot operands through shared memory.

    %b = ttg.convert_layout %a : #blocked -> #dot_op      =>    %m = ttg.local_alloc %a : … -> !ttg.memdesc<…, #shared>
                                                                %b = ttg.local_load %m : … -> #dot_op

In the layout of a dot operand, all warps along the other operand's dimension hold copies. A conversion to it goes
through shared memory in any case, unless each warp already owns its elements. As explicit operations, the buffer can
have the swizzle for conflict-free operand reads, other passes can move store and load apart, and a WGMMA may read its
operand directly from shared memory.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg
from ....dialects.ttg_layouts import DotOperand
from ....dialects.ttg_maps import map_or_none
from ....dialects.ttg_memory import MemDescType, SharedMemorySpace
from ....dialects.ttg_operands import buffer_for, cluster_bases
from ....ir import Builder, Operation, count, functions_of, may_change, pass_on
from ...layout_flow import layout_of
from ..layout.cost import stays_in_cta, stays_in_warp

__all__ = ["reduce_data_duplication"]


@pass_on("function", statistics={"operands in shared memory": "conversions to operands replaced by a buffer"})
def reduce_data_duplication(op: Operation) -> bool:
    """Stage operands that warps share through shared memory, in a function or all functions of a module."""
    changed = 0
    for func in functions_of(op):
        for conversion in [op for op in func.walk() if op.__class__ is ttg.ConvertLayout]:
            if _moves_between_warps(conversion) and may_change("reduce-data-duplication", conversion):
                _expand(conversion)
                changed += 1
    count("operands in shared memory", changed)
    return changed > 0


def _moves_between_warps(conversion: Any) -> bool:
    """Whether a conversion moves an operand between warps, but not between CTAs."""
    before, after, shape = layout_of(conversion.src), layout_of(conversion.result), conversion.src.type.shape
    if not isinstance(after, DotOperand) or map_or_none(before, shape) is None or stays_in_warp(shape, before, after):
        return False
    return before.ctas == 1 or stays_in_cta(shape, before, after)


def _expand(conversion: Any) -> None:
    """Replace a conversion by a buffer and a read of it."""
    ty, operand = conversion.src.type, layout_of(conversion.result)
    layout = ty.encoding
    shared = buffer_for(operand, layout, ty.shape, ty.element.width, cluster_bases(layout, ty.shape))
    b = Builder(conversion.parent, conversion, conversion.loc)
    memory = MemDescType(ty.shape, ty.element, shared, SharedMemorySpace())
    buffer = b.add(ttg.LocalAlloc(conversion.src, result=memory))
    loaded = b.add(ttg.LocalLoad(buffer, result=conversion.result.type))
    loaded.hint = conversion.result.hint
    conversion.replace_with([loaded])
