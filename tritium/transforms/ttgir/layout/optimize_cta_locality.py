"""optimize-cta-locality: a block of a cluster computes what it needs itself rather than fetch it from another.

    %a = tt.load %p : … rows divided among the blocks
    %b = ttg.convert_layout %a : … -> columns divided           =>      %b = tt.load %p' : … columns divided

A conversion that moves elements between blocks goes through the shared memory of other multiprocessors, and all blocks
of the cluster wait for each other. What is in front of it is computed in the new layout instead, whatever that costs:
even a load that is made again finds its lines in the cache. What cannot be made twice (products, atomics) is converted.

It is rule *repeat* of `remove-layout-conversions` without its costs, and for conversions between blocks only.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg
from ....dialects.ttg_context import num_ctas
from ....ir import Operation, RuleTable, count, functions_of, may_change, pass_on, rewrite_greedily
from ...carried_values import drop_dead_carried
from ...layout_flow import layout_of
from ...rules.scf import SCF_RULES
from ...rules.ttg import CONVERT_RULES
from .cost import stays_in_block
from .rematerialize import Copies, Slice

__all__ = ["optimize_cta_locality"]

_CLEANUP = RuleTable([*CONVERT_RULES, *SCF_RULES])


@pass_on("function", statistics={"conversions between blocks": "conversions that went"})
def optimize_cta_locality(op: Operation) -> bool:
    """Remove conversions between blocks of a cluster from a function, or from all functions of a module."""
    changed = 0
    if num_ctas(op) > 1:
        for func in functions_of(op):
            found = _function(func)
            if found:
                rewrite_greedily(func, _CLEANUP)
                drop_dead_carried(func)
                rewrite_greedily(func, _CLEANUP)
            changed += found
    count("conversions between blocks", changed)
    return changed > 0


def _function(func: Operation) -> int:
    copies, changed = Copies(), 0
    for op in [op for op in func.walk() if op.__class__ is ttg.ConvertLayout]:
        if _leaves_block(op) and _compute(op, copies):
            changed += 1
        else:
            copies.keep(op)
    return changed


def _leaves_block(conversion: Any) -> bool:
    before, after = layout_of(conversion.src), layout_of(conversion.result)
    return not stays_in_block(conversion.src.type.shape, before, after)


def _compute(conversion: Any, copies: Copies) -> bool:
    """Compute what is converted in the new layout, where that can be."""
    root = conversion.src, layout_of(conversion.result)
    part = Slice(copies, through=lambda op: True, loads=True)
    if not part.grow(*root, conversion) or not may_change("optimize-cta-locality", conversion):
        return False
    conversion.result.replace_all_uses_with(copies.build(part, root))
    conversion.erase()
    return True
