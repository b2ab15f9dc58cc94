"""The hook of `backend="instrumentation"`, which is not supported: the class exists for programs that import it."""

from __future__ import annotations

from typing import Any, NoReturn

from ...support import OptionError
from .hook import Hook

__all__ = ["INSTRUMENTATION", "InstrumentationHook"]

INSTRUMENTATION = (
    "instrumentation inside of kernels is not supported: kernels are timed as a whole\n"
    "hint: leave `backend` out, and time parts of a program with `proton.scope` around launches"
)


class InstrumentationHook(Hook):
    """Refuses every launch and every load of code while it is active."""

    priority = 0

    def __init__(self, mode_obj: Any) -> None:
        self.mode = mode_obj

    def init_handle(self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str) -> NoReturn:
        """OptionError."""
        raise OptionError(INSTRUMENTATION)

    def enter(self, metadata: Any) -> NoReturn:
        """OptionError."""
        raise OptionError(INSTRUMENTATION)

    def exit(self, metadata: Any) -> None:
        """No launch comes here."""

    def activate(self) -> None:
        """Nothing to prepare."""

    def deactivate(self) -> None:
        """Nothing to undo."""
