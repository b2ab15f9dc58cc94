"""Garbage collection that is put off, and made up for."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tritium.support.collection import collect_young, paused


class Cycle:
    def __init__(self) -> None:
        self.own = self


@pytest.fixture(autouse=True)
def switch() -> Iterator[None]:
    on = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if on else gc.disable)()


def left_behind() -> weakref.ref[Cycle]:
    return weakref.ref(Cycle())


def test_garbage_of_a_pause_is_collected_while_waiting() -> None:
    with paused():
        cycle = left_behind()
        assert cycle() is not None
        collect_young()
        assert cycle() is None and not gc.isenabled()
    assert gc.isenabled()


def test_programs_that_disable_collection_are_left_alone() -> None:
    gc.disable()
    cycle = left_behind()
    with paused():
        collect_young()
    collect_young()
    assert cycle() is not None and not gc.isenabled()


def test_outside_a_pause_python_decides() -> None:
    with paused():
        pass
    gc.collect()
    cycle = left_behind()
    collect_young()
    assert cycle() is not None
