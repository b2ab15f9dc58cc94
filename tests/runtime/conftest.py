"""Fixtures of the runtime's tests: an empty cache, and a backend that needs no frontend."""

from __future__ import annotations

import pytest

from tests.runtime.fake import fake_backend
from tritium.runtime.fastpath import preparation as preparing


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def early_plans(monkeypatch):
    """Quick launches from the third of a kind on: the code is loaded, and a plan made at the first repetition."""
    preparing.preparation.wait()
    monkeypatch.setattr(preparing, "PLAN_AFTER", 1)


@pytest.fixture
def compiled(monkeypatch):
    """The list of what the fake backend compiled."""
    with fake_backend(monkeypatch) as found:
        yield found
