"""Evaluation of `ttg.warp_specialize`: a Python thread per partition, of which one runs at a time.

A partition that waits on a barrier whose phase has not completed yields to the next one, in order. It is an error if
no partition can continue: the program would hang.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .evaluator import Jump, UndefinedError
from .meanings import meaning


class Warps:
    """The default region and the partitions of one `ttg.warp_specialize`, by index; `turn` is the running one."""

    def __init__(self, count: int) -> None:
        self.changed = threading.Condition()
        self.turn = 0
        self.waiting: dict[int, Callable[[], bool]] = {}
        self.left = set(range(count))
        self.error: BaseException | None = None
        self.me = threading.local()

    def run(self, number: int, work: Callable[[], Any]) -> Any:
        """Do `work` as the warps of that number, when it is their turn."""
        self.me.number = number
        try:
            self._await_turn()
            return work()
        except BaseException as error:
            self.error = self.error or error
            return None
        finally:
            self.left.discard(number)
            self._pass_on()

    def wait(self, holds: Callable[[], bool]) -> None:
        """Let others go on until `holds()`."""
        self.waiting[self.me.number] = holds
        self._pass_on()
        self._await_turn()
        self.waiting.pop(self.me.number, None)

    def _pass_on(self) -> None:
        with self.changed:
            ready = [n for n in sorted(self.left) if n not in self.waiting or self.waiting[n]()]
            if not ready and self.left:
                self.error = self.error or UndefinedError("all warps wait for each other: the program never ends")
            later = [n for n in ready if n > self.turn]
            self.turn = (later or ready or [-1])[0]
            self.changed.notify_all()

    def _await_turn(self) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.turn == self.me.number or self.error is not None)
        if self.error is not None:
            raise UndefinedError("another partition failed")


@meaning("ttg.warp_specialize")
def _warp_specialize(ev: Any, op: Any, env: Any) -> Any:
    inner = op.partitions
    captured = [env[v] for v in inner.operands]
    outer = ev.extra.get("warps")
    warps = ev.extra["warps"] = Warps(1 + len(inner.regions))

    def partition(number: int) -> None:
        def work() -> None:
            with np.errstate(all="ignore"):
                ev.blocks(inner.regions[number].blocks[0], captured, {})

        warps.run(number + 1, work)

    threads = [threading.Thread(target=partition, args=(i,), daemon=True) for i in range(len(inner.regions))]
    for thread in threads:
        thread.start()
    jump = warps.run(0, lambda: ev.blocks(op.regions[0].blocks[0], [], env))
    for thread in threads:
        thread.join()
    ev.extra["warps"] = outer
    if warps.error is not None:
        raise warps.error
    return tuple(jump.values)


@meaning("ttg.warp_yield", "ttg.warp_return")
def _leave(ev: Any, op: Any, *values: Any) -> Jump:
    return Jump("leave", list(values))


@meaning("ttg.warp_specialize.partitions")
def _partitions(ev: Any, op: Any, *values: Any) -> None:
    raise UndefinedError("partitions stand outside of ttg.warp_specialize")
