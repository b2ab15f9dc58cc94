"""Scopes: the frames that a program names itself, with its metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from .flags import flags
from .metric import ROOFLINE_TYPES, transform_tensor_metrics
from .session import sessions

__all__ = ["MetricValueType", "cpu_timed_scope", "enter_scope", "exit_scope", "scope"]

MetricValueType = float | int | Sequence[float] | Sequence[int]


class _Entered(threading.local):
    """The scopes that `enter_scope` has opened in this thread: (number, name); None where profiling was off."""

    def __init__(self) -> None:
        self.scopes: list[tuple[int | None, str]] = []


_entered = _Entered()


def _begin(name: str, metrics: Mapping[str, Any] | None) -> int:
    number = sessions.new_scope()
    sessions.enter_scope(number, name, bool(metrics) and not ROOFLINE_TYPES.keys().isdisjoint(metrics or ()))
    try:
        _add(number, metrics)
    except BaseException:
        sessions.exit_scope(number)
        raise
    return number


def _add(number: int, metrics: Mapping[str, Any] | None) -> None:
    if metrics:
        sessions.add_metrics(number, *transform_tensor_metrics(metrics))


class scope(AbstractContextManager["scope"]):
    """`with scope("forward", {"flops": 1e9}):`, or a decorator of a function.

    Metrics are ints, floats, lists of these, or tensors (of a GPU too, without waiting for it). The same metric of the
    same frame is summed; `name (exc)` belongs to the frame alone, `name (pty)` is replaced instead of summed.
    """

    def __init__(self, name: str, metrics: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.metrics = metrics
        self.id: int | None = None
        self._open: dict[int, list[int | None]] = {}  # thread -> numbers of its open runs, None where profiling was off

    def _enter_scope(self) -> None:
        self.id = _begin(self.name, self.metrics) if flags.profiling_on else None
        self._open.setdefault(threading.get_ident(), []).append(self.id)

    def _exit_scope(self) -> None:
        number = self._open[threading.get_ident()].pop()
        if number is not None:
            self._finish(number)
            sessions.exit_scope(number)

    def _finish(self, number: int) -> None:
        """Flush pending records before the scope ends."""

    def __enter__(self) -> scope:
        self._enter_scope()
        return self

    def __exit__(self, *error: Any) -> None:
        self._exit_scope()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` in the scope."""

        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside


class cpu_timed_scope(scope):
    """A scope with the metric `cpu_time (ns)`, the host's time from its begin to its end, in each run added up."""

    def __init__(self, name: str, metrics: Mapping[str, Any] | None = None) -> None:
        super().__init__(name, metrics)
        if metrics and "cpu_time" in metrics:
            raise ValueError("The metric name 'cpu_time' is reserved.")
        self._starts: dict[int, int] = {}

    def _enter_scope(self) -> None:
        super()._enter_scope()
        if self.id is not None:
            self._starts[self.id] = time.perf_counter_ns()

    def _finish(self, number: int) -> None:
        elapsed = time.perf_counter_ns() - self._starts.pop(number)
        sessions.add_metrics(number, {"cpu_time (ns)(exc)": elapsed}, {})


def enter_scope(name: str, *, metrics: Mapping[str, Any] | None = None) -> int | None:
    """Begin a scope in this thread; its number, None where profiling is off."""
    number = _begin(name, metrics) if flags.profiling_on else None
    _entered.scopes.append((number, name))
    return number


def exit_scope(name: str | None = None, *, metrics: Mapping[str, Any] | None = None) -> int | None:
    """End the scope that was entered last in this thread, and add metrics to it; its number.

    ValueError if `name` is given and is not the scope's.
    """
    if not _entered.scopes:
        return None
    number, entered = _entered.scopes.pop()
    if number is None:
        return None
    try:
        if name and name != entered:
            raise ValueError(f"Scope name mismatch: {name} != {entered}")
        _add(number, metrics)
    finally:
        sessions.exit_scope(number)
    return number
