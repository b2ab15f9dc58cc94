"""The cache under fire: damage, truncation, other users, read-only folders, full disks, several processes."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from tritium.compiler.cache import CacheWarning, Entry, KernelCache, cache_folder

KEY = "ab" + "0" * 62
ENTRY = Entry(
    {"name": "k", "hash": KEY, "num": [1, 2.5, None]}, {"ttir": "module { naïve }", "obj": bytes(range(256)) * 9}
)


@pytest.fixture
def cache() -> KernelCache:
    found = KernelCache()
    assert found.write(KEY, ENTRY)
    return found


def test_round_trip(cache: KernelCache) -> None:
    found = cache.read(KEY)
    assert found == ENTRY
    assert list(found.stages) == ["ttir", "obj"]
    assert cache.read("cd" + KEY[2:]) is None


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert KernelCache().folder == tmp_path / "cache" / "kernels"
    monkeypatch.delenv("TRITIUM_CACHE_DIR")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/theirs")
    assert cache_folder() == Path("/theirs")
    monkeypatch.delenv("TRITON_CACHE_DIR")
    monkeypatch.setenv("TRITIUM_HOME", "/home")
    assert cache_folder() == Path("/home/.tritium/cache")


def test_a_file_is_json_and_raw_bytes_without_paths(cache: KernelCache, tmp_path: Path) -> None:
    data = cache.path(KEY).read_bytes()
    size = int.from_bytes(data[40:48], "little")
    header = json.loads(data[48 : 48 + size])
    assert header["stages"] == [["ttir", True, len("module { naïve }".encode())], ["obj", False, 256 * 9]]
    assert str(tmp_path).encode() not in data
    assert data.endswith(ENTRY.stages["obj"])


def test_every_flipped_byte_and_every_truncation_is_noticed(cache: KernelCache) -> None:
    path = cache.path(KEY)
    whole = path.read_bytes()
    places = [*range(64), *random.Random(1).sample(range(64, len(whole)), 60), len(whole) - 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        for at in places:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
            assert cache.read(KEY) is None, at
        for size in [0, 1, 7, 8, 39, 40, 47, 48, 60, len(whole) // 2, len(whole) - 1]:
            path.write_bytes(whole[:size])
            assert cache.read(KEY) is None, size
        path.write_bytes(whole + b"x")
        assert cache.read(KEY) is None
    path.write_bytes(whole)
    assert cache.read(KEY) == ENTRY


def test_damage_is_said_once_and_repaired(cache: KernelCache) -> None:
    path = cache.path(KEY)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.warns(CacheWarning, match=r"damaged cache entry .*checksum.*compiled again"):
        assert cache.read(KEY) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.read(KEY) is None
    assert cache.write(KEY, ENTRY)
    assert cache.read(KEY) == ENTRY


def test_a_right_checksum_around_nonsense_is_no_entry(cache: KernelCache) -> None:
    from hashlib import sha256

    for header in (b"{}", b"[]", b"null", b'{"metadata":{},"stages":[[1]]}', b"\xff\xfe", b'{"stages":3,"metadata":1}'):
        rest = len(header).to_bytes(8, "little") + header
        cache.path(KEY).write_bytes(b"tritium1" + sha256(rest).digest() + rest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            assert cache.read(KEY) is None, header


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no users here")
def test_what_another_user_may_write_is_refused(cache: KernelCache) -> None:
    path = cache.path(KEY)
    os.chmod(path, 0o666)
    with pytest.warns(CacheWarning, match="could have been written by another user"):
        assert cache.read(KEY) is None
    os.chmod(path, 0o600)
    assert cache.read(KEY) == ENTRY
    os.chmod(path.parent, 0o777)
    assert cache.read(KEY) is None
    os.chmod(path.parent, 0o700)
    assert cache.read(KEY) == ENTRY


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = KernelCache(tmp_path / "file")
    with pytest.warns(CacheWarning, match="cannot be kept"):
        assert not cache.write(KEY, ENTRY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not cache.write(KEY, ENTRY)


@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(cache: KernelCache) -> None:
    os.chmod(cache.folder, 0o500)
    os.chmod(cache.path(KEY).parent, 0o500)
    try:
        with pytest.warns(CacheWarning):
            assert not cache.write(KEY, ENTRY)
        assert cache.read(KEY) == ENTRY
    finally:
        os.chmod(cache.folder, 0o700)
        os.chmod(cache.path(KEY).parent, 0o700)


def test_a_full_disk_leaves_nothing_behind(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CacheWarning, match="No space left"):
        assert not cache.write(KEY, Entry({"name": "other"}))
    monkeypatch.undo()
    assert [p.name for p in KernelCache(cache.folder.parent).path(KEY).parent.iterdir()] == [cache.path(KEY).name]
    assert KernelCache(cache.folder.parent).read(KEY) == ENTRY


def test_a_folder_in_the_place_of_an_entry(cache: KernelCache) -> None:
    cache.path(KEY).unlink()
    cache.path(KEY).mkdir()
    with pytest.warns(CacheWarning):
        assert cache.read(KEY) is None
    with pytest.warns(CacheWarning):
        assert not cache.write(KEY, ENTRY)


def test_readers_never_see_half_an_entry(cache: KernelCache) -> None:
    entries = [Entry({"name": "k", "n": n}, {"obj": bytes([n]) * 100_000}) for n in range(4)]
    cache.write(KEY, entries[0])
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            cache.write(KEY, entries[n % 4])
            n += 1

    writers = [threading.Thread(target=write) for _ in range(2)]
    for w in writers:
        w.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(300):
                found = cache.read(KEY)
                assert found is not None
                assert set(found.stages["obj"]) == {found.metadata["n"]}
    finally:
        stop.set()
        for w in writers:
            w.join()
    assert len(list(cache.path(KEY).parent.iterdir())) == 1


WRITER = """
import sys
from pathlib import Path
from tritium.compiler.cache import Entry, KernelCache
cache = KernelCache(Path(sys.argv[1]))
print("ready", flush=True)
for n in range(10**9):
    for k in range(8):
        cache.write(f"{k:02x}" * 32, Entry({"n": n}, {"obj": bytes([n % 256]) * 50_000}))
"""


def test_a_killed_writer_leaves_whole_entries(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    for turn in range(3):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE) for _ in range(2)
        ]
        for w in writers:
            w.stdout.readline()
        threading.Event().wait(0.1 + 0.05 * turn)
        for w in writers:
            w.kill()
            w.communicate()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = [KernelCache(folder).read(f"{k:02x}" * 32) for k in range(8)]
        assert any(found)
        for entry in filter(None, found):
            assert entry.stages["obj"] == bytes([entry.metadata["n"] % 256]) * 50_000
