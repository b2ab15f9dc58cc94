"""Where a frame's path comes from: the scopes that are open (`context="shadow"`), or Python's stack ("python")."""

from __future__ import annotations

import os
import sys
import threading
from typing import NamedTuple, Protocol

from .thread_state import thread_state

__all__ = ["METADATA_SCOPE", "METADATA_PREFIX", "ContextSource", "PythonContext", "ShadowContext", "with_state"]

METADATA_SCOPE = "__proton_launch_metadata"
METADATA_PREFIX = f"{METADATA_SCOPE}:"

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class OpenScope(NamedTuple):
    """A scope that has been entered."""

    number: int
    name: str


class ContextSource(Protocol):
    """Gives the path of what begins now; told of every scope, also while its session is not active."""

    def enter_scope(self, number: int, name: str) -> None:
        """A scope begins."""

    def exit_scope(self, number: int) -> None:
        """A scope ends."""

    def frames(self) -> list[str]:
        """The path, outermost first."""

    @property
    def depth(self) -> int:
        """The length of the path."""


class ShadowContext:
    """The scopes entered since the session began; a thread begins with those of the thread that began the session."""

    def __init__(self) -> None:
        self._main: list[OpenScope] = []
        self._local = threading.local()
        self._local.stack = self._main

    @property
    def _stack(self) -> list[OpenScope]:
        stack: list[OpenScope] | None = getattr(self._local, "stack", None)
        if stack is None:
            stack = self._local.stack = list(self._main)
        return stack

    def enter_scope(self, number: int, name: str) -> None:
        """Push a scope."""
        self._stack.append(OpenScope(number, name))

    def exit_scope(self, number: int) -> None:
        """Pop a scope and what was left open inside; one from before the session is not there."""
        stack = self._stack
        for at in range(len(stack) - 1, -1, -1):
            if stack[at].number == number:
                del stack[at:]
                return

    def frames(self) -> list[str]:
        """The names of the open scopes."""
        return [s.name for s in self._stack]

    @property
    def depth(self) -> int:
        """How many scopes are open in this thread."""
        return len(self._stack)


class PythonContext:
    """The lines of Python that led here, as `file:line@function`, without those of this package."""

    def enter_scope(self, number: int, name: str) -> None:
        """Scopes are no part of the path."""

    def exit_scope(self, number: int) -> None:
        """Scopes are no part of the path."""

    def frames(self) -> list[str]:
        """The path, outermost first."""
        found = []
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.startswith((_PACKAGE, "<frozen ")):
                found.append(f"{code.co_filename}:{frame.f_lineno}@{code.co_name}")
            frame = frame.f_back  # type: ignore[assignment]
        return found[::-1]

    @property
    def depth(self) -> int:
        """How many lines led here."""
        return len(self.frames())


def with_state(frames: list[str]) -> list[str]:
    """The path with the thread's state, if any, below it; the state of a kernel's metadata is two frames."""
    states = thread_state.states
    if not states:
        return frames
    name = states[-1]
    if name.startswith(METADATA_PREFIX) and name != METADATA_PREFIX:
        return [*frames, METADATA_SCOPE, name.removeprefix(METADATA_PREFIX)]
    return [*frames, name]
