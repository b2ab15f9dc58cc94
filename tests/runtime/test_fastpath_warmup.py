"""Warmups of kernels that are compiled already: found by plans, as launches are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium.language as tl
from tests.runtime.fake import kernel_of, program
from tritium.runtime import LaunchError, driver
from tritium.runtime.fastpath.native import native_fastpath
from tritium.runtime.jit import JITFunction
from tritium.support import settings

pytestmark = pytest.mark.skipif(native_fastpath() is None, reason="no native code on this machine")

LIMIT = tl.constexpr(3)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Warmups and launches that took the way through Python."""
    seen: list[Any] = []
    launch = JITFunction._launch_any
    monkeypatch.setattr(JITFunction, "_launch_any", lambda *args: seen.append(args) or launch(*args))
    return seen


@pytest.fixture
def kernel(compiled: Any) -> Any:
    def several(out, n, scale, BLOCK: tl.constexpr = 8):
        return LIMIT

    return kernel_of(several, lambda signature, constants: program("", "", "several"))


def test_known_kernels_are_found_by_plans(kernel: Any, compiled: Any, slow: list[Any]) -> None:
    out = np.zeros(8, np.float32)
    for value in (out, np.float32, np.dtype("float32")):
        found = [kernel.warmup(value, 7, 2.5, grid=(1,)) for _ in range(5)]
        assert len(slow) == 2 and len(set(map(id, found))) == 1
        slow.clear()
    assert len(compiled) == 1
    assert kernel.warmup(out[4:], 7, 2.5, grid=lambda _: 1 / 0) is found[0] and not slow  # 16 bytes further on
    for others in ((np.float64, 7, 2.5), (out, 16, 2.5), (out[1:], 7, 2.5), (out, 7, 2), (out, 1 << 40, 2.5)):
        assert kernel.warmup(*others, grid=(1,)) is not found[0]
    assert kernel.warmup(out, 7, 2.5, BLOCK=16, grid=(1,)) is not found[0]
    assert len(slow) == 6 and len(compiled) == 7


def test_changes_that_invalidate_plans(kernel: Any, slow: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def warmup() -> Any:
        return kernel.warmup(np.float32, 7, 2.5, grid=(1,))

    first = [warmup() for _ in range(4)][0]
    assert len(slow) == 2
    settings.generation.value += 1  # as a setting or a hook that was assigned
    assert warmup() is first and len(slow) == 3
    assert [warmup() for _ in range(3)] == [first] * 3 and len(slow) == 4
    runs: list[Any] = []
    with monkeypatch.context() as patch:
        patch.setattr(kernel, "run", lambda *args, **keywords: runs.append(keywords))
        assert warmup() is None and runs == [{"grid": (1,), "warmup": True}]
    kernel.hash = None
    assert warmup() is not first


def test_globals_are_looked_at(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not kernel.captured_globals():
        pytest.skip("the fake backend's kernels read no globals")
    for _ in range(4):
        kernel.warmup(np.float32, 7, 2.5, grid=(1,))
    monkeypatch.setitem(globals(), "LIMIT", tl.constexpr(4))
    with pytest.raises(LaunchError, match="'LIMIT' has changed"):
        kernel.warmup(np.float32, 7, 2.5, grid=(1,))


def test_another_driver_serves_warmups_without_arrays(kernel: Any, slow: list[Any]) -> None:
    for _ in range(4):
        kernel.warmup(np.float32, 7, 2.5, grid=(1,))
    driver.set_active(driver.active)
    try:
        before = len(slow)
        kernel.warmup(np.float32, 7, 2.5, grid=(1,))
        assert len(slow) == before + 1
    finally:
        driver.reset_active()
