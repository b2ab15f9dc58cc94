"""Small records on disk: the host's description and the thread pool's code.

A record is a file of its own, written by atomic rename, which starts with the SHA-256 of the rest. What
does not match its checksum, or could have been written by another user, is not there. A folder that
cannot be written costs time, never an error.
"""

from __future__ import annotations

import contextlib
import os
import stat
from hashlib import sha256
from pathlib import Path

from ...support.settings import cache

__all__ = ["read_record", "record_folder", "write_record"]

_DIGEST_BYTES = 32


def record_folder() -> Path:
    """`native` in the folder of compiled kernels (the settings `cache.dir` and `cache.home_dir`)."""
    root = cache.dir or os.path.join(cache.home_dir or os.path.expanduser("~"), ".tritium", "cache")
    return Path(root, "native")


def read_record(name: str) -> bytes | None:
    """The bytes stored under `name`, or None if missing, damaged or not ours."""
    try:
        with open(record_folder() / name, "rb") as f:
            info = os.fstat(f.fileno())
            if hasattr(os, "getuid") and (info.st_uid not in (os.getuid(), 0) or info.st_mode & stat.S_IWOTH):
                return None
            data = f.read()
    except OSError:
        return None
    body = data[_DIGEST_BYTES:]
    return body if sha256(body).digest() == data[:_DIGEST_BYTES] else None


def write_record(name: str, body: bytes) -> bool:
    """Store `body` under `name`; False if the folder cannot be written."""
    import tempfile  # 2 ms that a process which only reads does not pay

    folder = record_folder()
    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=name)
        with os.fdopen(handle, "wb") as f:
            f.write(sha256(body).digest() + body)
        os.replace(temporary, folder / name)
    except OSError:
        if temporary is not None:
            _remove_quietly(temporary)
        return False
    return True


def _remove_quietly(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
