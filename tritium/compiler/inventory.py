"""What is in a folder of compiled kernels, and how it is kept small: for command lines, and when a limit is reached.

Any number of processes may read, write, prune and clear at the same time. Files go one by one, by `unlink`: who has one
open reads on, who comes later compiles. A file that goes away while it is looked at is simply not there. Folders of
entries that became empty go too; a writer makes them again. What is no entry of ours is left alone, and links are never
followed.
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

__all__ = ["Item", "Pruned", "clear", "items", "load", "make_room", "matching", "prune", "verify"]

#: Seconds after which a file that was being written is one that its writer left.
ABANDONED_AFTER = 3600.0

_NAME = re.compile(r"([0-9a-f]{4,128})\.kernel")
_HEADS = (1 << 14, 1 << 21)  # bytes to read for a header: most are short


@dataclass(frozen=True)
class Item:
    """An entry's file. Times are seconds since 1970; `problem` says why it is no entry, where it is none.

    `metadata` and `stages` (name -> bytes) are those of its header, empty where that cannot be read.
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
        """The kernel's."""
        return str(self.metadata.get("name", ""))

    @property
    def target(self) -> str:
        """`cuda:90`; empty for what is no kernel (results of tuning are kept here too)."""
        target = self.metadata.get("target")
        return f"{target.get('backend')}:{target.get('arch')}" if isinstance(target, dict) else ""

    def described(self) -> dict[str, Any]:
        """The parts of the key by name, empty where the file does not have them; the whole entry is checked for it."""
        try:
            return load(self).description()
        except (OSError, ValueError, KeyError, TypeError):
            return {}


def _files(folder: Path) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Every plain file of the folder and of its folders of entries."""
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


def items(folder: Path) -> list[Item]:
    """Every entry, the one used last first. Files are read as far as their headers go."""
    found = [_item(m[1], Path(f.path), s) for f, s in _files(folder) if (m := _NAME.fullmatch(f.name))]
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
    """The whole entry, checked; ValueError (and rarely KeyError or TypeError) saying what is wrong with it."""
    if item.problem:
        raise ValueError(item.problem)
    with open(open_file(item.path, looking=True), "rb") as f:
        return Entry.from_bytes(f.read(item.size + 1), item.key)  # somebody may make it longer meanwhile


def matching(found: list[Item], wanted: str) -> list[Item]:
    """The entries whose key begins with `wanted`, or whose kernel is called so; all of them for an empty text."""
    return [item for item in found if item.key.startswith(wanted) or item.name == wanted]


def verify(folder: Path) -> Iterator[tuple[Item, str]]:
    """Every entry, and what is wrong with it: "" for nothing. All of every file is read."""
    for item in items(folder):
        try:
            load(item).description()
            problem = ""
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = str(error)
        yield item, problem


def make_room(folder: Path, limit: int, ledger: int | None = None) -> int:
    """Remove the entries used longest ago until `limit` bytes are left, and return how many bytes went.

    `ledger` is the open file that a cache notes its writes in: whoever holds its lock works, others go on, and it is
    emptied. A process that is killed meanwhile holds no lock any more.
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
    """What `prune` or `clear` removed."""

    entries: int
    size: int
    abandoned: int


def prune(
    folder: Path, limit: int | None, unused_for: float | None, abandoned_after: float = ABANDONED_AFTER
) -> Pruned:
    """Remove what was not used for so many seconds, what is damaged, then what exceeds `limit` bytes, and files that
    killed writers left more than `abandoned_after` seconds ago."""
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
    """Remove the entries that are wanted, or all, with whatever is being written."""
    return _remove(folder, [i for i in items(folder) if wanted is None or wanted(i)], 0 if wanted is None else None)


def _remove(folder: Path, old: list[Item], abandoned_after: float | None) -> Pruned:
    gone = [item for item in old if _removed(str(item.path))]
    abandoned = 0 if abandoned_after is None else _remove_abandoned(folder, abandoned_after)
    return Pruned(len(gone), sum(item.size for item in gone), abandoned)


def _removed(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:  # it went already, or the folder is not ours to change
        return False
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))  # which succeeds for the last one
    return True


def _remove_abandoned(folder: Path, after: float) -> int:
    """Remove what was being written longer ago than `after` seconds, here and beside the entries."""
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
