"""Timing of several ways to do one thing, so that the figures can be compared: by turns in one run, and medians."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

__all__ = ["by_turns", "seconds"]


def seconds(function: Callable[[], object], repeat: int = 1) -> float:
    """Seconds per call of `function`, over `repeat` calls."""
    start = time.perf_counter()
    for _ in range(repeat):
        function()
    return (time.perf_counter() - start) / repeat


def _repeats_for(function: Callable[[], object], target: float) -> int:
    once = min(seconds(function) for _ in range(3))
    return max(1, int(target / max(once, 1e-9)))


def by_turns(functions: dict[str, Callable[[], object]], rounds: int = 15, slice_s: float = 0.02) -> dict[str, float]:
    """Median seconds per call of each function, measured in turns so that a busy machine slows all of them alike.

    Each round gives every function a slice of about `slice_s` seconds. All are warmed up first.
    """
    repeat = {name: _repeats_for(function, slice_s) for name, function in functions.items()}
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(seconds(function, repeat[name]))
    return {name: median(samples) for name, samples in times.items()}
