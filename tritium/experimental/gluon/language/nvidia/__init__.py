"""Instructions of NVIDIA GPUs, by the first generation that has them."""

from . import ampere, hopper

__all__ = ["ampere", "hopper"]
