"""Listing, verification and eviction of the entries in a folder of compiled kernels.

Any number of processes may read, write, prune and clear concurrently. Files are removed one by one, by `unlink`: a
process with an open file continues to read it, a later one compiles. A file that disappears during a scan is treated as
missing. Empty folders of entries are removed too; a writer makes them again. Other files are left alone, and links are
never followed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..support.dataclasses import dataclass
from ..support.folders import TEMPORARY, is_trusted, open_file
from .entry import Entry, read_header
from .stage_paths import FOLDER

__all__ = ["Item", "Pruned", "clear", "items", "load", "evict", "matching", "prune", "verify"]

#: Seconds after which a temporary file is considered abandoned by its writer.
ABANDONED_AFTER = 3600.0

_NAME = re.compile(r"([0-9a-f]{4,128})\.kernel")
_HEADS = (1 << 14, 1 << 21)  # bytes to read for a header: most are short


@dataclass(frozen=True)
class Item:
    """An entry's file. Times are seconds since 1970; `problem` is the reason if it is invalid.

    `metadata` and `stages` (name -> bytes) are those of its header, empty if that cannot be read.
    """

    key: str
    path: Path
    size: int
    made: float
    used: float
    metadata: dict[str, Any]
    stages: dict[str, int]
    described_bytes: int = 0
    problem: str = ""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return str(self.metadata.get("name", ""))

    @property
    def target(self) -> str:
        """`cuda:90`; empty for other entries (results of tuning are stored here too)."""
        target = self.metadata.get("target")
        return f"{target.get('backend')}:{target.get('arch')}" if isinstance(target, dict) else ""

    def described(self) -> dict[str, Any]:
        """The parts of the key by name, empty if the file does not have them; the whole entry is verified."""
        try:
            return load(self).description()
        except (OSError, ValueError, KeyError, TypeError):
            return {}


def _files(folder: Path) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Every regular file of the folder and of its folders of entries."""
    waiting = [str(folder)]
    while waiting:
        place = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(place) as found:
            for entry in found:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        if place == str(folder) and len(entry.name) == 2:
                            waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry, entry.stat(follow_symlinks=False)


def items(folder: Path, newest: int | None = None) -> list[Item]:
    """Every entry, or so many of the newest, most recently used first. Only headers of files are read."""
    files = list(_files(folder))
    if newest is not None:
        files = sorted(files, key=lambda file: file[1].st_mtime)[-newest:]
    found = [_item(m[1], Path(f.path), s) for f, s in files if (m := _NAME.fullmatch(f.name))]
    return sorted((item for item in found if item is not None), key=lambda item: (-item.used, item.key))


def _item(key: str, path: Path, status: os.stat_result) -> Item | None:
    used = max(status.st_atime, status.st_mtime)
    metadata: dict[str, Any] = {}
    stages: dict[str, int] = {}
    described, problem = 0, ""
    try:
        header = _header(path, status, key)
        metadata, described = header["metadata"], header["described"]
        stages = {name: size for name, _, size in header["stages"]}
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        problem = str(error)
    return Item(key, path, status.st_size, status.st_mtime, used, metadata, stages, described, problem)


def _header(path: Path, status: os.stat_result, key: str) -> dict[str, Any]:
    with open(open_file(path, looking=True), "rb", buffering=0) as f:
        if not (is_trusted(os.fstat(f.fileno())) and is_trusted(os.stat(path.parent))):
            raise ValueError("another user could have written it")
        for size in _HEADS:
            f.seek(0)
            head = f.read(size)
            if int.from_bytes(head[40:48], "little") + 48 <= len(head):
                break
        return read_header(head, status.st_size, key)[0]


def load(item: Item) -> Entry:
    """The whole entry, checked; ValueError (rarely KeyError or TypeError) with the reason if it is invalid."""
    if item.problem:
        raise ValueError(item.problem)
    with open(open_file(item.path, looking=True), "rb") as f:
        return Entry.from_bytes(f.read(item.size + 1), item.key)  # it may grow concurrently


def matching(found: list[Item], wanted: str) -> list[Item]:
    """The entries whose key begins with `wanted`, or whose kernel has this name; all for an empty text."""
    return [item for item in found if item.key.startswith(wanted) or item.name == wanted]


def verify(folder: Path) -> Iterator[tuple[Item, str]]:
    """Every entry with its problem, "" for none. Files are read completely."""
    for item in items(folder):
        try:
            load(item).description()
            problem = ""
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = str(error)
        yield item, problem


def evict(folder: Path, limit: int, ledger: int | None = None) -> int:
    """Evict the least recently used entries until `limit` bytes are left, and return the number of evicted bytes.

    `ledger` is the open file in which a cache records its writes: the process that gets its lock evicts, others
    continue, and the ledger is truncated. The lock of a killed process is released.
    """
    if ledger is not None:
        try:
            fcntl.flock(ledger, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return 0
        os.ftruncate(ledger, 0)
    found = [(max(s.st_atime, s.st_mtime), s.st_size, f.path) for f, s in _files(folder) if _NAME.fullmatch(f.name)]
    left = sum(size for _, size, _ in found)
    gone = 0
    if left > limit:
        for _, size, path in sorted(found):
            if left - gone <= limit:
                break
            gone += size if _removed(path) else 0
    _remove_abandoned(folder, ABANDONED_AFTER)
    return gone


@dataclass(frozen=True)
class Pruned:
    """The numbers of items that `prune` or `clear` removed."""

    entries: int
    size: int
    abandoned: int


def prune(
    folder: Path, limit: int | None, unused_for: float | None, abandoned_after: float = ABANDONED_AFTER
) -> Pruned:
    """Remove entries unused for `unused_for` seconds, damaged entries, then the least recently used beyond `limit`
    bytes, and temporary files that were abandoned more than `abandoned_after` seconds ago."""
    now = time.time()
    found = items(folder)
    old = [i for i in found if i.problem or (unused_for is not None and now - i.used > unused_for)]
    kept = [i for i in found if i not in old]
    if limit is not None:
        size = sum(i.size for i in kept)
        while kept and size > limit:
            old.append(kept.pop())
            size -= old[-1].size
    return _remove(folder, old, abandoned_after)


def clear(folder: Path, wanted: Callable[[Item], bool] | None = None) -> Pruned:
    """Remove the selected entries, or all with all temporary files."""
    return _remove(folder, [i for i in items(folder) if wanted is None or wanted(i)], 0 if wanted is None else None)


def _remove(folder: Path, old: list[Item], abandoned_after: float | None) -> Pruned:
    gone = [item for item in old if _removed(str(item.path))]
    abandoned = 0 if abandoned_after is None else _remove_abandoned(folder, abandoned_after)
    return Pruned(len(gone), sum(item.size for item in gone), abandoned)


def _removed(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:  # already removed, or the folder is not writable
        return False
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))  # succeeds for the last entry
    return True


def _remove_abandoned(folder: Path, after: float) -> int:
    """Remove temporary files older than `after` seconds, here and in the folder of native code."""
    now, gone = time.time(), 0
    for place in (folder, folder.parent / "native"):
        for file, status in _files(place):
            if file.name.startswith(TEMPORARY) and now - status.st_mtime >= after:
                gone += _removed(file.path)
    return gone + _remove_stage_files(folder, now - after)


def _remove_stage_files(folder: Path, made_before: float) -> int:
    """Remove the files of stages (`stage_paths`) of kernels that have no entry; the number of files."""
    gone = 0
    with contextlib.suppress(OSError), os.scandir(folder.parent / FOLDER) as found:
        for place in found:
            if (folder / place.name[:2] / f"{place.name}.kernel").exists() or not place.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                if place.stat(follow_symlinks=False).st_mtime <= made_before:
                    gone += sum(_removed(file.path) for file in list(os.scandir(place.path)))
    return gone
