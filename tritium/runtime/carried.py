"""Kernels in pickles.

A kernel is pickled by name, as functions are. PyTorch's compiler pickles compiled code with a kernel whose function it
took away (`fn = None`, `__globals__ = None`): such a one is its names and parameters, which is what launches ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..frontend.callee import Parameter, SourceFunction

__all__ = ["Carried"]


class Carried(SourceFunction):
    """What of a kernel goes into a pickle; assigning to what follows from the function says nothing."""

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
        """The globals of the function's module; None where the function was taken away."""
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
            return self.fn.__qualname__
        parameters = [(p.num, p.name, p.annotation) for p in self.params]
        names = {name: getattr(self, name) for name in ("__name__", "__qualname__", "__module__")}
        return _without_function, (type(self), parameters, {**names, "repr": self.repr})  # type: ignore[attr-defined]


def _without_function(cls: type[Carried], parameters: list[tuple[int, str, str]], members: dict[str, Any]) -> Carried:
    """A kernel out of a pickle that names its parameters, and cannot be compiled."""
    made = cls.__new__(cls)
    params = [Parameter(num, name, "POSITIONAL_OR_KEYWORD", None, annotation) for num, name, annotation in parameters]
    made.__dict__.update(members, fn=None, params=params, launch_metadata=None)
    return made
