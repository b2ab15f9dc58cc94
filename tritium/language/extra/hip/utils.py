"""Queries of AMD GPUs."""

from ....frontend.language.device import hip_memrealtime as memrealtime
from ....frontend.language.device import hip_smid as smid
from ....frontend.language.device import num_threads, num_warps

__all__ = ["memrealtime", "num_threads", "num_warps", "smid"]
