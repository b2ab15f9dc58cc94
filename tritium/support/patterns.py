"""Regular expressions that are compiled when they are first used.

Compiling one takes 0.05 to 0.3 ms in Python's `re`, and of those that the modules of a compile define, a typical
compile uses a quarter: the others are for errors, for hand-written text, or for rare kinds of code.

>>> digits = pattern(r"[0-9]+")
>>> digits.findall("1 and 22")
['1', '22']
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["pattern"]

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn")


class _Pattern:
    """A regular expression that is compiled at the first use of a method, and then has the methods of the compiled
    one."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        return getattr(compiled, name)


if TYPE_CHECKING:
    from re import compile as pattern
else:

    def pattern(text: str | bytes, flags: int = 0) -> Any:
        """The expression, with the methods and attributes of `re.Pattern`; syntax errors are raised at first use."""
        return _Pattern(text, flags)
