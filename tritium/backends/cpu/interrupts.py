"""Let Python's signals interrupt launches: Ctrl-C ends a kernel, also one that would never end.

The mechanism is native (`interrupt_ir`): about 20 times a second, the handler of a signal lets Python handle its own
signals in a thread whose kernel has lasted for 50 to 100 ms, and leaves the kernel if that raises an exception. Here
are its installation, and what it asks of Python.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading

from .loader import LoadedObject
from .pool_ir import POLL_SIGNAL

__all__ = ["poll", "watch_launches"]

# struct sigaction of glibc and musl on 64-bit Linux
_ACTION_BYTES, _FLAGS_AT = 152, 136
_SA_SIGINFO, _SA_RESTART, _SA_NODEFER = 0x4, 0x1000_0000, 0x4000_0000
_DEFAULT, _IGNORED = 0, 1


def poll() -> None:
    """Called by a thread whose launch lasts, after Python has handled its signals.

    Python raises KeyboardInterrupt in the main thread only, and waits at its end for all others. Once the main thread
    has ended by Ctrl-C, KeyboardInterrupt ends their launches as well.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main and not main.is_alive():
        last = getattr(sys, "last_type", None)
        if last is not None and issubclass(last, KeyboardInterrupt):
            raise KeyboardInterrupt


def watch_launches(loaded: LoadedObject) -> None:
    """Install the handler of a pool's code; nothing where the code has none."""
    handler = loaded.functions.get("tt.on_poll")
    if handler is None:
        return
    ctypes.c_void_p.from_address(loaded.address("tt.poll_callback")).value = id(poll)
    ctypes.c_uint64.from_address(loaded.address("tt.main_thread")).value = threading.main_thread().ident or 0
    libc = ctypes.CDLL(None)
    before = ctypes.create_string_buffer(_ACTION_BYTES)
    libc.sigaction(int(POLL_SIGNAL), None, before)
    known = ctypes.c_size_t.from_buffer(before).value
    if known not in (_DEFAULT, _IGNORED):
        ctypes.c_size_t.from_address(loaded.address("tt.handler_before")).value = known
    action = ctypes.create_string_buffer(_ACTION_BYTES)
    ctypes.c_size_t.from_buffer(action).value = handler
    # what the handler interrupts may be left for good, so that the signal must not stay blocked
    ctypes.c_int.from_buffer(action, _FLAGS_AT).value = _SA_SIGINFO | _SA_RESTART | _SA_NODEFER
    libc.sigaction(int(POLL_SIGNAL), action, None)
    quiet = ctypes.c_int32.from_address(loaded.address("tt.quiet"))
    atexit.register(setattr, quiet, "value", 1)  # no thread may take the GIL from then on
