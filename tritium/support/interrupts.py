"""Exceptions that end a program at the user's request.

`BdbQuit`, which `q` in a debugger raises, is an `Exception` in Python. A handler that reports or wraps exceptions lets
it pass, as it does with `KeyboardInterrupt`:

    except interrupts():
        raise
    except Exception as error:
        ...
"""

from __future__ import annotations

import sys

__all__ = ["interrupts"]


def interrupts() -> tuple[type[BaseException], ...]:
    """KeyboardInterrupt, and BdbQuit once a debugger is loaded."""
    debugger = sys.modules.get("bdb")
    quit_class = getattr(debugger, "BdbQuit", None)
    return (KeyboardInterrupt,) if quit_class is None else (KeyboardInterrupt, quit_class)
