"""Tensor descriptors, as for Hopper."""

from .hopper import TensorDescriptor

__all__ = ["TensorDescriptor"]
