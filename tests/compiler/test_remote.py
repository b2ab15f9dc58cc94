"""Kernels shared through a server, and managers of the user's: against a real redis-server where one is installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest

import tritium
from tests.compiler.test_key import CPU, load, source
from tritium import knobs
from tritium.compiler import CacheWarning, KernelCache, remote
from tritium.compiler.cache_choice import open_cache
from tritium.compiler.cache_managers import (
    FILE_NAME,
    CacheManager,
    FileCacheManager,
    RedisRemoteCacheBackend,
    RemoteCacheBackend,
    RemoteCacheManager,
    _base32,
    get_cache_manager,
    get_dump_manager,
    get_override_manager,
)
from tritium.runtime.cache import default_cache_dir, default_dump_dir, default_override_dir
from tritium.support import TritiumError

REDIS = shutil.which("redis-server")
needs_redis = pytest.mark.skipif(REDIS is None, reason="redis-server is not installed (Debian's package redis-server)")
NAME = "triton.runtime.cache:RedisRemoteCacheBackend"
PASSWORD = "open sesame"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The port of a server of this module's own, and a client to look into it."""
    redis = pytest.importorskip("redis", reason="the package redis is not installed")
    folder, port = tmp_path_factory.mktemp("redis"), free_port()
    command = [REDIS, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen([*command, "--requirepass", PASSWORD], stdout=subprocess.DEVNULL)
    client = redis.Redis(host="127.0.0.1", port=port, password=PASSWORD)
    for _ in range(200):
        try:
            client.ping()
            break
        except redis.exceptions.RedisError:
            time.sleep(0.02)
    yield port, client
    process.terminate()
    process.wait()


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_health", {})
    monkeypatch.setenv("TRITIUM_REMOTE_CACHE_TIMEOUT", "5000")  # machines of tests may be slow


@pytest.fixture
def shared(server, monkeypatch: pytest.MonkeyPatch):
    """The settings of a process that shares; the client."""
    port, client = server
    client.flushall()
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", NAME)
    monkeypatch.setenv("TRITON_REDIS_HOST", "127.0.0.1")
    monkeypatch.setenv("TRITON_REDIS_PORT", str(port))
    monkeypatch.setenv("TRITIUM_REDIS_PASSWORD", PASSWORD)
    return client


@pytest.fixture
def hits():
    found: list[bool] = []
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **told: found.append(told["cache_hit"])
        yield found


def machine(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """From now on this is another machine: a folder of its own."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(folder))


# ---- a server -------------------------------------------------------------------------------------------------------


@needs_redis
def test_kernel_compiled_on_one_machine_is_found_on_another(shared, hits, tmp_path: Path, monkeypatch) -> None:
    fn = load(tmp_path).kernel
    first = tritium.compile(source(fn), CPU)
    name = f"triton:{_base32(first.hash)}:{FILE_NAME}"
    assert shared.keys() == [name.encode()]
    assert shared.get(name) == KernelCache().path(first.hash).read_bytes()
    assert 29 * 86400 < shared.ttl(name) <= 30 * 86400
    machine(monkeypatch, tmp_path / "second")
    second = tritium.compile(source(fn), CPU)
    assert second.asm.items() == first.asm.items()
    shared.flushall()  # the second machine has kept it
    tritium.compile(source(fn), CPU)
    assert hits == [False, True, True]


@needs_redis
def test_names_and_times_of_keys(shared, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TRITON_REDIS_KEY_FORMAT", "ours/{filename}/{key}")
    monkeypatch.setenv("TRITIUM_REDIS_KEEP_FOR", "0")
    made = tritium.compile(source(load(tmp_path).kernel), CPU)
    (name,) = shared.keys()
    assert name.decode() == f"ours/{FILE_NAME}/{_base32(made.hash)}" and shared.ttl(name) == -1


@needs_redis
@pytest.mark.parametrize(
    "damage", [lambda d: d[:-3], lambda d: d[:-3] + b"abc", lambda d: b"nonsense", lambda d: b"\0" * 10**6]
)
def test_damage_is_seen_and_repaired(shared, hits, tmp_path: Path, monkeypatch, damage) -> None:
    fn = load(tmp_path).kernel
    first = tritium.compile(source(fn), CPU)
    (name,) = shared.keys()
    whole = shared.get(name)
    shared.set(name, damage(whole))
    machine(monkeypatch, tmp_path / "second")
    with pytest.warns(CacheWarning, match="damaged entry of the shared cache"):
        assert tritium.compile(source(fn), CPU).kernel == first.kernel
    assert hits == [False, False] and shared.get(name) == whole


@needs_redis
def test_entry_of_another_key_is_invalid(shared, hits, tmp_path: Path, monkeypatch) -> None:
    fn = load(tmp_path).kernel
    tritium.compile(source(fn), CPU)
    other = tritium.compile(source(fn, constants={"BLOCK": 64}), CPU)
    names = shared.keys()
    for name in names:
        shared.set(name, KernelCache().path(other.hash).read_bytes())
    machine(monkeypatch, tmp_path / "second")
    with pytest.warns(CacheWarning, match="it is the entry of another key"):
        assert "128" in tritium.compile(source(fn), CPU).asm["ttir"]
    assert hits[-1] is False


@needs_redis
def test_a_secret(shared, hits, tmp_path: Path, monkeypatch) -> None:
    fn = load(tmp_path).kernel
    tritium.compile(source(fn), CPU)  # unsigned
    for number, secret in enumerate(("one", "one", "two")):
        monkeypatch.setenv("TRITIUM_REMOTE_CACHE_SECRET", secret)
        machine(monkeypatch, tmp_path / f"machine{number}")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tritium.compile(source(fn), CPU)
        assert [w for w in told if "not signed with our secret" in str(w.message)] or number != 0
    assert hits == [False, False, True, False]


@needs_redis
def test_two_processes(shared, tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(
        "import tritium, tritium.language as tl\n"
        "@tritium.jit\n"
        "def k(x, N: tl.constexpr):\n"
        "    tl.store(x + tl.arange(0, N), 1)\n"
        "tritium.knobs.compilation.listener = lambda **told: print(told['cache_hit'])\n"
        "made = tritium.compile(tritium.compiler.ASTSource(k, {'x': '*i32', 'N': 'constexpr'}, {'N': 8}),\n"
        "                       tritium.compiler.GPUTarget('cuda', 90, 32), until='ttir')\n"
    )
    told = []
    for name in "ab":
        env = {
            **os.environ,
            "TRITIUM_CACHE_DIR": str(tmp_path / name),
            "PYTHONPATH": str(Path(tritium.__file__).parents[1]),
        }
        told.append(
            subprocess.run([sys.executable, str(tmp_path / "k.py")], env=env, capture_output=True, text=True).stdout
        )
    assert told == ["False\n", "True\n"]


@needs_redis
@pytest.mark.parametrize("password", ["", "wrong"])
def test_server_that_refuses_authentication(shared, hits, tmp_path: Path, monkeypatch, password: str) -> None:
    monkeypatch.setenv("TRITIUM_REDIS_PASSWORD", password)
    with pytest.warns(CacheWarning, match="cannot be read: Auth"):
        tritium.compile(source(load(tmp_path).kernel), CPU)
    assert hits == [False] and shared.keys() == []


# ---- no server ------------------------------------------------------------------------------------------------------


def timed_compiles(fn, count: int = 3) -> tuple[list[str], float]:
    """Compiles with the shared cache on; what is warned of, and the seconds waited for the shared cache."""
    waited, asked = [], remote._asked

    def timed(*args):
        start = time.perf_counter()
        try:
            return asked(*args)
        finally:
            waited.append(time.perf_counter() - start)

    with warnings.catch_warnings(record=True) as told, pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("always")
        patch.setattr(remote, "_asked", timed)
        for n in range(count):
            tritium.compile(source(fn, constants={"BLOCK": 16 << n}), CPU, until="ttir")
    assert len(waited) == 2 * count
    return [str(w.message) for w in told], sum(waited)


def test_a_dead_server_costs_a_warning(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("redis")
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", NAME)
    monkeypatch.setenv("TRITON_REDIS_PORT", str(free_port()))
    told, _ = timed_compiles(load(tmp_path).kernel)
    assert len(told) == 1
    assert "the shared kernel cache (RedisRemoteCacheBackend) cannot be read: ConnectionError" in told[0]


@pytest.mark.parametrize("drip", [False, True], ids=["silent", "dripping"])
def test_a_server_that_does_not_answer_costs_its_timeout_once(tmp_path: Path, monkeypatch, drip: bool) -> None:
    pytest.importorskip("redis")
    RedisRemoteCacheBackend.prepare()
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", NAME)
    monkeypatch.setenv("TRITIUM_REMOTE_CACHE_TIMEOUT", "150")
    stop = threading.Event()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        monkeypatch.setenv("TRITON_REDIS_PORT", str(listening.getsockname()[1]))

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                while drip and not stop.wait(0.05):
                    try:
                        connection.send(b"$")
                    except OSError:
                        return
                stop.wait()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        told, waited = timed_compiles(load(tmp_path).kernel)
        stop.set()
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has asked a second time
            listening.accept()
    assert len(told) == 1 and ("more than 150 ms" in told[0] or "Timeout" in told[0])
    assert waited > 0.1


def test_without_the_package(tmp_path: Path, monkeypatch, hits) -> None:
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", NAME)
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.setattr("tritium.compiler.cache_managers._redis", tritium.support.lazy.LazyModule("redis"))
    monkeypatch.setattr("tritium.compiler.cache_managers._clients", {})
    with pytest.warns(CacheWarning, match=r"pip install tritium\[redis\]"):
        tritium.compile(source(load(tmp_path).kernel), CPU)
    assert hits == [False]


def test_hit_in_the_folder_does_not_use_the_backend(tmp_path: Path, monkeypatch, hits) -> None:
    fn = load(tmp_path).kernel
    tritium.compile(source(fn), CPU)
    monkeypatch.setenv("TRITON_REMOTE_CACHE_BACKEND", f"{__name__}:Broken")
    sys.modules.setdefault(__name__, sys.modules[Broken.__module__])
    tritium.compile(source(fn), CPU)
    assert hits == [False, True]


# ---- classes of the user's ------------------------------------------------------------------------------------------


class Broken(RemoteCacheBackend):
    """Raises whatever is asked of it."""

    def get(self, filenames):
        raise ZeroDivisionError("oh")

    def put(self, filename, data):
        raise KeyError("ah")


class Told(RemoteCacheBackend):
    """A dict, and what was asked."""

    kept: dict[tuple[str, str], bytes] = {}
    asked: list[str] = []

    def get(self, filenames):
        Told.asked.append("get")
        return {n: Told.kept[self.key, n] for n in filenames if (self.key, n) in Told.kept}

    def put(self, filename, data):
        Told.asked.append("put")
        Told.kept[self.key, filename] = data


class Shelf(CacheManager):
    """Files in a folder that a class attribute names."""

    place = ""

    def get_file(self, filename):
        path = os.path.join(Shelf.place, f"{self.key}-{filename}")
        return path if os.path.exists(path) else None

    def put(self, data, filename, binary=True):
        path = os.path.join(Shelf.place, f"{self.key}-{filename}")
        Path(path).write_bytes(data)
        return path

    def get_group(self, filename):
        return None

    def put_group(self, filename, group):
        raise NotImplementedError


@pytest.fixture
def told():
    Told.kept.clear()
    Told.asked.clear()
    return Told


def test_a_backend_of_the_users(tmp_path: Path, monkeypatch, hits, told) -> None:
    fn = load(tmp_path).kernel
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Told
        tritium.compile(source(fn), CPU)
        assert told.asked == ["get", "put"] and len(told.kept) == 1
        machine(monkeypatch, tmp_path / "second")
        tritium.compile(source(fn), CPU)
        tritium.compile(source(fn), CPU)
    assert hits == [False, True, True] and told.asked == ["get", "put", "get"]


def test_a_backend_that_raises_or_gives_back_nonsense(tmp_path: Path, monkeypatch, hits, told) -> None:
    fn = load(tmp_path).kernel
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Broken
        with pytest.warns(
            CacheWarning, match=r"\(Broken\) cannot be read: ZeroDivisionError: oh; kernels are compiled here"
        ):
            tritium.compile(source(fn), CPU)
        knobs.cache.remote_manager_class = Told
        monkeypatch.setattr(Told, "get", lambda self, names: {FILE_NAME: "a text"})
        with pytest.warns(CacheWarning, match="gave back a str in place of bytes"):
            tritium.compile(source(fn, constants={"BLOCK": 32}), CPU)
    assert hits == [False, False]


def test_a_manager_of_the_users(tmp_path: Path, hits) -> None:
    fn = load(tmp_path).kernel
    Shelf.place = str(tmp_path / "shelf")
    os.mkdir(Shelf.place)
    with knobs.cache.scope():
        knobs.cache.manager_class = Shelf
        first = tritium.compile(source(fn), CPU)
        assert os.listdir(Shelf.place) == [f"{_base32(first.hash)}-{FILE_NAME}"]
        assert not KernelCache().folder.exists()
        assert tritium.compile(source(fn), CPU).kernel == first.kernel
        path = Path(Shelf.place, os.listdir(Shelf.place)[0])
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.warns(CacheWarning, match="damaged entry of the manager"):
            tritium.compile(source(fn), CPU)
    assert hits == [False, True, False]


def test_manager_that_chooses_its_folder_without_super_init_keeps_kernels(tmp_path: Path, monkeypatch, hits) -> None:
    """As serving engines do so that processes do not share a folder, with the functions of Triton 3.0 to 3.2."""

    class OwnFolder(FileCacheManager):
        def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
            self.key, self.lock_path = key, None
            parent = default_dump_dir() if dump else default_override_dir() if override else default_cache_dir()
            self.cache_dir = os.path.join(f"{parent}_own", self.key)
            os.makedirs(self.cache_dir, exist_ok=True)

    fn = load(tmp_path).kernel
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "cache")
        knobs.cache.manager_class = OwnFolder
        first = tritium.compile(source(fn), CPU)
        assert [f.name for f in (tmp_path / "cache_own" / _base32(first.hash)).iterdir()] == [FILE_NAME]
        tritium.compile(source(fn), CPU)
    assert hits == [False, True]


def test_triton_s_two_settings_together(tmp_path: Path, monkeypatch, hits, told) -> None:
    """TRITON_CACHE_MANAGER=…RemoteCacheManager asks the backend, and is an error without one."""
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:RemoteCacheManager")
    with pytest.raises(TritiumError, match="TRITON_REMOTE_CACHE_BACKEND names no backend"):
        open_cache()
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Told
        tritium.compile(source(load(tmp_path).kernel), CPU)
    assert told.asked == ["get", "put"]
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:FileCacheManager")
    assert type(open_cache()) is KernelCache


# ---- Triton's classes by themselves ---------------------------------------------------------------------------------


def test_files_of_a_key(tmp_path: Path) -> None:
    manager = get_cache_manager("ab" * 32)
    assert isinstance(manager, FileCacheManager) and manager.get_file("a.txt") is None
    path = manager.put("text", "a.txt", binary=False)
    assert manager.get_file("a.txt") == path and Path(path).read_text() == "text"
    other = manager.put(b"\0\1", "b.bin")
    assert manager.get_group("g") is None
    manager.put_group("g", {"a.txt": path, "b.bin": other})
    assert get_cache_manager("ab" * 32).get_group("g") == {"a.txt": path, "b.bin": other}
    os.unlink(other)
    assert manager.get_group("g") is None
    Path(manager.get_file("__grp__g")).write_text("{")
    assert manager.get_group("g") is None
    os.chmod(path, 0o666)
    assert manager.get_file("a.txt") is None  # anybody may have written it
    for name in ("../x", "", "..", "a/b"):
        with pytest.raises(ValueError, match="no name of a file"):
            manager.put(b"", name)


def test_files_of_dumps_and_overrides(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "override"))
    key = "cd" * 32
    assert get_dump_manager(key).put("x", "k.ttir") == str(tmp_path / "dump" / _base32(key) / "k.ttir")
    assert get_override_manager(key).get_file("k.ttir") is None
    assert not (tmp_path / "override").exists()


def test_a_remote_manager_copies_to_files(tmp_path: Path, told) -> None:
    with pytest.raises(TritiumError, match="has no backend"):
        RemoteCacheManager("K")
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Told
        manager = RemoteCacheManager("K")
        assert manager.get_file("a") is None and manager.get_group("g") is None
        path = manager.put(b"1", "a")
        assert Path(path).read_bytes() == b"1" and told.kept["K", "a"] == b"1"
        manager.put("2", "b")
        manager.put_group("g", {"a": path, "b": "elsewhere"})
        found = RemoteCacheManager("K").get_group("g")
        assert {n: Path(p).read_bytes() for n, p in found.items()} == {"a": b"1", "b": b"2"}
        del told.kept["K", "b"]
        assert manager.get_group("g") is None
        asked = len(told.asked)
        assert RemoteCacheManager("K", dump=True).put(b"3", "c") and len(told.asked) == asked


def test_names_of_triton() -> None:
    import tritium.runtime
    from tritium.runtime import cache

    assert tritium.runtime.RemoteCacheBackend is cache.RemoteCacheBackend is RemoteCacheBackend
    assert tritium.runtime.RedisRemoteCacheBackend is RedisRemoteCacheBackend
    assert cache.triton_key() == tritium.compiler.triton_key()
