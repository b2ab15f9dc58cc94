"""Send the output of the user's code to standard error, where standard output is the result of a command."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

__all__ = ["output_to_stderr"]


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """What is written to standard output meanwhile goes to standard error.

    That covers `print`, writes to the file descriptor (`os.write`, libraries in C), and processes that are started.
    """
    sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of the two is closed
        kept = -1
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stderr.flush()
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)
