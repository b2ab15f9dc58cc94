"""Settings under Triton's name, `tritium.knobs`: see `tritium.support.settings`.

>>> from tritium import knobs
>>> knobs.runtime.debug
False

Besides the groups of settings it has Triton's classes for settings of a program, and types for hooks. Assigning `env`
to a setting makes the environment apply again; `propagate_env = False` keeps assignments out of the environment. A
group may be replaced by another one of its kind, `knobs.amd = knobs.amd.copy().reset()`, and be restored later.

>>> class mine(knobs.base_knobs):
...     level = knobs.env_int("MY_LEVEL", 3)
>>> mine().level
3
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from .support import settings as _settings
from .support.device_settings import AmdSettings, NvidiaSettings, ProtonSettings
from .support.lazy import LazyModule, lazy_attributes
from .support.setting import (
    ClassName,
    Environment,
    Flag,
    Folder,
    Group,
    Integer,
    OptionalFlag,
    Setting,
    Text,
    environment,
    propagation,
)
from .support.settings import (
    AutotuningSettings,
    BuildSettings,
    CacheSettings,
    CompilationSettings,
    HookChain,
    LanguageSettings,
    RedisSettings,
    RuntimeSettings,
    amd,
    autotuning,
    build,
    cache,
    compilation,
    language,
    proton,
    redis,
    refresh_knobs,
    runtime,
)

if TYPE_CHECKING:
    from .support.hook_types import (
        AutotuneListener,
        BuildImpl,
        CompilationListener,
        InitHandleHook,
        JITHook,
        JITHookCompileInfo,
        KernelAttr,
        LaunchHook,
        PipelineStagesHook,
    )

__all__ = [
    "AutotuneListener",
    "BuildImpl",
    "CompilationListener",
    "Env",
    "HookChain",
    "InitHandleHook",
    "JITHook",
    "JITHookCompileInfo",
    "KernelAttr",
    "LaunchHook",
    "NvidiaTool",
    "PipelineStagesHook",
    "amd",
    "amd_knobs",
    "autotuning",
    "autotuning_knobs",
    "base_knobs",
    "build",
    "build_knobs",
    "cache",
    "cache_knobs",
    "compilation",
    "compilation_knobs",
    "env",
    "env_base",
    "env_bool",
    "env_class",
    "env_int",
    "env_nvidia_tool",
    "env_opt_bool",
    "env_opt_str",
    "env_str",
    "env_str_callable_default",
    "language",
    "language_knobs",
    "nvidia",
    "nvidia_knobs",
    "proton",
    "proton_knobs",
    "redis",
    "redis_knobs",
    "refresh_knobs",
    "runtime",
    "runtime_knobs",
    "setenv",
    "toenv",
]  # and CompileTimes, propagate_env (see `_Knobs`)

_toolchain = LazyModule(".backends.nvidia.toolchain", __package__)
_stages = LazyModule(".compiler.run_stages", __package__)
_HOOK_TYPES = (
    "AutotuneListener",
    "BuildImpl",
    "CompilationListener",
    "InitHandleHook",
    "JITHook",
    "JITHookCompileInfo",
    "KernelAttr",
    "LaunchHook",
    "PipelineStagesHook",
)
__getattr__ = lazy_attributes(__name__, dict.fromkeys(_HOOK_TYPES, ".support.hook_types"), globals(), __package__)
_PROGRAMS = frozenset(("ptxas", "nvdisasm", "cuobjdump"))

Env, env = Environment, environment
base_knobs = Group
amd_knobs, autotuning_knobs, build_knobs, cache_knobs = AmdSettings, AutotuningSettings, BuildSettings, CacheSettings
compilation_knobs, language_knobs, nvidia_knobs = CompilationSettings, LanguageSettings, NvidiaSettings
proton_knobs, redis_knobs, runtime_knobs = ProtonSettings, RedisSettings, RuntimeSettings


# ---- settings of one's own ------------------------------------------------------------------------------------------


class env_base(Setting[Any]):
    """The base of kinds of settings that programs define: `get` reads the environment, `transform` converts assigned
    values.

    Assigned values are written to the variable `key`, as texts.
    """

    def __init__(self, key: str) -> None:
        super().__init__(None, key)

    def get(self) -> Any:
        """The value without an assignment; subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__} has no get()")

    def transform(self, val: Any) -> Any:
        """The value read after an assignment."""
        return val

    def format(self, value: Any) -> str:
        """The text in the environment."""
        text = toenv(value)
        return str(value) if text is None or text[0] is None else text[0]

    def __get__(self, group: Any, owner: type) -> Any:
        if group is None:
            return self
        values = group.__dict__
        return self.transform(values[self.name]) if self.name in values else self.get()


def env_str(key: str, default: str) -> Text:
    """A text of the variable `key`."""
    return Text(default, key)


def env_str_callable_default(key: str, default_factory: Callable[[], str]) -> Folder:
    """A text of the variable `key`; if that is not set, the result of the function."""
    return Folder(default_factory, "", key)


def env_opt_str(key: str) -> Text:
    """A text of the variable `key`, or None."""
    return Text(None, key)


def env_bool(key: str, default: bool = False) -> Flag:
    """A flag of the variable `key`."""
    return Flag(default, key)


def env_opt_bool(key: str) -> OptionalFlag:
    """A flag of the variable `key`, or None."""
    return OptionalFlag(key)


def env_int(key: str, default: int = 0) -> Integer:
    """An integer of the variable `key`."""
    return Integer(default, key)


def env_class(key: str, type: str) -> ClassName:
    """The class named by the variable `key` as `module:Class`, derived from one named `type`."""
    return ClassName(type, key)


class NvidiaTool(NamedTuple):
    """A tool of NVIDIA's: its path, and its CUDA release ("13.0")."""

    path: str
    version: str

    @staticmethod
    def from_path(path: str) -> NvidiaTool | None:
        """The program at `path`; None if there is none that reports its version."""
        try:
            major, minor = _toolchain.tool_version(_toolchain.Tool(os.path.basename(path), path, "setting"))
        except (OSError, _toolchain.PTXASError):
            return None
        return NvidiaTool(path, f"{major}.{minor}")


class env_nvidia_tool(env_base):
    """A tool of NVIDIA's, which TRITON_<NAME>_PATH may name; its value is a `NvidiaTool`, or None."""

    def __init__(self, binary: str) -> None:
        super().__init__(f"TRITON_{binary.upper().replace('-', '_')}_PATH")

    def get(self) -> NvidiaTool | None:
        """The tool named by the environment."""
        paths = (os.environ.get(variable) for variable in self.env)
        return self.transform(next((path for path in paths if path is not None), None))

    def transform(self, val: Any) -> NvidiaTool | None:
        """The tool at a path."""
        return NvidiaTool.from_path(val) if isinstance(val, str) else val  # type: ignore[no-any-return]

    def format(self, value: Any) -> str:
        """The path."""
        return value.path if isinstance(value, NvidiaTool) else str(value)


class _Nvidia(NvidiaSettings):
    """The settings `nvidia`, with the tools found (None for missing ones)."""

    @classmethod
    def settings(cls) -> dict[str, Setting[Any]]:
        """Those of `NvidiaSettings`."""
        return NvidiaSettings.settings()

    def __getattribute__(self, name: str) -> Any:
        if name == "ptxas_blackwell":  # Triton has an assembler for each generation; one serves all of them here
            path = super().__getattribute__(name)
            return self.ptxas if path is None else NvidiaTool.from_path(path)
        if name not in _PROGRAMS:
            return super().__getattribute__(name)
        tool = _toolchain.find_tool(name)
        return None if tool is None else NvidiaTool.from_path(tool.path)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value.path if isinstance(value, NvidiaTool) else value)


nvidia = _Nvidia()
nvidia.__dict__ = _settings.nvidia.__dict__  # the backend reads values assigned here


# ---- the environment ------------------------------------------------------------------------------------------------


def toenv(val: Any) -> tuple[str | None] | None:
    """The text of a value in the environment, in a tuple; None for a value without one.

    >>> toenv(True), toenv(None), toenv([])
    (('1',), (None,), None)
    """
    if val is None or type(val) is str:
        return (val,)
    if type(val) is bool:
        return ("1" if val else "0",)
    return (str(val),) if type(val) is int else None


def setenv(key: str, value: str | None) -> None:
    """Set a variable of the environment, or remove it (None); nothing with `propagate_env = False`."""
    if not propagation.on:
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


_values: dict[str, dict[str, Any]] = {}  # the assigned values of groups before they were replaced


class _Knobs(ModuleType):
    """This module: some of its names are looked up elsewhere."""

    def __setattr__(self, name: str, value: Any) -> None:
        """A group that replaces another one is read by the compiler: both then have the same values."""
        group = _settings.GROUPS.get(name)
        if group is not None and isinstance(value, Group):
            own = _values.setdefault(name, group.__dict__)
            group.__dict__ = own if value is group else value.__dict__
            _settings.refresh_knobs()
        super().__setattr__(name, value)

    @property
    def propagate_env(self) -> bool:
        """Whether assigned values are written to the environment, for child processes."""
        return propagation.on

    @propagate_env.setter
    def propagate_env(self, value: bool) -> None:
        propagation.on = value

    @property
    def CompileTimes(self) -> type:
        """The times that compilation listeners receive."""
        return _stages.CompileTimes  # type: ignore[no-any-return]


sys.modules[__name__].__class__ = _Knobs
