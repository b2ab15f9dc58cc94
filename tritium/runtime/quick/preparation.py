"""When quick launches are prepared: their code is loaded beside other work, and plans are made where they pay.

Loading the code, with the modules that make plans, takes 4 ms, the first time on a machine 100 ms of LLVM; a plan takes
0.1 to 0.2 ms; and a launch without one 20 to 40 us more than with one (2026-11, two cores). So the code is loaded in a
thread: while a compile waits for LLVM or the assembler, if it is on disk, else once `LOAD_AFTER` launches would have
been quicker with it. A kind of launch gets its plan after `PLAN_AFTER` launches that would have been. Until then
Python launches; nobody waits.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from ...support.lazy import LazyModule, load

__all__ = ["LOAD_AFTER", "PLAN_AFTER", "Preparation", "preparation"]

LOAD_AFTER = 32
PLAN_AFTER = 3

_FORK_WAIT_S = 5.0

_idle = LazyModule("...support.idle", __package__)
_native = LazyModule(".native", __package__)


class Preparation:
    """Whether the code is there. There is one in a process (`preparation`); tests make others."""

    def __init__(self) -> None:
        self.ready = False
        self.missed = 0  # launches that would have been quicker
        self._asked = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def pays(self, repeats: int) -> bool:
        """Whether a kind of launch gets a plan that has happened so many times since its kernel was made."""
        if not self.ready:
            self.missed += 1
            if self.missed >= LOAD_AFTER:
                self.begin(compiles=True)  # again, where it had begun to look on disk
            return False
        return repeats >= PLAN_AFTER

    def when_idle(self) -> None:
        """Load the code while the next compile waits, if it is on disk."""
        if not self._asked:
            self._asked = True
            _idle.when_idle(self.begin)

    def begin(self, compiles: bool = False) -> None:
        """Load the code in a thread, unless that has begun; one that is not on disk only if it `compiles`.

        The thread is waited for before a fork (the child would have its locks) and at the end of the process. The
        package of the CPU is imported here: two threads that import a package and a module in it at once can deadlock,
        as the one locks the package first and the other the module.
        """
        load("...backends.cpu", __package__)
        with self._lock:
            if self.ready or self._thread is not None:
                return
            self._thread = threading.Thread(target=self._load, args=(compiles,), name="tritium-quick")
        self._thread.start()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def wait(self) -> None:
        """Load the code now, compiled if need be."""
        self._before_fork()
        if not self.ready:
            self._load(True)

    def _load(self, compiles: bool) -> None:
        load(".plan", __package__)
        if _native.native_quick(compiles) is not None:
            _find_torch_functions()
            self.ready = True
        elif not compiles:
            self._thread = None  # it may be compiled later

    def _before_fork(self) -> None:
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_FORK_WAIT_S)


def _find_torch_functions() -> None:
    """Find the functions by which torch's tensors are read (1 ms), which the first plan would do."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "zeros"):  # it is not being imported
        load("..torch_abi", __package__).functions_for(torch.zeros(1, device="cpu"))


preparation = Preparation()
