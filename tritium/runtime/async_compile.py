"""Compiling in the background: `AsyncCompileMode` and its future kernels."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

from ..support.errors import interrupts
from ..support.lazy import LazyModule

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from ..compiler.workers import CompilerPool

__all__ = ["AsyncCompileMode", "FutureKernel", "active_mode"]

_futures = LazyModule("concurrent.futures")

active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("tritium async compile", default=None)


class FutureKernel:
    """A kernel that is being compiled; `result()` waits for it. Attributes are those of the kernel.

    The first waiter also calls `told` with the kernel. `caught` are its deferred warnings.
    """

    def __init__(self, future: Future[Any], told: Callable[[Any], object] | None = None) -> None:
        self.future = future
        self.caught: list[Any] = []
        self._told = told

    def result(self, ignore_errors: bool = False) -> Any:
        """The compiled kernel; None instead of an error with `ignore_errors`."""
        try:
            kernel = self.future.result()
        except interrupts():
            raise
        except Exception:
            if ignore_errors:
                return None
            raise
        told, self._told = self._told, None
        if told is not None:
            told(kernel)
        return kernel

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)


class AsyncCompileMode:
    """Inside `with AsyncCompileMode(executor):`, `warmup` returns at once and compiles in the executor.

    At exit it waits for all compiles and raises the first error, unless `ignore_errors`. The executor's threads may
    pass the work to the worker `processes`.
    """

    def __init__(
        self, executor: Executor, *, ignore_errors: bool = False, processes: CompilerPool | None = None
    ) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.processes = processes
        self.kernels: list[FutureKernel] = []
        self._token: Token[AsyncCompileMode | None] | None = None

    def submit(self, compile_it: Callable[[], Any], told: Callable[[Any], object] | None = None) -> FutureKernel:
        """Compile in the background; the first waiter calls `told` with the kernel."""
        kernel = FutureKernel(self.executor.submit(compile_it), told)
        self.kernels.append(kernel)
        return kernel

    def __enter__(self) -> AsyncCompileMode:
        self._token = active_mode.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        assert self._token is not None
        active_mode.reset(self._token)
        for _ in _futures.as_completed([k.future for k in self.kernels]):
            pass
        for kernel in self.kernels:
            kernel.result(self.ignore_errors)
