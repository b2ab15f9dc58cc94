"""The NVIDIA backend: what a GPU has, which options a kernel takes, and the stages that are there.

The table of stages ends at `ttir` for now. A kernel for a GPU can be compiled that far on any machine, and its text
handed to other tools:

>>> from tritium.backends.nvidia import CUDATarget
>>> CUDATarget(90).has_descriptors, CUDATarget(80).has_descriptors
(True, False)
"""

from .options import CUDAOptions
from .target import CUDATarget

__all__ = ["CUDAOptions", "CUDATarget"]
