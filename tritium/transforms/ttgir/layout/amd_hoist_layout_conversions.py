"""amd-hoist-layout-conversions: Convert invariant operands of dots before the loop.

    scf.for … {                                              %q = ttg.convert_layout %x : … -> #dot_op
      %q = ttg.convert_layout %x : … -> #dot_op        =>    scf.for … {
      tt.dot %q, …                                             tt.dot %q, …

As in fused attention, whose Q is loaded once: it stays in the registers of the dot's layout, instead of being read from
LDS in each iteration. The conversion moves to where its source is defined. (`licm` does the same for all operations
whose operands are invariant; this pass also takes conversions out of loops that may not run.)
"""

from __future__ import annotations

from ....dialects import ttg
from ....dialects.ttg_layouts import DotOperand
from ....ir import CountedLoop, Operation, TensorType, count, functions_of, may_change, pass_on

__all__ = ["amd_hoist_layout_conversions"]


@pass_on("function", statistics={"conversions hoisted": "conversions of operands that left a loop"})
def amd_hoist_layout_conversions(op: Operation) -> bool:
    """Hoist conversions of operands in a function, or in all functions of a module."""
    hoisted = 0
    for func in functions_of(op):
        for conversion in [inner for inner in func.walk() if isinstance(inner, ttg.ConvertLayout)]:
            hoisted += _hoist(conversion)
    count("conversions hoisted", hoisted)
    return hoisted > 0


def _hoist(op: ttg.ConvertLayout) -> bool:
    ty, source = op.result.type, op.src.defining_op
    if source is None or not isinstance(ty, TensorType) or not isinstance(ty.encoding, DotOperand):
        return False
    loop = op.parent_op
    while loop is not None and not isinstance(loop, CountedLoop):
        loop = loop.parent_op
    if loop is None or loop.is_ancestor_of(source) or not may_change("amd-hoist-layout-conversions", op):
        return False
    op.move_after(source)
    return True
