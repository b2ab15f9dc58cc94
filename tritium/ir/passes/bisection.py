"""Which change makes something go wrong: the first pass, and within it the first rewrite if it is made of rewrites."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...support import InternalError
from ...support.dataclasses import dataclass
from ..operation import Operation
from ..rewriter import Fuel, spending
from .definition import Row, symbol_name
from .dump import difference
from .report import PassRun
from .run import call_pass, schedule

__all__ = ["Bisection", "bisect"]


@dataclass(frozen=True)
class Bisection:
    """What `bisect` found: the pass (its number counts executed passes from 1) and, where known, the rewrite in it.

    `change` says on which operation and by which equation; `before` and `after` are the IR's text around it.
    """

    step: int
    steps: int
    name: str
    where: str
    before: str
    after: str
    rewrite: int = 0
    rewrites: int = 0
    rule: str = ""
    change: str = ""

    def __str__(self) -> str:
        text = f"pass {self.step} ({self.name})"
        return f"{text}, rewrite {self.rewrite} of {self.rewrites} ({self.rule})" if self.rewrite else text

    def report(self, *, colour: bool = False) -> str:
        """The finding, how to come back to it, and what changed there."""
        fuel = f"{self.step}:{self.rewrite}" if self.rewrite else f"{self.step}"
        lines = [f"{self}, of {self.steps} passes, on {self.where}", f"the IR after it: --fuel {fuel}"]
        if self.change:
            lines.append(self.change)
        change = difference(self.before, self.after, colour=colour)
        return "\n".join([*lines, change or "(the text is the same before and after)"])


def bisect(module: Operation, pipeline: Sequence[Row], is_bad: Callable[[Operation], bool]) -> Bisection:
    """Which change of a pipeline makes `is_bad` hold.

    `is_bad` is given a transformed copy of `module`. It must hold after the whole pipeline and not before it.
    """
    last = ("", "")

    def run(steps: int, fuel: int | None = None) -> tuple[Operation, Fuel | None, int]:
        """The first `steps` turns, the last of them with `fuel` rewrites; how many there were to take."""
        nonlocal last
        copy = module.clone()
        tank = None if fuel is None else Fuel(fuel)
        taken = 0
        for step in schedule(pipeline, copy):
            if taken == steps:
                break
            taken += 1
            last = (str(step.row), symbol_name(step.op))
            if tank is not None and taken == steps:
                with spending(tank):
                    call_pass(step.row, step.op, PassRun(""))
            else:
                call_pass(step.row, step.op, PassRun(""))
        return copy, tank, taken

    whole, _, steps = run(1 << 60)
    if is_bad(module) or not is_bad(whole):
        raise InternalError("nothing to bisect: the property must hold after the pipeline and not before it")
    guilty = _first_true(1, steps, lambda n: is_bad(run(n)[0]))
    after = run(guilty)[0]
    name, where = last
    tank = run(guilty, 1 << 40)[1]
    assert tank is not None
    total = len(tank.spent)
    if not total or is_bad(run(guilty, 0)[0]):
        return Bisection(guilty, steps, name, where, str(run(guilty - 1)[0]), str(after))
    n = _first_true(1, total, lambda k: is_bad(run(guilty, k)[0]))
    before, (after, tank, _) = run(guilty, n - 1)[0], run(guilty, n)
    assert tank is not None
    return Bisection(guilty, steps, name, where, str(before), str(after), n, total, tank.spent[n - 1], tank.last)


def _first_true(low: int, high: int, holds: Callable[[int], bool]) -> int:
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
