"""Names of AMD GPUs, for programs that import them; instructions are refused where a kernel uses them."""

from .....frontend.gluon.amd_layouts import AMDMFMALayout, AMDWMMALayout
from .....frontend.gluon.refused import AMD, refused_class, refused_functions
from . import cdna3, cdna4, cdna5, hint, rdna3, rdna4

slice = refused_functions("slice", AMD)["slice"]
warp_pipeline_stage = refused_class("warp_pipeline_stage", AMD)
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
