"""Launches that Ctrl-C ends: run as a script, which prints a line for each case."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def endless(p):
    x = tl.load(p)
    while x >= 0:
        tl.store(p + 1, x)
        x = tl.load(p)


@tritium.jit
def counting(p, n):
    s = 0
    for i in range(n):
        s = s * 3 + (i & 7).to(tl.int32)
    tl.store(p + tl.program_id(0) % 16, s)


@tritium.jit
def large_tiles(p, n):
    at = tl.arange(0, 1 << 17)
    x = tl.load(p + at)
    for _ in range(n):
        x = tl.cumsum(tl.sort(x.reshape(1 << 11, 64)).reshape(1 << 17), 0)
    tl.store(p + at, x)


@tritium.jit
def numbered(p):
    tl.store(p + tl.program_id(0), tl.program_id(0))


sent = [0.0]


def send_soon(number: int = signal.SIGINT) -> None:
    def send() -> None:
        time.sleep(0.12)
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), number)

    threading.Thread(target=send, daemon=True).start()


def case(name: str, launch: Callable[[], object], expected: type[BaseException] = KeyboardInterrupt) -> None:
    try:
        launch()
        print(name, "ended by itself")
    except expected as error:
        took = time.perf_counter() - sent[0]
        out = np.zeros(5000, np.int32)
        numbered[(5000,)](out)  # the pool works as before
        fine = (out == np.arange(5000)).all() and error.__traceback__ is not None
        print(name, "interrupted", f"{took:.3f}", "fine" if fine else "broken")


def interrupted(name: str, launch: Callable[[], object]) -> None:
    send_soon()
    case(name, launch)


def wait() -> None:
    """30 seconds, in slices: a signal between the last look for one and a system call ends the slice only."""
    for _ in range(300):
        time.sleep(0.1)


class Alarm(Exception):
    pass


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell inherits that it is ignored
    ints, floats = np.zeros(16, np.int32), np.zeros(1 << 17, np.float32)
    counting[(3,)](ints, 2)
    large_tiles[(1,)](floats, 1)
    ints[:] = 0
    interrupted("one-program", lambda: endless[(1,)](ints))
    interrupted("many-programs", lambda: endless[(64,)](ints))
    interrupted("long-loop", lambda: counting[(4,)](ints, 1 << 40))
    interrupted("long-grid", lambda: counting[(1 << 20, 1 << 15)](ints, 50))
    interrupted("one-thread", lambda: counting[(1 << 20, 1 << 15)](ints, 50, num_threads=1))
    interrupted("heap", lambda: large_tiles[(2,)](floats, 1 << 40))
    kernel = counting.warmup(ints, 1 << 40, grid=(1,))
    interrupted("compiled", lambda: kernel[(4, 1, 1)](ints, 1 << 40))
    ints[:] = 0
    for turn in range(3):  # the fast path
        interrupted(f"again-{turn}", lambda: endless[(2,)](ints))

    def on_alarm(*_: object) -> None:
        raise Alarm

    signal.signal(signal.SIGALRM, on_alarm)
    ints[:] = 0
    send_soon(signal.SIGALRM)
    case("handler-that-raises", lambda: endless[(4,)](ints), Alarm)

    handled: list[float] = []
    signal.signal(signal.SIGUSR1, lambda *_: handled.append(time.perf_counter()))
    send_soon(signal.SIGUSR1)
    while not handled:  # the launch in which it runs goes on
        counting[(1,)](ints, 200_000_000)
    print("handler-that-returns", "interrupted", f"{handled[0] - sent[0]:.3f}", "fine")

    ints[:] = 0
    ended: list[str] = []

    def work() -> None:
        try:
            endless[(4,)](ints)
        except KeyboardInterrupt:
            ended.append("thread")
            print("thread-at-exit interrupted 0.000 fine", flush=True)

    threading.Thread(target=work).start()
    interrupted("main-thread-beside", wait)
    send_soon()
    wait()  # KeyboardInterrupt ends the main thread, and then the other one's launch


if __name__ == "__main__":
    sys.exit(main())
