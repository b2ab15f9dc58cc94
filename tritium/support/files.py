"""Open regular files only, and never block on a pipe.

Files placed in a folder by another program may be pipes, devices, sockets or folders: opening a FIFO blocks until it
has a writer, and `/dev/zero` has no end.
"""

from __future__ import annotations

import errno
import linecache
import os
import stat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["open_regular", "read_regular", "source_line", "source_lines", "write_regular"]

# never block on a pipe, and do not pass the descriptor to children
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_FLAGS |= getattr(os, "O_NOCTTY", 0)


def open_regular(path: str | Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """A descriptor of a regular file, opened with `flags`; OSError, at once, for pipes, devices, sockets, folders."""
    try:
        descriptor = os.open(path, flags | _FLAGS, mode)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.EISDIR):  # a socket, a FIFO without a reader, or a folder
            raise _not_regular(path) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _not_regular(path)
    return descriptor


def _not_regular(path: str | Path) -> OSError:
    return OSError(errno.EINVAL, "not a regular file", str(path))


def read_regular(path: str | Path) -> bytes:
    """The contents of a regular file; OSError for everything else."""
    with open(open_regular(path), "rb") as file:
        return file.read()


def write_regular(path: str | Path, data: bytes) -> None:
    """Overwrite a file; OSError if it is not a regular file."""
    with open(open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(data)


def source_lines(file: str, module_globals: dict[str, Any] | None = None) -> list[str]:
    """The lines of a source file by `linecache`; none if the file is not regular."""
    if file not in linecache.cache:
        try:
            if not stat.S_ISREG(os.stat(file).st_mode):
                return []
        except (OSError, ValueError):
            pass  # interactive input, or a file in an archive: linecache uses its loader
    return linecache.getlines(file, module_globals)


def source_line(file: str, line: int) -> str:
    """One line of a source file, from 1; empty if it does not exist."""
    lines = source_lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""
