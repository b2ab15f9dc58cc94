"""The loop that runs passes. It owns what passes must not do themselves: dumps, times, counts, verifying, fuel, and
the report of a failure with its reproducer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...support import InternalError, OptionError, TritiumError, dataclasses
from ...support.errors import interrupts
from ...support.lazy import LazyModule
from ...support.recording import current
from ...support.recursion import with_deep_recursion
from ...support.settings import compilation, insertions
from ..operation import Operation
from ..rewriter import Fuel, spending
from .definition import Nest, Pass, Row, counting, rows_of, symbol_name, targets_of
from .report import PassRun, PipelineReport

if TYPE_CHECKING:
    from .dump import Dumper, DumpSettings
    from .trace import PassTracer

__all__ = ["RunSettings", "Step", "call_pass", "parse_fuel", "run_conversion", "run_pipeline", "schedule"]

Verifier = Callable[[Operation], None]

_dump = LazyModule(".dump", __package__)
_failures = LazyModule(".failures", __package__)
_nesting = LazyModule("..nesting", __package__)
_insertion = LazyModule(".insertion", __package__)
_trace = LazyModule(".trace", __package__)

_YES = ("1", "true", "on", "yes", "y")


@dataclasses.dataclass(frozen=True)
class RunSettings:
    """What happens around passes.

    `fuel` is how many rows of the pipeline run at most, and `rewrites` how many rewrites the last of these may do.
    `reproducer` is the file for the IR before a pass that fails; with `stage_reproducers` the IR and the passes of
    every stage are written as well, to that path with `.make_<stage>.repro.mlir` after it. `trace` is the file for
    records of passes and rewrites (`support.traces`).
    """

    dump: DumpSettings | None = None
    timing: bool = False
    statistics: bool = False
    verify_each: bool = False
    fuel: int | None = None
    rewrites: int | None = None
    reproducer: str | None = None
    trace: str | None = None
    stage_reproducers: str | None = None

    @staticmethod
    def of_environment() -> RunSettings:
        """As the settings of `support.settings.compilation` say."""
        wanted = compilation.dump_passes
        dump = None
        if wanted and wanted != "0":
            functions = () if wanted.lower() in _YES else (wanted,)
            dump = _dump.DumpSettings(
                before=_dump.ALL, functions=functions, whole_module=True, path=compilation.dump_path
            )
        if compilation.print_passes:
            worded = _dump.parse_dumps(compilation.print_passes)
            dump = dataclasses.replace(worded, path=compilation.dump_path)
        fuel, rewrites = parse_fuel(compilation.pass_fuel, "TRITIUM_PASS_FUEL")
        timing = compilation.timing
        return RunSettings(
            dump=dump,
            timing=timing,
            statistics=timing,
            verify_each=compilation.verify_each,
            fuel=fuel,
            rewrites=rewrites,
            reproducer=compilation.crash_path,
            stage_reproducers=compilation.reproducer_path,
            trace=compilation.trace,
        )

    def replace(self, **changes: object) -> RunSettings:
        """The same but for `changes`."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


def parse_fuel(text: str | None, name: str) -> tuple[int | None, int | None]:
    """`N` or `N:M`: the number of passes, and of rewrites in the last of them; `name` says whose text it is."""
    passes, _, rewrites = (text or "").partition(":")
    try:
        limits = int(passes) if passes else None, int(rewrites) if rewrites else None
    except ValueError:
        limits = (-1, None)
    if any(n is not None and n < 0 for n in limits):
        raise OptionError(f"{name} is N or N:M with whole numbers, not {text!r}")
    return limits


class Step(NamedTuple):
    """One row's turn on one operation: its number among the rows, and its place as (index, row) from the outside in."""

    at: int
    row: Pass
    op: Operation
    path: tuple[tuple[int, Row], ...]


def schedule(
    rows: Sequence[Row], op: Operation, at: int = 0, outer: tuple[tuple[int, Row], ...] = ()
) -> Iterator[Step]:
    """The steps of a pipeline on `op`, in order; what a nest runs on is looked up when it is its turn."""
    for i, row in enumerate(rows):
        path = (*outer, (i, row))
        if isinstance(row, Nest):
            for target in row.targets(op):
                yield from schedule(row.rows, target, at, path)
            at += sum(1 for _ in rows_of(row.rows))
        else:
            yield Step(at, row, op, path)
            at += 1


def call_pass(p: Pass, op: Operation, run: PassRun) -> None:
    """Run a pass on what it wants of `op`, where there is anything for it, and note in `run` what it did."""
    if p.when is not None and not p.when(op):
        return
    with counting(run.counts):
        for target in targets_of(p, op):
            name = symbol_name(target)
            begin = time.perf_counter()
            run.functions.append((name, 0.0))
            if p.run(target):
                run.changed = True
            took = time.perf_counter() - begin
            run.functions[-1] = (name, took)
            run.seconds += took


@with_deep_recursion("the passes")
def run_pipeline(
    module: Operation,
    pipeline: Sequence[Row],
    *,
    stage: str = "passes",
    verifier: Verifier | None = None,
    settings: RunSettings | None = None,
    as_given: bool = False,
) -> PipelineReport:
    """Run `pipeline` over `module` in place, then verify it, or after every pass if the settings say so.

    `PassError` when a pass raises anything but an error of the user's, or leaves IR that does not verify;
    `PassInterrupted` after Ctrl-C. Without `settings`, the environment's count. Passes that somebody has inserted at
    places of the stage run as well, and what replaces passes in their place, except in a pipeline `as_given`.
    """
    settings = settings or RunSettings.of_environment()
    if insertions.value:
        pipeline = pipeline if as_given else _insertion.with_replacements(pipeline)
        pipeline = _insertion.with_insertions(pipeline, stage)
    if settings.trace is None or current() is not None:
        return _Run(module, pipeline, stage, verifier, settings).all()
    with _trace.standing_alone(settings.trace, stage):
        return _Run(module, pipeline, stage, verifier, settings).all()


@with_deep_recursion("the passes")
def run_conversion(
    name: str,
    module: Operation,
    convert: Callable[[Operation], Operation],
    *,
    stage: str = "passes",
    verifier: Verifier | None = None,
) -> Operation:
    """What `convert` makes of `module`, a new one; dumped, timed, verified and reported under `name` like a pass."""
    made: list[Operation] = []

    def run(op: Operation) -> None:
        made.append(convert(op))

    one = _Run(module, [Pass(name, run)], stage, verifier, RunSettings.of_environment())
    one.convert(made)
    return made[0]


def _timed(fn: Callable[[Operation], object], op: Operation) -> float:
    begin = time.perf_counter()
    fn(op)
    return time.perf_counter() - begin


class _Run:
    """One run of a pipeline."""

    def __init__(
        self, module: Operation, rows: Sequence[Row], stage: str, verifier: Verifier | None, settings: RunSettings
    ) -> None:
        self.module = module
        self.rows = list(rows)
        self.stage = stage
        self.verifier = verifier
        self.settings = settings
        self.start = module.clone()  # what a reproducer is made from
        self.report = PipelineReport(stage)
        self.dumper: Dumper | None = settings.dump.dumper(module) if settings.dump else None
        self.tracer: PassTracer | None = _trace.tracer(module) if settings.trace is not None else None
        self.result: Callable[[], Operation] = lambda: self.module
        self.done = 0  # steps

    def all(self) -> PipelineReport:
        settings, report = self.settings, self.report
        if settings.stage_reproducers is not None:
            path = f"{settings.stage_reproducers}.make_{self.stage}.repro.mlir"
            _failures.keep_reproducer(self.start, self.pipeline_text(self.rows), self.stage, path)
        for step in schedule(self.rows, self.module):
            if settings.fuel is not None and step.at >= settings.fuel:
                continue
            self.step(step)
        for run in report.runs:
            _add_up(run)
        if self.verifier is not None and not settings.verify_each:
            self.verify_end()
        self.tell()
        return report

    def tell(self) -> None:
        """Print what the settings ask for."""
        if self.settings.timing:
            print(self.report.tree(), file=sys.stderr)
        if self.settings.statistics and self.report.statistics():
            print(self.report.statistics(), file=sys.stderr)

    def convert(self, made: list[Operation]) -> None:
        """As `all`, for one pass that leaves its result in `made` and its input alone."""
        self.settings = self.settings.replace(fuel=None, verify_each=False)
        [step] = schedule(self.rows, self.module)
        self.result = lambda: made[0]
        self.step(step)
        if self.verifier is not None:
            try:
                self.report.verify_seconds += _timed(self.verifier, made[0])
            except InternalError as error:
                self.done = 0
                raise self.failure(error, step, symbol_name(self.module)) from error
        self.tell()

    def step(self, step: Step) -> None:
        settings, p = self.settings, step.row
        run = self.run_of(step)
        try:
            if self.dumper is not None:
                self.dumper.before(p, step.op)
            self.call(step, run)
            if settings.verify_each and self.verifier is not None:
                self.report.verify_seconds += _timed(self.verifier, self.module)
        except interrupts() as e:
            raise self.failure(e, step, _where(run, step.op)) from None
        except RecursionError:
            raise _nesting.too_deep(step.op, f"pass {p}") from None
        except TritiumError as e:
            if not isinstance(e, InternalError):
                raise
            self.fail(e, step, run)
        except Exception as e:
            self.fail(e, step, run)
        if self.dumper is not None:
            self.dumper.after(p, step.op)
        if self.tracer is not None:
            self.tracer.done(p, step.op, run, self.result())
        self.done += 1

    def call(self, step: Step, run: PassRun) -> None:
        """Run the pass of a step, with as much fuel as there is for it."""
        settings = self.settings
        last = settings.fuel is not None and step.at == settings.fuel - 1
        limit = settings.rewrites if last else None
        if self.tracer is not None:
            with self.tracer.around(run, limit):
                call_pass(step.row, step.op, run)
        elif limit is not None:
            with spending(Fuel(limit)):
                call_pass(step.row, step.op, run)
        else:
            call_pass(step.row, step.op, run)

    def run_of(self, step: Step) -> PassRun:
        """The node of the report for a step, made if it is the first there."""
        runs = self.report.runs
        rows: Sequence[Row] = self.rows
        run = None
        for i, row in step.path:
            while len(runs) <= i:  # a nest that ran on nothing has no step
                runs.append(PassRun(_label(rows[len(runs)])))
            run = runs[i]
            runs = run.children
            rows = row.rows if isinstance(row, Nest) else ()
        assert run is not None
        return run

    def fail(self, error: Exception, step: Step, run: PassRun) -> None:
        if self.dumper is not None:
            self.dumper.failed(step.row, step.op)
        if self.tracer is not None:
            self.tracer.failed(step.row, error)
        raise self.failure(error, step, _where(run, step.op)) from error

    def failure(self, error: BaseException, step: Step, where: str) -> BaseException:
        """The report of a failure, with a reproducer made by running the passes before it once more."""
        before = self.start.clone()
        for n, earlier in enumerate(schedule(self.rows, before)):
            if n == self.done:
                break
            try:
                call_pass(earlier.row, earlier.op, PassRun(""))
            except Exception:  # it ran the first time: whatever this is, the text is as good as it gets
                break
        top = step.path[0][0]
        if len(step.path) == 1:
            text = self.pipeline_text(self.rows[top:])
        else:
            inner: Row = step.row
            for _, row in reversed(step.path[:-1]):
                inner = Nest(row.anchor, [inner])  # type: ignore[union-attr]
            text = self.pipeline_text([inner])
        path = _failures.keep_reproducer(before, text, step.row.name, self.settings.reproducer)
        return _failures.pass_error(error, step.row, where, path)  # type: ignore[no-any-return]

    def pipeline_text(self, rows: Sequence[Row]) -> str:
        return f"{self.module.name}({','.join(map(str, rows))})"

    def verify_end(self) -> None:
        assert self.verifier is not None
        try:
            self.report.verify_seconds += _timed(self.verifier, self.module)
        except InternalError as error:
            self.blame(error)
            raise

    def blame(self, error: InternalError) -> None:
        """Which pass broke the IR that does not verify at the end: the first after which a second run does not."""
        assert self.verifier is not None
        again = self.start.clone()
        try:
            self.verifier(again)
        except InternalError:
            return  # it was broken from the start
        self.done = 0
        for step in schedule(self.rows, again):
            run = PassRun("")
            try:
                call_pass(step.row, step.op, run)
                self.verifier(again)
            except InternalError as broken:
                raise self.failure(broken, step, _where(run, step.op)) from error
            self.done += 1


def _label(row: Row) -> str:
    return f"'{row.anchor}' Pipeline" if isinstance(row, Nest) else row.name


def _add_up(run: PassRun) -> None:
    """The seconds of a nest are those of its rows."""
    for child in run.children:
        _add_up(child)
    if run.children:
        run.seconds = sum(c.seconds for c in run.children)
        run.changed = any(c.changed for c in run.children)


def _where(run: PassRun, op: Operation) -> str:
    return run.functions[-1][0] if run.functions else symbol_name(op)
