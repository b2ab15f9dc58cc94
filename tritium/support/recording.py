"""The current recording of a compile in this thread, which is all that code imports of traces (`traces`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .traces import Recording

__all__ = ["current", "recorded", "recording_here"]

T = TypeVar("T")

_state = threading.local()


def current() -> Recording | None:
    """The recording of this thread's compile, None without one."""
    return getattr(_state, "recording", None)


@contextmanager
def recording_here(recording: Recording | None) -> Iterator[Recording | None]:
    """Inside, `current()` is `recording`."""
    saved = current()
    _state.recording = recording
    try:
        yield recording
    finally:
        _state.recording = saved


def recorded(name: str, make: Callable[[], T], text_of: Callable[[T], str], language: str) -> T:
    """The result of `make`, recorded as a pass `name` with the text `text_of` the result, if there is a recording."""
    recording = current()
    if recording is None:
        return make()
    at, begin = recording.at(), time.perf_counter_ns()
    made = make()
    took = round((time.perf_counter_ns() - begin) / 1000, 1)
    with recording.aside():
        before, recording.last = recording.last, recording.text(text_of(made), language)
        recording.add(
            "pass", stage=recording.stage, index=recording.passes, name=name, options="", on="builtin.module",
            skipped=False, at=at, us=took, before=before, after=recording.last, changed=True, counts={}, rewrites=0,
        )  # fmt: skip
        recording.passes += 1
    return made
