"""RDNA4 GPUs (gfx1200): WMMA, whose code is not generated yet."""

from .....frontend.gluon.amd_mma import wmma_of

wmma = wmma_of(2, "RDNA4")

__all__ = ["wmma"]
