"""The exchange plan of a layout conversion.

The scratch size, the synchronization inside the conversion and the emitted instructions follow from one plan
(`layout.exchange`), which is computed once for each pair of layouts.
"""

from __future__ import annotations

from ..dialects import ttg
from ..dialects.ttg_context import gpu_of, has_feature
from ..dialects.ttg_maps import linear_layout_of
from ..dialects.ttg_memory import element_bits
from ..dialects.ttg_switches import is_on
from ..hardware.nvidia_features import CLUSTERS, LDMATRIX, STMATRIX
from ..ir import Operation
from ..layout.exchange import Plan, plan_exchange
from ..layout.swizzle import MemoryPlan
from ..support import UnsupportedOperation

__all__ = ["conversion_scratch", "exchange_of", "has_ldmatrix", "has_stmatrix", "synchronizes_cta"]


def has_ldmatrix(op: Operation) -> bool:
    """Whether matrices of 16-bit elements are read by `ldmatrix`."""
    return has_feature(op, LDMATRIX)


def has_stmatrix(op: Operation) -> bool:
    """Whether they are written by `stmatrix`, which can be switched off."""
    return has_feature(op, STMATRIX) and is_on(op, "stmatrix")


def exchange_of(op: ttg.ConvertLayout) -> Plan:
    """The plan of a conversion; i1 is moved as 8 bits, pointers as 64. UnsupportedOperation if there is none."""
    ty = op.src.type
    bits = max(8, element_bits(ty))
    source, target = linear_layout_of(ty), linear_layout_of(op.result.type)
    only_lanes = bool(op.force_warp_shuffle)
    try:
        plan = plan_exchange(source, target, bits, has_ldmatrix(op), has_stmatrix(op), only_lanes)
    except ValueError as error:
        raise UnsupportedOperation(op, f"is not supported: {error}") from None
    gpu = gpu_of(op)
    if isinstance(plan, MemoryPlan) and plan.sync == "cluster" and gpu is not None and not gpu.has(CLUSTERS):
        raise UnsupportedOperation(op, "moves elements between CTAs of a cluster, which requires sm_90")
    return plan


def synchronizes_cta(op: Operation) -> bool:
    """Whether an operation with scratch synchronizes the CTA.

    A conversion within warps through shared memory synchronizes each warp only; one warp builds a tensor map.
    """
    if isinstance(op, ttg.ConvertLayout):
        plan = exchange_of(op)
        return isinstance(plan, MemoryPlan) and plan.sync != "warp"
    return op.name != "ttng.tensormap_create"


def conversion_scratch(op: ttg.ConvertLayout) -> int:
    """Bytes of scratch of a layout conversion: 0 where it needs warp shuffles only."""
    plan = exchange_of(op)
    return plan.bytes if isinstance(plan, MemoryPlan) else 0
