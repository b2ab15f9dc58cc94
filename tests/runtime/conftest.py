"""Fixtures of the runtime's tests: an empty cache, and a backend that needs no frontend."""

from __future__ import annotations

import sys
from functools import lru_cache

import pytest

from tests.runtime.fake import fake_backend
from tritium.backends.cpu.pool import load_text
from tritium.runtime.fastpath import direct, native
from tritium.runtime.fastpath import preparation as preparing
from tritium.runtime.fastpath.text import fastpath_text


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@lru_cache(maxsize=1)
def optimized():
    """The code of the fast path as processes find it on disk."""
    return native.Native(load_text("fastpath-of-tests", fastpath_text(old=sys.version_info < (3, 11)), level=2))


@pytest.fixture(autouse=True)
def early_plans(monkeypatch, request):
    """Quick launches from the third of a kind on: the code is loaded, and a plan made at the first repetition.

    The code is the optimized one, unless a fixture named `code` is "quick": what is loaded before there is any on disk.
    """
    preparing.preparation.wait()
    quick = "code" in request.fixturenames and request.getfixturevalue("code") == "quick"
    if native.native_fastpath() is not None and not quick:
        monkeypatch.setattr(native, "_found", [optimized()])
    monkeypatch.setattr(preparing, "PLAN_AFTER", 1)
    monkeypatch.setattr(direct, "PLAN_AFTER", 0)


@pytest.fixture
def compiled(monkeypatch):
    """The list of what the fake backend compiled."""
    with fake_backend(monkeypatch) as found:
        yield found
