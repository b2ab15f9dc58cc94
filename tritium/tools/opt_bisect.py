"""Which pass and which rewrite makes a command fail: `tritium opt --bisect COMMAND`."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from ..ir import Bisection, Row, bisect
from ..support import TritiumError

__all__ = ["bisect_by_command", "command_for"]

_CANNOT_RUN = (126, 127)  # what a shell answers for a command that it cannot run, or does not find


def command_for(command: str, path: str, timeout: float | None = None) -> tuple[int, str]:
    """The status with which `command` ends on a file, and what it printed.

    `{}` in the command stands for the file; without it the file is the last argument. A command that is busy after
    `timeout` seconds is ended, and its status is 0. TritiumError where it cannot be run.
    """
    shell = command.replace("{}", shlex.quote(path)) if "{}" in command else f"{command} {shlex.quote(path)}"
    process = subprocess.Popen(
        shell, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        return 0, ""
    except BaseException:  # Ctrl-C: the command is in a session of its own
        _end(process)
        raise
    if process.returncode in _CANNOT_RUN:
        raise TritiumError(f"the command cannot be run: {said.strip() or shell}")
    return process.returncode, said


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def bisect_by_command(module: Any, rows: Sequence[Row], command: str, text_of: Callable[[Any], str]) -> Bisection:
    """The first change after which `command FILE`, with the IR's text in FILE, ends with a status other than 0."""
    with tempfile.TemporaryDirectory(prefix="tritium-bisect-") as folder:
        path = os.path.join(folder, "bisect.mlir")

        def is_bad(candidate: Any) -> bool:
            with open(path, "w") as f:
                f.write(text_of(candidate))
            return command_for(command, path)[0] != 0

        if is_bad(module):
            raise TritiumError("nothing to find: the command fails on the file as it is, before any pass")
        return bisect(module, rows, is_bad)
