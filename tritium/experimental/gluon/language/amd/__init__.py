"""AMD GPUs: layouts and instructions of each family; what is not supported is refused where a kernel uses it."""

from .....frontend.gluon.amd_layouts import AMDMFMALayout, AMDWMMALayout
from .....frontend.gluon.amd_values import slice_tensor as slice
from .....frontend.gluon.amd_values import warp_pipeline_stage
from . import cdna3, cdna4, cdna5, hint, rdna3, rdna4

gfx1250 = cdna5

__all__ = [
    "AMDMFMALayout",
    "AMDWMMALayout",
    "cdna3",
    "cdna4",
    "cdna5",
    "gfx1250",
    "hint",
    "rdna3",
    "rdna4",
    "slice",
    "warp_pipeline_stage",
]
