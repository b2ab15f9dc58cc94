"""Rewrite the source of kernels of the Triton language in Gluon, for any types and constants of their parameters."""

from .translator import convert_triton_to_gluon, translate_kernels, translate_paths

__all__ = ["convert_triton_to_gluon", "translate_kernels", "translate_paths"]
