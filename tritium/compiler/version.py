"""The version of the compiler: a hash of the package's sources, so that a change of them invalidates cache entries.

Hashing the sources costs 20 ms, reading their modification times 0.3 ms: the hash is stored beside the cache, with the
times and sizes it was computed for.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from ..support.folders import read_record, write_record
from ..support.hashing import sha256

__all__ = ["package_key"]

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# files that do not affect the code of kernels
_APART = {"tools", "runtime", "__pycache__"}


def _sources(folder: str, found: list[tuple[str, int, int]]) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                found.append((entry.path[len(_ROOT) :], status.st_mtime_ns, status.st_size))
            elif entry.name not in _APART and entry.is_dir():
                _sources(entry.path, found)


@lru_cache(maxsize=1)
def package_key() -> str:
    """A hash of the sources of this package and of the Python that runs them; computed once a process."""
    found: list[tuple[str, int, int]] = []
    _sources(_ROOT, found)
    found.sort()
    name = "sources-" + sha256(repr((_ROOT, found)).encode()).hexdigest()[:24]
    stored = read_record(name)
    if stored is not None:
        return stored.decode()
    digest = sha256(repr(sys.version_info[:2]).encode())
    for path, _, _ in found:
        with open(_ROOT + path, "rb") as file:
            digest.update(path.encode() + b"\0" + file.read())
    key = digest.hexdigest()
    write_record(name, key.encode())
    return key
