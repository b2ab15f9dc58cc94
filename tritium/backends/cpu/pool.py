"""The native thread pool: loaded once, its threads made when first wanted, remade after a fork.

Its code does not depend on the processor's features, so the object is kept on disk under a hash of its text:
a process that finds it there does not import llvmlite.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from functools import lru_cache

from ...support.cores import usable_cores
from ...support.folders import make_record_folder, read_record, write_record
from ...support.hashing import sha256
from ...support.settings import runtime
from .amx import enable_amx
from .crash import explain_crashes
from .errors import BackendError
from .interrupts import watch_launches
from .llvm import compile_llvm, emit_object
from .loader import LoadedObject, load_object
from .pool_ir import LIMIT_OFFSET, pool_text
from .target import CPUTarget, named_target

__all__ = [
    "MOST_THREADS",
    "Pool",
    "default_threads",
    "get_num_threads",
    "has_unstored",
    "load_quickly",
    "load_text",
    "pool",
    "set_num_threads",
    "store_optimized",
    "stored_text",
]

MOST_THREADS = 1024


class Pool:
    """The loaded pool. There is one in a process (`pool()`); tests make others."""

    def __init__(self, loaded: LoadedObject) -> None:
        self.loaded = loaded
        loaded.keep_forever()  # workers sleep in this code until the process ends
        call = ctypes.CFUNCTYPE(None)
        self._reset = call(loaded.address("tt.reset"))
        self.launch_address = loaded.address("tt.launch")
        self.method_address = loaded.functions.get("tt.method", 0)
        self._limit = ctypes.c_int32.from_address(loaded.address("tt.pool") + LIMIT_OFFSET)
        self.set_threads(default_threads())
        enable_amx()  # before any kernel that uses it runs, also one compiled elsewhere
        call(loaded.address("tt.init"))()
        watch_launches(loaded)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    @property
    def threads(self) -> int:
        """How many threads a launch uses at most, the calling one included."""
        return self._limit.value + 1

    def set_threads(self, count: int) -> None:
        """Use `count` threads at most (1 to 1024), from the next launch on; ValueError otherwise."""
        if not 1 <= count <= MOST_THREADS:
            raise ValueError(f"the number of threads must be 1..{MOST_THREADS}, got {count}")
        self._limit.value = count - 1


def load_pool(futex: bool) -> Pool:
    """Compile (or fetch) and load a pool; `futex` chooses how threads wait."""
    target = _pool_target()
    mac = sys.platform == "darwin"
    text = pool_text(
        target.arch,
        futex=futex,
        clock=6 if mac else 1,
        sig_setmask=3 if mac else 2,
        python=sys.implementation.name == "cpython",
    )
    return Pool(load_text("pool", text))


def load_text(name: str, text: str, level: int = 0, key: str = "") -> LoadedObject:
    """Load LLVM text written for any machine of this architecture; its object is kept on disk under `name` and a hash.

    Text that is written with care needs no optimization (`level` 0): the first process of all waits 40 ms less. The
    hash is of `key`, which stands for the text and the level, or of these themselves. BackendError on machines without
    a CPU backend.
    """
    key = key or f"{level}\n{text}"
    loaded = stored_text(name, key)
    if loaded is None:
        target = _pool_target()
        code = compile_llvm(text, target, level).object
        write_record(_record(name, key, target), code)
        loaded = load_object(code)
    return loaded


_OPTIMIZED = 2  # as `llvm.lean` requires
#: name, text, key and folder of what `load_quickly` has compiled
_not_stored: list[tuple[str, str, str, str]] = []


def load_quickly(name: str, text: Callable[[], str], key: str = "") -> LoadedObject:
    """As `load_text` at level 2, but code that is not on disk is not optimized and not stored.

    LLVM takes a tenth of the time for code that runs 1.2 to 1.4 times as long. `store_optimized` does the rest. The
    `text` is only made if it is compiled, or its hash is the key.
    """
    made = "" if key else text()
    key = key or f"{_OPTIMIZED}\n{made}"
    loaded = stored_text(name, key)
    if loaded is None:
        made = made or text()
        loaded = load_object(emit_object(made, _pool_target(), 0))
        _not_stored.append((name, made, key, make_record_folder()))
    return loaded


def has_unstored() -> bool:
    """Whether `load_quickly` has compiled code that is not on disk."""
    return bool(_not_stored)


def store_optimized() -> None:
    """Optimize what `load_quickly` has compiled and store it on disk, for the next process, in the cache of then."""
    while _not_stored:
        name, text, key, folder = _not_stored.pop(0)
        if os.path.isdir(folder):  # a program may remove its cache
            target = _pool_target()
            write_record(_record(name, key, target), compile_llvm(text, target, _OPTIMIZED).object, folder)


def stored_text(name: str, key: str) -> LoadedObject | None:
    """The object that `load_text` has stored on disk under this key, or None."""
    code = read_record(_record(name, key, _pool_target()))
    return None if code is None else load_object(code)


def _record(name: str, key: str, target: CPUTarget) -> str:
    return f"{name}-" + sha256(f"{target.key}\n{key}".encode()).hexdigest()[:24]


def _pool_target() -> CPUTarget:
    """The plainest machine of this architecture: the pool's object then serves every host that shares a disk."""
    machine = os.uname().machine
    if sys.platform == "darwin" and machine == "arm64":
        return named_target("apple-m1")
    names = {"x86_64": "x86-64", "aarch64": "aarch64"}
    if machine not in names or sys.platform != "linux":
        raise BackendError(f"no CPU backend for {sys.platform} on {machine}")
    return named_target(names[machine])


def default_threads() -> int:
    """The setting `runtime.num_threads`, else one for each core that this process may use."""
    return max(1, min(runtime.num_threads or usable_cores(), MOST_THREADS))


_load_lock = threading.Lock()


@lru_cache(maxsize=1)
def _the_pool() -> Pool:
    made = load_pool(futex=sys.platform == "linux")
    explain_crashes(made.loaded.address("tt.crash"))
    return made


def pool() -> Pool:
    """The process's pool, loaded at the first call."""
    with _load_lock:
        return _the_pool()


def set_num_threads(count: int) -> None:
    """Let launches use `count` threads at most, the calling one included."""
    pool().set_threads(count)


def get_num_threads() -> int:
    """How many threads a launch uses at most; all usable cores unless set."""
    return pool().threads
