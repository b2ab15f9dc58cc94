"""Files of the cache that vanish, are busy or damaged while they are used (triton#2688, #4002, #11512, #8923)."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.compiler import KernelCache

pytestmark = pytest.mark.filterwarnings("ignore::tritium.compiler.cache.CacheWarning")


@tritium.jit
def shifted(x, n, BY: tl.constexpr):
    at = tl.arange(0, 64)
    tl.store(x + at, at + BY, mask=at < n)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    shifted.device_caches.clear()
    return tmp_path / "cache"


def right(by: int) -> bool:
    x = np.full(64, -1, np.int32)
    shifted[(1,)](x, 50, by)
    return np.array_equal(x, np.where(np.arange(64) < 50, np.arange(64) + by, -1))


def rank(number: int) -> bool:
    """What a rank of a job does; every third also throws the folder away, as a script that cleans up does."""
    for by in range(4):
        shifted.device_caches.clear()
        if not right(by):
            return False
        if number % 3 == 0:
            shutil.rmtree(os.environ["TRITIUM_CACHE_DIR"], ignore_errors=True)
    return True


def test_ranks_that_start_together_and_a_folder_that_vanishes() -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert all(pool.map(rank, range(4), chunksize=1))


@pytest.mark.parametrize("code", [errno.EBUSY, errno.ENOENT, errno.ESTALE, errno.EACCES, errno.ENOSPC])
def test_a_file_system_that_says_no(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OSError(code, os.strerror(code))

    for name in ("replace", "rename", "link"):
        monkeypatch.setattr(os, name, refuse)
    assert right(7)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "folder"])
def test_a_damaged_file_is_made_anew(damage: str, own_cache: Path) -> None:
    assert right(9)
    files = [p for p in own_cache.rglob("*") if p.is_file() and p.stat().st_size]
    assert files
    for path in files:
        raw = bytearray(path.read_bytes())
        if damage == "folder":
            path.unlink()
            path.mkdir()
            continue
        raw[len(raw) // 2] ^= 0x10
        path.write_bytes({"empty": b"", "cut": bytes(raw[: len(raw) // 2]), "flipped": bytes(raw)}[damage])
    shifted.device_caches.clear()
    assert right(9) and KernelCache().folder.is_dir()
