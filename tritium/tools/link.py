"""`tritium link`: one function over several kernels that `tritium compile --grid` made. See `aot.link`.

    tritium link matmul.*.h -o matmul

`python -m tritium.tools.link` is the same command.
"""

from __future__ import annotations

import sys

# by their whole names: the file can be run by its path, as people run Triton's
from tritium.tools.aot.directives import *  # noqa: F403
from tritium.tools.cli import run_command
from tritium.tools.link_command import main

__all__ = ["desc", "main"]

desc = __doc__


if __name__ == "__main__":
    run_command("link", sys.argv[1:], "python -m tritium.tools.link")
