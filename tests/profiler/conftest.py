"""Every test ends without sessions, also one that fails in the middle of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tritium.profiler as proton
from tritium.profiler.hooks import HookManager


@pytest.fixture(autouse=True)
def _no_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    proton.finalize()
    HookManager.unregister()
