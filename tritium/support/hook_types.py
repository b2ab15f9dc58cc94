"""Types of hooks and listeners for annotations, under Triton's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypedDict

__all__ = [
    "AutotuneListener",
    "BuildImpl",
    "CompilationListener",
    "InitHandleHook",
    "JITHook",
    "JITHookCompileInfo",
    "KernelAttr",
    "LaunchHook",
    "PipelineStagesHook",
]

KernelAttr = list["str | int"]


class CompilationListener(Protocol):
    """`compilation.listener`: called once per compile, at its end or after a cache hit.

    `times` is a `CompileTimes`: microseconds of each stage, all zero for a kernel from the cache.
    """

    def __call__(
        self, *, src: Any, metadata: dict[str, Any], metadata_group: dict[str, Any], times: Any, cache_hit: bool
    ) -> None: ...


class AutotuneListener(Protocol):
    """`autotuning.listener`: called at the end of a search, or when its result was on disk. `duration` is in
    seconds, None for a result from disk."""

    def __call__(
        self,
        *,
        fn: Any,
        key: tuple[Any, ...],
        best_config: Any,
        configs_timings: dict[Any, list[float]],
        duration: float | None,
        cache_hit: bool,
    ) -> None: ...


class LaunchHook(Protocol):
    """`runtime.launch_enter_hook` and `launch_exit_hook`: `metadata.get()` describes the launch."""

    def __call__(self, metadata: Any) -> None: ...


class InitHandleHook(Protocol):
    """`runtime.kernel_load_start_hook` (`module` and `function` are None then), `kernel_load_end_hook`,
    `kernel_unload_hook`."""

    def __call__(
        self,
        module: object | None,
        function: Any,
        name: str,
        metadata_group: dict[str, Any],
        hash: str,
    ) -> None: ...


class JITHookCompileInfo(TypedDict):
    """The description of a compile for `JITHook`, besides the options of the target by name."""

    key: str
    signature: dict[str, Any]
    device: int
    constants: dict[Any, Any]
    configs: list[dict[tuple[int, ...], list[KernelAttr]]]
    specialization_data: str
    is_warmup: bool


class JITHook(Protocol):
    """`runtime.jit_cache_hook` before a compile, cancelled by a true result, and `jit_post_compile_hook` after one."""

    def __call__(
        self,
        *,
        key: str,
        repr: str,
        fn: Any,
        compile: JITHookCompileInfo,
        is_manual_warmup: bool,
        already_compiled: bool,
    ) -> bool | None: ...


class PipelineStagesHook(Protocol):
    """`runtime.add_stages_inspection_hook`: may replace, add, wrap and remove `stages`; called without arguments it
    returns its key and the key's hash, which become part of the kernel's."""

    def __call__(
        self, backend: Any, stages: dict[str, Callable[..., Any]], options: Any, language: Any, capability: Any
    ) -> Any: ...


class BuildImpl(Protocol):
    """`build.impl`: kernels are not built with a C compiler, so that it is not called for them."""

    def __call__(
        self,
        name: str,
        src: str,
        srcdir: str,
        library_dirs: list[str],
        include_dirs: list[str],
        libraries: list[str],
        /,
    ) -> str: ...
