"""Kernels of this folder's tests are interpreted: most of them those of tests/e2e/cpu, here a quarter of the cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tritium.support import settings


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.sample(4))


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """`TRITON_INTERPRET=1`"""
    with settings.runtime.scope():
        settings.runtime.interpret = True
        yield
