"""Which sessions a program may name while the `proton` command owns the only one."""

from __future__ import annotations

from typing import TypeVar

from ..support import OptionError
from .flags import flags

__all__ = ["checked"]

T = TypeVar("T", int, "int | None")


def checked(session: T, verb: str) -> T:
    """`session`, OptionError if it is none of the command's; `verb` is what the program wants of it."""
    if flags.command_line and session not in (0, None):
        raise OptionError(f"Only one session can be {verb} when running from the command line.")
    return session
