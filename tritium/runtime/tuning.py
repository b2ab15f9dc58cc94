"""One search of the autotuner: configurations are compiled by several processes and timed in order of completion."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from ..compiler.workers import shared_pool
from ..frontend.errors import CompileTimeAssertionFailure
from ..support import TritiumError, settings
from ..support.cores import usable_cores
from ..support.deferred_warnings import Caught, deferred, replay
from ..support.lazy import LazyModule
from ..support.progress import bar, shown
from .async_compile import AsyncCompileMode, FutureKernel, active_mode
from .errors import AutotunerError, OutOfResources, PTXASError
from .tuning_config import Config

__all__ = ["Search"]

_futures = LazyModule("concurrent.futures")

# expected errors of configurations; others are reported by a warning
_EXPECTED = (OutOfResources, PTXASError, CompileTimeAssertionFailure)

_WORTH_IT = 4  # cores: with fewer, starting processes costs more than they save

INFINITE = [float("inf")] * 3

_NOISE = 1.005  # times of one kernel that differ by less are the same


class _Quiet(AsyncCompileMode):
    """Stores the warnings of a future kernel's compile in its attribute `caught`."""

    def submit(self, compile_it: Callable[[], Any], told: Callable[[Any], object] | None = None) -> FutureKernel:
        caught: list[Caught] = []

        def compile_quietly() -> Any:
            with deferred() as found:
                try:
                    return compile_it()
                finally:
                    caught.extend(found)

        kernel = super().submit(compile_quietly, told)
        kernel.caught = caught
        return kernel


class Search:
    """The search for the fastest of `configs` for the kernel `name`.

    `timings` has milliseconds by configuration (median, 20 % and 80 % quantile), infinite for one that `failures` has
    an error for. Only the warnings of the `preferred` one are issued, unless autotuning is set to print.
    """

    def __init__(self, name: str, configs: Sequence[Config]) -> None:
        self.name = name
        self.configs = list(configs)
        self.timings: dict[Config, list[float]] = {}
        self.failures: dict[Config, Exception] = {}
        self._caught: dict[Config, list[Caught]] = {}
        self._promised: dict[Config, Any] = {}
        self._running: Config | None = None
        self._hold: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    # -- compiling ----------------------------------------------------------------------------------------------------

    def run(
        self, compile_it: Callable[[Config], Any], time_it: Callable[[Config], list[float]], alone: bool
    ) -> dict[Config, list[float]]:
        """The timings: `compile_it(config)` returns a future kernel, `time_it(config)` runs it, and may raise the error
        of an unfit configuration. `alone`: no compile runs during timing, since both would use the same cores;
        otherwise workers may compile meanwhile, on all cores but one, and this process does not.
        """
        with shown(self.describe), self._compiling(compile_it, spared=0 if alone else 1):
            for config in self._in_turn(alone):
                self._running = config
                with deferred() as caught, self._hold():
                    self.timings[config] = time_it(config)
                self._caught[config] = [*getattr(self._promised.get(config), "caught", ()), *caught]
                self._running = None
        self.timings = {config: self.timings[config] for config in self.configs}
        self._tell()
        return self.timings

    def kernels(self, compile_it: Callable[[Config], Any]) -> list[Any]:
        """The kernels of all configurations, compiled and not timed; raises the first error."""
        with shown(self.describe), self._compiling(compile_it):
            made = (self._promised[c] if c in self._promised else compile_it(c) for c in self.configs)
            kernels = [kernel.result() if isinstance(kernel, FutureKernel) else kernel for kernel in made]
        replay(
            dict.fromkeys(warning for kernel in self._promised.values() for warning in getattr(kernel, "caught", ()))
        )
        return kernels

    @contextlib.contextmanager
    def _compiling(self, compile_it: Callable[[Config], Any], spared: int = 0) -> Iterator[None]:
        """Compile all configurations in the background, as far as possible, on all cores but those `spared`."""
        cores = usable_cores()
        processes = settings.autotuning.processes or (cores - spared if cores >= _WORTH_IT else 1)
        if len(self.configs) < 2 or processes < 2:
            yield
            return
        pool = shared_pool(processes)
        pool.expect(len(self.configs))
        self._hold = pool.held
        with _futures.ThreadPoolExecutor(len(self.configs)) as executor:
            token = active_mode.set(_Quiet(executor, processes=pool))
            try:
                for config in sorted(self.configs, key=_work, reverse=True):
                    with contextlib.suppress(Exception):  # timing raises the error again
                        self._promised[config] = compile_it(config)
            finally:
                active_mode.reset(token)
            try:
                yield
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                raise

    def _in_turn(self, alone: bool) -> Iterator[Config]:
        """The configurations in order of completion; in their own order if timing waits for all compiles."""
        futures = {c: k.future for c, k in self._promised.items() if isinstance(k, FutureKernel)}
        if alone:
            _futures.wait(futures.values()) if futures else None
            yield from self.configs
            return
        yield from (c for c in self.configs if c not in futures)
        by_future: dict[Any, list[Config]] = {}
        for config, future in futures.items():  # configurations of the same kernel are timed separately
            by_future.setdefault(future, []).append(config)
        for future in _futures.as_completed(by_future) if futures else ():
            yield from by_future[future]

    # -- progress ----------------------------------------------------------------------------------------------------

    @property
    def best(self) -> tuple[Config, float] | None:
        """The fastest so far, and its milliseconds."""
        fit = [(c, t[0]) for c, t in list(self.timings.items()) if t[0] != float("inf")]
        return min(fit, key=lambda found: found[1]) if fit else None

    @property
    def preferred(self) -> Config | None:
        """The fastest configuration; if its compile issued warnings (spills, serialized WGMMAs), one without that is as
        fast. None where none works."""
        if self.best is None:
            return None
        fastest, least = self.best
        if not self._caught[fastest]:
            return fastest
        quiet = [c for c, t in self.timings.items() if t[0] <= _NOISE * least and not self._caught[c]]
        return min(quiet, key=lambda c: self.timings[c][0], default=fastest)

    def describe(self) -> str:
        """The progress, in one to three lines."""
        waiting = [k for k in list(self._promised.values()) if isinstance(k, FutureKernel) and not k.future.done()]
        doing = [f"compiling {len(waiting)}"] if waiting else []
        running, best = self._running, self.best
        if running is not None:
            doing.append(f"running {running}")
        lines = [f"autotuning {self.name} {bar(len(self.timings), len(self.configs))}", ", ".join(doing)]
        if best is not None:
            lines.append(f"best so far: {best[1]:.4g} ms, {best[0]}")
        return "\n  ".join(filter(None, lines))

    def fail(self, config: Config, error: Exception) -> list[float]:
        """Note that a configuration cannot be used; its timing."""
        self.failures[config] = error
        return INFINITE

    def _tell(self) -> None:
        """Issue the warnings of the preferred configuration; report failures, unexpected errors as a warning."""
        preferred = self.preferred
        if preferred is not None:
            replay(dict.fromkeys(self._caught[preferred]))
        if settings.autotuning.print:
            for config, caught in self._caught.items():
                for _, text in dict.fromkeys(caught):
                    print(f"autotuning {self.name}: {config}: {text}")
        if not self.failures or len(self.failures) == len(self.configs):
            return
        lines = [f"  {config}: {_first_line(error)}" for config, error in self.failures.items()]
        count = f"{len(lines)} of {len(self.configs)} configurations"
        text = "\n".join([f"autotuning {self.name}: {count} cannot be used", *lines])
        if settings.autotuning.print:
            print(text)
        elif any(not isinstance(e, _EXPECTED) for e in self.failures.values()):
            warnings.warn(text, UserWarning, stacklevel=2)
        elif settings.runtime.progress and getattr(sys.stderr, "isatty", bool)():
            print(text, file=sys.stderr)

    def error(self) -> Exception:
        """The error if all configurations failed: the kernel's own error if it is always the same."""
        errors = list(self.failures.values())
        last = errors[-1]
        if isinstance(last, TritiumError) and not isinstance(last, _EXPECTED):
            if all(type(e) is type(last) and str(e) == str(last) for e in errors):
                return last
        text = f"{self.name}: none of {len(self.configs)} configurations works; the last: {last}"
        error = AutotunerError(text)
        error.__cause__ = last
        return error


def _work(config: Config) -> float:
    """An estimate of a configuration's compile time: it grows with the elements per warp. The longest are started
    first."""
    return prod(max(v, 1) for v in config.kwargs.values() if type(v) is int) / config.num_warps


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
