"""Named tuples as `typing.NamedTuple` has them, at a sixth of the price of making a class.

The standard library writes a constructor as text and compiles it, 0.2 ms a class, and a process that compiles one
kernel imports thirty of them. Here all classes share one constructor, which gives as many values as there are fields to
`tuple` as they are; a class that is often called with keywords or defaults gets the standard's.

What may be seen is the standard's: `_fields`, `_field_defaults`, `_replace`, `_asdict`, `_make`, `match`, pickles, and
its own message where arguments are missing or too many.

>>> class Point(NamedTuple):
...     x: int
...     y: int = 0
>>> Point(1), Point(y=2, x=1)._replace(x=3), Point(4) == (4, 0), Point(*"ab").y
(Point(x=1, y=0), Point(x=3, y=2), True, 'b')
"""

from __future__ import annotations

from collections import _tuplegetter  # type: ignore[attr-defined]  # what the standard's fields are read by
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .lazy import LazyModule

__all__ = ["NamedTuple"]

_standard = LazyModule("collections")

WRITTEN_AFTER = 64  # instances with keywords or defaults: then the standard's constructor costs what it saves


def _new(cls: Any, /, *args: Any, **kwargs: Any) -> Any:
    if kwargs or len(args) != len(cls._fields):
        args = _completed(cls, args, kwargs)
    return tuple.__new__(cls, args)


def _completed(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The values of all fields, in order; what the standard raises where that cannot be."""
    names = cls._fields
    given = {**cls._field_defaults, **dict(zip(names, args)), **kwargs}
    wrong = len(args) > len(names) or len(given) != len(names) or not kwargs.keys().isdisjoint(names[: len(args)])
    cls._completed += 1
    if wrong or cls._completed > WRITTEN_AFTER:
        constructor = _standard.namedtuple(cls.__name__, names, defaults=cls._field_defaults.values()).__new__
        cls.__new__ = constructor
        return constructor(cls, *args, **kwargs)
    return tuple([given[name] for name in names])


def _make(cls: Any, values: Iterable[Any]) -> Any:
    """A tuple of this class with the values of any iterable; TypeError where these are not as many as the fields."""
    made = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    """A new tuple that differs by `changes`; ValueError for names of no field."""
    made = self._make([changes.pop(name, value) for name, value in zip(self._fields, self)])
    if changes:
        raise ValueError(f"Got unexpected field names: {list(changes)!r}")
    return made


def _asdict(self: Any) -> dict[str, Any]:
    """The values by the names of their fields."""
    return dict(zip(self._fields, self))


def _repr(self: Any) -> str:
    return f"{self.__class__.__name__}({', '.join([f'{n}={v!r}' for n, v in zip(self._fields, self)])})"


def _arguments(self: Any) -> tuple[Any, ...]:
    """What pickle and copy make another of."""
    return tuple(self)


_METHODS = {
    "__new__": _new,
    "__repr__": _repr,
    "__getnewargs__": _arguments,
    "_asdict": _asdict,
    "_make": classmethod(_make),
    "_replace": _replace,
    "__slots__": (),
    "_completed": 0,
}


class _Meta(type):
    """Makes a plain class, whose base is `tuple`, of a class statement."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        if len(bases) > 1:
            raise TypeError("a named tuple has no other base")
        names = tuple(namespace.get("__annotations__", ()))
        defaults = {n: namespace[n] for n in names if n in namespace}
        if len(defaults) and tuple(defaults) != names[-len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one that has one")
        fields = {n: _tuplegetter(i, f"Alias for field number {i}") for i, n in enumerate(names)}
        told = {"_fields": names, "_field_defaults": defaults, "__match_args__": names}
        return type(name, (tuple,), {**_METHODS, **namespace, **fields, **told})


if TYPE_CHECKING:
    from typing import NamedTuple
else:
    NamedTuple = type.__new__(_Meta, "NamedTuple", (), {"__doc__": "The base in a class statement of a named tuple."})
