"""A check of a launch in the script that makes it, with whatever the script has changed in the compiler.

python -m tritium.explorer.script_check DESCRIPTOR TARGET KEY SCRIPT ARGUMENTS…
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence

from ..compiler import make_backend
from ..runtime.grid import normalize_grid
from ..runtime.hooks import HookMetadata
from ..support import TritiumError, settings
from ..support.child_environment import child_environment
from ..tools.check.oracle import check_launch
from ..tools.check.runs import Launch
from ..tools.kernel_file import CommandError
from ..tools.run import run_script
from .checks import report_as_json
from .json_types import Record
from .launch_target import launches_on
from .messages import Channel, end_with_parent
from .problems import script_problem

__all__ = ["check_in_script", "main"]


def check_in_script(target: str, key: str, script: Sequence[str]) -> Record:
    """The report on the first launch with a cache key, of a script with its arguments, which is run for it.

    CommandError if the script ends without that launch.
    """
    reading, writing = os.pipe()
    command = [sys.executable, "-m", f"{__package__}.script_check", str(writing), target, key, *script]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writing],
        env=child_environment(),
    ) as child:
        os.close(writing)
        assert child.stdout is not None
        output = child.stdout.read().decode(errors="replace")
        with os.fdopen(reading, encoding="utf-8") as file:
            found = [json.loads(line) for line in file]
    if not found:
        problem = script_problem(script[0], output, child.returncode)
        why = f": {problem.message}" if child.returncode else ""
        raise CommandError(f"the script ended without that launch{why}")
    if "error" in found[0]:
        raise CommandError(found[0]["error"])
    report: Record = found[0]["report"]
    return report


class _Watcher:
    """Checks the launch, and ends the process."""

    def __init__(self, channel: Channel, key: str) -> None:
        self.channel, self.key = channel, key
        self.busy = False
        self.propagate_errors = True

    def __call__(self, metadata: HookMetadata) -> None:
        """What a launch calls before it runs."""
        kernel = metadata.kernel
        if self.busy or kernel.hash != self.key:
            return
        self.busy = True
        names = make_backend(kernel.backend.target).option_names()
        options = {name: kernel.values[name] for name in names if name in kernel.values}
        values = dict(zip(kernel.src.signature, metadata.args))
        grid = normalize_grid(metadata.grid, lambda: values, kernel.name)
        try:
            report = check_launch(Launch(kernel.src, kernel.backend.target, options, grid, list(metadata.args)))
            self.channel.send(report=report_as_json(report))
        except TritiumError as error:
            self.channel.send(error=str(error))
        os._exit(0)


def main(arguments: list[str]) -> int:
    """Run the script up to the launch; the exit status."""
    channel, (target, key, path, *rest) = Channel(int(arguments[0])), arguments[1:]
    end_with_parent()
    settings.runtime.launch_enter_hook = _Watcher(channel, key)
    warnings.simplefilter("ignore")
    with launches_on(target):
        run_script(path, rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
