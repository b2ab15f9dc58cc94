"""The child process that runs a script: its compiles are traced, its launches and autotuning are reported.

python -m tritium.explorer.script DESCRIPTOR FOLDER TRACE TARGET SCRIPT ARGUMENTS…
"""

from __future__ import annotations

import sys
import warnings

from ..compiler import CompiledKernel, CompileTimes
from ..runtime.autotuner import Autotuner
from ..runtime.grid import normalize_grid
from ..runtime.hooks import HookMetadata
from ..runtime.tuning_config import Config
from ..support import settings
from ..tools.run import run_script
from . import artifacts
from .arguments import describe_arguments, keep_arguments
from .cache_report import CacheReport
from .json_types import Record
from .launch_target import launches_on
from .messages import Channel, end_with_parent

__all__ = ["main"]


class _Watcher:
    """Reports compiles and launches: a kernel is kept once, with the arguments of its first launch."""

    def __init__(self, channel: Channel, folder: str) -> None:
        self.channel, self.folder = channel, folder
        self.counts: dict[str, int] = {}
        self.cache = CacheReport()
        self.propagate_errors = False

    def compiled(self, *, metadata: Record, metadata_group: dict[str, str], times: CompileTimes, **_: object) -> None:
        """Keep the kernel of a compile, and report whether the cache had it."""
        key = metadata["hash"]
        artifacts.keep_files(self.folder, metadata, metadata_group)
        state, reason = self.cache.of(key, metadata["name"], getattr(times, "cache_miss", None))
        self.channel.send(type="compiled", key=key, state=state, reason=reason)

    def __call__(self, metadata: HookMetadata) -> None:
        """What a launch calls before it runs."""
        kernel = metadata.kernel
        count = self.counts[kernel.hash] = self.counts.get(kernel.hash, 0) + 1
        if count > 1:
            if count & (count - 1) == 0:
                self.channel.send(type="launched", key=kernel.hash, count=count)
            return
        values = dict(zip(kernel.src.signature, metadata.args))
        grid = normalize_grid(metadata.grid, lambda: values, kernel.name)
        artifacts.keep_kernel(self.folder, _with_lines(kernel), kernel.hash)
        request = keep_arguments(self.folder, kernel, values)
        about = describe_arguments(values)
        self.channel.send(type="launched", key=kernel.hash, count=1, grid=list(grid), arguments=about, request=request)


def _with_lines(kernel: CompiledKernel) -> CompiledKernel:
    """The same kernel with line information in its machine code, which a target may omit to save time."""
    wanted = kernel.backend.located_options()
    if all(kernel.values.get(name) == value for name, value in wanted.items()):
        return kernel
    with settings.compilation.scope():
        settings.compilation.trace = settings.compilation.listener = None
        return kernel.compiled_with(**wanted)


def _report_tuning(channel: Channel) -> None:
    """Report every configuration that an autotuner times, in this process."""
    tune, bench = Autotuner._tune, Autotuner._bench

    def reporting_tune(
        self: Autotuner, key: tuple[object, ...], configs: list[Config], args: tuple[object, ...], kwargs: Record
    ) -> bool:
        rows = [_config(c) for c in configs]
        name = self.base_fn.__name__
        channel.send(type="tuning", state="running", kernel=name, key=str(key), configs=rows)
        try:
            return tune(self, key, configs, args, kwargs)
        finally:
            best = (self.cache or {}).get(key)
            chosen = None if best is None else _config(best)
            channel.send(type="tuning", state="done", kernel=name, key=str(key), best=chosen)

    def reporting_bench(self: Autotuner, *args: object, config: Config, **meta: object) -> list[float]:
        try:
            found = bench(self, *args, config=config, **meta)
        except Exception as error:
            channel.send(type="timed", kernel=self.base_fn.__name__, config=_config(config), error=str(error))
            raise
        unfit = self._unfit.get(config)
        result = {"ms": float(found[0])} if unfit is None else {"error": str(unfit)}
        channel.send(type="timed", kernel=self.base_fn.__name__, config=_config(config), **result)
        return found

    for method, replacement in (("_tune", reporting_tune), ("_bench", reporting_bench)):
        setattr(Autotuner, method, replacement)


def _config(config: Config) -> dict[str, str]:
    return {name: str(value) for name, value in config.all_kwargs().items() if value is not None}


def main(arguments: list[str]) -> int:
    """Run the script; its exit status."""
    channel, (folder, trace, target, path, *rest) = Channel(int(arguments[0])), arguments[1:]
    end_with_parent()
    watcher = _Watcher(channel, folder)
    settings.compilation.trace = trace
    settings.compilation.always_compile = True  # a kernel of the cache has nothing to show
    settings.compilation.listener = watcher.compiled
    settings.runtime.launch_enter_hook = watcher
    _report_tuning(channel)
    with warnings.catch_warnings(), launches_on(target):
        run_script(path, rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
