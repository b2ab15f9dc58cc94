"""Send the output of the user's code to standard error, where standard output is the result of a command."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

__all__ = ["output_to_stderr"]


@contextlib.contextmanager
def output_to_stderr() -> Iterator[TextIO]:
    """What is written to standard output meanwhile goes to standard error; gives a stream for results.

    That covers `print`, writes to the file descriptor (`os.write`, libraries in C), and processes that are started.
    """
    results = sys.stdout
    results.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of the two is closed
        kept = -1
    try:
        with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as opened:
            if kept >= 0 and _descriptor(results) == 1:  # which is now standard error
                results = opened.enter_context(open(kept, "w", encoding=results.encoding, closefd=False))
            yield results
    finally:
        sys.stderr.flush()
        if kept >= 0:
            os.dup2(kept, 1)
            os.close(kept)


def _descriptor(stream: TextIO) -> int:
    """The file descriptor of a stream; -1 for one without."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return -1
