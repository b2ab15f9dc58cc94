"""Arguments of Gluon kernels for AMD GPUs, made on the host."""

from . import cdna5

gfx1250 = cdna5

__all__ = ["cdna5", "gfx1250"]
