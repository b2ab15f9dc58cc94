"""Instructions of NVIDIA GPUs, by the first generation that has them."""

from . import ampere, blackwell, hopper, rubin

__all__ = ["ampere", "blackwell", "hopper", "rubin"]
