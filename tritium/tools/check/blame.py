"""What a pass did wrong: the rewrite, and the operation whose result is another than before.

Values are compared, not texts. The program is evaluated before and after the pass, and what each operation takes and
gives is noted for the grid's program that writes the wrong element. Behind the pass, a wrong store is followed back to
where its values come from. The first operation on that way whose operands all occur in the program before, and whose
result does not, is where the two part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...interpreter import Evaluator, Memory
from ...interpreter.evaluator import Buffer, shaped
from ...ir import Operation, PassManager, RegionBranch, bisect, parse_module
from ...ir.passes import Bisection
from ...support import TritiumError
from .compare import Difference
from .runs import Launch
from .steps import Place, Step

__all__ = ["Suspect", "guilty_rewrite", "line_of", "shown", "suspect_operation"]

_MOST_EVENTS = 200_000


@dataclass(frozen=True)
class Suspect:
    """The operation where two programs part, as text, and the one that it stands for in the program before.

    `element` says which element of its result differs, and how. `place` is in the kernel's source.
    """

    operation: str
    before: str
    element: str
    place: Place | None
    program: tuple[int, int, int]


def guilty_rewrite(step: Step, is_bad: Callable[[Operation], bool]) -> Bisection | None:
    """The rewrite of a pass after which `is_bad` holds; None where the pass, run by itself, is not bad."""
    try:
        rows = PassManager(f"builtin.module({step.name}{step.options})").rows
        return bisect(parse_module(step.before), rows, is_bad)
    except (TritiumError, ValueError, TypeError, KeyError):
        return None  # a conversion that is no pass by itself, or a pass of somebody's who is not registered


# -- operations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Event:
    """The execution of an operation: digests of its operands and results."""

    op: Operation
    taken: tuple[bytes, ...]
    given: tuple[bytes, ...]


class _Watching(Memory):
    """Memory that notes in which program bytes are written at one address."""

    def __init__(self, address: int, ask: Callable[[], Any]) -> None:
        super().__init__()
        self.address = address
        self.ask = ask
        self.writer: Any = None

    def store(self, addresses: np.ndarray, value: np.ndarray, mask: np.ndarray | None, ty: Any) -> None:
        """As every memory does."""
        super().store(addresses, value, mask, ty)
        _, wanted = self.lanes(addresses, mask, ty, "store")
        if ((wanted <= self.address) & (self.address < wanted + 16)).any():
            self.writer = self.ask()


class _Noting(Evaluator):
    """An evaluator that records the writes to an address, and the operations of one program.

    Of the events whose numbers are in `keep`, the results are kept too.
    """

    def __init__(self, module: Operation, grid: Any, address: int, noted: Any, keep: Any) -> None:
        super().__init__(module, grid)
        self.memory = self.watching = _Watching(address, lambda: self.program)
        self.noted = noted
        self.keep = set(keep)
        self.kept: dict[int, list[Any]] = {}
        self.events: list[_Event] = []

    def execute(self, op: Operation, env: Any) -> Any:
        """Run an operation, and note it."""
        noted = self.program == self.noted and len(self.events) < _MOST_EVENTS
        taken = tuple(_digest(env[v]) for v in op.operands if v in env) if noted else ()
        out = super().execute(op, env)
        if noted and isinstance(out, (list, tuple)) and not isinstance(op, RegionBranch):
            rounded = [shaped(v, r.type) for r, v in zip(op.results, out)]
            given = tuple(map(_digest, rounded))
            if len(self.events) in self.keep:
                self.kept[len(self.events)] = [np.array(getattr(v, "array", v)) for v in rounded]
            self.events.append(_Event(op, taken, given))
        return out


def _digest(value: Any) -> bytes:
    array = value.array if isinstance(value, Buffer) else value
    if not isinstance(array, (np.ndarray, np.generic, int, float)):
        return repr(type(value)).encode()
    array = np.asarray(array)
    head = f"{array.dtype.kind}{array.shape}".encode()
    wide = array.astype(np.float64) if array.dtype.kind == "f" else array.astype(np.int64)
    return hashlib.blake2b(head + np.ascontiguousarray(wide).tobytes(), digest_size=12).digest()


def suspect_operation(launch: Launch, before: str, step: Step, wrong: Difference) -> Suspect | None:
    """The first operation that differs between the programs before and after a step; None if not found."""
    old, new = (parse_module(text, "<ir>", text_locations=True) for text in (before, step.text))
    noting = _Noter(launch, wrong)
    program = noting(new, None).watching.writer or noting(old, None).watching.writer
    if program is None:
        return None
    first, second = (noting(module, program) for module in (old, new))
    at = _parting(first.events, second.events)
    if at is None:
        return None
    event = second.events[at]
    match = _counterpart(first.events, event)
    line = line_of(event.op)
    element = ""
    if match is not None:
        one = noting(old, program, [match]).kept.get(match, [])
        two = noting(new, program, [at]).kept.get(at, [])
        element = next(_apart(one, two), "")
    stands_for = "" if match is None else shown(before, line_of(first.events[match].op))
    return Suspect(shown(step.text, line), stands_for, element, step.places.get(line), program)


class _Noter:
    """Runs programs on the same memory, so that addresses are equal, and notes what they do."""

    def __init__(self, launch: Launch, wrong: Difference) -> None:
        self.launch = launch
        self.regions = launch.arguments.fresh()
        self.address = self.regions[wrong.array.region].ctypes.data + wrong.byte

    def __call__(self, module: Operation, program: Any, keep: Any = ()) -> _Noting:
        """The evaluator that has run `module`."""
        made: list[_Noting] = []

        def make(module: Operation, grid: Any, regions: list[np.ndarray]) -> _Noting:
            made.append(_Noting(module, grid, self.address, program, keep))
            return made[0]

        self.launch.on_ir(module, make, self.regions)
        return made[0]


def _parting(old: list[_Event], new: list[_Event]) -> int | None:
    """The number of the first event, on the way to a store that was not there before, that gives something new."""
    known = {digest for event in old for digest in (*event.given, *event.taken)}
    known |= {d for event in new if not event.taken for d in event.given}  # of another constant its user tells more
    other = _replaced(old, new)
    stores = {event.taken for event in old if _writes(event)}
    makers: dict[bytes, int] = {}
    sources: list[list[int]] = []
    for n, event in enumerate(new):
        sources.append([makers[d] for d in event.taken if d in makers])
        touched = sources[n] or other(event) or not known >= set(event.given)
        for digest in event.given:
            makers[digest] = n
            if not touched or not event.taken:
                del makers[digest]
    ends = [n for n, event in enumerate(new) if _writes(event) and event.taken not in stores]
    way: set[int] = set()
    todo = list(ends)
    while todo:
        n = todo.pop()
        if n not in way:
            way.add(n)
            todo += sources[n]
    fresh = [n for n in sorted(way) if known >= set(new[n].taken) and (not known >= set(new[n].given) or other(new[n]))]
    return next(iter(fresh or ends), None)


def _replaced(old: list[_Event], new: list[_Event]) -> Callable[[_Event], bool]:
    """Does an event stand for one before that took the same and gave something else, which nothing gives any more?

    So is known a wrong value that happens to occur before as well.
    """
    now = {(_inputs(event), event.given) for event in new}
    lost = {_inputs(event) for event in old if event.taken and event.given and (_inputs(event), event.given) not in now}
    before = {(_inputs(event), event.given) for event in old}
    return lambda event: _inputs(event) in lost and (_inputs(event), event.given) not in before


def _inputs(event: _Event) -> tuple[Any, ...]:
    return (tuple(sorted(event.taken)), *(str(r.type) for r in event.op.results))


def _writes(event: _Event) -> bool:
    return "store" in event.op.name or "atomic" in event.op.name


def _counterpart(old: list[_Event], event: _Event) -> int | None:
    """The event before that takes the same, in any order; or the same operation's with most operands in common."""
    same = [n for n, e in enumerate(old) if sorted(e.taken) == sorted(event.taken) and _alike(e, event)]
    if same:
        return next((n for n in same if old[n].op.name == event.op.name), same[0])
    shared = [(len(set(e.taken) & set(event.taken)), -n) for n, e in enumerate(old) if e.op.name == event.op.name]
    best = max(shared, default=(0, 0))
    return -best[1] if best[0] else None


def _alike(one: _Event, other: _Event) -> bool:
    return [str(r.type) for r in one.op.results] == [str(r.type) for r in other.op.results] and bool(one.taken)


def _apart(one: list[Any], two: list[Any]) -> Iterator[str]:
    """How two lists of results differ."""
    for a, b in zip(one, two):
        if a.shape != b.shape:
            continue
        wrong = np.atleast_1d((a != b) & ~((a != a) & (b != b)))
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])[: a.ndim]
            where = f"element [{', '.join(map(str, index))}]" if index else "the result"
            yield f"{where} is {b[index] if index else b}, expected {a[index] if index else a}"


def line_of(op: Operation) -> int:
    """The line of an operation in a text that was parsed with `text_locations`; 0 if unknown."""
    at = op.loc.file_position()
    return at.line if at is not None else 0


def shown(text: str, line: int) -> str:
    """A line of a text without the white space around it."""
    return text.split("\n")[line - 1].strip() if line else ""
