"""`tritium.language.math`: mathematical functions; names of the device library are found here too."""

# ruff: noqa: F403
from typing import Any

from ..frontend.language import libdevice as _libdevice
from ..frontend.language.mathematics import *

max = _libdevice.max
min = _libdevice.min


def __getattr__(name: str) -> Any:
    if name in _libdevice.__all__:
        return getattr(_libdevice, name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
