"""Raise Python's recursion limit while the compiler runs.

The compiler recurses over syntax trees, regions and locations: about eight Python frames for each level of nesting. A
chain of 200 `elif` needs more than the 1,000 frames that Python allows by default. The limit protects the C stack, so
it is raised by the number of frames that fit into the stack of the current thread.

Deeper recursion raises `NestedTooDeeply`, an error of the compiled program.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .errors import TritiumError
from .lazy import LazyModule

__all__ = ["NestedTooDeeply", "deep_recursion", "too_deep_text", "with_deep_recursion"]

_resource = LazyModule("resource")

F = TypeVar("F", bound=Callable[..., Any])

#: Bytes of C stack per Python frame. Measured 2026-11 with CPython 3.11: calls through `map` and through constructors,
#: which recurse in C, overflow a stack of 8 MiB between 10,000 and 20,000 frames.
_FRAME_BYTES = 1024
_MAX_STACK = 16 << 20
#: Stack of a thread that neither Python nor the system limits (glibc on x86-64), and of unknown size.
_DEFAULT_STACK = 2 << 20
#: Frames reserved for the caller of the compiler.
_RESERVED_FRAMES = 500


class NestedTooDeeply(TritiumError):
    """A program is nested too deeply for the recursive parts of the compiler."""


def _stack_bytes() -> int:
    """The size of the current thread's C stack, if known; at most 16 MiB."""
    main = threading.current_thread() is threading.main_thread()
    if not main:
        size = threading.stack_size()  # this also resets it
        if size:
            threading.stack_size(size)
            return min(size, _MAX_STACK)
    if sys.platform == "win32":
        return _DEFAULT_STACK // 2
    limit: int = _resource.getrlimit(_resource.RLIMIT_STACK)[0]
    if limit == _resource.RLIM_INFINITY:
        return _MAX_STACK if main else _DEFAULT_STACK
    return min(limit, _MAX_STACK)


_lock = threading.Lock()
_here = threading.local()
_threads = 0
_before = 0


class deep_recursion:
    """Raise the recursion limit to the number of frames that fit into the stack: `with deep_recursion(): …`.

    It nests, and threads may use it at the same time. Only the outermost use of a thread changes the limit: an inner
    one may end at the recursion limit, where Python cannot call `__exit__`.
    """

    __slots__ = ("_outermost",)

    def __enter__(self) -> None:
        global _threads, _before
        self._outermost = False
        if getattr(_here, "active", False):
            return
        frames = _stack_bytes() // _FRAME_BYTES - _RESERVED_FRAMES
        with _lock:
            if _threads == 0:
                if frames < sys.getrecursionlimit() + _RESERVED_FRAMES:
                    return
                _before = sys.getrecursionlimit()
                sys.setrecursionlimit(frames)
            _threads += 1
        self._outermost = _here.active = True

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        global _threads
        if self._outermost:
            _here.active = False
            with _lock:
                _threads -= 1
                if _threads == 0:
                    sys.setrecursionlimit(_before)


def too_deep_text(what: str) -> str:
    """The message for `what` (a stage, a pass), that reached the recursion limit."""
    return f"nested too deeply for {what}: it needs more than {sys.getrecursionlimit():,} frames of Python's stack"


def with_deep_recursion(what: str) -> Callable[[F], F]:
    """Decorate a function to run under `deep_recursion`; RecursionError becomes NestedTooDeeply for `what`."""

    def decorate(fn: F) -> F:
        @wraps(fn)
        def run(*args: Any, **kwargs: Any) -> Any:
            with deep_recursion():
                try:
                    return fn(*args, **kwargs)
                except RecursionError:
                    raise NestedTooDeeply(too_deep_text(what)) from None

        return run  # type: ignore[return-value]

    return decorate
