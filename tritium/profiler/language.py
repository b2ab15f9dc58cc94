"""Scopes and events inside of kernels, by Triton's names: each is refused where a kernel uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..frontend.errors import UnsupportedUse
from ..frontend.language.builtin import builtin
from ..support import OptionError

__all__ = [
    "Event",
    "allocate_event",
    "disable_semantic",
    "enable_semantic",
    "end_event",
    "enter_scope",
    "exit_scope",
    "record",
    "record_event",
    "scope",
    "start_event",
]


def _refused(name: str) -> Callable[..., Any]:
    """The function `name` of the language, which no kernel can be compiled with."""

    def refuse(*args: Any, _semantic: Any = None, **options: Any) -> Any:
        raise UnsupportedUse(
            f"triton.profiler.language.{name} is not supported: kernels are not instrumented, but timed as a whole",
            "remove it from the kernel; `triton.profiler.scope` around a launch names it in a profile",
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Not supported: a kernel that uses it is refused."
    return builtin(refuse)


class Event:
    """What `allocate_event` would return, for annotations; there are none."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle


allocate_event = _refused("allocate_event")
end_event = _refused("end_event")
enter_scope = _refused("enter_scope")
exit_scope = _refused("exit_scope")
record = _refused("record")
record_event = _refused("record_event")
scope = _refused("scope")
start_event = _refused("start_event")


def enable_semantic(semantic_name: str) -> None:
    """OptionError: kernels of no language are instrumented."""
    raise OptionError(f"instrumentation of kernels is not supported, in {semantic_name!r} neither")


def disable_semantic(semantic_name: str) -> None:
    """Nothing to disable: kernels of no language are instrumented."""
