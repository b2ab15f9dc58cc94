"""`triton._C.libtriton.interpreter`: the memory accesses of Triton's interpreter; refused by name."""

from __future__ import annotations

from ...dropin.refusal import refused_attributes

_NAMES = (
    "ACQUIRE ACQUIRE_RELEASE ADD AND FADD MAX MEM_SEMANTIC MIN OR RELAXED RELEASE RMW_OP UMAX UMIN XCHG XOR "
    "atomic_cas atomic_rmw fma_fp32 fma_fp64 load store"
)
_INSTEAD = "tritium.interpreter runs kernels on NumPy arrays, see docs/interpreter.md"

__getattr__ = refused_attributes(__name__, {_NAMES: _INSTEAD})
