"""The command line starts, names its commands, and refuses what it does not know."""

from __future__ import annotations

import subprocess
import sys

import tritium


def tritium_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tritium", *arguments], capture_output=True, text=True)


def test_version() -> None:
    assert tritium_command("version").stdout.strip() == tritium.__version__


def test_an_unknown_command_is_an_error() -> None:
    done = tritium_command("nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr
