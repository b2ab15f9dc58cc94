"""Dialects: the operations, types, folds and assembly formats of each level.

``builtin``, ``arith``, ``math``, ``scf`` and ``cf`` mean what they mean in MLIR; ``tt`` is the tile language as
Triton spells it; ``ttc`` is the CPU level of loops over vectors and buffers. One module a dialect, one class an
operation, whose docstring opens with its equation.
"""
