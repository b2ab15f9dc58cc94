"""Timing by turns: everyone runs in every round, and the medians are per call."""

from __future__ import annotations

import time

from tritium.tools.timing import by_turns, seconds


def test_seconds_are_per_call() -> None:
    assert 0.004 < seconds(lambda: time.sleep(0.005), repeat=3) < 0.05


def test_medians_ignore_an_outlier() -> None:
    calls = {"steady": 0, "noisy": 0}

    def steady() -> None:
        calls["steady"] += 1
        time.sleep(0.001)

    def noisy() -> None:
        calls["noisy"] += 1
        time.sleep(0.05 if calls["noisy"] == 6 else 0.001)

    times = by_turns({"steady": steady, "noisy": noisy}, rounds=5, slice_s=0.001)
    assert times["noisy"] < 0.02
    assert calls["steady"] >= 3 + 5
    assert calls["noisy"] >= 3 + 5
