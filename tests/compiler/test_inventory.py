"""What is in a cache's folder, and how it is kept small."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from tritium import knobs
from tritium.compiler.cache import KernelCache
from tritium.compiler.entry import Entry
from tritium.compiler.inventory import ABANDONED_AFTER, clear, evict, items, matching, prune, verify
from tritium.support.settings import Size
from tritium.tools import cli

MEGABYTE = bytes(range(256)) * 4096


def key(n: int) -> str:
    return f"{n * 0x9E3779B97F4A7C15 % 2**64:016x}" + "0" * 48


def write(n: int, age: float = 0, body: bytes = b"code", name: str = "") -> Path:
    """Entry number `n`, used last `age` seconds ago."""
    cache = KernelCache()
    metadata = {"name": name or f"k{n}", "target": {"backend": "cpu", "arch": "x"}}
    assert cache.write(key(n), Entry(metadata, {"ttir": "module {}", "obj": body}))
    then = time.time() - age
    os.utime(cache.path(key(n)), (then, then))
    return cache.path(key(n))


def left() -> list[int]:
    return [n for n in range(100) if KernelCache().path(key(n)).exists()]


def test_items() -> None:
    assert items(KernelCache().folder) == []
    write(1, age=50, name="a")
    write(2, age=10, name="b")
    found = items(KernelCache().folder)
    assert [(i.key, i.name, i.target, i.stages) for i in found] == [
        (key(2), "b", "cpu:x", {"ttir": 9, "obj": 4}),
        (key(1), "a", "cpu:x", {"ttir": 9, "obj": 4}),
    ]
    assert [i.key for i in matching(found, key(1)[:6])] == [key(1)]
    assert [i.key for i in matching(found, "b")] == [key(2)]
    assert len(matching(found, "")) == 2 and matching(found, "nothing") == []


def test_invalid_entries_are_listed_or_ignored(tmp_path: Path) -> None:
    path = write(1)
    folder = KernelCache().folder
    path.write_bytes(b"tritium2" + bytes(30))
    (folder / "zz").mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "zz" / "other.kernel").write_text("no key")
    (path.parent / "abcd.kernel").symlink_to(path)
    (folder / "ab").symlink_to("/")
    os.mkfifo(path.parent / ("0" * 64 + ".kernel"))
    found = items(folder)
    assert [(i.key, i.name, i.target) for i in found] == [(key(1), "", "")]
    assert "truncated" in found[0].problem
    assert clear(folder).entries == 1
    assert (folder / "notes.txt").exists() and (folder / "zz" / "other.kernel").exists()


def test_sizes_that_lie_about_the_header() -> None:
    path = write(1)
    for length in (1 << 20, 1 << 62):
        data = bytearray(path.read_bytes())
        data[40:48] = length.to_bytes(8, "little")
        path.write_bytes(data)
        assert items(KernelCache().folder)[0].problem


def test_verify_reads_everything() -> None:
    whole, torn = write(1), write(2)
    data = torn.read_bytes()
    torn.write_bytes(data[:-5] + bytes([data[-5] ^ 1]) + data[-4:])  # the header is right
    told = {item.key: problem for item, problem in verify(KernelCache().folder)}
    assert told == {key(1): "", key(2): "the checksum does not match"}
    assert prune(KernelCache().folder, None, None).entries == 0  # which reads headers
    assert whole.exists()


def test_prune_evicts_the_least_recently_used() -> None:
    for n in range(10):
        write(n, age=n * 3600, body=MEGABYTE)
    folder = KernelCache().folder
    gone = prune(folder, limit=int(6.5 * len(MEGABYTE)), unused_for=None)
    assert (gone.entries, left()) == (4, [0, 1, 2, 3, 4, 5])
    assert 4 * len(MEGABYTE) <= gone.size <= 4.1 * len(MEGABYTE)
    assert prune(folder, None, unused_for=3.5 * 3600).entries == 2 and left() == [0, 1, 2, 3]
    write(2, body=MEGABYTE)
    prune(folder, limit=int(2.5 * len(MEGABYTE)), unused_for=None)
    assert left() == [0, 2]  # made anew is used
    assert not list(folder.rglob("*")) == []
    assert prune(folder, limit=0, unused_for=None).entries == 2 and list(folder.iterdir()) == []


def test_hit_updates_access_time_of_an_entry() -> None:
    for n in range(4):
        write(n, age=(10 - n) * 7200, body=MEGABYTE)
    assert KernelCache().read(key(0)) is not None
    prune(KernelCache().folder, limit=int(2.5 * len(MEGABYTE)), unused_for=None)
    assert left() == [0, 3]


def test_files_of_writers_that_were_killed() -> None:
    path = write(1)
    native = KernelCache().folder.parent / "native"
    native.mkdir(exist_ok=True)
    orphans = [path.parent / "new-123-0-abcd", KernelCache().folder / "new-5-6-ef", native / "new-7-8-00"]
    for orphan in orphans:
        orphan.write_bytes(b"half")
    assert prune(KernelCache().folder, None, None).abandoned == 0  # somebody may be writing them
    old = time.time() - ABANDONED_AFTER - 1
    os.utime(orphans[0], (old, old))
    assert prune(KernelCache().folder, None, None).abandoned == 1
    assert prune(KernelCache().folder, None, None, abandoned_after=0).abandoned == 2
    assert path.exists()


# ---- the limit ------------------------------------------------------------------------------------------------------


def test_writers_keep_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_MAX_SIZE", "8M")
    looks = []
    monkeypatch.setattr("tritium.compiler.inventory._files", counted(looks))
    most = 0
    for n in range(40):
        write(n, age=4000 - 100 * n, body=MEGABYTE)
        os.utime(KernelCache().path(key(n)))  # used now
        most = max(most, sum(p.stat().st_size for p in KernelCache().folder.rglob("*.kernel")))
    assert most <= 8.6 * 2**20
    assert len(left()) == 7 and left()[-1] == 39  # the last of them
    monkeypatch.setenv("TRITIUM_CACHE_MAX_SIZE", "0")
    for n in range(40, 60):
        write(n, body=MEGABYTE)
    assert len(left()) == 27


def counted(looks: list[object]):
    from tritium.compiler import inventory

    files = inventory._files

    def look(folder):
        looks.append(folder)
        return files(folder)

    return look


def test_small_writes_look_at_the_folder_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_MAX_SIZE", "64M")
    looks: list[object] = []
    monkeypatch.setattr("tritium.compiler.inventory._files", counted(looks))
    for n in range(100):
        write(n)
    assert len(looks) <= 3 * 2  # a ledger of 64 bytes, thrice the folder and its neighbour


def test_one_process_at_a_time_evicts(tmp_path: Path) -> None:
    write(1)
    ledger = KernelCache().folder.parent / "written"
    assert ledger.stat().st_size == 1
    with open(ledger, "r+b") as first, open(ledger, "r+b") as second:
        evict(KernelCache().folder, 1 << 40, first.fileno())
        assert ledger.stat().st_size == 0
        ledger.write_bytes(b"...")
        assert evict(KernelCache().folder, 0, second.fileno()) == 0  # another holds the lock
        assert left() == [1] and ledger.stat().st_size == 3
    with open(ledger, "r+b") as third:
        assert evict(KernelCache().folder, 0, third.fileno()) > 0
    assert left() == []


def test_a_ledger_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    KernelCache().folder.parent.mkdir(parents=True, exist_ok=True)
    (KernelCache().folder.parent / "written").symlink_to(precious)
    write(1)
    assert precious.read_text() == "mine" and left() == [1]


@pytest.mark.parametrize(
    "text, size", [("0", 0), ("12", 12), ("2k", 2048), ("1.5M", 3 << 19), ("4GiB", 4 << 30), ("1TB", 1 << 40)]
)
def test_sizes(text: str, size: int) -> None:
    assert Size(None).parse(text) == size


@pytest.mark.parametrize("text", ["", "much", "4X", "-", "1e999"])
def test_no_sizes(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_MAX_SIZE", text)
    with pytest.raises(ValueError, match="TRITIUM_CACHE_MAX_SIZE must be a size such as 500M or 4G"):
        _ = knobs.cache.max_size


# ---- the command line -----------------------------------------------------------------------------------------------


def run(*arguments: str, status: int = 0) -> str:
    """The output of `tritium cache`, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["tritium", "cache", *arguments])
            cli.main()
    assert (end.value.code or 0) == status, out.getvalue() + err.getvalue()
    return out.getvalue() if status == 0 else out.getvalue() + err.getvalue()


def test_the_command_runs_as_a_program() -> None:
    write(1, name="first")
    done = subprocess.run([sys.executable, "-m", "tritium", "cache", "ls"], capture_output=True, text=True, check=True)
    assert "first" in done.stdout


def test_commands() -> None:
    assert "0 entries, 0 B of at most 4.0 GiB" in run("ls")
    write(1, age=7200, name="first", body=MEGABYTE)
    write(2, age=86400 * 3, name="second")
    shown = run("ls")
    assert "first" in shown and "1.0 MiB" in shown and "2 h" in shown and "3 d" in shown and "2 entries" in shown
    listed = json.loads(run("ls", "--json", "--sort", "size"))
    assert [e["kernel"] for e in listed] == ["first", "second"]
    assert json.loads(run("ls", "second", "--json"))[0]["key"] == key(2)
    assert run("show", "second", "--stage", "ttir") == "module {}\n"
    assert json.loads(run("show", key(2)[:8], "--json"))["metadata"]["name"] == "second"
    assert "no stage 'ptx'; it has: ttir, obj" in run("show", "second", "--stage", "ptx", status=1)
    assert "no entry's key begins with 'third'" in run("show", "third", status=1)
    assert run("verify") == "2 entries, 0 damaged\n"
    damaged = KernelCache().path(key(2))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    assert "the checksum does not match" in run("verify", status=1)
    assert json.loads(run("verify", "--json", "--delete"))["removed"] == 1
    assert run("prune", "--unused-for", "1h") == "removed 1 entry, 1.0 MiB\n"
    write(3)
    write(4, name="other")
    assert run("clear", "other") == f"removed 1 entry, {len(KernelCache().path(key(3)).read_bytes()) + 3} B\n"
    assert json.loads(run("clear", "--json"))["removed"] == 1


def test_names_that_are_commands_of_a_terminal() -> None:
    write(1, name="\x1b[2Jred[/bold]")
    for command in (["ls"], ["show", key(1)[:8]]):
        told = run(*command)
        assert "\\x1b[2Jred[/bold]" in told and "\x1b" not in told


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["prune", "--max-size", "much"], "--max-size is a size such as 500M or 4G, not 'much'"),
        (["prune", "--unused-for", "soon"], "--unused-for is a time such as 12h or 30d, not 'soon'"),
        (["ls", "--sort", "colour"], "sorted by used, made, size, name, not by 'colour'"),
        (["clear", "nothing"], "no entry's key begins with 'nothing'"),
        (["why", "nothing.py"], "there is no file 'nothing.py'"),
        (["why", "nothing"], "no entry's key begins with 'nothing'"),
    ],
)
def test_mistakes(arguments: list[str], text: str) -> None:
    told = run(*arguments, status=1)
    assert text in told and "Traceback" not in told and told.startswith("tritium cache: error:")


KERNEL = """
import tritium as triton
import tritium.language as tl

@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
"""


@pytest.mark.usefixtures("triton_alias")
def test_why_of_a_file_and_of_an_entry(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL)
    what = [str(tmp_path / "k.py"), "--target", "cuda:90", "--signature", "*fp32:16, i32, 128", "--stage", "ttir"]
    assert "no kernel called double" in run("why", *what)
    subprocess.run([sys.executable, "-m", "tritium", "compile", *what, "-o", str(tmp_path / "k.ttir")], check=True)
    assert "is in the cache" in run("why", *what)
    assert run("why", *what, "--num-warps", "8").endswith("option num_warps: 4 -> 8\n")
    subprocess.run(
        [sys.executable, "-m", "tritium", "compile", *what, "--num-warps", "2", "-o", str(tmp_path / "k.ttir")],
        check=True,
    )
    assert run("why", "double").endswith("option num_warps: 4 -> 2\n")
    assert json.loads(run("why", "double", "--json"))["differs"] == ["option num_warps: 4 -> 2"]


def test_commands_say_nothing_of_a_missing_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "nowhere"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert items(KernelCache().folder) == [] and prune(KernelCache().folder, 0, 0).entries == 0
    assert not (tmp_path / "nowhere").exists()
