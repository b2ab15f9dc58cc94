"""Folders and files of the cache: trusted reads, atomic writes, checksummed records.

Files written by another user are not read, and files are written by atomic rename: a concurrent reader reads the old or
the new one.

A record is a small file that starts with the SHA-256 of the rest: a description of the host, native code, versions of
tools, parts of libraries. A record with a wrong checksum is treated as missing. A folder that is not writable costs
time, and is no error.
"""

from __future__ import annotations

import contextlib
import os
import stat
from itertools import count
from typing import TYPE_CHECKING

from . import settings
from .files import open_regular, read_regular
from .hashing import sha256
from .lazy import LazyModule

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "TEMPORARY",
    "cache_folder",
    "file_digest",
    "is_trusted",
    "open_file",
    "make_record_folder",
    "read_record",
    "record_folder",
    "replace_file",
    "write_record",
]

_pathlib = LazyModule("pathlib")  # 3 ms with its imports; not needed by a compile or a cached kernel

_numbers = count()
_DIGEST_BYTES = 32
_MAX_RECORD = 1 << 26
_digests: dict[str, str] = {}

#: The prefix of temporary files, which a killed process may leave.
TEMPORARY = "new-"

_NO_TIME = getattr(os, "O_NOATIME", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def cache_folder() -> Path:
    """The setting `cache.dir` (`TRITIUM_CACHE_DIR`, `TRITON_CACHE_DIR`), else `.tritium/cache` in `cache.home_dir`."""
    found: Path = _pathlib.Path(settings.cache.dir)
    return found


def is_trusted(status: os.stat_result) -> bool:
    """Whether only this user can have written it. (Without user ids, the folder's permissions decide.)"""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & (stat.S_IWOTH | stat.S_IWGRP)


def open_file(path: str | Path, looking: bool = False) -> int:
    """`open_regular` for reading, which does not follow links. `looking` does not change the access time."""
    flags = os.O_RDONLY | _NO_LINK
    try:
        return open_regular(path, flags | (_NO_TIME if looking else 0))
    except PermissionError:  # O_NOATIME is refused for files of other users
        return open_regular(path, flags)


def replace_file(path: str | Path, data: bytes) -> None:
    """Replace the file `path`, whose folder exists, by these bytes; OSError without leaving a file if that fails."""
    name = f"{TEMPORARY}{os.getpid()}-{next(_numbers)}-{os.urandom(4).hex()}"
    temporary = os.path.join(os.path.dirname(path), name)
    try:
        # no write permission for others, for any umask
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
        with open(open_regular(temporary, flags, 0o644), "wb") as f:
            f.write(data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def file_digest(path: str) -> str:
    """A hash of a file's contents, 16 digits; "absent" if it cannot be read. Memoized until the file changes."""
    try:
        status = os.stat(path)
        state = f"{path}|{status.st_size}|{status.st_mtime_ns}"
        if state not in _digests:
            name = "file-" + sha256(state.encode()).hexdigest()[:24]
            known = read_record(name)
            if known is None:
                known = sha256(read_regular(path)).hexdigest()[:16].encode()
                if not settings.cache.disable:
                    write_record(name, known)
            _digests[state] = known.decode()
        return _digests[state]
    except OSError:
        return "absent"


def record_folder() -> Path:
    """`native` in the folder of compiled kernels."""
    return cache_folder() / "native"


def make_record_folder() -> str:
    """The path of `record_folder`, which is made if it can be: a later `write_record` may be given it."""
    folder = os.path.join(settings.cache.dir, "native")
    with contextlib.suppress(OSError):
        os.makedirs(folder, 0o700, exist_ok=True)
    return folder


def _record(name: str) -> str:
    return os.path.join(settings.cache.dir, "native", name)


def read_record(name: str) -> bytes | None:
    """The bytes stored under `name`, or None if missing, damaged or not ours."""
    try:
        with open(open_file(_record(name)), "rb") as f:
            data = f.read(_MAX_RECORD) if is_trusted(os.fstat(f.fileno())) else b""
    except OSError:
        return None
    body = data[_DIGEST_BYTES:]
    return body if len(data) >= _DIGEST_BYTES and sha256(body).digest() == data[:_DIGEST_BYTES] else None


def write_record(name: str, body: bytes, folder: str = "") -> bool:
    """Store `body` under `name`; False if the folder cannot be written. A `folder` that `make_record_folder` returned
    is not made again: the program may have removed its cache."""
    try:
        replace_file(os.path.join(folder or make_record_folder(), name), sha256(body).digest() + body)
    except OSError:
        return False
    return True
