"""What a process of the cache's torture does in a round: compile and check, damage, prune, clear, run out of disk.

Whatever happens, a read gives the entry that belongs to the key, whole, or nothing. `Wrong` is anything else.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np

import tritium
import tritium.language as tl
from tritium.compiler.cache import KernelCache
from tritium.compiler.entry import Entry
from tritium.compiler.inventory import clear, items, prune, verify

KEYS = [sha256(str(n).encode()).hexdigest() for n in range(48)]


class Wrong(Exception):
    """The cache gave what it must not give."""


@tritium.jit
def affine(x, y, n, A: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.load(x + i, mask=i < n) * A + B, mask=i < n)


def body(key: str) -> bytes:
    """The machine code of a key: 1 to 150 kilobytes that follow from it."""
    rng = random.Random(key)
    return rng.randbytes(rng.choice((1_000, 9_000, 40_000, 150_000)))


def made(key: str) -> Entry:
    """What a compile of a key gives."""
    described = json.dumps({"kernel": {"name": f"k{key[:4]}"}, "options": {"num_warps": key[0]}}).encode()
    metadata = {"name": f"k{key[:4]}", "hash": key, "target": {"backend": "cpu", "arch": "torture"}}
    return Entry(metadata, {"ttir": f"module {{}} // {key}", "obj": body(key)}, described)


class Worker:
    """One process: its random choices, what it counts, and the folder it works in."""

    def __init__(self, folder: Path, seed: str) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        names, weights = zip(*ROUNDS.values())
        self.actions: tuple[Callable[[Worker], None], ...] = names
        self.weights = weights

    def round(self) -> None:
        """One action, chosen at random."""
        action = self.random.choices(self.actions, self.weights)[0]
        self.counts[action.__name__] += 1
        action(self)

    def key(self) -> str:
        return self.random.choice(KEYS)

    # -- what processes do that use the cache ---------------------------------------------------------------------

    def compile(self) -> None:
        """Read; what is there must be right; what is not is made and written."""
        cache, key = KernelCache(self.folder), self.key()
        found = cache.read(key)
        if found is None:
            self.counts["missed"] += 1
            self.counts["written"] += cache.write(key, made(key))
        elif found != made(key):
            raise Wrong(f"{key} gave another entry: {found.metadata}, {[len(s) for s in found.stages.values()]}")
        else:
            self.counts["hit"] += 1

    def launch(self) -> None:
        """A kernel through `compile` and the launcher, its result checked."""
        a, b = self.random.randrange(1, 9), self.random.randrange(9)
        x, y = np.arange(64, dtype=np.float32), np.full(64, np.nan, np.float32)
        affine.device_caches.clear()
        affine[(1,)](x, y, 64, a, b)
        if not np.array_equal(y, x * a + b):
            raise Wrong(f"x * {a} + {b} gave {y[:4]}")

    def tidy(self) -> None:
        """What the command line does."""
        folder = KernelCache(self.folder).folder
        choice = self.random.randrange(6)
        if choice == 0:
            clear(folder)
        elif choice == 1:
            part = self.random.choice("0123456789abcdef")
            clear(folder, lambda item: item.key[0] == part)
        elif choice <= 3:
            prune(folder, self.random.choice((0, 300_000, 2_000_000, None)), None)
        elif choice == 4:
            list(verify(folder))
        else:
            items(folder)

    # -- what goes wrong ------------------------------------------------------------------------------------------

    def full(self) -> None:
        """No file may grow: a write ends in the middle."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.random.choice((0, 100, 5_000, 60_000)), hard))
        try:
            self.compile()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def read_only(self) -> None:
        """A folder that cannot be written while it is used. (Root may all the same: the script gives up being root.)"""
        key = self.key()
        place = KernelCache(self.folder).path(key).parent
        with contextlib.suppress(OSError):
            os.chmod(place, 0o500)
        try:
            self.compile()
        finally:
            with contextlib.suppress(OSError):
                os.chmod(place, 0o700)

    def open_to_all(self) -> None:
        """A file or folder that anybody may write."""
        path = KernelCache(self.folder).path(self.key())
        with contextlib.suppress(OSError):
            os.chmod(self.random.choice((path, path.parent)), 0o777)
        self.compile()
        with contextlib.suppress(OSError):
            os.chmod(path.parent, 0o700)

    def leave_half(self) -> None:
        """A writer that ended in the middle."""
        place = KernelCache(self.folder).path(self.key()).parent
        with contextlib.suppress(OSError):
            (place / f"new-{os.getpid()}-{self.random.randrange(10**9)}-00").write_bytes(b"half" * 1000)

    def damage(self) -> None:
        """One entry becomes something else."""
        key = self.key()
        path = KernelCache(self.folder).path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if path.is_file() and path.stat().st_size > 1 << 20:  # `_huge` was here: nobody writes so much
                path.unlink(missing_ok=True)
            self.random.choice(DAMAGE)(self, path, key)


def _bytes(path: Path) -> bytearray:
    """What is in a file; of a huge one that another process made of it just now, the beginning."""
    with open(path, "rb") as f:
        return bytearray(f.read(1 << 20) or b"x")


def _flipped(worker: Worker, path: Path, key: str) -> None:
    data = _bytes(path)
    data[worker.random.randrange(len(data))] ^= 1 << worker.random.randrange(8)
    path.write_bytes(data)


def _cut(worker: Worker, path: Path, key: str) -> None:
    with open(path, "r+b") as f:
        f.truncate(worker.random.randrange(os.path.getsize(path) + 1))


def _longer(worker: Worker, path: Path, key: str) -> None:
    with open(path, "ab") as f:
        f.write(worker.random.randbytes(worker.random.randrange(1, 5000)))


def _huge(worker: Worker, path: Path, key: str) -> None:
    with open(path, "r+b") as f:
        f.truncate(1 << 34)  # it takes no room


def _anothers(worker: Worker, path: Path, key: str) -> None:
    path.write_bytes(made(worker.random.choice([k for k in KEYS if k != key])).to_bytes(key))


def _under_anothers_key(worker: Worker, path: Path, key: str) -> None:
    other = worker.random.choice([k for k in KEYS if k != key])
    path.write_bytes(made(other).to_bytes(other))


def _forged(worker: Worker, path: Path, key: str) -> None:
    header = worker.random.choice(
        [b"[" * 50_000, b"{}", b'{"key":"%s","metadata":{},"stages":[["obj",0,99999999]],"described":0}' % key.encode()]
    )
    rest = len(header).to_bytes(8, "little") + header
    path.write_bytes(b"tritium2" + sha256(rest).digest() + rest)


def _long_header(worker: Worker, path: Path, key: str) -> None:
    data = _bytes(path)
    data[40:48] = worker.random.randbytes(8)
    path.write_bytes(data)


def _link(worker: Worker, path: Path, key: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(worker.random.choice(("/dev/zero", "/etc/passwd", "nowhere", str(path.with_name("loop")))))


def _pipe(worker: Worker, path: Path, key: str) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _folder(worker: Worker, path: Path, key: str) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()
    if worker.random.random() < 0.9:
        path.rmdir()


DAMAGE = [_flipped, _cut, _longer, _huge, _anothers, _under_anothers_key, _forged, _long_header, _link, _pipe, _folder]

#: name -> (what is done, how often)
ROUNDS = {
    "compile": (Worker.compile, 640),
    "launch": (Worker.launch, 30),
    "tidy": (Worker.tidy, 40),
    "damage": (Worker.damage, 160),
    "full": (Worker.full, 50),
    "read_only": (Worker.read_only, 30),
    "open_to_all": (Worker.open_to_all, 30),
    "leave_half": (Worker.leave_half, 20),
}
