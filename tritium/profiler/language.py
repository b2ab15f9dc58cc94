"""Scopes and events inside of kernels, by Triton's names.

They record nothing: a kernel is instrumented by `start(backend="instrumentation")`, which is refused. As in Triton, a
kernel that has scopes is compiled without them where it is not instrumented, so that annotated kernels run as they are.
"""

from __future__ import annotations

from types import TracebackType

from ..frontend.constexpr import unwrap
from ..frontend.errors import LanguageError
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


class Event:
    """A pair of moments that `start_event` and `end_event` mark; nothing is recorded for it."""

    def __init__(self, handle: object) -> None:
        self.handle = handle


class _Scope:
    """The context manager of `scope`."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


def _named(name: object, function: str) -> None:
    """Raise unless a scope is named by text."""
    if not isinstance(unwrap(name), str):
        raise LanguageError(f"TypeError: {function} takes the name of a scope, got {unwrap(name)!r}")


@builtin
def scope(name: object, _semantic: object = None) -> _Scope:
    """`with pl.scope("load"):` names what its body does."""
    _named(name, "scope")
    return _Scope()


@builtin
def enter_scope(name: object, _semantic: object = None) -> None:
    """The scope of a name begins."""
    _named(name, "enter_scope")


@builtin
def exit_scope(name: object, _semantic: object = None) -> None:
    """The scope of a name ends."""
    _named(name, "exit_scope")


@builtin
def allocate_event(name: object, _semantic: object = None) -> Event:
    """An event of a name."""
    _named(name, "allocate_event")
    return Event(None)


def _marked(event: object, function: str) -> None:
    if not isinstance(unwrap(event), Event):
        raise LanguageError(f"TypeError: {function} takes an event returned by allocate_event, got {unwrap(event)!r}")


@builtin
def start_event(event: object, _semantic: object = None) -> None:
    """The event begins."""
    _marked(event, "start_event")


@builtin
def end_event(event: object, _semantic: object = None) -> None:
    """The event ends."""
    _marked(event, "end_event")


def record(is_start: object, scope_name: object, semantic: object) -> None:
    """The beginning or end of a scope, from a function of the language."""
    _named(scope_name, "record")


def record_event(event: object, is_start: object, _semantic: object = None) -> None:
    """The beginning or end of an event, from a function of the language."""
    _marked(event, "record_event")


def enable_semantic(semantic_name: str) -> None:
    """OptionError: kernels of no language are instrumented."""
    raise OptionError(f"instrumentation of kernels is not supported, in {semantic_name!r} neither")


def disable_semantic(semantic_name: str) -> None:
    """Nothing to disable: kernels of no language are instrumented."""
