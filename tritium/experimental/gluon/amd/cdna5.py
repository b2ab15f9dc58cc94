"""Tensor descriptors of CDNA5 GPUs: refused."""

from ....frontend.gluon.amd_layouts import PartitionedSharedLayout
from ....frontend.gluon.refused import AMD, refused_class

TensorDescriptor = refused_class("TensorDescriptor", AMD)

__all__ = ["PartitionedSharedLayout", "TensorDescriptor"]
