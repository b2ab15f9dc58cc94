"""A global value that is compiled into a kernel, and whether it has changed since.

The name may be bound to another value, and the value may have been changed in place: `SIZE.value = 8`, or an item of a
list. So its identity at the time when the kernel's key was computed is kept with the object.
"""

from __future__ import annotations

from typing import Any

from ..support.errors import interrupts
from .identity import identity
from .references import is_constexpr

__all__ = ["CapturedGlobal", "changeable"]

_SETTLED = (int, float, bool, str, bytes, type(None))
_ABSENT = object()


def changeable(value: Any) -> bool:
    """Can it be changed in place? (Pass the value inside a `constexpr`.)

    >>> changeable((1, "a")), changeable((1, []))
    (False, True)
    """
    if type(value) in _SETTLED or (type(value).__name__ == "dtype" and hasattr(value, "primitive_bitwidth")):
        return False
    return not isinstance(value, tuple) or any(map(changeable, value))


class CapturedGlobal:
    """The value that a kernel captured as `name` from the dict `scope`; `text` is its identity at that time."""

    __slots__ = ("inner", "name", "scope", "text", "value")

    def __init__(self, name: str, value: Any, scope: dict[str, Any], text: str) -> None:
        self.name = name
        self.value = value
        self.scope = scope
        self.text = text
        self.inner = value.value if is_constexpr(value) else value

    @property
    def settled(self) -> bool:
        """True if it cannot be changed in place: unchanged as long as `inner` is the same object."""
        return not changeable(self.inner)

    def now(self, absent: Any = None) -> Any:
        """The current value of the name; `absent` if it is unbound."""
        return self.scope.get(self.name, absent)

    def holds(self) -> bool:
        """Is the current value of the name equal to the captured one?"""
        now = self.now(_ABSENT)
        if now is self.value and self.settled:
            inner = now.value if is_constexpr(now) else now
            if inner is self.inner:
                return True
        return now is not _ABSENT and (now is self.value or _alike(now, self.value)) and identity(now) == self.text


def _alike(a: Any, b: Any) -> bool:
    """Can two objects be equal? Identities of objects of libraries are too coarse to tell."""
    if is_constexpr(a) and is_constexpr(b):
        a, b = a.value, b.value
    try:
        return type(a) is type(b) and bool(a is b or a == b or (a != a and b != b))
    except interrupts():
        raise
    except Exception:  # an == that fails or returns no truth value
        return False
