"""Fixtures of the compiler's tests: an empty cache, and a backend that needs no frontend."""

from __future__ import annotations

import pytest

from tests.runtime.fake import fake_backend
from tritium.compiler import cache


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    """A cache of the test's own; warnings that were given already may be given again."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", set())
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch):
    """The list of what the fake backend compiled."""
    with fake_backend(monkeypatch) as found:
        yield found
