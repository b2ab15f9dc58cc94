"""`python -m tritium run script.py`: a script that says `import triton`, on this compiler, unchanged."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from ..dropin.alias import FOR_CHILDREN, install
from ..support import TritiumError
from .script_errors import show_what_the_script_did

__all__ = ["run_module", "run_script"]


def run_script(path: str, arguments: Sequence[str] = ()) -> None:
    """Run the script at `path` as `__main__`, with `import triton` answered by this package.

    `sys.argv` and `sys.path[0]` are as if Python had been started with the script. TritiumError if there is no such
    file; whatever the script raises is raised, and shown without what is above the script and below its launches.
    """
    if not os.path.isfile(path):
        raise TritiumError(f"there is no script {path!r}")
    install()
    _tell_children()
    show_what_the_script_did()
    sys.argv = [path, *arguments]
    sys.path[0:1] = [os.path.dirname(os.path.abspath(path))]
    runpy.run_path(path, run_name="__main__")


def run_module(name: str, arguments: Sequence[str] = ()) -> None:
    """The same for `python -m name`."""
    install()
    _tell_children()
    show_what_the_script_did()
    sys.argv = [name, *arguments]
    if "" not in sys.path:
        sys.path.insert(0, "")
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _tell_children() -> None:
    """Programs that the script starts find `triton` here as well, by PYTHONPATH."""
    folders = [FOR_CHILDREN, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
