"""RDNA3 GPUs (gfx1100): WMMA."""

from .....frontend.gluon.amd_mma import wmma_of

wmma = wmma_of(1, "RDNA3")

__all__ = ["wmma"]
