"""Exceptions of users' hooks: a warning that names the hook instead of an error of the observed operation.

Hooks and listeners observe compiles, loads and launches. One that raises an `Exception` is skipped: its result is
None, and a `HookWarning` names the hook, the position and the exception. `KeyboardInterrupt`, `SystemExit`,
other exceptions that are no `Exception`, and `q` in a debugger pass through. A hook that must abort a launch sets:

    hook.propagate_errors = True

>>> import warnings
>>> with warnings.catch_warnings(record=True) as caught:
...     warnings.simplefilter("always")
...     call_hook("compilation.listener", int, "no number")
>>> str(caught[0].message)
"compilation.listener: int raised ValueError: invalid literal for int() with base 10: 'no number'; it was skipped"
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .errors import interrupts

__all__ = ["HookWarning", "call_hook", "warn_of_hook"]

_PACKAGE = __name__.partition(".")[0]
_warned: dict[Any, Any] = {}  # the registry of `warnings` for issued warnings


class HookWarning(UserWarning):
    """A hook or listener of the user's raised an exception, and was skipped."""


def call_hook(setting: str, hook: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`hook(*args, **kwargs)`; None, and a warning, if it raises an `Exception`. `setting` is the name of its
    setting."""
    try:
        return hook(*args, **kwargs)
    except interrupts():
        raise
    except Exception as error:
        if getattr(hook, "propagate_errors", False):
            raise
        warn_of_hook(setting, hook, error)
        return None


def warn_of_hook(setting: str, hook: Any, error: Exception, consequence: str = "it was skipped") -> None:
    """Warn that `hook` raised `error`, at its line."""
    name = getattr(hook, "__qualname__", None) or type(hook).__qualname__
    module = getattr(hook, "__module__", None)
    shown = name if module in (None, "builtins", "__main__") else f"{module}.{name}"
    trace = error.__traceback__
    if trace is not None and trace.tb_next is not None:  # the frame of the hook, after that of its caller
        trace = trace.tb_next
    file, line = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else (_PACKAGE, 1)
    text = f"{setting}: {shown} raised {type(error).__name__}: {error}; {consequence}"
    warnings.warn_explicit(text, HookWarning, file, line, registry=_warned)
