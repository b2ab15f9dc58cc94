"""Pipes, sockets, devices and folders in the place of files: an error or a miss at once, never a wait."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.compiler import ASTSource, CacheWarning, GPUTarget, IRSource, SourceError, compile
from tritium.compiler.cache import KernelCache
from tritium.compiler.cache_managers import FileCacheManager
from tritium.compiler.stage_files import folder_name
from tritium.support.errors import UnsupportedOperation
from tritium.support.files import open_regular, read_regular, source_lines, write_regular
from tritium.support.location import FileLineColLoc
from tritium.support.traces import TraceWarning

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
CPU = GPUTarget("cpu", "x86-64-v3", 1)


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """Fail after 20 seconds instead of blocking."""

    def late(*_: object) -> None:
        raise TimeoutError("a file is waited for")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["pipe", "folder", "socket", "device"])
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "special"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    elif request.param == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as listening:
            try:
                listening.bind(str(path))
            except OSError:
                pytest.skip("the path is too long for a socket")
            yield path
        return
    yield path


@tritium.jit
def doubled(x):
    tl.store(x, tl.load(x) * 2)


SOURCE = ASTSource(doubled, {"x": "*i32"}, {})


def test_only_regular_files_are_opened(special: Path) -> None:
    for use in (open_regular, read_regular, lambda path: write_regular(path, b"x")):
        with pytest.raises(OSError, match="not a regular file"):
            use(special)
    assert source_lines(str(special)) == []
    special_op = type("Op", (), {"name": "tt.load", "loc": FileLineColLoc(str(special), 1, 1)})()
    assert "tt.load is wrong" in str(UnsupportedOperation(special_op, "is wrong"))


def test_cache_entry_that_is_no_file_is_a_miss_with_one_warning(tmp_path: Path) -> None:
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        entry = KernelCache().path(compile(SOURCE, CPU).hash)
        for make in (os.mkfifo, os.mkdir):
            entry.unlink()
            make(entry)
            with pytest.warns(CacheWarning, match=r"not a regular file") if make is os.mkfifo else _nothing():
                out = np.array([21], np.int32)
                doubled.device_caches.clear()
                doubled[(1,)](out)
                compile(SOURCE, CPU)
            assert out[0] == 42 and entry.is_file()


class _nothing:  # noqa: N801
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def test_ledger_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "written")
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        assert compile(SOURCE, CPU).asm["obj"] and KernelCache().path(compile(SOURCE, CPU).hash).is_file()


def test_files_of_cache_managers(tmp_path: Path) -> None:
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        manager = FileCacheManager("ab12")
        path = Path(manager.put(b"1", "kernel.bin"))
        path.unlink()
        os.mkfifo(path)
        os.mkfifo(Path(manager.cache_dir) / "__grp__group")
        assert manager.get_file("kernel.bin") is None and manager.get_group("group") is None
        assert Path(manager.put(b"2", "kernel.bin")).read_bytes() == b"2"


@pytest.mark.parametrize("stage", ["ttir", "llir"])
def test_override_of_a_stage(stage: str, tmp_path: Path) -> None:
    path = tmp_path / folder_name(SOURCE.hash()) / f"doubled.{stage}"
    path.parent.mkdir()
    os.mkfifo(path)
    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.override_dir = str(tmp_path)
        knobs.compilation.override = True
        with pytest.raises(SourceError, match="the file of a stage cannot be read: .*not a regular file"):
            compile(SOURCE, CPU)


def test_dumped_stage_and_source_of_a_compile(tmp_path: Path) -> None:
    path = tmp_path / folder_name(SOURCE.hash()) / "doubled.ttir"
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        IRSource(path)
    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.dump_dir = str(tmp_path)
        knobs.compilation.dump_ir = knobs.compilation.always_compile = True
        with pytest.raises(OSError, match="not a regular file"):
            compile(SOURCE, CPU)


def test_trace_into_a_pipe_without_a_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "trace")
    with knobs.compilation.scope():
        knobs.compilation.trace = str(tmp_path / "trace")
        knobs.compilation.always_compile = True
        with pytest.warns(TraceWarning, match="the trace cannot be written"):
            compile(SOURCE, CPU)
