"""Tensor descriptors of CDNA5 GPUs: refused."""

from ....frontend.gluon.amd_layouts import PartitionedSharedLayout
from ....frontend.gluon.refused import CDNA5, refused_class

TensorDescriptor = refused_class("TensorDescriptor", CDNA5)

__all__ = ["PartitionedSharedLayout", "TensorDescriptor"]
