"""A hint for users whose kernel crashed the process: on CPUs an out-of-bounds access ends the program.

Where nobody else handles the signals of such an end, ours says how to find the access, and the process ends as it would
have. The handler is machine code that calls what POSIX lets handlers call (`write`, `signal`).
"""

from __future__ import annotations

import ctypes
import signal

__all__ = ["crash_text", "explain_crashes"]

SIGNALS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)

MESSAGE = (
    "\ntritium: this process has accessed memory that is not there, or has found its memory damaged, as happens when\n"
    "kernels access elements outside of their arrays: a forgotten mask, a wrong stride, a grid that is too large\n"
    "hint: with TRITIUM_SANITIZE=1 in the environment such an access is an error that names its line, array and index\n"
)

_ACTION_BYTES = 256  # struct sigaction has 152 bytes on Linux, 16 on macOS; the handler comes first on both


def crash_text() -> str:
    """The handler `tt.crash`, as LLVM text."""
    data = MESSAGE.encode()
    letters = "".join(f"\\{b:02x}" for b in data)
    return f"""
@tt.message = internal constant [{len(data)} x i8] c"{letters}"
@tt.crashed = internal global i32 0
declare i64 @write(i32, ptr, i64)
declare ptr @signal(i32, ptr)
declare i32 @pause()

define void @tt.crash(i32 %signal) nounwind {{
  %others = atomicrmw xchg ptr @tt.crashed, i32 1 seq_cst
  %first = icmp eq i32 %others, 0
  br i1 %first, label %tell, label %wait
wait:                                                               ; the first thread that got here ends it
  %interrupted = call i32 @pause()
  br label %wait
tell:
  %written = call i64 @write(i32 2, ptr @tt.message, i64 {len(data)})
  %before = call ptr @signal(i32 %signal, ptr null)                 ; SIG_DFL: what is repeated now ends the process
  ret void
}}
"""


def explain_crashes(handler: int) -> None:
    """Have the code at `handler` take those of SIGNALS that end the process without a word."""
    libc = ctypes.CDLL(None)
    libc.signal.restype = ctypes.c_void_p
    libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    for number in SIGNALS:
        action = ctypes.create_string_buffer(_ACTION_BYTES)
        if libc.sigaction(int(number), None, action) == 0 and not ctypes.c_void_p.from_buffer(action).value:
            libc.signal(int(number), handler)
