"""amd-sink-layout-conversions: Convert layouts after LDS has been freed.

    %y = ttg.convert_layout %x                     ttg.local_dealloc %b
    ttg.local_dealloc %b                     =>    %y = ttg.convert_layout %x
    tt.store %p, %y                                tt.store %p, %y

A conversion may need scratch memory in LDS. Between the end of a pipelined loop and the first use of the converted
value the buffers of the loop are freed: the conversion after that uses their memory again.
"""

from __future__ import annotations

from ....dialects import ttg
from ....ir import Operation, count, functions_of, may_change, pass_on
from ....ir.dominance import ancestor_in

__all__ = ["amd_sink_layout_conversions"]


@pass_on("function", statistics={"conversions sunk": "conversions that moved after a deallocation"})
def amd_sink_layout_conversions(op: Operation) -> bool:
    """Sink conversions in a function, or in all functions of a module."""
    sunk = 0
    for func in functions_of(op):
        for conversion in [inner for inner in func.walk() if isinstance(inner, ttg.ConvertLayout)]:
            sunk += _sink(conversion)
    count("conversions sunk", sunk)
    return sunk > 0


def _sink(op: ttg.ConvertLayout) -> bool:
    """Move a conversion after the last deallocation before its first use in the block."""
    users = {ancestor_in(op.parent, user) for user in op.result.users}
    last, following = None, op.next
    while following is not None and following not in users:
        if isinstance(following, ttg.LocalDealloc):
            last = following
        following = following.next
    if last is None or not may_change("amd-sink-layout-conversions", op):
        return False
    op.move_after(last)
    return True
