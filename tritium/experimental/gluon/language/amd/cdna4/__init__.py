"""CDNA4 GPUs (gfx950): what CDNA3 has, and more. Their code is not generated yet."""

from ......frontend.gluon.amd_buffer import cdna4_buffer_atomic_add as buffer_atomic_add
from ......frontend.gluon.amd_layouts import AMDMFMALayout
from ......frontend.gluon.refused import CDNA4, refused_functions
from ..cdna3 import (
    buffer_atomic_and,
    buffer_atomic_max,
    buffer_atomic_min,
    buffer_atomic_or,
    buffer_atomic_xchg,
    buffer_atomic_xor,
    buffer_load,
    buffer_store,
    mfma,
    scaled_upcast,
)
from . import async_copy

globals().update(
    refused_functions(
        "compute_efficient_padded_shared_layout get_mfma_scale_layout get_scaled_upcast_fp4_scale_layout"
        " load_shared_fp4_repacked mfma_scaled scaled_downcast",
        CDNA4,
    )
)
__all__ = [
    "AMDMFMALayout",
    "async_copy",
    "buffer_atomic_add",
    "buffer_atomic_and",
    "buffer_atomic_max",
    "buffer_atomic_min",
    "buffer_atomic_or",
    "buffer_atomic_xchg",
    "buffer_atomic_xor",
    "buffer_load",
    "buffer_store",
    "mfma",
    "scaled_upcast",
]
