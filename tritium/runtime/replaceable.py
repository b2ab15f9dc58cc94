"""Support for programs that replace a kernel's `run`: tracers, recorders and tests assign `JITFunction.run` or
`kernel.run`.

A launch by `kernel[grid](...)` normally calls native code and no method at all. Where `run` has been replaced, in the
class, in a subclass or in one kernel, `kernel[grid]` calls the replacement with `grid=` and `warmup=False`, as Triton
does; a replacement usually calls the original, which launches as before. Restoring the original restores the native
launch. This costs launches nothing: the work is done at assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["Replaceable", "ReplaceableType"]


def _through_run(self: Any, grid: Any) -> Callable[..., Any]:
    return partial(self.run, grid=grid, warmup=False)


def _route(cls: Any) -> None:
    """Set `cls.__getitem__` by whether instances have the original `run`, which launches natively."""
    own = next(base for base in cls.__mro__ if "_native_getitem" in base.__dict__)
    native, getitem = own.__dict__["_native_run"], own.__dict__["_native_getitem"]
    current = cls.__dict__.get("__getitem__")
    if current not in (None, getitem, _through_run):
        return  # set by the program
    wanted = getitem if cls.run is native else _through_run
    if cls.__getitem__ is not wanted:
        type.__setattr__(cls, "__getitem__", wanted)


class ReplaceableType(type):
    """The type of a class whose `run` may be replaced. The class names its `_native_run` and `_native_getitem`."""

    def __setattr__(cls, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "run":
            cls._reroute()

    def __delattr__(cls, name: str) -> None:
        super().__delattr__(name)
        if name == "run":
            cls._reroute()

    def _reroute(cls) -> None:
        _route(cls)
        subclasses: list[Any] = list(cls.__subclasses__())
        for subclass in subclasses:
            subclass._reroute()


class Replaceable(metaclass=ReplaceableType):
    """The part of a kernel that detects an assignment to its `run`. `_at(grid)` makes `kernel[grid]`."""

    _at: Callable[[Any], Any] | None

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if "_native_getitem" not in cls.__dict__ and "run" in cls.__dict__:
            _route(cls)

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        if name == "run":
            self._at = partial(_through_run, self)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        if name == "run":
            self._at = None

    def _launch_natively_at(self, at: Callable[[Any], Any]) -> None:
        """`kernel[grid]` is `at(grid)` from now on, unless `run` of this kernel is replaced."""
        if "run" not in self.__dict__:
            self._at = at
