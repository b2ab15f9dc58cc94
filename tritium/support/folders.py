"""Where files of ours are kept between processes, and how they get there.

What was written by another user is not read, and files appear by atomic rename: who reads one while it is replaced
reads the old or the new one.
"""

from __future__ import annotations

import contextlib
import os
import stat
from itertools import count
from pathlib import Path

from . import settings

__all__ = ["cache_folder", "is_trusted", "replace_file"]

_numbers = count()


def cache_folder() -> Path:
    """The setting `cache.dir` (`TRITIUM_CACHE_DIR`, `TRITON_CACHE_DIR`), else `.tritium/cache` in `cache.home_dir`."""
    home = settings.cache.home_dir or os.path.expanduser("~")
    return Path(settings.cache.dir or os.path.join(home, ".tritium", "cache"))


def is_trusted(status: os.stat_result) -> bool:
    """Nobody else can have written it. (Where there are no user ids, the folder's rights are all there is.)"""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & stat.S_IWOTH


def replace_file(path: Path, data: bytes) -> None:
    """Let `path`, whose folder exists, be a file of these bytes; OSError if that cannot be, and nothing is left."""
    temporary = path.parent / f"new-{os.getpid()}-{next(_numbers)}-{os.urandom(4).hex()}"
    try:
        with open(temporary, "xb") as f:
            f.write(data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
