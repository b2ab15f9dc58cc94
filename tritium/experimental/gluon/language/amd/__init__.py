"""Names of AMD GPUs, for programs that import them; refused where a kernel uses them."""

from .....frontend.gluon.refused import refused_class
from . import cdna3, cdna4, cdna5, rdna3, rdna4

_WHY = "is a layout of AMD GPUs, for which Gluon is not compiled yet"
AMDMFMALayout, AMDWMMALayout = (refused_class(_name, _WHY) for _name in ("AMDMFMALayout", "AMDWMMALayout"))
gfx1250 = cdna5

__all__ = ["AMDMFMALayout", "AMDWMMALayout", "cdna3", "cdna4", "cdna5", "gfx1250", "rdna3", "rdna4"]
