"""Kernels of this folder's tests are interpreted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tritium.support import settings


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """`TRITON_INTERPRET=1`"""
    with settings.runtime.scope():
        settings.runtime.interpret = True
        yield
