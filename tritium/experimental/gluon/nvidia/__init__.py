"""Arguments of Gluon kernels for NVIDIA GPUs, made on the host."""

from . import blackwell, hopper

__all__ = ["blackwell", "hopper"]
