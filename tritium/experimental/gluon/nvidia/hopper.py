"""Tensor descriptors, which kernels copy blocks by with TMA."""

from ....runtime.gluon_descriptor import TensorDescriptor, TensorDescriptorIm2Col

__all__ = ["TensorDescriptor", "TensorDescriptorIm2Col"]
