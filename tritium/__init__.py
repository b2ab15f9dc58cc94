"""Tritium: a tile compiler in Python for kernels written in the Triton language."""

__version__ = "0.1.0"
