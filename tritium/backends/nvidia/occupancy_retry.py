"""One retry for kernels of low occupancy: the same PTX, assembled for one more CTA per SM.

ptxas chooses registers by instruction-level parallelism, not by occupancy: FlagGems' softmax along an outer axis, 16
warps, gets 69 registers, of which an SM has enough for one CTA. With 64 registers, and no spills, two CTAs are resident
and hide each other's latencies: 1.147 times as fast (H200, November 2026). The PTX is the same, so are the results.

A kernel is assembled again where

1. registers alone limit the CTAs per SM, to `LOW_OCCUPANCY` at most. From more CTAs on nothing is gained: 7 to 8 CTAs
   of 4 warps were 0.960 and 1.005 times as fast, 9 to 10 were 0.99 to 1.01;
2. it has no MMA: the throughput of tensor cores depends on large tiles in registers, not on occupancy;
3. it neither spills nor has arrays in local memory, and one more CTA takes at most `MAX_REDUCTION` of its registers;
4. neither the user nor the PTX limits the registers.

The new code is used if it does not spill either, and allows more CTAs. Of 245 public kernels 8 are assembled again, and
3 of these use the new code (sm_90, ptxas 13.5): all others cost nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.register_pressure import LOW_OCCUPANCY
from ...hardware.nvidia import NvidiaGPU
from ...hardware.occupancy import ctas_by_limit
from ...support.patterns import pattern
from .assembler import Resources
from .spill_retry import with_min_ctas_per_sm

__all__ = ["CTA", "MAX_REDUCTION", "for_one_more_cta", "is_better"]

MAX_REDUCTION = 1 / 3
"""The fraction of the registers that one more CTA may take: a cross entropy of 32 warps with half of its 64 registers
spills 109, layer norm's backward with 80 of 126 spills 20; RMS norm's backward has none with 80 of 118."""

_OTHER_SCHEDULES = pattern(r"\b(?:wgmma|mma|tcgen05|setmaxnreg)\.")
"""Instructions of kernels that are tuned to their registers."""


class CTA(NamedTuple):
    """A GPU, the warps of a CTA, and its bytes of dynamic shared memory."""

    gpu: NvidiaGPU
    warps: int
    shared: int

    def limits(self, found: Resources) -> dict[str, int]:
        """The CTAs per SM that each resource allows."""
        return ctas_by_limit(self.gpu, found.registers, self.warps, self.shared + found.shared)


def for_one_more_cta(cta: CTA, ptx: str, found: Resources) -> str | None:
    """The PTX for one more CTA per SM than its first code, with the resources `found`; None where that cannot help."""
    limits = cta.limits(found)
    ctas = limits.pop("registers")
    if not 1 <= ctas <= LOW_OCCUPANCY or min(limits.values()) <= ctas or found.spilled or found.stack:
        return None
    if cta.gpu.register_limit(cta.warps * (ctas + 1)) < found.registers * (1 - MAX_REDUCTION):
        return None
    return None if _OTHER_SCHEDULES.search(ptx) else with_min_ctas_per_sm(ptx, ctas + 1)


def is_better(cta: CTA, new: Resources, old: Resources) -> bool:
    """Whether new code allows more CTAs per SM than the old one, without spills."""
    more = min(cta.limits(new).values()) > min(cta.limits(old).values())
    return more and not new.spilled and new.stack <= old.stack
