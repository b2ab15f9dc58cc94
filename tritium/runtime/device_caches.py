"""The loaded kernels of a function in this process, by device and specialization."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

from ..backends.compiler import BaseBackend
from ..compiler import make_backend
from ..support import settings
from ..support.lazy import LazyModule

__all__ = ["DeviceCaches", "Kernels", "Specialization", "device_cache"]

_jit_parts = LazyModule(".jit_parts", __package__)


def device_cache(
    function: Any, target: Any
) -> tuple[Kernels, dict[object, str], Any, BaseBackend, Callable[..., object]]:
    """An entry of `device_caches`, as Triton's: kernels, keys of specializations, target, backend, and the binder,
    which programs that build launches of their own call."""
    return Kernels(), {}, target, make_backend(target), partial(_bind, function)


def _bind(function: Any, *args: object, **kwargs: object) -> object:
    return _jit_parts.binder_of(function)(*args, **kwargs)


class DeviceCaches(defaultdict[Any, Any]):
    """Compiled kernels by device; emptying it makes every kind of launch compile again.

    "cpu", as torch calls the current device of CPUs, is the device 0, as the CPU's driver calls it.
    """

    def __missing__(self, device: Any) -> Any:
        return self[0] if device == "cpu" else super().__missing__(device)

    def clear(self) -> None:
        """Forget all kernels."""
        settings.generation.value += 1
        super().clear()

    def pop(self, *args: Any) -> Any:
        """Forget the kernels of a device."""
        settings.generation.value += 1
        return super().pop(*args)

    def __delitem__(self, device: Any) -> None:
        settings.generation.value += 1
        super().__delitem__(device)


class Specialization:
    """One compiled kernel of a function, and its launch plans, by form of the call and classes of the arguments."""

    __slots__ = ("generation", "kernel", "plans", "repeats")

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel  # compiled, or a FutureKernel
        self.plans: dict[Any, Any] = {}
        self.repeats: dict[object, int] = {}  # launches after the first, by kind
        self.generation = -1

    def forget(self, generation: int) -> None:
        """Drop the plans, which were made with other settings."""
        self.generation = generation
        self.plans.clear()
        self.repeats.clear()

    def __getattr__(self, name: str) -> Any:
        """Attributes of the kernel, since programs expect kernels in `device_caches`."""
        if name == "kernel":
            raise AttributeError(name)
        return getattr(self.kernel, name)


class Kernels(dict[Any, Specialization]):
    """The kernels of a device by specialization, or by its text, which hooks receive."""

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (isinstance(key, str) and self._of_text(key) is not None)

    def __missing__(self, key: Any) -> Specialization:
        found = self._of_text(key) if isinstance(key, str) else None
        if found is None:
            raise KeyError(key)
        return found

    def _of_text(self, text: str) -> Specialization | None:
        return next((kernel for key, kernel in self.items() if str(key) == text), None)

    def clear(self) -> None:
        """Forget these kernels and their launch plans."""
        settings.generation.value += 1
        super().clear()
