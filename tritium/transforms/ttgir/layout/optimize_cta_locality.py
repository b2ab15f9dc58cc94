"""optimize-cta-locality: Rematerialize values within a CTA instead of exchanging them across the cluster.

    %a = tt.load %p : … rows split over the CTAs
    %b = ttg.convert_layout %a : … -> columns split             =>      %b = tt.load %p' : … columns split

A conversion that moves elements between CTAs goes through distributed shared memory, with barriers across the cluster.
Instead, its producers are recomputed in the new layout, whatever their cost: even a repeated load hits the cache. What
must not be computed twice (dots, atomics) is converted.

This is rule *repeat* of `remove-layout-conversions` without the cost model, for conversions between CTAs only.
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
from .cost import stays_in_cta
from .rematerialize import Copies, Slice

__all__ = ["optimize_cta_locality"]

_CLEANUP = RuleTable([*CONVERT_RULES, *SCF_RULES])


@pass_on("function", statistics={"conversions between CTAs": "conversions removed"})
def optimize_cta_locality(op: Operation) -> bool:
    """Remove conversions between the CTAs of a cluster from a function, or from all functions of a module."""
    changed = 0
    if num_ctas(op) > 1:
        for func in functions_of(op):
            found = _function(func)
            if found:
                rewrite_greedily(func, _CLEANUP)
                drop_dead_carried(func)
                rewrite_greedily(func, _CLEANUP)
            changed += found
    count("conversions between CTAs", changed)
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
    return not stays_in_cta(conversion.src.type.shape, before, after)


def _compute(conversion: Any, copies: Copies) -> bool:
    """Recompute the operand of a conversion in the new layout, where possible."""
    root = conversion.src, layout_of(conversion.result)
    part = Slice(copies, through=lambda op: True, loads=True)
    if not part.grow(*root, conversion) or not may_change("optimize-cta-locality", conversion):
        return False
    conversion.result.replace_all_uses_with(copies.build(part, root))
    conversion.erase()
    return True
