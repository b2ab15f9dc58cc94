"""Settings under Triton's name, `tritium.knobs`: see `tritium.support.settings`.

>>> from tritium import knobs
>>> knobs.runtime.debug
False
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .support import settings as _settings
from .support.lazy import LazyModule
from .support.settings import (
    HookChain,
    amd,
    autotuning,
    build,
    cache,
    compilation,
    language,
    proton,
    refresh_knobs,
    runtime,
)

__all__ = [
    "HookChain",
    "amd",
    "autotuning",
    "build",
    "cache",
    "compilation",
    "language",
    "nvidia",
    "proton",
    "refresh_knobs",
    "runtime",
]

_toolchain = LazyModule(".backends.nvidia.toolchain", __package__)
_PROGRAMS = frozenset(("ptxas", "nvdisasm", "cuobjdump"))


class NvidiaTool(NamedTuple):
    """A program of NVIDIA's that was found: its path, and the release of CUDA that it is of ("13.0")."""

    path: str
    version: str


class _Nvidia:
    """The settings `nvidia`, with the programs as what they are found to be (None where there is none)."""

    def __getattr__(self, name: str) -> Any:
        if name not in _PROGRAMS:
            return getattr(_settings.nvidia, name)
        tool = _toolchain.find_tool(name)
        if tool is None:
            return None
        major, minor = _toolchain.tool_version(tool)
        return NvidiaTool(tool.path, f"{major}.{minor}")

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_settings.nvidia, name, value.path if isinstance(value, NvidiaTool) else value)

    def __delattr__(self, name: str) -> None:
        delattr(_settings.nvidia, name)

    def __dir__(self) -> list[str]:
        return dir(_settings.nvidia)


nvidia = _Nvidia()
