"""Preparation of the launch fast path: its code is loaded in a thread, and plans are made where they pay off.

Loading the code, with the modules that make plans, takes 4 ms, the first time on a machine 8 ms of LLVM more; a plan
takes 0.1 to 0.2 ms; and a launch without one 20 to 40 us more than with one (2026-11, two cores; a host with cold
caches takes five to ten times as long over each). So the code is loaded in a thread:

- while a compile waits for LLVM, if it is on disk;
- while a compile waits for the assembler or a worker process, compiled if need be;
- beside the first launch on a GPU that finds its kernel in the cache, whose loading takes longer, if it is on disk;
- else once `LOAD_AFTER` launches would have been faster with it.

The first process on a machine also optimizes the code for the disk (120 ms). It does so `STORE_AFTER_S` later, or at
its end: where cores are few, it would compete with the launches that follow the first ones.

A kind of launch gets its plan after `PLAN_AFTER` repetitions. Until the code is loaded launches run in Python. The
first one after a compile that started compiling the code waits up to `WAIT_S` for it: a few milliseconds beside that
compile, and the launches of a second run all have plans.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from ...support.lazy import LazyModule, load

__all__ = ["LOAD_AFTER", "PLAN_AFTER", "Preparation", "preparation"]

LOAD_AFTER = 32
PLAN_AFTER = 0
STORE_AFTER_S = 2.0
WAIT_S = 0.2

_FORK_WAIT_S = 5.0

_idle = LazyModule("...support.idle", __package__)
_later = LazyModule("...support.later", __package__)
_llvm = LazyModule("...backends.llvm", __package__)
_native = LazyModule(".native", __package__)
_pool = LazyModule("...backends.cpu.pool", __package__)


class Preparation:
    """Whether the code is loaded. A process has one (`preparation`); tests make others."""

    def __init__(self) -> None:
        self.ready = False
        self.missed = 0  # launches that would have been faster
        self._asked = self._gpu = self._compiles = self._waits = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def pays(self, repeats: int) -> bool:
        """Whether a kind of launch gets a plan after `repeats` repetitions since its kernel was made."""
        if not self.ready and self._waits:
            self._waits = False
            self._join(WAIT_S)
        if not self.ready:
            self.missed += repeats > 0
            if self.missed >= LOAD_AFTER:
                self.begin(compiles=True)  # also if a thread has searched the disk only
            return False
        return repeats >= PLAN_AFTER

    def when_idle(self, gpu: bool) -> None:
        """Load the code while the next compile waits; for a `gpu` at once, if it is on disk, with the driver's
        functions."""
        self._gpu |= gpu
        if not self._asked:
            self._asked = True
            if gpu:
                self.begin()
            _idle.when_idle(self._use_wait)

    def _use_wait(self, long: bool) -> bool:
        """Begin loading in a wait; whether this wait was the longest one: the assembler's for a GPU."""
        if long or not self._gpu:
            self.begin(compiles=long)
            self._waits = long
        return long or not self._gpu

    def begin(self, compiles: bool = False) -> None:
        """Load the code in a thread, unless that has begun; code that is not on disk only if it `compiles`.

        The thread is joined before a fork (the child would inherit its locks) and at the end of the process. The
        package of the CPU is imported here: two threads that import a package and a module in it at once can deadlock,
        as the one locks the package first and the other the module.
        """
        load("...backends.cpu", __package__)
        with self._lock:
            self._compiles |= compiles  # also for a thread that is searching the disk
            if self.ready or self._thread is not None:
                return
            # no daemon, as threads of autograd's are: LLVM must not run when the process ends
            self._thread = threading.Thread(target=self._load, name="tritium-fastpath", daemon=False)
        self._thread.start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def wait(self) -> None:
        """Load the code now, compiled if need be."""
        self._before_fork()
        self.begin(compiles=True)
        self._before_fork()

    def _load(self) -> None:
        if self._gpu:
            load("..native", __package__).native_launch()  # the first launch asks for it
        load(".plan", __package__)
        native, compiles = None, False
        while native is None and not compiles:
            compiles = self._compiles
            with _llvm.lean():
                native = _native.native_fastpath(compiles)
            with self._lock:
                if native is None and not self._compiles:
                    self._thread = None  # it may be compiled later
                    return
        if native is not None:
            _find_torch_functions()
            self.ready = True
        if _pool.has_unstored():
            _later.Postponed("tritium-fastpath-store", STORE_AFTER_S, _store)

    def _before_fork(self) -> None:
        self._join(_FORK_WAIT_S)

    def _join(self, seconds: float) -> None:
        """Wait for the thread."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)


def _store() -> None:
    with _llvm.lean():
        _pool.store_optimized()


def _find_torch_functions() -> None:
    """Find the functions that read torch's tensors (1 ms), as the first plan would."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "zeros"):  # its import is complete
        load("..torch_abi", __package__).functions_for(torch.zeros(1, device="cpu"))


preparation = Preparation()
