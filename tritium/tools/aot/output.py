"""Files that belong together: all of them are written, or none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_together"]


def write_together(files: Mapping[Path, str | bytes]) -> list[Path]:
    """Write each file to a temporary name, then rename all; on OSError the old files remain."""
    waiting: dict[Path, Path] = {}
    try:
        for path, contents in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            waiting[path] = beside
            beside.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        for path in list(waiting):
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a folder")
        for path, beside in waiting.items():
            os.replace(beside, path)
    finally:
        for beside in waiting.values():
            with contextlib.suppress(OSError):
                beside.unlink()
    return list(files)
