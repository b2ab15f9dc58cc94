"""Pickling of kernels.

A kernel is pickled by name, as functions are; so are the objects that decorators make of it, and the kernel inside them
by the path of attributes to it. PyTorch's compiler pickles compiled code with a kernel whose function it removed
(`fn = None`, `__globals__ = None`): such a kernel is pickled as its names and parameters, which launches use.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any

from ..frontend.callee import Parameter, SourceFunction

__all__ = ["PickledByName", "PickledWrapper"]


class PickledByName(SourceFunction):
    """A kernel pickled by the name of its function; assignments to attributes derived from the function are ignored."""

    do_not_specialize: Sequence[int | str]
    do_not_specialize_on_alignment: Sequence[int | str]

    @cached_property
    def params(self) -> list[Parameter]:
        """The parameters in order."""
        found: list[Parameter] = SourceFunction.params.func(self)  # type: ignore[attr-defined]
        for p in found:
            p.do_not_specialize = bool({p.num, p.name} & {*self.do_not_specialize})
            p.do_not_specialize_on_alignment = bool({p.num, p.name} & {*self.do_not_specialize_on_alignment})
        return found

    @property
    def __globals__(self) -> dict[str, Any] | None:
        """The globals of the function's module; None where the function was removed."""
        return None if self.fn is None else self.fn.__globals__

    @__globals__.setter
    def __globals__(self, value: Any) -> None:
        pass

    @property
    def used_global_vals(self) -> dict[tuple[str, int], tuple[Any, dict[str, Any]]]:
        """The global values compiled into the code, of callees too: (name, id of the dict) -> (value, dict)."""
        return {} if self.fn is None else super().used_global_vals

    @used_global_vals.setter
    def used_global_vals(self, value: Any) -> None:
        pass

    def __reduce__(self) -> Any:
        """A name (a copy is the kernel itself); the parameters of one without its function."""
        if self.fn is not None:
            return _by_name(self, self.fn) or self.fn.__qualname__
        parameters = [(p.num, p.name, p.annotation) for p in self.params]
        names = {name: getattr(self, name) for name in ("__name__", "__qualname__", "__module__")}
        return _without_function, (type(self), parameters, {**names, "_repr": self._repr})  # type: ignore[attr-defined]


class PickledWrapper:
    """An object that a decorator makes of a kernel (`fn`): pickled by the kernel's name if that leads to it."""

    fn: Any

    def __reduce_ex__(self, protocol: Any) -> Any:
        """The path to it from the module; `copy.copy` makes another one."""
        return _by_name(self, _innermost(self)) or super().__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        return made


def _innermost(kernel: Any) -> Any:
    """The Python function under decorators."""
    while hasattr(kernel, "fn"):
        kernel = kernel.fn
    return kernel


def _named(module: str, name: str, depth: int) -> Any:
    """The object of this name, without `depth` of its decorators."""
    found = reduce(getattr, name.split("."), sys.modules.get(module) or __import__(module, fromlist=["_"]))
    for _ in range(depth):
        found = found.fn
    return found


def _by_name(kernel: Any, function: Any) -> Any:
    """The reduction of `kernel` to the name of its Python function; None if that name does not lead to it."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    try:
        found: Any = _named(module, name, 0) if module else None
    except (AttributeError, ImportError):
        return None
    depth = 0
    while found is not kernel and hasattr(found, "fn"):
        found, depth = found.fn, depth + 1
    return (_named, (module, name, depth)) if found is kernel else None


def _without_function(
    cls: type[PickledByName], parameters: list[tuple[int, str, str]], members: dict[str, Any]
) -> PickledByName:
    """An unpickled kernel without its function: it has parameters, and cannot be compiled."""
    made = cls.__new__(cls)
    params = [Parameter(num, name, "POSITIONAL_OR_KEYWORD", None, annotation) for num, name, annotation in parameters]
    made.__dict__.update(members, fn=None, params=params, launch_metadata=None)
    return made
