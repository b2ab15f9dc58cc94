"""Settings under Triton's name, `tritium.knobs`: see `tritium.support.settings`.

>>> from tritium import knobs
>>> knobs.runtime.debug
False
"""

from __future__ import annotations

from .support.settings import (
    HookChain,
    amd,
    autotuning,
    build,
    cache,
    compilation,
    language,
    nvidia,
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
