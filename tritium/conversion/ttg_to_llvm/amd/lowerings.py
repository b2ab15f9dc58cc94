"""The lowerings that AMD GPUs do not share with others, by operation."""

from __future__ import annotations

from ...lowerings import Lowerings
from .files import FILES

__all__ = ["AMD_LOWERINGS", "amd_lowers"]

AMD_LOWERINGS = Lowerings(__package__, FILES)
amd_lowers = AMD_LOWERINGS.lowers
