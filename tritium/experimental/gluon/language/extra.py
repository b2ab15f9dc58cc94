"""Extensions of the language: the device library."""

from ....language.extra import libdevice

__all__ = ["libdevice"]
