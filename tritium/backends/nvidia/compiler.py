"""The NVIDIA backend as the compiler sees it."""

from __future__ import annotations

from ...support.lazy import LazyModule
from ..gpu import GPUBackend
from .options import CUDAOptions
from .target import CUDATarget

__all__ = ["CUDABackend"]


class CUDABackend(GPUBackend):
    """Compiles for one CUDATarget, or `GPUTarget("cuda", 90, 32)`."""

    kind = "cuda"
    binary_ext = "cubin"
    planned_stages = ("ttgir", "llir", "ptx", "cubin")
    target_class = CUDATarget
    options_class = CUDAOptions
    stage_functions = LazyModule(".stages", __package__)
