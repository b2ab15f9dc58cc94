"""`triton._instrumentation`: modes of instrumentation in options.

Callbacks between passes in C++ cannot be registered: the passes are Python here, and plugins add others to pipelines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ..frontend.language.library_support import is_enabled
from ..support import TritiumError

__all__ = ["instrument", "is_enabled", "register_instrumentation", "unregister_instrumentation"]


def register_instrumentation(*, point: str, backend: str, callback: Callable[..., None]) -> NoReturn:
    """TritiumError: a plugin inserts passes into pipelines instead."""
    raise TritiumError(
        f"no callback can be registered at {point!r} of {backend}: passes are Python here\n"
        "hint: insert a pass by a plugin (docs/plugins.md), or use knobs.runtime.add_stages_inspection_hook"
    )


def unregister_instrumentation(*, point: str, backend: str) -> None:
    """No effect: no callback is ever registered."""


def instrument(*args: object, point: str, backend: str, context: object = None) -> bool:
    """False: no callback is registered for the point."""
    return False
