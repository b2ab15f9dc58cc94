"""The interpreter: runs IR and kernels on NumPy arrays, operation by operation.

`run(module, grid, args)` runs IR of any stage up to `ttgir` or `ttcir` (`evaluator`); the operations are evaluated by
the functions in `operations`, `tiles`, `vectors`, `buffers`, `copies` and `specialized`. `Launch` (`kernels`) runs the
Python function of a kernel itself, line by line, so that `print` and `breakpoint()` work in it.
"""

from . import buffers, copies, operations, scaled, specialized, tiles, vectors
from .evaluator import AssertionFailed, Evaluator, OutOfBoundsError, TensorDesc, UndefinedError, run
from .memory import Memory

__all__ = ["AssertionFailed", "Evaluator", "Memory", "OutOfBoundsError", "TensorDesc", "UndefinedError", "run"]
