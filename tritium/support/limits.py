"""Numbers that the language and the backends both keep to."""

from __future__ import annotations

__all__ = ["MAX_STAGES", "MAX_TENSOR_ELEMENTS"]

#: Iterations of a loop that may be under way at once. Every one takes a buffer in shared memory for each load: no GPU
#: has room for as many of any useful size, and a prologue of thousands of iterations would take minutes to write.
MAX_STAGES = 128

#: Elements of a tensor in a kernel, padded to powers of two (Triton's `TRITON_MAX_TENSOR_NUMEL`).
MAX_TENSOR_ELEMENTS = 1 << 20
