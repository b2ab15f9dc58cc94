"""Sessions of the profiler: which scope is open, and the events whose times are not known yet."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..runtime.driver import driver
from ..support import OptionError
from ..support.settings import proton, runtime
from .tree import COUNT, TIME, Node

__all__ = ["activate", "deactivate", "enter_scope", "exit_scope", "finalize", "profile", "scope", "start"]

_PENDING = 2048  # spans to collect before they are waited for: two events each
_RESERVED = ("name", "function", "stream")  # what every launch's metadata has, beside its metrics


class _Clock:
    """A point in time on a device without events: the CPU's kernels have finished when their launch returns."""

    def __init__(self, enable_timing: bool = True) -> None:
        self.at = 0

    def record(self) -> None:
        self.at = time.perf_counter_ns()

    def elapsed_time(self, end: _Clock) -> float:
        return (end.at - self.at) / 1e6


class Session:
    """One profile: a tree, the open scopes, and the spans that the device may not have reached yet."""

    def __init__(self, path: str) -> None:
        self.path, self.active = path, True
        self.root = self.open = Node("ROOT")
        self.pending: list[tuple[Node, Any, Any]] = []
        self.starts: list[tuple[Node, Any]] = []

    def mark(self) -> Any:
        """Now, in the stream of the device that launches go to."""
        interface = driver.active.get_device_interface()
        event = getattr(interface, "Event", _Clock)(enable_timing=True)
        event.record()
        return event

    def begin(self, node: Node) -> None:
        """A span of `node` begins."""
        self.starts.append((node, self.mark()))

    def end(self) -> None:
        """The span that began last ends."""
        if self.starts:
            node, event = self.starts.pop()
            self.pending.append((node, event, self.mark()))
        if len(self.pending) >= _PENDING:
            self.settle()

    def settle(self) -> None:
        """Wait for the device, and add up what it took."""
        driver.active.get_device_interface().synchronize()
        for node, start, end in self.pending:
            if node.kernel or not node.has_kernels:
                node.add({TIME: start.elapsed_time(end) * 1e6, COUNT: 1})
        self.pending.clear()


_sessions: dict[int, Session] = {}


def _running() -> list[Session]:
    return [s for s in _sessions.values() if s.active]


def start(
    name: str | None = None,
    *,
    context: str = "shadow",
    data: str = "tree",
    backend: str | None = None,
    mode: Any = None,
    hook: Any = None,
) -> int | None:
    """Begin a session, and return its number. `hook="triton"` lets kernels have the names and metrics of their
    `launch_metadata`; the profile goes to `name`.hatchet ("proton" without one).

    OptionError for what is not supported: contexts of Python's stack, traces, counters inside kernels. With the setting
    `proton.disable` nothing is recorded, and the result is None.
    """
    if proton.disable:
        return None
    proton.check_supported()
    for option, value, known in (
        ("context", context, ("shadow",)), ("data", data, ("tree",)),
        ("backend", backend, (None, "cupti")), ("mode", mode, (None, "")), ("hook", hook, (None, "triton")),
    ):  # fmt: skip
        if value not in known:
            raise OptionError(f"profiler.start: {option}={value!r} is not supported; it can be {known[-1]!r}")
    number = max(_sessions, default=-1) + 1
    if not _sessions:
        runtime.launch_enter_hook.add(_enter)
        runtime.launch_exit_hook.add(_leave)
    _sessions[number] = Session(name or "proton")
    return number


def activate(session: int | None = None) -> None:
    """Go on recording, in all sessions or in one."""
    _switch(session, True)


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Stop recording, in all sessions or in one; `flushing` waits for what runs."""
    _switch(session, False)
    if flushing:
        for found in _of(session):
            found.settle()


def _of(session: int | None) -> list[Session]:
    if session is None:
        return list(_sessions.values())
    if session not in _sessions:
        raise OptionError(f"there is no profiling session {session}")
    return [_sessions[session]]


def _switch(session: int | None, on: bool) -> None:
    for found in _of(session):
        found.active = on


def finalize(session: int | None = None, output_format: str = "hatchet") -> None:
    """End all sessions or one, and write what they found."""
    if output_format not in ("", "hatchet"):
        raise OptionError(f"profiler.finalize: output_format={output_format!r} is not supported; it can be 'hatchet'")
    for found in _of(session):
        found.settle()
        Path(f"{found.path}.hatchet").write_text(json.dumps([found.root.literal(), {}]))
    for number in [n for n in _sessions if session in (None, n)]:
        del _sessions[number]
    if not _sessions:
        runtime.launch_enter_hook.remove(_enter)
        runtime.launch_exit_hook.remove(_leave)


def enter_scope(name: str, *, metrics: dict[str, float] | None = None) -> None:
    """What runs from now on belongs to `name`; `metrics` are added to its sums."""
    for found in _running():
        found.open = found.open.child(name)
        found.open.add({k: float(v) for k, v in (metrics or {}).items()})
        found.begin(found.open)


def exit_scope(name: str | None = None) -> None:
    """The scope that was opened last ends."""
    for found in _running():
        if found.open.parent is not None:
            found.end()
            found.open = found.open.parent


@contextmanager
def _scope(name: str, metrics: dict[str, float] | None) -> Iterator[None]:
    enter_scope(name, metrics=metrics)
    try:
        yield
    finally:
        exit_scope(name)


class scope:
    """`with scope("forward", {"flops": 1e9}):`, or a decorator of a function."""

    def __init__(self, name: str, metrics: dict[str, float] | None = None) -> None:
        self.name, self.metrics = name, metrics
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        self._entered.append(_scope(self.name, self.metrics))
        self._entered[-1].__enter__()

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with _scope(self.name, self.metrics):
                return function(*args, **kwargs)

        return inside


def profile(function: Callable[..., Any] | None = None, *, name: str | None = None, **options: Any) -> Any:
    """A decorator: each call of the function is a session of its own."""
    if function is None:
        return functools.partial(profile, name=name, **options)

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Any:
        session = start(name, **options)
        try:
            return function(*args, **kwargs)
        finally:
            finalize(session)

    return inside


def _enter(metadata: Any) -> None:
    sessions = _running()
    if not sessions:
        return
    said = metadata.get()
    name = str(said["name"])
    metrics = {k: float(v) for k, v in said.items() if k not in _RESERVED and isinstance(v, (int, float))}
    for found in sessions:
        node = found.open.child(name, kernel=True)
        node.add(metrics)
        found.begin(node)


def _leave(metadata: Any) -> None:
    for found in _running():
        if found.starts and found.starts[-1][0].kernel:
            found.end()
