"""Work that lasts: what is being done stands on the terminal, or below the notebook's cell, until it is done.

    with shown(lambda: f"compiling {name}: {stage}"):
        ...

What the function says is asked for anew several times a second, and stands there with the seconds so far. Nothing
happens in the first second, and nothing at all where stderr is neither a terminal nor a notebook's, or where the
setting `runtime.progress` is off. Of several works at once the first is shown.
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
PERIOD_SECONDS = 0.125  # about what an eye takes for motion

_console = LazyModule("rich.console")
_live = LazyModule("rich.live")
_spinner = LazyModule("rich.spinner")
_text = LazyModule("rich.text")
_notebook = LazyModule("IPython.display")

_free = threading.Lock()  # who shows something holds it


class _Display(Protocol):
    def show(self, text: str) -> None: ...

    def close(self) -> None: ...


class _Terminal:
    """The last lines of a terminal, which are gone when it is closed."""

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
    """Where work is shown: the display's class, None for nowhere."""
    if not settings.runtime.progress:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return _Notebook
    isatty = getattr(sys.stderr, "isatty", None)
    return _Terminal if isatty is not None and isatty() and os.environ.get("TERM") != "dumb" else None


@contextmanager
def shown(describe: Callable[[], str]) -> Iterator[None]:
    """Show what `describe` says for as long as the block lasts. It is called by another thread, and never after it."""
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
    with contextlib.suppress(Exception):  # a terminal that went away is no reason to fail
        display = place()
        try:
            while True:
                display.show(f"{describe()}  {time.monotonic() - start:.1f} s")
                if done.wait(PERIOD_SECONDS):
                    return
        finally:
            display.close()


def bar(done: int, total: int, width: int = 20) -> str:
    """How far work is, in characters.

    >>> bar(5, 16, 8)
    '[##......] 5/16'
    """
    full = width * done // total if total else width
    return f"[{'#' * full}{'.' * (width - full)}] {done}/{total}"
