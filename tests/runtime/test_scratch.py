"""Scratch memory that is kept for a stream: shared, grown, and left to the CUDA graphs that captured it."""

from __future__ import annotations

import ctypes
import gc

import pytest

from tritium.runtime import scratch


class Driver:
    """A driver that says which streams are captured."""

    def __init__(self) -> None:
        self.capturing: set[int] = set()
        self.freed: list[int] = []

    def status(self, name: str, stream: int, at: int) -> int:
        assert name == "stream_capturing"
        ctypes.c_int.from_address(at).value = int(stream in self.capturing)
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()

    class Block:
        def __init__(self, device: int, size: int) -> None:
            self.size = size

        def __del__(self) -> None:
            driver.freed.append(self.size)

    monkeypatch.setattr(scratch, "library", lambda: driver)
    monkeypatch.setattr(scratch, "DeviceBlock", Block)
    monkeypatch.setattr(scratch, "_blocks", {})
    monkeypatch.setattr(scratch, "_captured", [])
    return driver


def test_a_block_is_replaced_by_a_larger_one_and_freed(driver: Driver) -> None:
    first = scratch.scratch_block(0, 5, "global", 100)
    assert scratch.scratch_block(0, 5, "global", 50) is first
    assert scratch.scratch_block(0, 6, "global", 50) is not first
    del first
    assert scratch.scratch_block(0, 5, "global", 200).size == 200
    gc.collect()
    assert driver.freed == [100]


def test_captured_scratch_memory_is_not_freed(driver: Driver) -> None:
    scratch.scratch_block(0, 5, "global", 100)
    driver.capturing = {5}
    for _ in range(3):
        scratch.scratch_block(0, 5, "global", 100)
    driver.capturing = set()
    scratch.scratch_block(0, 5, "global", 200)
    scratch.scratch_block(0, 5, "global", 300)
    gc.collect()
    assert driver.freed == [200]
    assert len(scratch._captured) == 1
