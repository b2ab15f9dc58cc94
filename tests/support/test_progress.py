"""Long work on terminals, in notebooks, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from tritium import knobs
from tritium.support import progress
from tritium.support.progress import bar, shown

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import sys, time
from tritium.support.progress import shown
step = "first"
with shown(lambda: f"doing the {step} thing"):
    time.sleep(%s)
    step = "second"
    time.sleep(%s)
print("rich" in sys.modules)
"""


def on_terminal(script: str, **environment: str) -> tuple[str, str]:
    """What a script writes to stdout, and to the terminal that its stderr is."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment}
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=theirs, env=env, text=True)
    os.close(theirs)
    seen: list[bytes] = []

    def read() -> None:
        try:
            while data := os.read(ours, 65536):
                seen.append(data)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    out, _ = child.communicate(timeout=60)
    reader.join()
    os.close(ours)
    assert child.returncode == 0, out
    return out, b"".join(seen).decode()


def test_long_work_is_shown() -> None:
    out, screen = on_terminal(SCRIPT % (1.4, 0.5))
    assert "doing the first thing" in screen and "doing the second thing" in screen and " 1." in screen
    assert out == "True\n"


def test_display_is_erased_at_the_end() -> None:
    _, screen = on_terminal(SCRIPT % (1.3, 0.0))
    assert screen.rstrip().endswith(("\x1b[2K", "\x1b[?25h")) and "\x1b[2K" in screen


def test_short_work_is_not_shown_and_imports_nothing() -> None:
    out, screen = on_terminal(SCRIPT % (0.05, 0.0))
    assert (out, screen) == ("False\n", "")


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TRITIUM_PROGRESS": "0"}])
def test_terminals_that_want_none(environment) -> None:
    out, screen = on_terminal(SCRIPT % (1.3, 0.0), **environment)
    assert (out, screen) == ("False\n", "")


def test_quiet_when_piped() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT % (1.3, 0.0)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


class Recorder:
    """Stands for a display."""

    made: list[Recorder]

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.closed = False
        type(self).made.append(self)

    def show(self, text: str) -> None:
        assert not self.closed
        self.texts.append(text)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def recorded(monkeypatch):
    Recorder.made = []
    monkeypatch.setattr(progress, "_place", lambda: Recorder)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.05)
    monkeypatch.setattr(progress, "PERIOD_SECONDS", 0.01)
    return Recorder.made


def until(condition) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_the_outer_of_two(recorded) -> None:
    with shown(lambda: "outer"), shown(lambda: "inner"):
        until(lambda: recorded and len(recorded[0].texts) > 3)
    assert len(recorded) == 1 and recorded[0].closed
    assert all(text.startswith("outer  0.") and text.endswith(" s") for text in recorded[0].texts)
    with shown(lambda: "next"):
        until(lambda: len(recorded) == 2)


def test_errors_pass_through_and_end_it(recorded) -> None:
    with pytest.raises(KeyboardInterrupt), shown(lambda: "work"):
        until(lambda: recorded and recorded[0].texts)
        raise KeyboardInterrupt
    assert recorded[0].closed


def test_a_display_that_fails_is_no_failure(recorded) -> None:
    with shown(lambda: 1 / 0):
        until(lambda: recorded and recorded[0].closed)


def test_notebook(monkeypatch) -> None:
    """As Jupyter has it: an IPython whose shell has a kernel."""
    seen = []

    class Handle:
        def update(self, what):
            seen.append(what)

    ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    display.Pretty = lambda text: ("text", text)
    display.HTML = lambda text: ("html", text)
    display.display = lambda what, display_id: Handle()
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.02)
    monkeypatch.setattr(progress, "_notebook", progress.LazyModule("IPython.display"))
    with shown(lambda: "compiling"):
        until(lambda: len(seen) > 1)
    assert seen[0][0] == "text" and seen[0][1].startswith("compiling  0.")
    assert seen[-1] == ("html", "")
    with knobs.runtime.scope():
        knobs.runtime.progress = False
        assert progress._place() is None


def test_bar() -> None:
    assert [bar(n, 4, 4) for n in (0, 1, 4)] == ["[....] 0/4", "[#...] 1/4", "[####] 4/4"]
    assert bar(0, 0, 2) == "[##] 0/0"
