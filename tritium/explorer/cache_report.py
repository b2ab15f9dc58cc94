"""Whether the cache had the kernels of a script, and why not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ..compiler import inventory
from ..compiler.cache import KernelCache
from ..compiler.why import CacheMiss, differences, nearest
from ..support import settings
from .json_types import Json

__all__ = ["CacheReport"]

MAX_COMPARED = 1000
"""Entries of a cache that a kernel is compared with; reading the headers of more takes longer than half a second."""


class CacheReport:
    """The entries at the start of a script, and the kernels that it has compiled since."""

    def __init__(self) -> None:
        self.enabled = not settings.cache.disable
        self.stored = set(_keys(str(KernelCache().folder))) if self.enabled else set[str]()
        self.entries = len(self.stored)
        self.items: list[inventory.Item] | None = None
        self.compiled: dict[str, Mapping[str, Json]] = {}  # kernel name -> the parts of its last key

    def of(self, key: str, name: str, miss: CacheMiss | None) -> tuple[str, str]:
        """The state of a compile that has ended (hit, miss, off), and the reason."""
        if not self.enabled:
            return "off", "the cache is off"
        state, reason = self._state(key, name, miss)
        self.stored.add(key)
        if miss is not None:
            self.compiled[name] = miss.described
        return state, reason

    def _state(self, key: str, name: str, miss: CacheMiss | None) -> tuple[str, str]:
        before = self.compiled.get(name)
        changed = [] if before is None or miss is None else differences(before, miss.described)
        beside = "\n".join(["beside the compile of this kernel before:", *(f"  {line}" for line in changed)])
        if key in self.stored:
            hit = "it was in the cache: compiled again to record its passes"
            return "hit", f"{hit}\n{beside}" if changed else hit
        if changed:
            return "miss", beside
        if miss is None:
            return "miss", ""
        return "miss", self._nearest(miss, name)

    def _nearest(self, miss: CacheMiss, name: str) -> str:
        """The differences to the entry most like a kernel that was not in the cache."""
        if self.items is None:
            self.items = inventory.items(KernelCache().folder, MAX_COMPARED)
        found = nearest(miss.described, (item for item in self.items if item.key != miss.key), name)
        of = (
            f"the newest {MAX_COMPARED:,} of {self.entries:,} entries" if self.entries > MAX_COMPARED else "the entries"
        )
        if found is None:
            return f"no kernel called {name} is among {of}"
        item, changed = found
        lines = changed or ["what its functions refer to differs"]
        return "\n".join([f"beside {item.key[:12]}, the entry most like it:", *(f"  {line}" for line in lines)])


def _keys(folder: str) -> Iterator[str]:
    """The keys of the entries in a folder and in its folders of entries, by the names of their files."""
    if not os.path.isdir(folder):
        return
    with os.scandir(folder) as found:
        for entry in found:
            if len(entry.name) == 2 and entry.is_dir(follow_symlinks=False):
                yield from _keys(entry.path)
            elif entry.name.endswith(".kernel"):
                yield entry.name.removesuffix(".kernel")
