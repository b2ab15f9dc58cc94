"""CDNA3 GPUs (gfx942): MFMA, buffer operations, scaled conversions."""

from .....frontend.gluon.amd_buffer import ATOMICS, buffer_load, buffer_store
from .....frontend.gluon.amd_layouts import AMDMFMALayout
from .....frontend.gluon.amd_mma import mfma
from .....frontend.gluon.amd_values import scaled_upcast
from .....frontend.gluon.refused import AMD, refused_functions

buffer_atomic_add = ATOMICS["buffer_atomic_add"]
buffer_atomic_and = ATOMICS["buffer_atomic_and"]
buffer_atomic_max = ATOMICS["buffer_atomic_max"]
buffer_atomic_min = ATOMICS["buffer_atomic_min"]
buffer_atomic_or = ATOMICS["buffer_atomic_or"]
buffer_atomic_xchg = ATOMICS["buffer_atomic_xchg"]
buffer_atomic_xor = ATOMICS["buffer_atomic_xor"]
globals().update(refused_functions("get_scaled_upcast_fp4_scale_layout", AMD))

__all__ = [
    "AMDMFMALayout",
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
