"""Progress of long work on the terminal, or below a notebook's cell.

    with shown(lambda: f"compiling {name}: {stage}"):
        ...

The function is called several times a second, and its result is shown with the elapsed seconds. Nothing is shown in the
first second, if stderr is neither a terminal nor a notebook's, or if the setting `runtime.progress` is off. Of
concurrent work the first is shown.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from . import settings
from .lazy import LazyModule

__all__ = ["bar", "shown"]

DELAY_SECONDS = 1.0
PERIOD_SECONDS = 0.125  # about the frame rate of smooth motion

_console = LazyModule("rich.console")
_live = LazyModule("rich.live")
_spinner = LazyModule("rich.spinner")
_text = LazyModule("rich.text")
_notebook = LazyModule("IPython.display")

_free = threading.Lock()  # held while something is shown


class _Display(Protocol):
    def show(self, text: str) -> None: ...

    def close(self) -> None: ...


class _Terminal:
    """The last lines of a terminal, which are erased at the end."""

    def __init__(self) -> None:
        console = _console.Console(stderr=True)
        self._spinner = _spinner.Spinner("dots")
        self._live = _live.Live(
            self._spinner,
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def show(self, text: str) -> None:
        self._spinner.update(text=_text.Text(text))
        self._live.refresh()

    def close(self) -> None:
        self._live.stop()


class _Notebook:
    """An output below the cell that runs."""

    def __init__(self) -> None:
        self._handle = _notebook.display(_notebook.Pretty(""), display_id=True)

    def show(self, text: str) -> None:
        self._handle.update(_notebook.Pretty(text))

    def close(self) -> None:
        self._handle.update(_notebook.HTML(""))


def _place() -> Callable[[], _Display] | None:
    """The class of the display, None without one."""
    if not settings.runtime.progress:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return _Notebook
    isatty = getattr(sys.stderr, "isatty", None)
    return _Terminal if isatty is not None and isatty() and os.environ.get("TERM") != "dumb" else None


@contextmanager
def shown(describe: Callable[[], str]) -> Iterator[None]:
    """Show the result of `describe` during the block. Another thread calls it, and never after the block."""
    place = _place()
    if place is None or not _free.acquire(blocking=False):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(place, describe, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        _free.release()


def _show(place: Callable[[], Any], describe: Callable[[], str], done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(DELAY_SECONDS):
        return
    with contextlib.suppress(Exception):  # ignore a closed terminal
        display = place()
        try:
            while True:
                display.show(f"{describe()}  {time.monotonic() - start:.1f} s")
                if done.wait(PERIOD_SECONDS):
                    return
        finally:
            display.close()


def bar(done: int, total: int, width: int = 20) -> str:
    """A progress bar in characters.

    >>> bar(5, 16, 8)
    '[##......] 5/16'
    """
    full = width * done // total if total else width
    return f"[{'#' * full}{'.' * (width - full)}] {done}/{total}"
