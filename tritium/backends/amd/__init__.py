"""The AMD backend: hardware properties, kernel options, and the implemented stages.

The table of stages ends at `ttir` for now, as NVIDIA's does.

>>> from tritium.backends.amd import HIPTarget
>>> HIPTarget("gfx942").warp_size, HIPTarget("gfx1201").warp_size
(64, 32)
"""

from .options import HIPOptions
from .target import HIPTarget

__all__ = ["HIPOptions", "HIPTarget"]
