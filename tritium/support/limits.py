"""Limits of the language and the backends."""

from __future__ import annotations

__all__ = ["MAX_STAGES", "MAX_TENSOR_ELEMENTS"]

#: The maximum number of pipeline stages of a loop. Each takes a buffer in shared memory for each load: no GPU
#: has enough for useful tile sizes, and a prologue of thousands of iterations would take minutes to compile.
MAX_STAGES = 128

#: Elements of a tensor in a kernel, padded to powers of two (Triton's `TRITON_MAX_TENSOR_NUMEL`).
MAX_TENSOR_ELEMENTS = 1 << 20
