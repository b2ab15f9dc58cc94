"""reduce-data-duplication: Stage replicated dot operands through shared memory.

    %b = ttg.convert_layout %a : #blocked -> #dot_op      =>    %m = ttg.local_alloc %a : … -> !ttg.memdesc<…, #shared>
                                                                %b = ttg.local_load %m : … -> #dot_op

In the layout of a dot operand, all warps along the other operand's dimension hold copies. A conversion to it goes
through shared memory in any case, unless each warp already owns its elements. As explicit operations, the buffer can
have the swizzle for conflict-free operand reads, other passes can move store and load apart, and a WGMMA may read its
operand directly from shared memory.

A conversion within warps needs no such buffer. But where it goes through scratch memory, and the same tensor is copied
to a buffer with the same swizzle anyway, because another dot reads the transpose, the operand is read from there
instead of exchanged once more. (reorder-instructions hoists that copy to the tensor's definition in any case.)
"""

from __future__ import annotations

from typing import Any

from ....analysis.scratch import scratch_bytes
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
            if not _goes_to_an_operand(conversion):
                continue
            memory = _memory_type(conversion)
            buffer = _buffer_of_source(conversion, memory)
            if buffer is None and _stays_in_warps(conversion):
                continue
            if may_change("reduce-data-duplication", conversion):
                _expand(conversion, memory, buffer)
                changed += 1
    count("operands in shared memory", changed)
    return changed > 0


def _goes_to_an_operand(conversion: Any) -> bool:
    """Whether a conversion is to the layout of a dot operand, from a known one of the same CTA."""
    before, after, shape = layout_of(conversion.src), layout_of(conversion.result), conversion.src.type.shape
    if not isinstance(after, DotOperand) or map_or_none(before, shape) is None:
        return False
    return before.ctas == 1 or stays_in_cta(shape, before, after)


def _stays_in_warps(conversion: ttg.ConvertLayout) -> bool:
    """Whether each warp has what it needs of the operand."""
    return stays_in_warp(conversion.src.type.shape, layout_of(conversion.src), layout_of(conversion.result))


def _memory_type(conversion: Any) -> MemDescType:
    """The buffer that the operand is read from, with the swizzle for its layout."""
    ty = conversion.src.type
    bases = cluster_bases(ty.encoding, ty.shape)
    shared = buffer_for(layout_of(conversion.result), ty.encoding, ty.shape, ty.element.width, bases)
    return MemDescType(ty.shape, ty.element, shared, SharedMemorySpace())


def _buffer_of_source(conversion: ttg.ConvertLayout, memory: MemDescType) -> ttg.LocalAlloc | None:
    """The allocation of type `memory` that holds the source of a conversion, or None."""
    if conversion.src.defining_op is None or not scratch_bytes(conversion):
        return None
    users = conversion.src.users
    return next((user for user in users if isinstance(user, ttg.LocalAlloc) and user.result.type == memory), None)


def _expand(conversion: Any, memory: MemDescType, alloc: ttg.LocalAlloc | None) -> None:
    """Replace a conversion by a read of the buffer of `alloc`, or of a new one."""
    b = Builder(conversion.parent, conversion, conversion.loc)
    if alloc is not None:
        alloc.move_after(conversion.src.defining_op)
    buffer = b.add(ttg.LocalAlloc(conversion.src, result=memory)) if alloc is None else alloc.result
    loaded = b.add(ttg.LocalLoad(buffer, result=conversion.result.type))
    loaded.hint = conversion.result.hint
    conversion.replace_with([loaded])
