"""The data of a session as a timeline (`data="trace"`), written in Chrome's trace format.

Each thread of the host has a lane with its scopes, each stream of a device a lane with its kernels; an arrow (a flow
event) leads from the innermost open scope of a launch to the kernel. chrome://tracing and ui.perfetto.dev show them.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ..support import OptionError
from .kernels import KernelRun
from .values import Metrics, formatted

__all__ = ["TraceData", "TraceEntry"]

_PROCESS = 0
_STREAM_LANES = 200_000  # lanes of threads are numbered from 0, those of streams from here


class TraceEntry:
    """An event of the timeline: a scope with the host's times, or the runs of a kernel."""

    __slots__ = ("end", "frames", "launched_in", "metrics", "number", "runs", "scope", "start", "thread")

    def __init__(self, number: int, frames: Sequence[str], thread: int, launched_in: TraceEntry | None) -> None:
        self.number, self.frames, self.thread, self.launched_in = number, ["ROOT", *frames], thread, launched_in
        self.scope = self.start = self.end = 0
        self.metrics = Metrics()
        self.runs: list[KernelRun] = []

    def add_kernel(self, run: KernelRun) -> None:
        """Add a run of the kernel that this event is."""
        self.runs.append(run)

    def add_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Aggregate user metrics."""
        self.metrics.add(metrics)

    def shown_metrics(self) -> dict[str, str]:
        """The metrics as traces show them."""
        return {name: formatted(self.metrics[name].value) for name in sorted(self.metrics)}


class TraceData:
    """All events of a session, in the order of their begin."""

    formats = ("chrome_trace",)

    def __init__(self) -> None:
        self.entries: list[TraceEntry] = []
        self._threads: dict[int, int] = {}
        self._open: dict[int, list[TraceEntry]] = defaultdict(list)

    def enter_scope(self, scope: int, frames: Sequence[str]) -> TraceEntry:
        """The event of a scope that begins now."""
        entry = self.add_op(frames)
        entry.scope, entry.start = scope, time.time_ns()
        self._open[entry.thread].append(entry)
        return entry

    def exit_scope(self, entry: TraceEntry) -> None:
        """A scope ends now."""
        entry.end = time.time_ns()
        if entry in self._open[entry.thread]:
            self._open[entry.thread].remove(entry)

    def add_op(self, frames: Sequence[str]) -> TraceEntry:
        """The event of a kernel that is launched."""
        thread = self._threads.setdefault(threading.get_ident(), len(self._threads))
        opened = self._open[thread]
        entry = TraceEntry(len(self.entries), frames, thread, opened[-1] if opened else None)
        self.entries.append(entry)
        return entry

    def devices(self) -> set[tuple[str, str]]:
        """(type, number) of each device that a kernel ran on."""
        return {(r.device_type, r.device) for e in self.entries for r in e.runs}

    def literal(self, devices: Mapping[str, Any]) -> list[Any]:
        """A trace has no tree."""
        raise OptionError("the data of a session with data='trace' cannot be read before it is finalized; use 'tree'")

    def dump(self, output_format: str, devices: Mapping[str, Any]) -> bytes:
        """The content of a file."""
        scopes = sorted((e for e in self.entries if e.end), key=lambda e: e.start)
        kernels = [(e, r) for e in self.entries for r in e.runs]
        kernels.sort(key=lambda pair: pair[1].start)
        found: dict[str, Any] = {"displayTimeUnit": "us", "traceEvents": []}
        if scopes or kernels:
            base = min([e.start for e in scopes] + [r.start for _, r in kernels])
            found["baseTimeNanoseconds"] = base
            found["traceEvents"] = _Events(base).all(scopes, kernels)
        return (json.dumps(found) + "\n").encode()


_Runs = Sequence[tuple[TraceEntry, KernelRun]]


class _Events:
    """Chrome's events, with times in microseconds since `base`."""

    def __init__(self, base: int) -> None:
        self.base = base

    def all(self, scopes: Sequence[TraceEntry], kernels: _Runs) -> list[dict[str, Any]]:
        """Names of lanes where there are kernels, scopes, arrows and kernels."""
        streams = {s: _STREAM_LANES + n for n, s in enumerate(sorted({(r.device, r.stream) for _, r in kernels}))}
        found = self._lanes({e.thread for e in scopes}, streams) if kernels else []
        found += [self._scope(e) for e in scopes]
        for entry, run in kernels:
            found += self._arrow(entry, run, streams[run.device, run.stream])
        return found + [self._kernel(e, r, streams[r.device, r.stream]) for e, r in kernels]

    def _lanes(self, threads: set[int], streams: Mapping[tuple[str, int], int]) -> list[dict[str, Any]]:
        names = {t: f"CPU Thread {t}" for t in sorted(threads)}
        names |= {lane: f"Device {device} Stream {stream}" for (device, stream), lane in streams.items()}
        found = [_about("process_name", 0, name="Trace"), _about("process_sort_index", 0, sort_index=0)]
        for lane, name in names.items():
            found += [_about("thread_name", lane, name=name), _about("thread_sort_index", lane, sort_index=lane)]
        return found

    def _event(self, name: str, category: str, start: int, end: int, lane: int, args: dict[str, Any]) -> dict[str, Any]:
        times = {"ts": (start - self.base) / 1e3, "dur": (end - start) / 1e3}
        return {"name": name, "cat": category, "ph": "X", "pid": _PROCESS, "tid": lane, **times, "args": args}

    def _scope(self, entry: TraceEntry) -> dict[str, Any]:
        name, category = entry.frames[-1], "scope"
        args: dict[str, Any] = {"call_stack": entry.frames, "scope_id": entry.scope}
        if entry.metrics:
            args["metrics"] = entry.shown_metrics()
            name = f"{name}: {', '.join(f'<{m}, {v}>' for m, v in args['metrics'].items())}"
            category = "metric"
        return self._event(name, category, entry.start, entry.end, entry.thread, args)

    def _kernel(self, entry: TraceEntry, run: KernelRun, lane: int) -> dict[str, Any]:
        args: dict[str, Any] = {"call_stack": entry.frames}
        if entry.metrics:
            args["metrics"] = entry.shown_metrics()
        return self._event(entry.frames[-1], "kernel", run.start, run.end, lane, args)

    def _arrow(self, entry: TraceEntry, run: KernelRun, lane: int) -> list[dict[str, Any]]:
        scope = entry.launched_in
        if scope is None or not scope.end:
            return []
        both = {"name": "launch->kernel", "cat": "flow", "pid": _PROCESS, "id": entry.number, "bp": "e"}
        start = {**both, "ph": "s", "tid": scope.thread, "ts": (scope.start - self.base) / 1e3}
        return [start, {**both, "ph": "f", "tid": lane, "ts": (run.start - self.base) / 1e3}]


def _about(what: str, lane: int, /, **args: Any) -> dict[str, Any]:
    """An event that describes a lane or the process."""
    return {"ph": "M", "pid": _PROCESS, "tid": lane, "name": what, "args": args}
