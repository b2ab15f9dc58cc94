"""Compiled kernels on disk: one file a kernel, readable by this program only if every byte of it is right.

An entry is

    magic (8 bytes) | SHA-256 of the rest (32) | length of the header (8, little-endian) | header | contents

where the header is JSON: the kernel's metadata, and for each stage its name, whether it is text, and its size; the
contents are the stages one after another. There is no pickle and no path in it, so that entries may be copied to
another machine.

What may go wrong does not reach the user as an error: an entry that is damaged, of another version or writable by
another user is no entry (and is written anew), and a folder that cannot be written costs time. Each is said once, as a
warning. Entries appear by atomic rename: who reads one while it is replaced reads the old or the new one.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

from ..support.dataclasses import dataclass, field
from ..support.folders import cache_folder, is_trusted, replace_file
from ..support.hashing import sha256

__all__ = ["CacheWarning", "Entry", "KernelCache", "cache_folder"]

_MAGIC = b"tritium1"
_PREFIX = len(_MAGIC) + 32 + 8


class CacheWarning(UserWarning):
    """The cache could not be used as it should: kernels still run, some are compiled again."""


@dataclass
class Entry:
    """A compiled kernel's metadata (JSON values) and stages (text or bytes), in the order they were made."""

    metadata: dict[str, Any]
    stages: dict[str, str | bytes] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The file's contents."""
        bodies = [(n, s if isinstance(s, bytes) else s.encode(), isinstance(s, str)) for n, s in self.stages.items()]
        table = [[name, text, len(body)] for name, body, text in bodies]
        header = json.dumps({"metadata": self.metadata, "stages": table}, separators=(",", ":")).encode()
        rest = b"".join([len(header).to_bytes(8, "little"), header, *(body for _, body, _ in bodies)])
        return _MAGIC + sha256(rest).digest() + rest

    @classmethod
    def from_bytes(cls, data: bytes) -> Entry:
        """The entry in a file's contents; ValueError saying what is wrong with them."""
        if len(data) < _PREFIX or data[:8] != _MAGIC:
            raise ValueError("not a cache entry of this version, or truncated")
        view = memoryview(data)
        if sha256(view[40:]).digest() != data[8:40]:
            raise ValueError("the checksum does not match")
        end = _PREFIX + int.from_bytes(data[40:48], "little")
        header = json.loads(data[_PREFIX:end])
        stages: dict[str, str | bytes] = {}
        for name, is_text, size in header["stages"]:
            body = data[end : end + size]
            stages[name] = body.decode() if is_text else body
            end += size
        return cls(header["metadata"], stages)


_warned: set[str] = set()


def _warn_once(topic: str, message: str) -> None:
    if topic not in _warned:
        _warned.add(topic)
        warnings.warn(message, CacheWarning, stacklevel=4)


class KernelCache:
    """The entries in one folder: `read(key)` and `write(key, entry)`. Keys are hexadecimal.

    >>> import tempfile
    >>> cache = KernelCache(Path(tempfile.mkdtemp()))
    >>> cache.write("ab12", Entry({"name": "k"}, {"ttir": "module {}", "obj": b"..."}))
    True
    >>> cache.read("ab12").stages["ttir"]
    'module {}'
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or cache_folder()) / "kernels"

    def path(self, key: str) -> Path:
        """The file of an entry."""
        return self.folder / key[:2] / f"{key}.kernel"

    def read(self, key: str) -> Entry | None:
        """The entry of `key`, or None: missing, damaged, or not to be trusted."""
        path = self.path(key)
        try:
            with open(path, "rb", buffering=0) as f:
                if not is_trusted(os.fstat(f.fileno())) or not is_trusted(os.stat(path.parent)):
                    _warn_once("trust", f"{path} could have been written by another user: it is not used")
                    return None
                data = f.read()
        except (FileNotFoundError, NotADirectoryError):
            return None  # no folder either: the write will say why
        except OSError as error:
            _warn_once("read", f"the kernel cache cannot be read: {error}")
            return None
        try:
            return Entry.from_bytes(data)
        except (ValueError, KeyError, TypeError) as error:
            _warn_once(key, f"damaged cache entry {path.name} ({error}): the kernel is compiled again")
            return None

    def write(self, key: str, entry: Entry) -> bool:
        """Keep `entry` under `key`, whatever was there; False (and one warning) if that is not possible."""
        path = self.path(key)
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.parent.mkdir(exist_ok=True, mode=0o700)
            replace_file(path, entry.to_bytes())
        except OSError as error:
            _warn_once("write", f"compiled kernels cannot be kept in {self.folder}: {error}")
            return False
        return True
