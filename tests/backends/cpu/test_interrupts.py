"""Ctrl-C and other signals during launches on the CPU (see `interrupted`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("interrupted.py")
CASES = [
    *("one-program", "many-programs", "long-loop", "long-grid", "one-thread", "heap", "compiled"),
    *(f"again-{turn}" for turn in range(3)),
    *("handler-that-raises", "handler-that-returns", "main-thread-beside", "thread-at-exit"),
]

#: 0.1 s is what an idle machine takes at most; tests run beside others.
SECONDS = 3.0


@pytest.mark.skipif(sys.platform != "linux", reason="launches are interrupted on Linux")
def test_signals_interrupt_launches() -> None:
    root = SCRIPT.parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SCRIPT)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == CASES, done.stdout + done.stderr
    for name, what, seconds, state in lines:
        assert (what, state) == ("interrupted", "fine") and float(seconds) < SECONDS, (name, done.stdout)
    assert done.stderr.rstrip().endswith("KeyboardInterrupt") and done.returncode in (130, -2)
