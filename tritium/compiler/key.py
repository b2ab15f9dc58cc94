"""The key of compiled code: a hash of the inputs of the compile, and a description of them by name.

The hash covers the kernel with its callees and the values they read; types, constants and attributes; the options; the
target and the versions of all tools; settings that affect code; stages that a hook changed; and, if the code contains
them, the files and lines of the functions. It is the same in every process and on every machine: it depends on no hash
order, address or time.

The description (`describe_key`) is stored beside the code in the cache, for `why`. Two keys may differ with equal
descriptions, which `why` reports.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from ..backends.compiler import BaseBackend
from ..support import settings
from ..support.dataclasses import fields
from ..support.hashing import sha256
from .version import package_key

__all__ = ["Described", "as_json", "describe_key", "get_cache_key"]

#: Parts of a key by kind and name: {"options": {"num_warps": "4"}, "types": {"x": "*fp32"}, …}.
Described = dict[str, dict[str, str]]


def get_cache_key(src: Any, backend: BaseBackend, options: Any, stage_key: str = "") -> str:
    """The hash, in hexadecimal digits. `stage_key` covers changes of the stages by a hook or `until`."""
    environment = sorted(settings.invalidating_environment().items())
    places = src.places if backend.keeps_places(options) else ()
    parts = (src.hash(), places, backend.hash(), _options_key(options), package_key(), environment, stage_key)
    return sha256(repr(parts).encode()).hexdigest()


def describe_key(src: Any, backend: BaseBackend, options: Any, stage_key: str = "") -> Described:
    """The inputs by name. (0.3 ms a callee: made when a kernel is stored, not on a hit.)"""
    target = backend.describe()
    apart = getattr(options, "at_launch", {})
    python = ".".join(map(str, sys.version_info[:2]))
    return {
        **src.describe(backend.keeps_places(options)),
        "options": {f.name: repr(getattr(options, f.name)) for f in fields(options) if f.name not in apart},
        "target": {
            "target": f"{target.backend}:{target.arch}",
            "features": str(getattr(backend.target, "key", target)),
        },
        "versions": {"tritium": package_key()[:16], "Python": python, **backend.versions()},
        "environment": {_variable(name): str(v) for name, v in settings.invalidating_environment().items()},
        "stages": {"stages": stage_key} if stage_key else {},
    }


def _options_key(options: Any) -> str:
    """The identity of options: their `key`, or the `hash()` that options of backends written for Triton have."""
    key = getattr(options, "key", None)
    return str(options.hash() if key is None else key)


def as_json(described: Described) -> bytes:
    """The text stored in cache entries."""
    return json.dumps(described, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")


def _variable(name: str) -> str:
    """The environment variable of a setting "group.name", under its best-known name."""
    group, _, setting = name.partition(".")
    found: Mapping[str, Any] = settings.GROUPS[group].settings()
    return found[setting].env[-1]
