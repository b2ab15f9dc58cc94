"""The command `proton`: profile a script or tests, with `import triton` answered by this package.

proton -n matmul --hook triton script.py --size 1024
proton -n tests pytest -k matmul tests/
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence

from ..dropin.alias import FOR_CHILDREN, install
from ..support import OptionError
from ..support.lazy import LazyModule
from .flags import flags
from .profile import finalize, start
from .session import CONTEXTS, DATA

__all__ = ["main"]

_pytest = LazyModule("pytest")


def _parser(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=command,
        description="Profile the kernels of a script or of tests; proton-viewer shows what is written.",
        usage=f"{command} [options] script.py [arguments]\n       {command} [options] pytest [arguments]",
        formatter_class=argparse.RawTextHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("-n", "--name", help="Set the name of the output file without its suffix (default: proton)")
    add(
        "-b",
        "--backend",
        help="Time kernels by the host's clock (cpu) or by events in their streams (cupti); default: None",
    )
    add(
        "-c",
        "--context",
        default="shadow",
        choices=list(CONTEXTS),
        help="Attribute times to scopes, or to lines of Python",
    )
    add("-m", "--mode", help="Write each phase when the next one begins: periodic_flushing[:format=FORMAT]")
    add("-d", "--data", default="tree", choices=list(DATA), help="Record a tree with sums, or a timeline")
    add("-k", "--hook", choices=["triton"], help="Read names and metrics of kernels from their launch_metadata")
    add("target_args", nargs=argparse.REMAINDER, metavar="script.py | pytest", help="Program to run, and its arguments")
    return parser


def _run(target: str, arguments: Sequence[str]) -> int:
    """Run a script or pytest as a program of its own; its exit status."""
    install()
    folders = [FOR_CHILDREN, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))  # programs that it starts find `triton`, too
    if os.path.basename(target) == "pytest":
        return int(_pytest.main(list(arguments)))
    sys.argv = [target, *arguments]
    sys.path[0:1] = [os.path.dirname(os.path.abspath(target))]
    runpy.run_path(target, run_name="__main__")
    return 0


def main(arguments: Sequence[str] | None = None, command: str = "proton") -> None:
    """Profile what the arguments say, write the profile, and exit with the program's status.

    `command` is the name of the program in its messages.
    """
    parser = _parser(command)
    chosen = parser.parse_args(arguments)
    if not chosen.target_args:
        parser.error("there is no script to profile")
    target, *rest = chosen.target_args
    if os.path.basename(target) != "pytest" and not os.path.isfile(target):
        parser.error(f"there is no script {target!r}")
    try:
        start(
            chosen.name,
            context=chosen.context,
            data=chosen.data,
            backend=chosen.backend,
            mode=chosen.mode,
            hook=chosen.hook,
        )
    except OptionError as error:
        parser.error(str(error))
    flags.command_line = True  # `start` in the program begins no session of its own
    try:
        status = _run(target, rest)
    finally:
        finalize()
    raise SystemExit(status)


if __name__ == "__main__":
    main()
