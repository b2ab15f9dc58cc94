"""The dialects: what each operation is, its fields, traits and text form."""

from . import arith, builtin, cf, math, scf, tt

__all__ = ["arith", "builtin", "cf", "math", "scf", "tt"]
