"""Sessions of the profiler, and the events of the program that are recorded in them."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..runtime.driver_config import driver
from ..support import OptionError
from .flags import flags
from .sources import ContextSource, PythonContext, ShadowContext, with_state
from .thread_state import thread_state
from .timing import LIBRARY, Timer
from .trace_data import TraceData, TraceEntry
from .tree_data import TreeData, TreeEntry

__all__ = ["CONTEXTS", "DATA", "Session", "SessionError", "Sessions", "sessions"]

Data = TreeData | TraceData
Entry = TreeEntry | TraceEntry

CONTEXTS: dict[str, Callable[[], ContextSource]] = {"shadow": ShadowContext, "python": PythonContext}
DATA: dict[str, Callable[[], Data]] = {"tree": TreeData, "trace": TraceData}


class SessionError(OptionError, IndexError, RuntimeError):
    """There is no such session, or it has no such phase."""


class _Opened(NamedTuple):
    """Where a scope or an operation is recorded."""

    data: Data
    entry: Entry
    frames: list[str]


class Session:
    """One profile: where it is written, its source of paths, and its data by phase."""

    def __init__(self, path: str, context: str, data: str, flush_format: str | None) -> None:
        self.path, self.context, self.data = path, context, data
        self.flush_format = flush_format  # finished phases are written in this format; None: at the end
        self.active = True
        self.source = CONTEXTS[context]()
        self.phase = 0
        self.complete = -1  # the last phase whose kernels have been waited for
        self.phases: dict[int, Data] = {0: DATA[data]()}
        self.opened: dict[int, _Opened] = {}

    @property
    def current(self) -> Data:
        """The current recording target."""
        return self.phases[self.phase]

    def frames(self) -> list[str]:
        """The path of what begins now."""
        return with_state(self.source.frames())

    def data_of(self, phase: int) -> Data:
        """The data of a phase; SessionError if there is none, or it was cleared."""
        if phase not in self.phases:
            raise SessionError(f"Phase {phase} has no data.")
        return self.phases[phase]

    def clear(self, phases: Iterable[int]) -> None:
        """Forget the data of phases; the current one begins anew."""
        for phase in list(phases):
            self.phases.pop(phase, None)
        self.phases.setdefault(self.phase, DATA[self.data]())

    def format_of(self, output_format: str | None) -> str:
        """The format to write, OptionError for one that the data cannot be written in."""
        known = DATA[self.data]().formats
        if not output_format:
            return known[0]
        if output_format not in known:
            raise OptionError(
                f"output format {output_format!r} is not supported for data={self.data!r}; it can be "
                f"{' or '.join(map(repr, known))}"
            )
        return output_format

    def write(self, output_format: str, *phases: int) -> None:
        """Write a file for each phase, by default for all; to standard output if the path is "-"."""
        for phase in phases or sorted(self.phases):
            data = self.phases[phase]
            content = data.dump(output_format, _about(data.devices()))
            if self.path in ("", "-"):
                sys.stdout.write(content.decode(errors="replace"))
                continue
            part = f".part_{phase}" if self.phase else ""
            Path(f"{self.path}{part}.{output_format}").write_bytes(content)


def _about(devices: Iterable[tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """The devices of a profile, by type and index: clocks in kHz, bus width in bits."""
    found: dict[str, dict[str, Any]] = {}
    for kind, number in sorted(devices):
        serving = driver.cpu if kind == "CPU" else driver.active
        told = serving.utils.get_device_properties(int(number))
        found.setdefault(kind, {})[number] = {
            "arch": str(serving.get_current_target().arch),
            "bus_width": told["mem_bus_width"],
            "clock_rate": told["sm_clock_rate"],
            "memory_clock_rate": told["mem_clock_rate"],
            "num_sms": told["multiprocessor_count"],
        }
    return found


class _Op(NamedTuple):
    """The operation that the next launch of a thread is."""

    number: int
    opened: list[_Opened]


class Sessions:
    """All sessions of the process, by number. Numbers are never used again."""

    def __init__(self) -> None:
        self._sessions: dict[int, Session] = {}
        self._numbers = itertools.count()
        self._scopes = itertools.count(1)
        self._lock = threading.RLock()
        self.timer = Timer(self._entries_of)

    # ---- sessions ----------------------------------------------------------------------------------------------------

    def start(self, path: str, context: str, data: str, flush_format: str | None) -> int:
        """Begin a session, or activate the one that is written to `path`; its number."""
        with self._lock:
            for number, session in self._sessions.items():
                if session.path == path:
                    session.active = True
                    return number
            number = next(self._numbers)
            self._sessions[number] = Session(path, context, data, flush_format)
            flags.profiling_on = True
            self.timer.attach()
            return number

    def of(self, number: int | None) -> list[Session]:
        """The session of this number, or all; SessionError if there is none."""
        if number is None:
            return list(self._sessions.values())
        if number not in self._sessions:
            raise SessionError(f"Session has not been initialized: {number}")
        return [self._sessions[number]]

    def activate(self, number: int | None, on: bool) -> None:
        """Let sessions record, or not."""
        with self._lock:
            for session in self.of(number):
                session.active = on

    def flush(self, number: int | None) -> None:
        """Wait for the kernels of sessions; phases before the current one are complete then."""
        with self._lock:
            self.timer.settle()
            for session in self.of(number):
                session.complete = max(session.complete, session.phase - 1)

    def end(self, number: int | None, output_format: str | None) -> list[tuple[Session, str]]:
        """End sessions; what is to be written, and the format. Nothing happens if they have ended already."""
        with self._lock:
            ended = [n for n in self._sessions if number in (None, n)]
            formats = [self._sessions[n].format_of(output_format) for n in ended]
            self.timer.settle()
            found = [(self._sessions.pop(n), chosen) for n, chosen in zip(ended, formats)]
            if not self._sessions:
                flags.profiling_on = False
                self.timer.detach()
            return found

    def reattach_timer(self) -> None:
        """Have the timer be the innermost hook again, after another was added."""
        if self._sessions:
            self.timer.attach()

    # ---- data --------------------------------------------------------------------------------------------------------

    def literal(self, number: int, phase: int) -> list[Any]:
        """The data of a phase as hatchet reads it."""
        with self._lock:
            [session] = self.of(number)
            self.timer.settle()
            data = session.data_of(phase)
            return data.literal(_about(data.devices()))

    def advance_phase(self, number: int) -> int:
        """Begin the next phase; with periodic flushing, write and forget the one before."""
        with self._lock:
            [session] = self.of(number)
            last = session.phase
            session.phase += 1
            session.phases[session.phase] = DATA[session.data]()
            if session.flush_format is not None:
                self.flush(number)
                session.write(session.flush_format, last)
                session.clear([last])
            return session.phase

    def is_complete(self, number: int, phase: int) -> bool:
        """Whether a phase has ended and its kernels have been waited for."""
        with self._lock:
            [session] = self.of(number)
            return phase < session.phase and phase <= session.complete

    def clear(self, number: int, phase: int, up_to: bool) -> None:
        """Forget the data of a phase, or of all up to it."""
        with self._lock:
            [session] = self.of(number)
            self.timer.settle()
            session.clear([p for p in session.phases if p == phase or (up_to and p < phase)])

    # ---- scopes, operations and launches -----------------------------------------------------------------------------

    def new_scope(self) -> int:
        """A number for a scope or an operation."""
        return next(self._scopes)

    def enter_scope(self, number: int, name: str, watched: bool = False) -> None:
        """A scope begins in this thread; a watched one has a time of its own if no kernel is launched in it."""
        with self._lock:
            for session in self._sessions.values():
                session.source.enter_scope(number, name)
                if session.active:
                    data = session.current
                    frames = session.frames()
                    session.opened[number] = _Opened(data, data.enter_scope(number, frames), frames)
            watched = watched and any(s.active for s in self._sessions.values())
        if watched:
            self.timer.watch(number)

    def exit_scope(self, number: int) -> None:
        """A scope ends in this thread."""
        with self._lock:
            opened_in = [s.opened[number] for s in self._sessions.values() if s.active and number in s.opened]
            self.timer.unwatch(number, lambda: [o.data.add_op([*o.frames, LIBRARY]) for o in opened_in])
            for session in self._sessions.values():
                session.source.exit_scope(number)
                opened = session.opened.pop(number, None)
                if opened is not None:
                    opened.data.exit_scope(opened.entry)  # type: ignore[arg-type]

    def enter_op(self, number: int, name: str) -> None:
        """The next launch of this thread is recorded as `name`."""
        with self._lock:
            running = [(s.current, [*s.frames(), name]) for s in self._sessions.values() if s.active]
            thread_state.op = _Op(number, [_Opened(data, data.add_op(frames), frames) for data, frames in running])

    def exit_op(self, number: int) -> None:
        """The launch has returned."""
        if thread_state.op is not None and thread_state.op.number == number:
            thread_state.op = None

    def add_metrics(self, number: int, metrics: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
        """Aggregate metrics into a scope or an operation that is open; tensors on devices when these are settled."""
        with self._lock:
            op: _Op | None = thread_state.op
            if op is not None and op.number == number:
                found = op.opened
            else:
                found = [s.opened[number] for s in self._sessions.values() if s.active and number in s.opened]
            for opened in found:
                opened.entry.add_metrics(metrics)
                if tensors:
                    self.timer.add_later(opened.entry, dict(tensors))

    def depth(self, number: int) -> int:
        """The length of the path in this thread."""
        [session] = self.of(number)
        return session.source.depth

    def _entries_of(self, kernel: str) -> list[Entry]:
        with self._lock:
            op: _Op | None = thread_state.op
            if op is not None:
                return [opened.entry for opened in op.opened]
            running = [s for s in self._sessions.values() if s.active]
            return [s.current.add_op([*s.frames(), kernel]) for s in running]


sessions = Sessions()
