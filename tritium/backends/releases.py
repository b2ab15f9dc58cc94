"""The LLVM version, without importing llvmlite: it is part of every cache key, in every process."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from ..support.patterns import pattern

__all__ = ["llvm_release"]

_RELEASE = pattern(r"version_version = '([^']+)'")
_LIBRARY = {"darwin": "libllvmlite.dylib", "win32": "llvmlite.dll"}.get(sys.platform, "libllvmlite.so")


@lru_cache(maxsize=1)
def llvm_release() -> str:
    """The release of llvmlite and the size of its library: "0.50.0/113246208"; two builds of a release differ in it."""
    for folder in sys.path:
        package = os.path.join(folder or ".", "llvmlite")
        try:
            size = os.stat(os.path.join(package, "binding", _LIBRARY)).st_size
            with open(os.path.join(package, "_version.py"), encoding="utf-8") as f:
                found = _RELEASE.search(f.read())
        except OSError:
            continue
        return f"{found[1] if found else 'unknown'}/{size}"
    return "none"
