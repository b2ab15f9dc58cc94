"""Extensions of the language: the device library, and functions of particular GPUs."""

from typing import TYPE_CHECKING

from ...support.lazy import lazy_attributes

if TYPE_CHECKING:
    from . import cuda, hip, libdevice

__getattr__ = lazy_attributes(__name__, {name: f".{name}:" for name in ("cuda", "hip", "libdevice")}, globals())
