"""Modes of profiling back ends, by Triton's names. `start` takes only `"periodic_flushing"`; see `profile.start`.

The classes exist so that programs which build a mode can be imported; the back ends they are for are refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..support import OptionError

__all__ = [
    "MMA",
    "BaseMode",
    "Default",
    "InstrumentationMode",
    "Optimize",
    "PCSampling",
    "buffer_strategies",
    "buffer_types",
    "granularities",
    "metric_types",
    "optimizations",
    "sampling_strategies",
]


class _Named(Enum):
    """Shown by its value."""

    def __str__(self) -> str:
        return str(self.value)


class MetricType(_Named):
    """The kinds of instrumentation records."""

    CYCLE = "cycle"


class BufferStrategy(_Named):
    """The policy for a full buffer."""

    CIRCULAR = "circular"
    FLUSH = "flush"


class BufferType(_Named):
    """Where a buffer is."""

    SHARED = "shared"
    GLOBAL = "global"


class SamplingStrategy(_Named):
    """Which units of a kernel record."""

    NONE = "none"
    SELECTIVE = "selective"


class Granularity(_Named):
    """The recording units: CTAs, warps or warp groups, all of them or every n-th."""

    CTA = "cta"
    WARP = "warp"
    WARP_2 = "warp_2"
    WARP_4 = "warp_4"
    WARP_8 = "warp_8"
    WARP_GROUP = "warp_group"
    WARP_GROUP_2 = "warp_group_2"
    WARP_GROUP_4 = "warp_group_4"
    WARP_GROUP_8 = "warp_group_8"


class Optimize(_Named):
    """Optimizations of instrumented code."""

    TIMESHIFT = "time_shift"
    SCHED_STORES = "sched_stores"
    SCHED_BARRIERS = "sched_barriers"
    CLOCK32 = "clock32"


metric_types = {m.value: m for m in MetricType}
buffer_strategies = {m.value: m for m in BufferStrategy}
buffer_types = {m.value: m for m in BufferType}
sampling_strategies = {m.value: m for m in SamplingStrategy}
granularities = {m.value: m for m in Granularity}
optimizations = {m.value: m for m in Optimize}

_BY_NAME: dict[str, dict[str, Any]] = {
    "metric_type": metric_types,
    "sampling_strategy": sampling_strategies,
    "granularity": granularities,
    "buffer_strategy": buffer_strategies,
    "buffer_type": buffer_types,
}


@dataclass(frozen=True)
class BaseMode:
    """A mode of a back end; its text is what `start(mode=...)` takes."""

    name: str


@dataclass(frozen=True)
class PCSampling(BaseMode):
    """Sample the program counter every `interval` cycles."""

    name: str = field(default="pcsampling", init=False)
    interval: int = 1000

    def __post_init__(self) -> None:
        if self.interval <= 0:
            raise OptionError("Interval must be a positive integer.")

    def __str__(self) -> str:
        return f"{self.name}:interval={self.interval}"


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    """The configuration of instrumented kernels; values may be given by name."""

    metric_type: Any = MetricType.CYCLE
    sampling_strategy: Any = SamplingStrategy.NONE
    sampling_options: str = ""
    granularity: Any = Granularity.WARP
    buffer_strategy: Any = BufferStrategy.CIRCULAR
    buffer_type: Any = BufferType.SHARED
    buffer_size: int = 0
    optimizations: Any = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, known in _BY_NAME.items():
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, _member(name, known, value))
        if isinstance(self.optimizations, str):
            names = [text.strip() for text in self.optimizations.split(",") if text.strip()]
            object.__setattr__(self, "optimizations", [_member("optimization", optimizations, n) for n in names])

    def __str__(self) -> str:
        names = (*_BY_NAME, "sampling_options", "buffer_size")
        parts = [f"{name}={getattr(self, name)}" for name in names]
        return ":".join([self.name, *parts, f"optimizations={','.join(map(str, self.optimizations))}"])


@dataclass(frozen=True)
class Default(InstrumentationMode):
    """Record scopes."""

    name: str = field(default="default", init=False)


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    """Record matrix instructions."""

    name: str = field(default="mma", init=False)


def _member(name: str, known: dict[str, Any], value: str) -> Any:
    if value not in known:
        raise OptionError(f"Unknown {name}: {value}; it can be {', '.join(known)}")
    return known[value]
