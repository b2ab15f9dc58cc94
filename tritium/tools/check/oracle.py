"""The oracle at every stage: one launch is run as Python, as IR after each pass, and as machine code, and compared.

What each pass leaves must give the bits that its input gave: the evaluator adds and multiplies in the program's own
order, so that a pass which keeps the meaning keeps the bits. Passes that may round elsewhere stand in `ROUNDING` with
the reason. Machine code may round elsewhere too, by no more than `noise` says.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...backends.nvidia.device import device
from ...compiler import CompiledKernel, make_backend
from ...runtime import driver
from ...runtime.autotuner import Autotuner, Heuristics
from ...runtime.calls import source_of_call
from ...runtime.grid import normalize_grid
from ...support import TritiumError
from .blame import Suspect, guilty_rewrite, suspect_operation
from .compare import Difference, Result, exact_difference, loose_difference
from .failed import operations_behind
from .launch import Region
from .lowered import suspect_lowering
from .noise import tolerances
from .runs import Failure, Launch, Outcome
from .steps import Step, compile_in_steps

__all__ = ["CheckError", "Finding", "Report", "Verdict", "check", "check_launch"]

#: The conversion of tiles to vectors on CPUs.
TO_VECTORS = "convert-tt-to-ttc"

#: Passes that may round elsewhere, and why.
ROUNDING = {
    "combine": "dot(a, b, 0) + c is dot(a, b, c): rounded once, not twice",
    "optimize-thread-locality": "threads add up what they hold before they meet",
    "optimize-accumulator-init": "the first dot does not accumulate on zeros",
    "prefetch": "a dot is split along K",
    "f32-dot-tc": "an f32 dot is split into dots of a narrower type",
    "emulate-bf16-dot": "bf16 dots are emulated",
    "decompose-scaled-dot": "operands are scaled before the dot",
    TO_VECTORS: "reductions combine elements in the order of vectors",
}

BUDGET = 10.0
"""Seconds of a processor within which the IR after every pass is run. Where that takes longer, the last is run, and
others if it differs."""

VECTOR_LIMIT = 300_000
"""Operations of a CPU program on vectors (`ttcir`) that are evaluated at most, unless all steps are asked for: about
3 seconds. A vector is a small part of a tile, so that such a program runs many more operations than before."""

_FOUND_POINTERS = re.compile(r"tt\.int_to_ptr|!tt\.ptr<!tt\.ptr")
_POISON = 0xFF  # no number in every float format, so that a sum with it shows


class CheckError(TritiumError):
    """A launch that cannot be checked."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a step: "same", "within tolerance", "differs", "fails", "not run" with a reason."""

    step: str
    verdict: str
    seconds: float = 0.0
    detail: str = ""


@dataclass(frozen=True)
class Finding:
    """The first step whose result differs: which element, by which rewrite of a pass, at which operation.

    `notes` say what could not be looked at."""

    step: str
    difference: Difference | None
    message: str
    rewrite: Any = None
    suspect: Suspect | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Report:
    """What a check found: a verdict for each step, and the finding, None where all results agree."""

    kernel: str
    target: str
    grid: tuple[int, int, int]
    verdicts: list[Verdict] = field(default_factory=list)
    finding: Finding | None = None
    poisoned: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __bool__(self) -> bool:
        """True where all results agree."""
        return self.finding is None


def check(kernel: Any, *args: Any, grid: Any, target: Any = None, **given: Any) -> Report:
    """Run a launch of `kernel` as Python, as IR after each pass, and as machine code, and compare what each leaves.

    `args` and keywords are those of a launch `kernel[grid](...)`: arrays, tensors, numbers. Nothing is
    written to them. `target` is what to compile for, by default what is active. Code for GPUs is run by the emulator,
    but for arrays in a GPU's memory, and with the target "cuda" for all, by the GPU of this machine.
    An autotuned kernel is checked with its first configuration. `CheckError` for what cannot be checked; a kernel that
    does not compile is the error that a launch gives.
    """
    function, given = _plain(kernel, args, given)
    gpu = driver.cuda.get_current_device() if target == "cuda" else None
    if target is None or gpu is not None:
        target = (driver.active if gpu is None else driver.cuda).get_current_target()
    src, options, values = source_of_call(function, target, args, given)
    named = {**dict(zip(src.signature, values)), **options}
    sizes = normalize_grid(grid, lambda: named, function.__name__)
    return check_launch(Launch(src, target, options, sizes, values, gpu))


def _plain(kernel: Any, args: Sequence[Any], given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The function below `@autotune` and `@heuristics`, and the keywords that these give it."""
    while isinstance(kernel, (Autotuner, Heuristics)):
        if isinstance(kernel, Autotuner):
            given = {**kernel.configs[0].all_kwargs(), **given}
        else:
            for name, compute in kernel.values.items():
                given[name] = compute({**dict(zip(kernel.arg_names, args)), **given})
        kernel = kernel.fn
    return kernel, given


def check_launch(launch: Launch, every: bool = False) -> Report:
    """The same for a launch that is described; with `every`, the IR after every pass is run, however long it takes."""
    begin = time.perf_counter()
    target = make_backend(launch.target).describe()
    name = "cpu" if target.backend == "cpu" else f"{target.backend}:{target.arch}"
    report = Report(launch.src.name, name, launch.grid)
    run = _Check(launch, report, every)
    run.all()
    report.seconds = time.perf_counter() - begin
    return report


class _Check:
    """The check of one launch."""

    def __init__(self, launch: Launch, report: Report, every: bool) -> None:
        self.launch = launch
        self.report = report
        self.every = every
        self.known: Outcome = Failure("")  # what the steps so far agree on
        self.text = ""  # the last text that was run
        self.steps: list[Step] = []

    def all(self) -> None:
        """Every step, until one differs."""
        launch, report = self.launch, self.report
        kernel, steps = compile_in_steps(launch.src, launch.target, launch.options)
        self.steps = steps
        if _FOUND_POINTERS.search(steps[0].text):
            text = "it loads pointers from memory, whose targets are not copied"
            raise CheckError(f"{launch.src.name} cannot be checked: {text}")
        self.known = self.timed("Python", launch.in_python)
        if isinstance(self.known, Failure) and not self.known.unknown:
            report.finding = Finding("Python", None, f"the kernel fails where it is run as Python: {self.known}")
            return
        if isinstance(self.known, Result):
            self.poison(self.known, steps[0])
        if self.ir(steps):
            self.machine(kernel, steps)

    def timed(self, step: str, run: Any) -> Outcome:
        """Run something as a step; its verdict is "same" unless revised."""
        begin = time.perf_counter()
        outcome = run()
        detail = str(outcome).split("\n")[0] if isinstance(outcome, Failure) else ""
        verdict = "same" if isinstance(outcome, Result) else "not run" if outcome.unknown else "fails"
        self.report.verdicts.append(Verdict(step, verdict, time.perf_counter() - begin, detail))
        return outcome

    def poison(self, plain: Result, first: Step) -> None:
        """Fill what is only written with a pattern from now on, so that what is not written shows.

        `plain` is the result without it. Arrays that the program reads as well stay as they are: its results say so.
        """
        regions = self.launch.arguments.regions
        changed = [i for i, r in enumerate(plain.regions) if r.tobytes() != regions[i].data]
        before = list(regions)
        for i in changed:
            regions[i] = Region(bytes([_POISON]) * len(before[i].data), before[i].start, before[i].array)
        again = self.launch.on_text(first.text) if changed else plain
        if isinstance(again, Result) and all(_only_written(before, plain, again, i) for i in range(len(regions))):
            self.known = again
            self.report.poisoned = [regions[i].array.name for i in changed]
        else:
            regions[:] = before

    def ir(self, steps: list[Step]) -> bool:
        """The IR after each pass; False where one differs."""
        begin = time.process_time()
        if not self.judged(None, steps[0]):
            return False
        took = time.process_time() - begin
        rest = steps[1:]
        if not self.every and took * len(rest) > BUDGET and isinstance(self.known, Result):
            vectors = [step for step in rest if step.stage == "ttcir"]
            tiles = [step for step in rest if step.stage != "ttcir"]
            rest = [*(self.bisected(tiles) if tiles else ()), *vectors]
        previous = steps[0]
        for step in rest:
            if not self.judged(previous, step):
                return False
            previous = step
        return True

    def bisected(self, steps: list[Step]) -> list[Step]:
        """The steps that need to be looked at: the last, or the two between which results begin to differ."""
        low, high = 0, len(steps) - 1
        if not self.differs(steps[high]):
            return steps[high:]
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.differs(steps[middle]) else (middle + 1, high)
        return steps[max(0, low - 1) : low + 1]

    def differs(self, step: Step) -> bool:
        """Whether the IR of a step fails or differs from the known result."""
        outcome = self.launch.on_text(step.text)
        if isinstance(outcome, Failure):
            return not outcome.unknown
        assert isinstance(self.known, Result)
        return exact_difference(self.launch.arguments.regions, outcome, self.known) is not None

    def on_step(self, step: Step) -> Outcome:
        """Evaluate the IR of a step."""
        limit = VECTOR_LIMIT if step.stage == "ttcir" and not self.every else None
        return self.launch.on_text(step.text, limit=limit)

    def judged(self, previous: Step | None, step: Step) -> bool:
        """Run the IR of a step and compare it with the known result; False where it differs."""
        outcome = self.timed(str(step), lambda: self.on_step(step))
        if isinstance(outcome, Failure):
            if outcome.unknown:
                return True
            self.found(step, previous, None, str(outcome))
            return False
        text, self.text = self.text, step.text
        if not isinstance(self.known, Result):
            self.known = outcome
            return True
        regions = self.launch.arguments.regions
        wrong = exact_difference(regions, outcome, self.known)
        if wrong is None:
            return True
        if step.name in ROUNDING:
            allowed = tolerances(self.launch, text or step.before, self.known)
            wrong = loose_difference(regions, outcome, self.known, allowed)
            if wrong is None:
                self.revise("within tolerance", ROUNDING[step.name])
                self.known = outcome
                return True
        self.found(step, previous, wrong, str(wrong))
        return False

    def revise(self, verdict: str, detail: str = "") -> None:
        """Say another thing of the last step."""
        last = self.report.verdicts[-1]
        self.report.verdicts[-1] = Verdict(last.step, verdict, last.seconds, detail)

    def found(self, step: Step, previous: Step | None, wrong: Difference | None, message: str) -> None:
        """Look for the rewrite and the operation that a step went wrong with."""
        self.revise("differs" if wrong is not None else "fails", message)
        rewrite = suspect = None
        notes: list[str] = []
        if isinstance(self.known, Result) and step.before:
            known, regions = self.known, self.launch.arguments.regions

            def is_bad(module: Any) -> bool:
                outcome = self.launch.on_ir(module)
                if isinstance(outcome, Failure):
                    return not outcome.unknown
                return exact_difference(regions, outcome, known) is not None

            if step.name != TO_VECTORS:
                rewrite = guilty_rewrite(step, is_bad)
            if wrong is not None and step.name == TO_VECTORS:  # no value is in both programs: see the machine code
                allowed = tolerances(self.launch, step.before, known)
                suspect, notes = suspect_lowering(self.launch, self.steps, wrong, known, allowed, False)
            elif wrong is not None:
                suspect = suspect_operation(self.launch, step.before, step, wrong)
        self.report.finding = Finding(str(step), wrong, message, rewrite, suspect, tuple(notes))

    def machine(self, kernel: CompiledKernel, steps: list[Step]) -> None:
        """Compare machine code with the result of the IR; on hardware if requested, and emulated if it differs
        there."""
        if self.launch.target.backend == "cpu":
            self.ran("machine code", kernel, steps)
        elif self.launch.gpu is None:
            code = "amdgcn" if self.launch.target.backend == "hip" else "ptx"
            self.ran(f"{code}, emulated", kernel, steps)
        elif not self.ran(f"cubin, on {device(self.launch.gpu).name}", kernel, steps):
            finding = self.report.finding
            self.ran("ptx, emulated", kernel, steps, emulated=True)
            self.report.finding = finding

    def ran(self, name: str, kernel: CompiledKernel, steps: list[Step], emulated: bool = False) -> bool:
        """One way to run machine code; False where it differs."""
        outcome = self.timed(name, lambda: self.launch.on_machine(kernel, emulated))
        if isinstance(outcome, Failure):
            suspect, notes = self.stopped_at(outcome, steps)
            self.report.finding = Finding(name, None, str(outcome), None, suspect, tuple(notes))
            if "race in shared memory" in str(outcome) and isinstance(self.known, Result):
                self.behind_race(kernel, steps)
            return False
        if not isinstance(self.known, Result):
            self.revise("not compared", "no other way to run the kernel")
            return True
        regions = self.launch.arguments.regions
        if exact_difference(regions, outcome, self.known) is None:
            return True
        allowed: list[np.ndarray | None] = tolerances(self.launch, steps[0].text, self.known)
        wrong = loose_difference(regions, outcome, self.known, allowed)
        if wrong is None:
            self.revise("within tolerance", "rounding may differ")
            return True
        self.revise("differs", str(wrong))
        suspect, notes = suspect_lowering(self.launch, steps, wrong, self.known, allowed, emulated)
        self.report.finding = Finding(name, wrong, str(wrong), None, suspect, tuple(notes))
        return False

    def stopped_at(self, failure: Failure, steps: list[Step]) -> tuple[Suspect | None, list[str]]:
        """The operation of the last program of tiles that the emulator stopped in."""
        step = next((s for s in reversed(steps) if s.stage in ("ttgir", "ttir")), None)
        return (None, []) if step is None else operations_behind(step, failure.error)

    def behind_race(self, kernel: CompiledKernel, steps: list[Step]) -> None:
        """Wrong values make a race of stores that should be equal: see whether the result is wrong, too."""
        assert isinstance(self.known, Result) and self.report.finding is not None
        self.launch.check_races = False
        outcome = self.launch.on_machine(kernel, emulated=True)
        if isinstance(outcome, Failure):
            return
        allowed: list[np.ndarray | None] = tolerances(self.launch, steps[0].text, self.known)
        wrong = loose_difference(self.launch.arguments.regions, outcome, self.known, allowed)
        if wrong is not None:
            suspect, notes = suspect_lowering(self.launch, steps, wrong, self.known, allowed, emulated=True)
            message = f"{self.report.finding.message}\nwithout looking for races, {wrong}"
            self.report.finding = Finding(self.report.finding.step, wrong, message, None, suspect, tuple(notes))


def _only_written(before: list[Region], plain: Result, again: Result, i: int) -> bool:
    """Whether a run over poison wrote the same values to the same addresses as the first run."""
    size = before[i].array.size
    width = len(before[i].data) // size * size
    old, one, two = (
        np.asarray(r)[:width].view(f"V{size}")
        for r in (np.frombuffer(before[i].data, np.uint8), plain.regions[i], again.regions[i])
    )
    poison = np.full(size, _POISON, np.uint8).view(f"V{size}")[0]
    written = two != poison
    return bool((~(one != old) | written).all() and (one[written] == two[written]).all())
