"""The AMD backend as the compiler sees it."""

from __future__ import annotations

from ...support.lazy import LazyModule
from ..gpu import GPUBackend
from .options import HIPOptions
from .target import HIPTarget

__all__ = ["HIPBackend"]


class HIPBackend(GPUBackend):
    """Compiles for one HIPTarget, or `GPUTarget("hip", "gfx942", 64)`."""

    kind = "hip"
    binary_ext = "hsaco"
    planned_stages = ("ttgir", "llir", "amdgcn", "hsaco")
    target_class = HIPTarget
    options_class = HIPOptions
    stage_functions = LazyModule(".stages", __package__)
