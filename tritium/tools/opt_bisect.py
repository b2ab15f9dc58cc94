"""Which pass and which rewrite makes a command fail: `tritium opt --bisect COMMAND`."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from ..ir import Bisection, Row, bisect
from ..support import TritiumError

__all__ = ["bisect_by_command"]

_CANNOT_RUN = (126, 127)  # what a shell answers for a command that it cannot run, or does not find


def _fails(command: str, path: str) -> bool:
    shell = command.replace("{}", shlex.quote(path)) if "{}" in command else f"{command} {shlex.quote(path)}"
    done = subprocess.run(shell, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode in _CANNOT_RUN:
        raise TritiumError(f"the command cannot be run: {done.stderr.strip() or shell}")
    return done.returncode != 0


def bisect_by_command(module: Any, rows: Sequence[Row], command: str, text_of: Callable[[Any], str]) -> Bisection:
    """The first change after which `command FILE`, with the IR's text in FILE, ends with a status other than 0."""
    with tempfile.TemporaryDirectory(prefix="tritium-bisect-") as folder:
        path = os.path.join(folder, "bisect.mlir")

        def is_bad(candidate: Any) -> bool:
            with open(path, "w") as f:
                f.write(text_of(candidate))
            return _fails(command, path)

        if is_bad(module):
            raise TritiumError("nothing to find: the command fails on the file as it is, before any pass")
        return bisect(module, rows, is_bad)
