"""`TensorDescriptor` where Triton has it."""

from __future__ import annotations

from ..runtime.tensor_descriptor import TensorDescriptor

__all__ = ["TensorDescriptor"]
