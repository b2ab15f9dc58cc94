"""`tritium.language.target_info`: queries of the target at compile time."""

# ruff: noqa: F401
from ..frontend.language.device import (
    cuda_capability_geq,
    current_target,
    is_cuda,
    is_hip,
    is_hip_cdna3,
    is_hip_cdna4,
    is_hip_gfx1250,
)
