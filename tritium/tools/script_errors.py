"""What is shown of an error that ends a script: the script's own frames, as if Python had been started with it."""

from __future__ import annotations

import os
import runpy
import sys
from types import TracebackType

from ..support import TritiumError, settings

__all__ = ["own_frames", "show_what_the_script_did"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_START = os.path.join(_PACKAGE, "tools", "run.py"), runpy.run_path.__code__.co_filename


def show_what_the_script_did() -> None:
    """Have errors that nobody catches shown by their `own_frames`, in the way they are shown now."""
    show = sys.excepthook

    def shown(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        own = own_frames(error, frames)
        show(kind, error.with_traceback(own), own)

    sys.excepthook = shown


def _start_of_script(files: list[str]) -> int:
    """How many frames of a traceback, by their files, start the script: up to those of `runpy` that ours called."""
    ours = next((i for i, file in enumerate(files) if file == _START[0]), None)
    if ours is None:
        return 0
    return next((i for i in range(ours, len(files)) if files[i] not in _START), len(files))


def own_frames(error: BaseException, frames: TracebackType | None) -> TracebackType | None:
    """`frames` without those that started the script, and, where `error` is ours, without ours at its end.

    Our messages say what is wrong and where in the kernel. `TRITIUM_FRONT_END_DEBUGGING` keeps what the compiler did.
    """
    entries = []
    while frames is not None:
        entries.append(frames)
        frames = frames.tb_next
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    first, last = _start_of_script(files), len(entries)
    if isinstance(error, TritiumError) and not settings.compilation.front_end_debugging:
        while last > first and files[last - 1].startswith(_PACKAGE):
            last -= 1
    own: TracebackType | None = None
    for entry in reversed(entries[first:last]):
        own = TracebackType(own, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return own
