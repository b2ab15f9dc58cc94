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
from hashlib import sha256
from pathlib import Path

import pytest

from tritium.compiler import cache as cache_module
from tritium.compiler.cache import CacheWarning, KernelCache, cache_folder
from tritium.compiler.entry import Entry

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
    assert header["key"] == KEY and data.endswith(ENTRY.stages["obj"] + ENTRY.described)


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


def test_damage_is_reported_once_and_repaired(cache: KernelCache) -> None:
    path = cache.path(KEY)
    path.write_bytes(path.read_bytes()[:-5] + b"wrong")
    with pytest.warns(CacheWarning, match=r"damaged cache entry .*checksum.*compiled again"):
        assert cache.read(KEY) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.read(KEY) is None
    assert cache.write(KEY, ENTRY)
    assert cache.read(KEY) == ENTRY


def forged(header: bytes, contents: bytes = b"") -> bytes:
    """A file whose checksum of the header is right, whatever the header says."""
    rest = len(header).to_bytes(8, "little") + header
    return b"tritium2" + sha256(rest).digest() + rest + contents


def headers(contents: bytes) -> dict[str, bytes]:
    """Headers that are wrong in one way each, of an entry of KEY with these contents and one stage."""
    right = {
        "key": KEY,
        "metadata": {"name": "k"},
        "stages": [["obj", False, len(contents)]],
        "described": 0,
        "sha256": sha256(contents).hexdigest(),
    }
    one = len(contents)
    changes: dict[str, dict[str, object]] = {
        "another key": {"key": "cd" + KEY[2:]},
        "no key": {"key": None},
        "metadata that is a list": {"metadata": [1]},
        "a table that is a number": {"stages": 3},
        "a row of one": {"stages": [["obj"]]},
        "a size that is text": {"stages": [["obj", False, str(one)]]},
        "a size that is true": {"stages": [["obj", False, True]], "described": one - 1},
        "a size below zero": {"stages": [["a", False, one + 5], ["b", False, -5]]},
        "a size beyond the file": {"stages": [["obj", False, one + 1]]},
        "a size beyond any memory": {"stages": [["obj", False, 1 << 62]]},
        "stages that overlap": {"stages": [["a", False, one], ["b", False, one]]},
        "a million stages": {"stages": [[str(i), False, 0] for i in range(30_000)]},
        "a name that is a number": {"stages": [[7, False, one]]},
        "another checksum": {"sha256": "0" * 64},
        "a checksum that is a number": {"sha256": 1},
        "text that is none": {"stages": [["obj", True, one]]},
        "a description below zero": {"described": -1, "stages": [["obj", False, one + 1]]},
        "a description of nothing": {"described": None},
    }
    found = {name: json.dumps({**right, **change}).encode() for name, change in changes.items()}
    deep = b"[" * 200_000
    return {
        **found,
        "nothing": b"",
        "an object": b"{}",
        "a list": b"[]",
        "no JSON": b"\xff\xfe",
        "a number of a million digits": b'{"key":' + b"9" * 1_000_000 + b"}",
        "a header nested deeply": deep,
        "metadata nested deeply": b'{"metadata":' + deep + b"]" * len(deep) + b"}",
        "a header beyond a megabyte": json.dumps({**right, "x": "y" * (1 << 20)}).encode(),
    }


@pytest.mark.parametrize("name", headers(b""))
def test_a_right_checksum_around_nonsense_is_no_entry(cache: KernelCache, name: str) -> None:
    contents = b"\xff\x00code"
    cache.path(KEY).write_bytes(forged(headers(contents)[name], contents))
    with pytest.warns(CacheWarning, match="damaged cache entry"):
        assert cache.read(KEY) is None
    assert cache.write(KEY, ENTRY) and cache.read(KEY) == ENTRY


def test_entry_under_another_name_is_invalid(cache: KernelCache) -> None:
    other = "ab" + "1" * 62
    cache.path(other).write_bytes(cache.path(KEY).read_bytes())
    with pytest.warns(CacheWarning, match="it is the entry of another key"):
        assert cache.read(other) is None


def test_a_length_beyond_the_file_is_not_read(cache: KernelCache) -> None:
    path = cache.path(KEY)
    data = bytearray(path.read_bytes())
    for length in (1 << 20, 1 << 40, (1 << 64) - 1):
        data[40:48] = length.to_bytes(8, "little")
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            assert cache.read(KEY) is None


def test_a_huge_file_is_not_read_into_memory(cache: KernelCache) -> None:
    with open(cache.path(KEY), "r+b") as f:
        f.truncate(1 << 40)  # it takes no room on the disk
    with pytest.warns(CacheWarning, match="truncated"):
        assert cache.read(KEY) is None
    assert cache.write(KEY, ENTRY) and cache.read(KEY) == ENTRY


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_links_and_pipes_in_the_place_of_an_entry(cache: KernelCache, tmp_path: Path) -> None:
    path = cache.path(KEY)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(path.read_bytes())
    for make in (lambda: path.symlink_to(elsewhere), lambda: path.symlink_to("/dev/zero"), lambda: os.mkfifo(path)):
        path.unlink()
        make()
        cache_module._warned.clear()
        with pytest.warns(CacheWarning, match="cannot be read"):
            assert cache.read(KEY) is None  # and at once: nobody writes into the pipe
        assert cache.write(KEY, ENTRY) and cache.read(KEY) == ENTRY
    assert elsewhere.read_bytes() == path.read_bytes()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no users here")
def test_files_writable_by_others_are_refused(cache: KernelCache) -> None:
    path = cache.path(KEY)
    os.chmod(path, 0o666)
    with pytest.warns(CacheWarning, match="could have been written by another user"):
        assert cache.read(KEY) is None
    os.chmod(path, 0o620)
    assert cache.read(KEY) is None
    os.chmod(path, 0o600)
    assert cache.read(KEY) == ENTRY
    for mode in (0o777, 0o770, 0o1777):
        os.chmod(path.parent, mode)
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


def test_full_disk_leaves_no_file(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert cache.write(KEY, ENTRY) and cache.read(KEY) == ENTRY  # it was empty
    cache.path(KEY).unlink()
    cache.path(KEY).mkdir()
    (cache.path(KEY) / "mine").write_text("")
    with pytest.warns(CacheWarning):
        assert not cache.write(KEY, ENTRY)
    assert (cache.path(KEY) / "mine").exists()


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
from tritium.compiler.cache import KernelCache
from tritium.compiler.entry import Entry
cache = KernelCache(Path(sys.argv[1]))
for n in range(10**9):
    for k in range(8):
        cache.write(f"{k:02x}" * 32, Entry({"n": n}, {"obj": bytes([n % 256]) * 50_000}))
        if n == k == 0:
            print("ready", flush=True)
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


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can make files of others")
def test_files_of_other_users_are_refused(cache: KernelCache) -> None:
    path = cache.path(KEY)
    os.chown(path, 12345, 12345)
    with pytest.warns(CacheWarning, match="could have been written by another user"):
        assert cache.read(KEY) is None
    assert cache.write(KEY, ENTRY) and cache.read(KEY) == ENTRY  # in a file of our own
    os.chown(path.parent, 12345, 12345)
    assert cache.read(KEY) is None


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="root may write anywhere, others are asked")
def test_a_read_only_folder_of_roots(cache: KernelCache, tmp_path: Path) -> None:
    """Another user reads what root keeps, if root lets everybody, and cannot write; it runs all the same."""
    for folder in (*tmp_path.parents, tmp_path):
        os.chmod(folder, folder.stat().st_mode | 0o055)
    for place, _, files in os.walk(tmp_path):
        os.chmod(place, 0o755)
        for name in files:
            os.chmod(os.path.join(place, name), 0o644)
    child = os.fork()
    if not child:
        status = 1
        try:
            os.setgroups([])
            os.setgid(12345)
            os.setuid(12345)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                read = cache.read(KEY) == ENTRY
                status = 0 if read and not cache.write("cd" + KEY[2:], ENTRY) and len(told) == 1 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_folders_that_go_meanwhile_are_made_again(cache: KernelCache) -> None:
    stop = threading.Event()

    def remove() -> None:
        while not stop.wait(0.0005):
            for place in (cache.path(KEY).parent, cache.folder):
                for file in place.glob("*") if place.exists() else ():
                    if file.is_file() and not file.name.startswith("new-"):
                        file.unlink(missing_ok=True)
                try:
                    place.rmdir()
                except OSError:
                    pass

    remover = threading.Thread(target=remove)
    remover.start()
    try:
        written = [cache.write(KEY, ENTRY) for _ in range(100)]
    finally:
        stop.set()
        remover.join()
    assert sum(written) >= 95  # who is unlucky eight times in a row goes without


def test_a_write_that_is_interrupted_leaves_nothing(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.write(KEY, Entry({"name": "other"}))
    monkeypatch.undo()
    assert [p.name for p in cache.path(KEY).parent.iterdir()] == [cache.path(KEY).name]


def test_access_times_are_kept_cheaply(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    path, set_times = cache.path(KEY), []
    now = path.stat().st_mtime
    utime = os.utime
    monkeypatch.setattr(os, "utime", lambda *a, **k: set_times.append(a) or utime(*a, **k))
    monkeypatch.setattr(os, "supports_fd", {*os.supports_fd, os.utime})
    utime(path, (now - 1800, now - 100_000))  # half an hour ago: as good as now
    assert cache.read(KEY) == ENTRY and not set_times
    utime(path, (now - 90_000, now - 100_000))
    assert cache.read(KEY) == ENTRY and len(set_times) == 1
    found = path.stat()
    assert found.st_atime >= now and found.st_mtime == pytest.approx(now - 100_000, abs=1)
    assert cache.read(KEY) == ENTRY and len(set_times) == 1
