"""One stage of a compile in a process of its own: the optimized text, the assembly or the object is its answer."""

from __future__ import annotations

import sys

from ..llvm import serve
from .codegen import run_stage

if __name__ == "__main__":
    sys.exit(serve(run_stage))
