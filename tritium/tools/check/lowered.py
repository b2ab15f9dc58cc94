"""What machine code does wrong: the operation of the last program of tiles whose value is another than the evaluator's.

Behind that program there is one thread's code, or vectors, whose values are no tiles any more. So copies of the program
are made that also store values of their own (`instrument`), compiled, and run, and what they store is compared with
what the evaluator computes. One value a copy: the less a copy differs from the kernel, the likelier it goes wrong, too.

    bad = the store that writes the wrong element
    among what bad depends on, take the value that halves it, and look:
        it differs, before bad did        it is bad; go on among what it depends on
        it agrees                         it and what it depends on are good
    until none is left; then look at the operands of bad that were only taken for good

Values may differ by what rounding elsewhere may change: the evaluator runs again, off at random, as `noise` says; what
is undefined has another value then, so that an element that depends on it is known and not compared.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...compiler import IRSource, compile
from ...dialects.tt_types import PointerType
from ...dialects.ttg_memory import MemDescType
from ...interpreter import Evaluator, Memory
from ...interpreter.evaluator import shaped
from ...ir import FloatType, Operation, Region, RegionBranch, Value, element_type, parse_module
from ...support import TritiumError, settings
from .blame import Suspect, line_of, shown
from .compare import Difference, Result, loose_difference
from .instrument import MOST_BYTES, MOST_SLOTS, SLOTS, UNWRITTEN, Area, Site, instrument, sites_of, value_at
from .noise import SAFETY, NoisyEvaluator, unit
from .runs import Failure, Launch
from .steps import Step

__all__ = ["suspect_lowering"]

BUDGET = 45.0
"""Seconds after which no further copy is made."""

_NOISY_RUNS = 3
_LATE = ("ttng.async_tma_copy_local_to_global", "ttng.async_tma_reduce", "ttng.async_tma_scatter")
_MOST_RIGHT = 6  # copies in which nothing is wrong, before it is given up
_MOST_BYTES = 1 << 30  # of values that are kept
_FAILURES = (TritiumError, ValueError, TypeError, KeyError, AssertionError, AttributeError)


# -- what the evaluator computes --------------------------------------------------------------------------------------


class _Memory(Memory):
    """Memory that records the program and operation that store to an address, and fills undefined values."""

    def __init__(self, address: int, ask: Callable[[], Any], filler: float | None) -> None:
        super().__init__()
        self.address, self.ask, self.filler = address, ask, filler
        self.writer: Any = None
        self.passer: Any = None  # who would write there but for its mask

    def load(self, addresses: np.ndarray, mask: Any, other: Any, ty: Any, filler: Any) -> np.ndarray:
        """As every memory does."""
        if self.filler is not None:
            filler = np.asarray(self.filler).astype(np.asarray(filler).dtype)
        return super().load(addresses, mask, other, ty, filler)

    def store(self, addresses: np.ndarray, value: np.ndarray, mask: np.ndarray | None, ty: Any) -> None:
        """As every memory does."""
        super().store(addresses, value, mask, ty)
        near = (addresses <= self.address) & (self.address < addresses + 16)
        if near.any():
            if (near if mask is None else near & mask).any():
                self.writer = self.ask()
            else:
                self.passer = self.ask()


class _Recorder(NoisyEvaluator):
    """Keeps the values of sites in one program: the number of the event, and the value, for the first iterations."""

    def __init__(self, module: Operation, grid: Any, search: _Search, program: Any, seed: int | None) -> None:
        super().__init__(module, grid, seed=seed or 0)
        self.noisy = seed is not None
        self.op: Operation | None = None
        filler = None if seed is None else float(seed)
        self.memory = self.notes = _Memory(search.address, lambda: (self.program, self.op), filler)
        self.sites = search.sites
        self.wanted = program
        self.events = 0
        self.bytes = 0
        self.values: dict[Site, list[tuple[int, np.ndarray]]] = {}

    def execute(self, op: Operation, env: Any) -> Any:
        """Run an operation, and keep what it gives."""
        if not op.regions:
            self.op = op
        out = super().execute(op, env) if self.noisy else Evaluator.execute(self, op, env)
        if self.program == self.wanted and isinstance(out, (list, tuple)):
            for result, value in zip(op.results, out):
                self.keep(result, value)
        return out

    def block(self, block: Any, values: Any, env: Any) -> Any:
        """Run a block, and keep what it takes."""
        if self.program == self.wanted:
            for arg, value in zip(block.args, values):
                self.keep(arg, value)
        return super().block(block, values, env)

    def keep(self, value: Value, found: Any) -> None:
        site = self.sites.get(value)
        if site is None:
            return
        self.events += 1
        kept = self.values.setdefault(site, [])
        capacity = _MOST_BYTES if len(kept) < SLOTS else MOST_BYTES
        if len(kept) < MOST_SLOTS and self.bytes < capacity:
            array = np.array(shaped(found, value.type))
            self.bytes += array.nbytes
            kept.append((self.events, array))


@dataclass
class _Expected:
    """What a value should be, at which event it is computed, by how much each element may differ (infinite: at all)."""

    event: int
    value: np.ndarray
    allowed: np.ndarray


def _expected(site: Site, event: int, value: np.ndarray, runs: list[_Recorder], slot: int, ty: Any) -> _Expected:
    spread = np.zeros(value.shape)
    for run in runs:
        others = run.values.get(site, [])
        if slot >= len(others) or others[slot][1].shape != value.shape:
            continue
        other = others[slot][1]
        if value.dtype.kind != "f":
            spread = np.where(value == other, spread, np.inf)
            continue
        x, y = value.astype(np.float64), other.astype(np.float64)
        with np.errstate(all="ignore"):
            apart = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
        spread = np.fmax(spread, np.where(np.isnan(apart), np.inf, apart))
    element = element_type(ty)
    if isinstance(element, FloatType) and spread.any():
        spread = _leveled(spread, np.abs(value.astype(np.float64)), element)
    return _Expected(event, value, spread)


def _leveled(spread: np.ndarray, values: np.ndarray, element: FloatType) -> np.ndarray:
    """The tolerance: at least the median over elements, as few runs underestimate some elements."""
    touched = (spread > 0) & np.isfinite(spread)
    usual = np.quantile(spread[touched], 0.9) if 2 * touched.sum() > spread.size else 0.0
    with np.errstate(all="ignore"):
        allowed = np.maximum(spread, usual) * SAFETY + unit(element) * values
    return np.where((spread > 0) | (usual > 0), np.where(np.isnan(allowed), np.inf, allowed), 0.0)


# -- the search -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """What a copy has shown of a value: it "agrees", "differs" (since an event, told by `text`), is "unseen" (`text`
    says why), or the mistake "vanishes" in that copy."""

    verdict: str
    event: int = 0
    text: str = ""


@dataclass
class _Search:
    """The search for the first operation that differs, in the text of a step."""

    launch: Launch
    step: Step
    wrong: Difference
    known: Result
    allowed: list[np.ndarray | None]
    emulated: bool
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.until = time.perf_counter() + BUDGET
        self.module = parse_module(self.step.text, "<ir>", text_locations=True)
        self.ops = list(self.module.walk())
        self.sites = sites_of(self.module)
        self.regions = self.launch.arguments.fresh()
        self.address = self.regions[self.wrong.array.region].ctypes.data + self.wrong.byte
        self.expected: dict[Site, list[_Expected]] = {}
        self.seen: dict[Site, _Seen] = {}
        self.program: Any = None
        self.depends: dict[tuple[Site, bool], set[Site]] = {}

    def evaluate(self, program: Any, seed: int | None) -> _Recorder | None:
        """A run of the evaluator; None where it fails."""
        made: list[_Recorder] = []

        def make(module: Operation, grid: Any, regions: Any) -> Evaluator:
            made.append(_Recorder(module, grid, self, program, seed))
            return made[0]

        outcome = self.launch.on_ir(self.module, make, self.regions)
        return made[0] if isinstance(outcome, Result) else None

    def run(self) -> Suspect | None:
        """The operation; None where it cannot be looked for."""
        first = self.evaluate(None, None)
        writer = None if first is None else first.notes.writer or first.notes.passer
        if writer is None:
            self.notes.append("no operation of the source program stores there, masks ignored")
            return None
        self.program, store = writer
        copies = [op for op in self.ops if op.name in _LATE]
        if copies and store.name not in ("tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_store"):
            store = copies[-1]  # TMA writes are applied at a wait, or at the end
        plain = self.evaluate(self.program, None)
        noisy = [run for seed in range(1, _NOISY_RUNS + 1) if (run := self.evaluate(self.program, seed)) is not None]
        assert plain is not None
        for value, site in self.sites.items():
            kept = plain.values.get(site, [])
            self.expected[site] = [_expected(site, n, x, noisy, i, value.type) for i, (n, x) in enumerate(kept)]
        bad, seen = self.search(store)
        return self.judged(store, bad, seen)

    def judged(self, store: Operation, bad: Site | None, seen: _Seen) -> Suspect | None:
        """What was found, unless all that it rests on are copies in which nothing is wrong."""
        direct = self.sources(store) if bad is None else self.direct(bad, back=True)
        looks = [self.seen[site] for site in direct if site in self.seen]
        vanished = sum(1 for look in looks if look.verdict == "vanishes")
        if vanished and (bad is None or vanished == len(looks)):
            total = sum(1 for look in self.seen.values() if look.verdict == "vanishes")
            self.notes.append(
                f"the difference vanishes where values are stored too (in {total} of {len(self.seen)} copies): it "
                "is caused by an optimization across operations, by LLVM or the assembler"
            )
            if bad is None:
                return None
        self.notes += [f"it may be an operation before, {look.text}" for look in looks if look.verdict == "unseen"]
        return self.suspect(store if bad is None else value_at(self.ops, bad), bad, seen)

    def search(self, store: Operation) -> tuple[Site | None, _Seen]:
        """The site that differs first, and how; no site: what the store is given agrees."""
        bad: Site | None = None
        how = _Seen("differs", 1 << 62)
        good: set[Site] = set()
        taken: set[Site] = set()  # for good
        while True:
            direct = self.sources(store) if bad is None else self.direct(bad, back=True)
            pool = self.closure(direct if bad is None else self.direct(bad)) - good - taken - set(self.seen)
            found = None
            while found is None and (pool or not direct <= set(self.seen) | good):
                site = self.middle(pool) if pool else min(direct - set(self.seen) - good)
                seen = self.look(site)
                pool.discard(site)
                if seen.verdict == "differs" and seen.event < how.event:
                    found = site
                elif seen.verdict == "agrees":
                    good.add(site)
                    taken |= self.closure(self.direct(site))
                    pool -= taken
            if found is None:
                return bad, how
            bad, how = found, self.seen[found]

    def middle(self, pool: set[Site]) -> Site:
        """The site on which about half of the others depend, or which depends on half."""
        sizes = {site: len(self.closure(self.direct(site)) & pool) for site in pool}
        return min(pool, key=lambda site: (abs(2 * sizes[site] - len(pool)), site))

    # -- what depends on what

    def closure(self, sites: Iterable[Site]) -> set[Site]:
        """The sites and all that they depend on, within one iteration of a loop."""
        found: set[Site] = set()
        todo = list(sites)
        while todo:
            site = todo.pop()
            if site not in found:
                found.add(site)
                todo += self.direct(site)
        return found

    def direct(self, site: Site, back: bool = False) -> set[Site]:
        """What a site depends on directly; with `back`, in the iteration before as well."""
        found = self.depends.get((site, back))
        if found is None:
            found = self.depends[site, back] = self.found_direct(site, back)
        return found

    def found_direct(self, site: Site, back: bool) -> set[Site]:
        """The same, found now."""
        op = self.ops[site.op]
        if not isinstance(op, RegionBranch):
            return self.sources(op)
        target = op.regions[site.region] if site.region >= 0 else None
        values = list(op.control_operands(op))
        for source, i in op.predecessor_operands(value_at(self.ops, site)) or []:
            if target is None or back or not _is_back_edge(op, source, target):
                values += [source.operands[i], *(op.control_operands(source) if source is not op else ())]
        return set().union(*(self.of(v, set()) for v in values)) | (self.conditions(op) if target is None else set())

    def sources(self, op: Operation) -> set[Site]:
        """What an operation depends on directly, whether it runs included."""
        visited: set[Any] = set()
        own = {self.sites.get(r) for r in op.results}
        found = set().union(*(self.of(v, visited) for v in op.operands))
        return (found | self.conditions(op)) - own  # type: ignore[arg-type]

    def conditions(self, op: Operation) -> set[Site]:
        """The conditions that decide whether an operation executes."""
        values: list[Value] = []
        parent = op.parent_op
        while isinstance(parent, RegionBranch):
            values += parent.control_operands(parent)
            parent = parent.parent_op
        return set().union(*(self.of(v, set()) for v in values))

    def of(self, value: Value, visited: set[Any]) -> set[Site]:
        """The sites that a value consists of: itself, or what was written to the buffer that it is."""
        site = self.sites.get(value)
        if site is not None:
            return {site}
        if value in visited:
            return set()
        visited.add(value)
        found: set[Site] = set()
        maker = value.defining_op
        for operand in maker.operands if maker is not None else ():
            found |= self.of(operand, visited)
        if isinstance(value.type, MemDescType):
            for user, _ in value.uses:
                if user.results and isinstance(user.results[0].type, MemDescType):
                    found |= self.of(user.results[0], visited)
                elif "load" not in user.name and "dot" not in user.name:
                    for operand in user.operands:
                        found |= self.of(operand, visited)
        return found

    # -- looking

    def look(self, site: Site) -> _Seen:
        """The value in a copy of the program; reported once."""
        if site not in self.seen:
            if time.perf_counter() > self.until:
                if not self.notes or "seconds" not in self.notes[-1]:
                    self.notes.append(
                        f"not all was looked at within {BUDGET:.0f} seconds: it may be an operation before"
                    )
                self.seen[site] = _Seen("unseen")
            else:
                self.seen[site] = self.compared(site) if self.expected[site] else _Seen("unseen")
        return self.seen[site]

    def is_hopeless(self) -> bool:
        """Is every copy right so far?"""
        found = {seen.verdict for seen in self.seen.values()}
        return found == {"vanishes"} and len(self.seen) >= _MOST_RIGHT

    def compared(self, site: Site) -> _Seen:
        alone = self.launch.grid == (1, 1, 1)
        try:
            module = parse_module(self.step.text)
            iterations = len(self.expected[site])
            (area,) = instrument(module, [site], None if alone else self.program, iterations)
            side = np.full(area.end, UNWRITTEN, np.uint8)
            side[area.counter :] = 0
            with tempfile.TemporaryDirectory(prefix="tritium-check-") as folder:
                path = os.path.join(folder, f"instrumented.{self.step.stage}")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(str(module))
                source = IRSource(path)
                types = [ty for ty, _ in self.launch.arguments.flat(self.regions)]
                source.signature = {f"arg{i}": ty for i, ty in enumerate([*types, "*i8"])}
                with settings.compilation.scope():
                    settings.compilation.always_compile = True
                    kernel = compile(source, self.launch.target, self.launch.options)
                outcome = self.launch.on_copy(kernel, self.regions, side, self.emulated)
        except _FAILURES as error:
            return self.unseen(site, f"no copy can be made: {str(error).splitlines()[0]}")
        if isinstance(outcome, Failure):
            return self.unseen(site, f"the copy fails: {str(outcome).splitlines()[0]}")
        seen = self.told(site, area, side, outcome)
        if seen.verdict == "agrees" and not self.is_wrong(outcome):
            return _Seen("vanishes")
        return seen

    def unseen(self, site: Site, why: str) -> _Seen:
        op = value_at(self.ops, site).defining_op or self.ops[site.op]
        return _Seen("unseen", text=f"{why}: {shown(self.step.text, line_of(op))[:100]}")

    def is_wrong(self, outcome: Result) -> bool:
        """Does a run still give a wrong result?"""
        regions = self.launch.arguments.regions
        return loose_difference(regions, outcome, self.known, self.allowed) is not None

    def told(self, site: Site, area: Area, side: np.ndarray, outcome: Any) -> _Seen:
        """Compare what was stored with what should have been."""
        pointers = isinstance(element_type(area.type), PointerType)
        for slot, expected in enumerate(self.expected[site][: area.slots]):
            found = area.seen(side, slot)
            where = f" in iteration {slot}" if area.slots > 1 else ""
            if found is None:
                return _Seen("differs", expected.event, f"it is not computed{where}, and should be")
            if not area.works(side, slot):
                return self.unseen(site, "what is wrong is used to look, too")
            if pointers:
                found = self.launch.host_addresses(found)
            x, y = np.atleast_1d(found), np.atleast_1d(expected.value)
            with np.errstate(all="ignore"):
                near = np.abs(x.astype(np.float64) - y.astype(np.float64)) <= np.atleast_1d(expected.allowed)
                near |= np.isinf(np.atleast_1d(expected.allowed))
            wrong = ~((x == y) | ((x != x) & (y != y)) | near)
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                name = f"element [{', '.join(map(str, at))}]" if area.shape else "the result"
                text = f"{name} is {x[at]}{where}, and the evaluator's is {y[at]}"
                return _Seen("differs", expected.event, text)
        return _Seen("agrees")

    def suspect(self, what: Any, bad: Site | None, seen: _Seen) -> Suspect:
        """What is told."""
        op = what if isinstance(what, Operation) else what.defining_op
        if op is None:
            op = self.ops[bad.op]  # type: ignore[union-attr]
            seen = _Seen(seen.verdict, seen.event, f"of what its body begins with, number {bad.number}: {seen.text}")  # type: ignore[union-attr]
        line = line_of(op)
        text = seen.text if bad is not None else "what it is given is as the evaluator's, and what it writes is not"
        return Suspect(shown(self.step.text, line), "", text, self.step.places.get(line), self.program)


def _is_back_edge(op: RegionBranch, source: Operation, target: Region) -> bool:
    """Whether control passes from a terminator in a region of `op` to the next iteration of `target`."""
    region = source.parent_region
    if source is op or region is None or not op.is_repetitive(target):
        return False
    return op.regions.index(region) >= op.regions.index(target)


def suspect_lowering(
    launch: Launch,
    steps: list[Step],
    wrong: Difference,
    known: Result,
    allowed: list[np.ndarray | None],
    emulated: bool = False,
) -> tuple[Suspect | None, list[str]]:
    """The operation of the last tile program that machine code computes wrongly, and notes on the limits of the
    search."""
    step = next((s for s in reversed(steps) if s.stage in ("ttgir", "ttir")), None)
    if step is None:
        return None, ["there is no program of tiles to look into"]
    search = _Search(launch, step, wrong, known, allowed, emulated)
    return search.run(), list(_short(search.notes))


def _short(notes: list[str]) -> Iterator[str]:
    yield from notes[:4]
    if len(notes) > 4:
        yield f"… and {len(notes) - 4} more"
