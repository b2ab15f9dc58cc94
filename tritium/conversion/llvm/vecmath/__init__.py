"""Vector math functions as LLVM text: exp, log, sin, … over vectors of any width, for every target.

LLVM turns `llvm.exp` of a vector into one libm call a lane; these functions stay vectors. They use generic
instructions and intrinsics only (the target needs fma to be fast), no fast-math flags, no tables in the fast paths.
"""

from .builder import MathFunction
from .table import MATH_FUNCTIONS, MathSpec, vector_math_function

__all__ = ["MATH_FUNCTIONS", "MathFunction", "MathSpec", "vector_math_function"]
