"""The NVIDIA backend: hardware properties, kernel options, and the stages from tiles to machine code.

No GPU and no driver are needed to compile, only NVIDIA's assembler (`toolchain`) for the last stage:

>>> from tritium.backends.nvidia import CUDATarget
>>> CUDATarget(90).has_descriptors, CUDATarget(80).has_descriptors
(True, False)
"""

from .options import CUDAOptions
from .target import CUDATarget

__all__ = ["CUDAOptions", "CUDATarget"]
