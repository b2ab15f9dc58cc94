"""Passes, pipelines, and the loop that runs them.

A pass is a function of a module, or of each function in it, that returns True when it changed something:

    @pass_on("function")
    def cse(func): ...

A pipeline is a literal list of `Pass(name, fn, reason)`; constraints on the order of passes stand in a second table
of `(earlier, later, reason)` that `check_order` holds a pipeline to when its file is imported. `run_pipeline` owns
what passes must not do themselves: dumps (`MLIR_ENABLE_DUMP`), times (`MLIR_ENABLE_TIMING`), statistics, verifying,
fuel, and the reproducer of a crash.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..support import InternalError, TritiumError
from ..support.settings import compilation
from .operation import Operation
from .rewriter import Fuel, spending
from .traits import ISOLATED, SYMBOL

__all__ = [
    "Pass",
    "PassError",
    "PassRun",
    "PipelineReport",
    "bisect",
    "check_order",
    "count",
    "functions_of",
    "pass_on",
    "run_pipeline",
]

PassFunction = Callable[..., "bool | None"]
Verifier = Callable[[Operation], None]
F = TypeVar("F", bound=PassFunction)


@dataclass(frozen=True)
class Pass:
    """A line of a pipeline: the pass, why it stands there, and its options (a frozen dataclass, or None)."""

    name: str
    fn: PassFunction
    reason: str
    options: Any = None

    def __str__(self) -> str:
        return self.name if self.options is None else f"{self.name}{{{self.options}}}"

    def run(self, op: Operation) -> bool:
        """Run on one module or function."""
        changed = self.fn(op) if self.options is None else self.fn(op, self.options)
        return changed is not False


class PassError(InternalError):
    """A pass failed; the text names the pass, the function, the operation and the reproducer."""


def pass_on(level: str) -> Callable[[F], F]:
    """Say whether a pass wants the "module" or each "function"; calling it on a module works for both."""
    if level not in ("module", "function"):
        raise ValueError(f"a pass runs on a module or a function, not on a {level!r}")

    def mark(fn: F) -> F:
        fn.level = level  # type: ignore[attr-defined]
        return fn

    return mark


def functions_of(op: Operation) -> list[Operation]:
    """The functions with a body in a module; a function is its own."""
    if op.traits & SYMBOL:
        return [op]
    kind = ISOLATED | SYMBOL
    return [f for r in op.regions for b in r.blocks for f in b if f.traits & kind == kind and f.regions[0].blocks]


def symbol_name(op: Operation) -> str:
    """`@name` of a function, or the name of the operation."""
    name = op.attributes.get("sym_name")
    return f"@{name.value}" if name is not None else op.name  # type: ignore[attr-defined]


def check_order(pipeline: Sequence[Pass], order: Iterable[tuple[str, str, str]]) -> None:
    """Hold a pipeline to (earlier, later, reason) constraints: the first `later` stands behind the first `earlier`."""
    names = [p.name for p in pipeline]
    for earlier, later, reason in order:
        if earlier in names and later in names and names.index(earlier) > names.index(later):
            raise InternalError(f"pass {earlier} must come before {later}: {reason}")


# -- statistics ---------------------------------------------------------------------------------------------------

_counts: dict[str, int] | None = None


def count(what: str, n: int = 1) -> None:
    """Add `n` to a statistic of the pass that runs, such as "loads merged"."""
    if _counts is not None and n:
        _counts[what] = _counts.get(what, 0) + n


@contextmanager
def _counting(counts: dict[str, int]) -> Iterator[None]:
    global _counts
    saved, _counts = _counts, counts
    try:
        yield
    finally:
        _counts = saved


@dataclass
class PassRun:
    """What one line of a pipeline did: seconds, whether it changed anything, what it counted, times by function."""

    name: str
    seconds: float = 0.0
    changed: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    functions: list[tuple[str, float]] = field(default_factory=list)


@dataclass
class PipelineReport:
    """What a pipeline did."""

    stage: str
    runs: list[PassRun] = field(default_factory=list)
    verify_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """The time of all passes and of verifying."""
        return sum(r.seconds for r in self.runs) + self.verify_seconds

    def tree(self) -> str:
        """Times as a tree, in milliseconds and percent."""
        total = self.seconds or 1e-9
        lines = [f"pass times of {self.stage}: {total * 1e3:.3f} ms"]
        for r in self.runs:
            lines.append(f"  {r.seconds * 1e3:9.3f} ms {100 * r.seconds / total:5.1f} %  {r.name}")
            if len(r.functions) > 1:
                lines += [f"  {t * 1e3:9.3f} ms              {name}" for name, t in r.functions]
        lines.append(f"  {self.verify_seconds * 1e3:9.3f} ms {100 * self.verify_seconds / total:5.1f} %  (verify)")
        return "\n".join(lines)

    def statistics(self) -> str:
        """What passes counted."""
        return "\n".join(f"{r.name}: {n} {what}" for r in self.runs for what, n in r.counts.items())


# -- the loop -----------------------------------------------------------------------------------------------------


def run_pipeline(
    module: Operation, pipeline: Sequence[Pass], *, stage: str = "passes", verifier: Verifier | None = None
) -> PipelineReport:
    """Run `pipeline` over `module` in place, then verify it; every pass is followed by it with `TRITIUM_VERIFY_EACH`.

    `PassError` when a pass raises anything but an error of the user's, or leaves IR that does not verify.
    """
    start = module.clone()
    report = PipelineReport(stage)
    dumper = _Dumper(module)
    fuel = compilation.pass_fuel
    verify_each = compilation.verify_each
    for i, p in enumerate(pipeline):
        if fuel is not None and i >= fuel:
            break
        dumper.before(p)
        run = PassRun(p.name)
        report.runs.append(run)
        try:
            _run_pass(p, module, run)
            if verify_each and verifier is not None:
                report.verify_seconds += _timed(verifier, module)
        except TritiumError as e:
            if not isinstance(e, InternalError):
                raise
            raise _failure(e, start, pipeline, i, run) from e
        except Exception as e:
            raise _failure(e, start, pipeline, i, run) from e
        dumper.after(p, run.changed)
    if verifier is not None and not verify_each:
        report.verify_seconds += _timed(verifier, module)
    if compilation.timing:
        print(report.tree(), report.statistics(), sep="\n", file=sys.stderr)
    return report


def _timed(fn: Callable[[Operation], object], op: Operation) -> float:
    begin = time.perf_counter()
    fn(op)
    return time.perf_counter() - begin


def _run_pass(p: Pass, module: Operation, run: PassRun) -> None:
    targets = functions_of(module) if getattr(p.fn, "level", "module") == "function" else [module]
    with _counting(run.counts):
        for target in targets:
            name = symbol_name(target)
            begin = time.perf_counter()
            run.functions.append((name, 0.0))
            if p.run(target):
                run.changed = True
            took = time.perf_counter() - begin
            run.functions[-1] = (name, took)
            run.seconds += took


class _Dumper:
    """Prints the IR around passes when the settings ask for it."""

    def __init__(self, module: Operation) -> None:
        wanted = compilation.dump_passes
        self.module = module
        self.on = bool(wanted) and wanted != "0"
        if self.on and wanted not in ("1", "true", "on", "yes"):
            self.on = wanted in [symbol_name(f)[1:] for f in functions_of(module)]
        self.last = ""

    def before(self, p: Pass) -> None:
        if self.on:
            self.last = str(self.module)
            self.write(f"IR Dump Before {p}", self.last)

    def after(self, p: Pass, changed: bool) -> None:
        if self.on and changed:
            text = str(self.module)
            if text != self.last:
                self.write(f"IR Dump After {p}", text)

    def write(self, title: str, text: str) -> None:
        message = f"// -----// {title} ('{self.module.name}' operation) //----- //\n{text}\n"
        path = compilation.dump_path
        if path is None:
            print(message, file=sys.stderr)
        else:
            with open(path, "a") as f:
                print(message, file=f)


# -- failures -----------------------------------------------------------------------------------------------------


def _failure(error: Exception, start: Operation, pipeline: Sequence[Pass], at: int, run: PassRun) -> PassError:
    p = pipeline[at]
    where = run.functions[-1][0] if run.functions else symbol_name(start)
    op = getattr(error, "operation", None)
    lines = [f"pass {p} failed on {where}: {type(error).__name__}: {error}"]
    if op is not None:
        lines.append(f"  at: {_text_of(op)}")
        position = op.loc.file_position()
        if position is not None:
            lines.append(f"  from: {position}")
    lines.append(
        f"  reproducer (the IR before {p.name} and the passes from there on): {_reproducer(start, pipeline, at)}"
    )
    failure = PassError("\n".join(lines))
    failure.operation = op  # type: ignore[attr-defined]
    return failure


def _text_of(op: Operation) -> str:
    try:
        return str(op).splitlines()[0].strip()
    except Exception:  # the operation may be half-made: its name is all that can be told
        return op.name


def _reproducer(start: Operation, pipeline: Sequence[Pass], at: int) -> str:
    """The path of a file with the IR before pass `at`, made by running the passes before it once more."""
    for p in pipeline[:at]:
        with contextlib.suppress(Exception):
            _run_pass(p, start, PassRun(p.name))
    rest = ", ".join(str(p) for p in pipeline[at:])
    text = f"// pipeline: {rest}\n{_text_of(start) if start.parent else str(start)}\n"
    path = compilation.reproducer_path
    try:
        if path is None:
            handle, path = tempfile.mkstemp(prefix=f"tritium-{pipeline[at].name}-", suffix=".mlir")
            os.close(handle)
        with open(path, "w") as f:
            f.write(text)
    except OSError as e:
        return f"could not be written ({e})"
    return path


# -- bisecting ----------------------------------------------------------------------------------------------------


def bisect(module: Operation, pipeline: Sequence[Pass], is_bad: Callable[[Operation], bool]) -> str:
    """Which change makes `is_bad` hold: the first pass, and within it the first rewrite if it is made of rewrites.

    `is_bad` is given a transformed copy of `module`. It must hold after the whole pipeline and not before it.
    """

    def run(passes: int, fuel: int | None = None) -> tuple[Operation, Fuel | None]:
        copy = module.clone()
        for p in pipeline[: passes - (fuel is not None)]:
            _run_pass(p, copy, PassRun(p.name))
        tank = None if fuel is None else Fuel(fuel)
        if tank is not None:
            with spending(tank):
                _run_pass(pipeline[passes - 1], copy, PassRun(""))
        return copy, tank

    if is_bad(module) or not is_bad(run(len(pipeline))[0]):
        raise InternalError("nothing to bisect: the property must hold after the pipeline and not before it")
    guilty = _first_true(1, len(pipeline), lambda n: is_bad(run(n)[0]))
    name = pipeline[guilty - 1].name
    tank = run(guilty, 1 << 40)[1]
    assert tank is not None
    total = len(tank.spent)
    if not total or is_bad(run(guilty, 0)[0]):
        return f"pass {guilty} ({name})"
    n = _first_true(1, total, lambda k: is_bad(run(guilty, k)[0]))
    return f"pass {guilty} ({name}), rewrite {n} of {total} ({tank.spent[n - 1]})"


def _first_true(low: int, high: int, holds: Callable[[int], bool]) -> int:
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
