"""The gate of the IR core's costs: what it counts is no clock's, and more of it is noticed."""

from __future__ import annotations

import gc
import importlib.util
import threading
from pathlib import Path

import pytest

from tritium.ir import parse_module, verify


@pytest.fixture(scope="module")
def core():
    spec = importlib.util.spec_from_file_location("ir_core", Path(__file__).parents[2] / "benchmarks/ir_core.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_bytecodes_are_the_same_on_a_busy_machine(core) -> None:
    module = parse_module(core.chain())
    quiet = core.bytecodes(verify, lambda: module)
    done = threading.Event()

    def disturb() -> None:
        while not done.is_set():
            sum(range(1000))

    other = threading.Thread(target=disturb)
    other.start()
    try:
        assert core.bytecodes(verify, lambda: module) == quiet > 100 * core.CHAIN
    finally:
        done.set()
        other.join()


def test_finalizers_do_not_count(core) -> None:
    """What the collector calls for garbage of others, whenever it finds it, is not the measured work's."""

    class Garbage:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            sum(i for i in range(100))

    def work(_: object) -> None:
        kept = [[i] for i in range(5000)]
        assert kept

    quiet = core.bytecodes(work, lambda: None)
    assert core.bytecodes(work, lambda: [Garbage() for _ in range(50)][:0]) == quiet
    assert gc.isenabled()


@pytest.mark.parametrize(
    "codes, cost, broken", [(300, 2.9, False), (400, 1.0, True), (300, 3.4, True), (400, 3.4, True)]
)
def test_what_breaks_a_budget(core, codes: float, cost: float, broken: bool) -> None:
    assert core.Measured(codes, 1.0, cost, 1.0).broken((350, 2.0)) == broken
    assert not core.Measured(codes, 1.2, cost, 2.0).broken((350, 2.0))


def test_work_done_twice_is_over_budget(core) -> None:
    tasks = core.ours(core.programs()["chain"])
    work, fresh, count = tasks["verify"]
    twice = core.measure({"verify": (lambda m: (work(m), work(m)), fresh, count)}, rounds=1)["verify"]
    assert twice.codes > core.BUDGETS["verify"][0] * twice.codes_scale
