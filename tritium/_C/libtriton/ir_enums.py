"""The enumerations of `ir`: Triton's names for the members of ours."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any

from ...dialects import tt_types

__all__ = ["ENUMERATIONS", "flat_member"]


def _named(of: Any, names: str) -> SimpleNamespace:
    """`"CA EVICT_FIRST=evict_first"`: a member is called as ours in lower case unless its name stands behind `=`."""
    pairs = (name.partition("=")[::2] for name in names.split())
    return SimpleNamespace(**{theirs: of[ours or theirs.lower()] for theirs, ours in pairs})


#: Name in Triton's bindings -> namespace of its members.
ENUMERATIONS: dict[str, SimpleNamespace] = {
    "CACHE_MODIFIER": _named(tt_types.CacheModifier, "NONE CA CG WB CS WT CV"),
    "EVICTION_POLICY": _named(
        tt_types.EvictionPolicy, "NORMAL=evict_normal EVICT_FIRST=evict_first EVICT_LAST=evict_last"
    ),
    "PADDING_OPTION": _named(tt_types.PaddingOption, "PAD_ZERO PAD_NAN"),
    "MEM_SEMANTIC": _named(tt_types.MemSemantic, "RELAXED ACQUIRE RELEASE ACQUIRE_RELEASE=acq_rel"),
    "MEM_SYNC_SCOPE": _named(tt_types.MemSyncScope, "GPU CTA SYSTEM=sys"),
    "ATOMIC_OP": _named(tt_types.AtomicOp, "AND=_and OR=_or XOR ADD FADD MAX MIN UMAX UMIN XCHG=exch"),
    "DESCRIPTOR_REDUCE_KIND": _named(tt_types.DescriptorReduceKind, "ADD MIN MAX INC DEC AND=_and OR=_or XOR"),
    "ROUNDING_MODE": _named(tt_types.RoundingMode, "RTZ RTNE"),
    "PROPAGATE_NAN": _named(tt_types.PropagateNan, "NONE ALL"),
    "INPUT_PRECISION": _named(tt_types.InputPrecision, "TF32 TF32x3=tf32x3 IEEE BF16x3=bf16x3 BF16x6=bf16x6"),
    "ScaleDotElemTypeTY": _named(tt_types.ScaleDotElemType, "E4M3 E5M2 E2M3 E3M2 E2M1 BF16 FP16"),
}


def flat_member(name: str) -> enum.IntEnum | None:
    """The member that Triton's module has under its own name, such as `ir.EVICT_LAST`."""
    return next((vars(e)[name] for e in ENUMERATIONS.values() if name in vars(e)), None)
