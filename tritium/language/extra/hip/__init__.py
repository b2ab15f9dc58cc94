"""Functions of AMD GPUs."""

from . import libdevice
from .utils import memrealtime, num_threads, num_warps, smid
