"""Where files of ours are kept between processes, and how they get there.

What was written by another user is not read, and files appear by atomic rename: who reads one while it is replaced
reads the old or the new one.

A record is a small file that starts with the SHA-256 of the rest: a description of the host, native code, versions of
tools, pieces of libraries. What does not match its checksum is not there. A folder that cannot be written costs time,
never an error.
"""

from __future__ import annotations

import contextlib
import os
import stat
from itertools import count
from pathlib import Path

from . import settings
from .hashing import sha256

__all__ = ["cache_folder", "is_trusted", "read_record", "record_folder", "replace_file", "write_record"]

_numbers = count()
_DIGEST_BYTES = 32


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


def record_folder() -> Path:
    """`native` in the folder of compiled kernels."""
    return cache_folder() / "native"


def read_record(name: str) -> bytes | None:
    """The bytes stored under `name`, or None if missing, damaged or not ours."""
    try:
        with open(record_folder() / name, "rb") as f:
            data = f.read() if is_trusted(os.fstat(f.fileno())) else b""
    except OSError:
        return None
    body = data[_DIGEST_BYTES:]
    return body if len(data) >= _DIGEST_BYTES and sha256(body).digest() == data[:_DIGEST_BYTES] else None


def write_record(name: str, body: bytes) -> bool:
    """Store `body` under `name`; False if the folder cannot be written."""
    try:
        folder = record_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(folder / name, sha256(body).digest() + body)
    except OSError:
        return False
    return True
