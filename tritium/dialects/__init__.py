"""The dialects: what each operation is, its fields, traits and text form."""

from . import arith, builtin, cf, llvm, math, scf, tt, ttc, ub

__all__ = ["arith", "builtin", "cf", "llvm", "math", "scf", "tt", "ttc", "ub"]
