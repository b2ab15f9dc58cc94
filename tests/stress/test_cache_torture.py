"""A share of the cache's torture (`cache_torture.py` has the whole), and each round by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SEED
from tests.stress.torture_rounds import DAMAGE, KEYS, ROUNDS, Worker, Wrong, made
from tritium.compiler.cache import KernelCache

SCRIPT = Path(__file__).with_name("cache_torture.py")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="limits of files and parents' deaths are Linux's"),
    pytest.mark.filterwarnings("ignore::tritium.compiler.cache.CacheWarning"),
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))


def torture(*arguments: str) -> str:
    command = [sys.executable, str(SCRIPT), "--processes", "6", "--rounds", "60", "--seed", str(SEED), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_share() -> None:
    told = torture("--kill-every", "0.05")
    assert f"seed {SEED}" in told and "360 rounds" in told and told.endswith("passed\n")


@pytest.mark.parametrize("damage", DAMAGE, ids=[d.__name__ for d in DAMAGE])
def test_every_damage_is_seen(damage, tmp_path: Path) -> None:
    cache, key = KernelCache(tmp_path), KEYS[0]
    for turn in range(5):
        assert cache.write(key, made(key)) or damage.__name__ == "_folder"
        worker = Worker(tmp_path, f"{SEED} {turn}")
        damage(worker, cache.path(key), key)
        assert cache.read(key) in (None, made(key))
        if damage.__name__ not in ("_cut", "_folder"):  # which may cut nothing off, or take itself away
            assert cache.read(key) is None
        if cache.path(key).is_dir():
            cache.path(key).rmdir()


@pytest.mark.parametrize("name", ROUNDS)
def test_every_round(name: str, tmp_path: Path) -> None:
    worker = Worker(tmp_path, str(SEED))
    for _ in range(6):
        worker.compile()
        ROUNDS[name][0](worker)


def test_a_wrong_entry_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "key", lambda self: KEYS[0])
    other = made(KEYS[1])
    other.metadata["hash"] = KEYS[0]
    KernelCache(tmp_path).write(KEYS[0], other)  # as a cache would that checks nothing
    with pytest.raises(Wrong):
        Worker(tmp_path, "x").compile()
