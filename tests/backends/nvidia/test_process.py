"""A program with a pipe for its input and one for what it writes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

from tritium.backends.nvidia.process import OverdueError, Process

SHELL = shutil.which("sh") or "sh"
LONG = bytes(range(256)) * 20_000  # more than any pipe holds


def ran(script: str, text: bytes = b"", seconds: float = 60.0) -> tuple[int | None, bytes]:
    """The status and output of a shell's script."""
    process = Process([SHELL, "-c", script])
    try:
        sent = process.begin(text)
        return process.returncode, process.finish(text[sent:], seconds)
    finally:
        process.kill()
        assert process.returncode is not None
        with pytest.raises(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)  # nothing of it is left


def descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("text", [b"", b"few", LONG], ids=["none", "few", "many"])
def test_input_and_output(text: bytes) -> None:
    before = descriptors()
    assert ran("cat", text)[1] == text  # which writes while it reads
    assert ran("cat; echo error >&2", text)[1] == text + b"error\n"
    assert descriptors() == before


def test_input_that_nobody_reads() -> None:
    for script in ("exit 3", "exec <&-; echo done; exit 3"):
        process = Process([SHELL, "-c", script])
        time.sleep(0.2)
        sent = process.begin(LONG)
        assert process.finish(LONG[sent:], 60.0) in (b"", b"done\n") and process.returncode == 3
        process.kill()


@pytest.mark.parametrize("script, status", [("exit 7", 7), ("kill -9 $$", -9), ("kill -PIPE $$", -13)])
def test_status(script: str, status: int) -> None:
    """SIGPIPE, which Python ignores, ends the program as it would without Python."""
    process = Process([SHELL, "-c", script])
    process.finish(b"", 60.0)
    assert process.returncode == status


def test_a_program_that_does_not_end() -> None:
    start, before = time.monotonic(), descriptors()
    with pytest.raises(OverdueError):
        ran("exec sleep 100", LONG, 0.1)
    process = Process([SHELL, "-c", "exec sleep 100"])
    process.kill()
    process.kill()
    assert process.returncode == -9 and time.monotonic() - start < 50 and descriptors() == before


@pytest.mark.parametrize("program", ["/nowhere/at all", "/", __file__])
def test_a_program_that_cannot_run(program: str) -> None:
    before = descriptors()
    with pytest.raises(OSError):
        Process([program])
    assert descriptors() == before


def test_a_process_without_standard_streams() -> None:
    code = f"""
import os
told = os.dup(1)
for stream in (0, 1, 2):
    os.close(stream)
from tritium.backends.nvidia.process import Process
process = Process([{SHELL!r}, "-c", "cat; echo error >&2"])
os.write(told, process.finish(b"text ", 60.0))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "text error\n", done.stderr
