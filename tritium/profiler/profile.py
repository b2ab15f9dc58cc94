"""Begin, suspend and end sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from ..runtime.driver_config import driver
from ..support import OptionError, settings
from .flags import flags
from .hooks import Hook, HookManager, InstrumentationHook, LaunchHook
from .hooks.instrumentation import INSTRUMENTATION
from .mode import BaseMode
from .session import CONTEXTS, DATA, sessions
from .session_id import checked

__all__ = ["DEFAULT_PROFILE_NAME", "activate", "deactivate", "finalize", "profile", "start"]

DEFAULT_PROFILE_NAME = "proton"

_LIBRARIES = {
    "instrumentation": INSTRUMENTATION,
    "rocprofiler": "there is no runtime for AMD GPUs",
    "roctracer": "there is no runtime for AMD GPUs",
}
_PERIODIC = "periodic_flushing"


def _select_backend() -> str:
    """The back end for the active device: "cupti" for events in the streams of a CUDA GPU, "cpu" for the host's clock.

    The names are those of `start(backend=...)`.
    """
    return {"cuda": "cupti"}.get(driver.active.get_current_target().backend, "cpu")


def start(
    name: str | None = None,
    *,
    context: str = "shadow",
    data: str = "tree",
    backend: str | None = None,
    mode: str | BaseMode | None = None,
    hook: str | Hook | None = None,
) -> int | None:
    """Begin a session, and return its number; None where profiling is off, or the `proton` command has begun one.

    - `name`: the file to write, without its suffix; "proton" by default, "-" is standard output. A session of the same
      name is activated instead.
    - `context`: the frames of what is recorded: "shadow", the open scopes, or "python", the lines of Python.
    - `data`: "tree", a tree of frames with sums, or "trace", a timeline.
    - `backend`: None; "cpu" and "cupti" are the same. Kernels of the CPU and of emulated GPUs are timed by the host's
      clock, those of CUDA GPUs by events in their streams; CUPTI is not used.
    - `mode`: None, or "periodic_flushing[:format=FORMAT]", which writes and clears a phase when the next one begins.
    - `hook`: "triton" gives kernels the names and metrics of their `launch_metadata`; or a `Hook` of the caller's.

    OptionError for what is not supported.
    """
    if flags.command_line or settings.proton.disable:
        return None
    settings.proton.check_supported()
    return _start(name, context, data, backend, mode, hook)


def _start(name: str | None, context: str, data: str, backend: str | None, mode: Any, hook: Any) -> int:
    _check("context", context, list(CONTEXTS))
    _check("data", data, list(DATA))
    if backend in _LIBRARIES:
        raise OptionError(f"profiler.start: backend={backend!r} is not supported: {_LIBRARIES[backend]}")
    _check("backend", backend, [None, "cpu", "cupti"])
    flush_format = _flush_format(mode, data)
    if isinstance(hook, InstrumentationHook):
        raise OptionError(INSTRUMENTATION)
    if hook is not None and hook != "triton" and not isinstance(hook, Hook):
        _check("hook", hook, [None, "triton"])
    session = sessions.start(name or DEFAULT_PROFILE_NAME, context, data, flush_format)
    if hook is not None:
        HookManager.register(hook if isinstance(hook, Hook) else LaunchHook(), session)
    return session


def _check(option: str, value: Any, known: list[Any]) -> None:
    if value not in known:
        _refuse(option, value, f"it can be {', '.join(map(repr, known))}")


def _refuse(option: str, value: Any, why: str) -> NoReturn:
    raise OptionError(f"profiler.start: {option}={value!r} is not supported: {why}")


def _flush_format(mode: Any, data: str) -> str | None:
    """The format that periodic flushing writes; None without it."""
    text = str(mode or "")
    name, *options = text.split(":")
    if not name and not options:
        return None
    if name == "pcsampling":
        _refuse("mode", text, "samples of the program counter need CUPTI, which is not used")
    if name != _PERIODIC:
        _refuse("mode", text, f"it can be None or '{_PERIODIC}'")
    formats = list(DATA[data]().formats)
    chosen = formats[0]
    for option in options:
        key, _, chosen = option.partition("=")
        if key != "format" or chosen not in formats:
            _refuse("mode", text, f"its option can be {' or '.join(f'format={f}' for f in formats)}")
    return chosen


def activate(session: int | None = None) -> None:
    """Go on recording, in all sessions or in one."""
    sessions.activate(checked(session, "activated"), True)
    HookManager.activate(session)


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Stop recording, in all sessions or in one; `flushing` waits for the kernels that were launched."""
    sessions.activate(checked(session, "deactivated"), False)
    HookManager.deactivate(session)
    if flushing:
        sessions.flush(session)


def finalize(session: int | None = None, output_format: str | None = "") -> None:
    """End all sessions or one, and write their files, in the data's own format by default.

    The format of "tree" is "hatchet" or "hatchet_msgpack", that of "trace" is "chrome_trace". OptionError for another,
    which ends no session.
    """
    ended = sessions.end(checked(session, "finalized"), output_format)
    HookManager.unregister(session)
    for found, chosen in ended:
        found.write(chosen)


def profile(
    func: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    context: str = "shadow",
    data: str = "tree",
    backend: str | None = None,
    mode: str | BaseMode | None = None,
    hook: str | Hook | None = None,
) -> Any:
    """A decorator: the function's calls are profiled in one session, which `finalize` writes; options are `start`'s."""
    options: dict[str, Any] = {"context": context, "data": data, "backend": backend, "mode": mode, "hook": hook}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            session = start(name, **options)
            try:
                return function(*args, **kwargs)
            finally:
                if session is not None:
                    deactivate(session)

        return inside

    return decorate if func is None else decorate(func)
