"""Passes and rewrites as records of a trace (`support.traces`): what each was given, what it left, how long it took."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...support.location import FileLineColLoc, Location
from ...support.recording import current, recording_here
from ...support.traces import Recording, writer_for
from ..aliases import Aliases
from ..interning import Attribute
from ..naming import Naming, naming_root
from ..operation import Operation, Value
from ..printer import Printer
from ..rewriter import CHANGED, Fuel, Touched, spending
from ..traits import CONSTANT
from .definition import symbol_name
from .report import PassRun

__all__ = ["PassTracer", "place_of", "record_text", "standing_alone"]

# Where rewrites take their fuel from is one place for all threads, so traced passes of several take turns.
_turn = threading.RLock()
ENDLESS = 1 << 60


def place_of(loc: Location) -> dict[str, Any] | None:
    """The innermost position in a location as a record has it."""
    at = loc.file_position()
    return None if at is None else {"file": at.file, "line": at.line, "column": at.column}


class _PlacedPrinter(Printer):
    """A printer that notes where in its output each operation begins."""

    __slots__ = ("begun",)

    def __init__(self, op: Operation) -> None:
        super().__init__(Naming(naming_root(op)), aliases=Aliases())
        self.begun: list[tuple[int, FileLineColLoc]] = []

    def operation(self, op: Operation) -> None:
        """The same, with a note."""
        at = op.loc.file_position()
        if at is not None:
            self.begun.append((len(self.out), at))
        super().operation(op)


def _printed(module: Operation) -> tuple[str, list[str], list[list[int]], dict[Value, str]]:
    """The text; the files, and the lines with their places, as a record `ir` has them; the names of values."""
    printer = _PlacedPrinter(module)
    printer.operation(module)
    body = "".join(printer.out)
    assert printer.aliases is not None
    text = printer.aliases.finish(body)
    line = 1 + text.count("\n") - body.count("\n")  # definitions of aliases stand above
    files: dict[str, int] = {}
    lines: list[list[int]] = []
    done = 0
    for start, at in printer.begun:
        line += sum(piece.count("\n") for piece in printer.out[done:start])
        done = start
        lines.append([line, files.setdefault(at.file, len(files)), at.line, at.column])
    return text, list(files), lines, printer.names


def record_text(recording: Recording, module: Operation) -> tuple[str, dict[Value, str]]:
    """The hash of a module's text, which is recorded with the sources of its lines, and the names of its values."""
    text, files, lines, names = _printed(module)
    fields = {"files": files, "lines": lines} if lines else {}
    return recording.text(text, "mlir", **fields), names


class _Names(dict[Value, str]):
    """The names of values before a pass; those it makes are called as their hints, with a prime and a number."""

    def __missing__(self, value: Value) -> str:
        op = value.defining_op
        hint = value.hint
        if not hint and op is not None and op.traits & CONSTANT:
            hint = op.result_name()  # type: ignore[attr-defined]
        name = self[value] = f"%{hint or 'new'}'{len(self)}"
        return name


class _Blocks(dict[Any, str]):
    def __missing__(self, block: Any) -> str:
        return "^new"


class _Recorder(Fuel):
    """Fuel that notes what it is used for."""

    __slots__ = ("names", "number", "pass_index", "recording")

    def __init__(self, amount: int, recording: Recording, index: int, names: dict[Value, str]) -> None:
        super().__init__(amount)
        self.recording = recording
        self.pass_index = index
        self.names = _Names(names)
        self.number = [0]  # shared by parts

    def part(self, amount: int) -> Fuel:
        """Fuel that notes in the same list."""
        made = _Recorder(min(amount, self.left), self.recording, self.pass_index, {})
        made.names, made.number = self.names, self.number
        return made

    def take(self, what: str, op: Operation | None = None, equation: str = "", made: Any = None) -> bool:
        """As for any fuel, with a record."""
        if not super().take(what, op, equation, made):
            return False
        if op is not None:
            with self.recording.aside():
                self.note(what, op, equation, made)
        return True

    def note(self, what: str, op: Operation, equation: str, made: Any) -> None:
        out = made.out if isinstance(made, Touched) else made
        in_place = out is CHANGED
        self.recording.add(
            "rewrite",
            stage=self.recording.stage,
            **{"pass": self.pass_index},
            index=self.number[0],
            rule=what,
            equation=equation or None,
            at=self.recording.at(),
            before=None if in_place else self.line(op),
            after=self.line(op) if in_place else None if out is None else self.shown(out, op),
            place=place_of(op.loc),
        )
        self.number[0] += 1

    def line(self, op: Operation) -> str:
        """The first line of an operation, its values called as before the pass."""
        printer = Printer(_Nameless, regions=False)  # type: ignore[arg-type]
        printer.names, printer.blocks = self.names, _Blocks()
        try:
            printer.operation(op)
            return "".join(printer.out).split("\n")[0].strip()
        except Exception:  # half-made IR may have no text
            return op.name

    def shown(self, out: Any, op: Operation) -> str:
        """What a rule answered for `op`."""
        if isinstance(out, Operation):
            for mine, theirs in zip(out.results, op.results):
                self.names[mine] = self.names[theirs]
            return self.line(out)
        if isinstance(out, Value):
            return self.line(out.defining_op) if out.defining_op is not None else self.names[out]
        if isinstance(out, list):
            return ", ".join([self.shown(part, op) for part in out])
        return str(out) if isinstance(out, Attribute) else ""


class _Nameless:
    """What a printer is made with that is given its names afterwards."""

    names: dict[Value, str] = {}
    blocks: dict[Any, str] = {}


class PassTracer:
    """Writes the records of one run of a pipeline."""

    def __init__(self, recording: Recording, module: Operation) -> None:
        self.recording = recording
        with recording.aside():
            recording.last, self.names = record_text(recording, module)
        self.recorder: _Recorder | None = None
        self.begun = (0.0, 0, 0, 0)
        self.index, self.input = 0, ""

    @contextmanager
    def around(self, run: PassRun, limit: int | None) -> Iterator[None]:
        """What the pass inside rewrites is recorded, up to the limit on rewrites."""
        recording = self.recording
        self.index, self.input = recording.passes, recording.last
        recording.passes += 1  # now, for passes that this one may run inside
        self.recorder = _Recorder(ENDLESS if limit is None else limit, recording, self.index, self.names)
        known = dict(run.counts)
        with _turn, spending(self.recorder):
            self.begun = recording.at(), time.perf_counter_ns(), recording.overhead, len(run.functions)
            try:
                yield
            finally:
                self.took = time.perf_counter_ns() - self.begun[1] - (recording.overhead - self.begun[2])
        self.counts = {name: n - known.get(name, 0) for name, n in run.counts.items() if n != known.get(name, 0)}

    def done(self, p: Any, op: Operation, run: PassRun, module: Operation) -> None:
        """Record a pass that ran on `op`; `module` is the IR now."""
        recording, recorder = self.recording, self.recorder
        assert recorder is not None
        with recording.aside():
            before = self.input
            skipped = len(run.functions) == self.begun[3]
            if not skipped:
                recording.last, self.names = record_text(recording, module)
            recording.add(
                "pass",
                stage=recording.stage,
                index=self.index,
                name=p.name,
                options=str(p)[len(p.name) :],
                on=symbol_name(op),
                skipped=skipped,
                at=self.begun[0],
                us=round(self.took / 1000, 1),
                before=before,
                after=recording.last,
                changed=before != recording.last,
                operations=sum(1 for _ in module.walk()) - 1,
                counts=self.counts,
                rewrites=recorder.number[0],
            )

    def failed(self, p: Any, error: BaseException) -> None:
        """Record that a pass failed, and write what there is: nobody may come to do so later."""
        recording = self.recording
        recording.fail(error, p.name)
        recording.flush()


@contextmanager
def standing_alone(path: str, stage: str) -> Iterator[None]:
    """A recording for passes that run outside of a compile."""
    recording = Recording(writer_for(path))
    recording.stage = stage
    recording.begin(kernel="", target="", first=stage)
    fine = False
    try:
        with recording_here(recording):
            yield
        fine = True
    finally:
        recording.end(0, 0, "off", fine)


def tracer(module: Operation) -> PassTracer | None:
    """The tracer of a run on `module` in the compile that this thread is in, where that is recorded."""
    recording = current()
    return None if recording is None else PassTracer(recording, module)
