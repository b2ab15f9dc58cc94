"""`dataclass` as the standard library has it, but its methods are written when the first instance is made.

The standard decorator compiles the text of up to six methods a class, 0.3 to 0.5 ms; a process that compiles one kernel
imports some sixty such classes and makes instances of a third of them.

>>> @dataclass(frozen=True)
... class Point:
...     x: int
...     y: int = 0
>>> Point(1) == Point(1, 0), hash(Point(2)) == hash(Point(2)), Point(3)
(True, True, Point(x=3, y=0))
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

_lock = threading.RLock()

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """The standard decorator with its options, put off; not with `slots`, which makes another class. Fields are all
        given by position or keyword: none is `InitVar`, `init=False` or `kw_only`."""
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        if options.get("slots") or "__init__" in cls.__dict__:
            return dataclasses.dataclass(cls, **options)
        return _put_off(cls, options)


def _put_off(cls: Any, options: dict[str, Any]) -> Any:
    """Have the methods of `cls` written by whoever first makes an instance, or asks for its fields."""

    def complete() -> None:
        with _lock:
            if cls.__dict__["__init__"] is first:
                dataclasses.dataclass(**{**options, "init": False})(cls)
                cls.__init__ = _constructor(cls)  # last: until now, other threads come by `first`, and wait

    def first(self: Any, *args: Any, **kwargs: Any) -> None:
        complete()
        cls.__init__(self, *args, **kwargs)

    cls.__init__ = first
    cls.__dataclass_fields__ = _Fields(cls, complete)
    return cls


class _Fields:
    """What stands for the fields of a class, by which others tell that it is a dataclass, until they are known."""

    def __init__(self, cls: Any, complete: Callable[[], None]) -> None:
        self.cls, self.complete = cls, complete

    def __get__(self, instance: object, owner: type) -> Any:
        self.complete()
        return self.cls.__dataclass_fields__


def _constructor(cls: Any) -> Any:
    """`__init__` of a dataclass that has everything else."""
    fields = dataclasses.fields(cls)
    frozen = cls.__dataclass_params__.frozen
    scope: dict[str, Any] = {"missing": dataclasses.MISSING, "set_field": object.__setattr__}
    parameters, lines = ["self"], []
    for f in fields:
        value = f.name
        if f.default is not dataclasses.MISSING:
            scope[f"default_{f.name}"] = f.default
            parameters.append(f"{f.name}=default_{f.name}")
        elif f.default_factory is not dataclasses.MISSING:
            scope[f"make_{f.name}"] = f.default_factory
            parameters.append(f"{f.name}=missing")
            value = f"make_{f.name}() if {f.name} is missing else {f.name}"
        else:
            parameters.append(f.name)
        lines.append(f" set_field(self, {f.name!r}, {value})" if frozen else f" self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines, " return None"]), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**{f.name: f.type for f in fields}, "return": None}
    return made
