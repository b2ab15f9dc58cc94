"""Triton's compiled library of the profiler, as far as sessions, scopes and data are concerned."""

from . import proton

__all__ = ["proton"]
