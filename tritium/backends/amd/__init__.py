"""The AMD backend: hardware properties, kernel options, stages to code objects for gfx942 and gfx1100.

The stages of other architectures end at `ttir`. No code object has run on a GPU yet.

>>> from tritium.backends.amd import HIPTarget
>>> HIPTarget("gfx942").warp_size, HIPTarget("gfx1201").warp_size
(64, 32)
"""

from .options import HIPOptions
from .target import HIPTarget

__all__ = ["HIPOptions", "HIPTarget"]
