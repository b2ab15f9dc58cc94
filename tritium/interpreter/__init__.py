"""The interpreter: runs IR and kernels on NumPy arrays, operation by operation.

`run(module, grid, args)` runs IR of any stage up to `ttgir` (`evaluator`); what each operation means stands in
`operations`, `tiles`, `buffers`, `copies` and `specialized`. `Launch` (`kernels`) runs the Python function of a kernel
itself, line by line, so that `print` and `breakpoint()` work in it.
"""

from . import buffers, copies, operations, scaled, specialized, tiles
from .evaluator import AssertionFailed, Evaluator, OutOfBoundsError, TensorDesc, UndefinedError, run
from .memory import Memory

__all__ = ["AssertionFailed", "Evaluator", "Memory", "OutOfBoundsError", "TensorDesc", "UndefinedError", "run"]
