"""`KernelInterface`: the base of launchable objects (kernels, autotuners, heuristics, classes of other libraries)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from ..frontend.callee import python_calls
from .arrays import MockTensor
from .errors import LaunchError

__all__ = ["KernelInterface"]

T = TypeVar("T")


class KernelInterface(Generic[T]):
    """A launchable object: `kernel[grid](*args, **kwargs)`."""

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launch on `grid`; with `warmup` only compile."""
        raise NotImplementedError(f"{type(self).__name__} does not define run()")

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        """Compile for these arguments without running; element types of torch or NumPy represent aligned arrays."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """A callable that launches with `grid`: one to three integers, or a function of the arguments' dict."""
        return partial(self.run, grid=grid, warmup=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A kernel cannot be called without a grid; within an interpreted kernel it is a device function."""
        if python_calls.execute is not None:
            return python_calls.execute(self, args, kwargs)
        raise LaunchError(
            f"{self.__name__} is a kernel: it cannot be called directly\n"  # type: ignore[attr-defined]
            f"hint: call {self.__name__}[grid](...), where grid says how many programs run, e.g. (1,)"  # type: ignore[attr-defined]
        )
