"""Tensor descriptors, which kernels copy blocks by with TMA."""

from ....frontend.gluon.refused import refused_class
from ....runtime.gluon_descriptor import TensorDescriptor

TensorDescriptorIm2Col = refused_class("TensorDescriptorIm2Col", "is not supported yet: TMA loads are tiled")

__all__ = ["TensorDescriptor", "TensorDescriptorIm2Col"]
