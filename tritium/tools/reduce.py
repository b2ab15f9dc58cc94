"""`tritium reduce`: the smallest program that still fails.

    tritium reduce FILE --passes canonicalize,cse          the passes fail on it
    tritium reduce FILE --passes PASSES --says 'TEXT'      they fail and say TEXT
    tritium reduce FILE --test 'COMMAND {}'                a command ends with a status other than 0
    tritium reduce REPRODUCER                              the passes that the file itself names

Everything that can be taken away is taken away in pieces, large ones first, each kept when what is left verifies and
still fails (delta debugging). A failure of passes is the same when the same pass fails by the same kind of error.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from ..ir import PASSES, Operation, PassError, PassInterrupted, Row, parse_module, print_op, verify
from ..ir.passes.reproducer import Reproducer, reproducer_text, take_reproducer
from ..ir.passes.run import RunSettings, run_pipeline
from ..ir.passes.text import parse_pipeline, print_pipeline
from ..ir.resources import Resources
from ..support import TritiumError
from ..support.dataclasses import dataclass
from ..support.errors import interrupts
from ..support.progress import shown
from ..support.quantities import counted
from .arguments import UsageError, described, option, read_arguments
from .opt import load_passes
from .opt_bisect import command_for
from .opt_input import InputError, read_input, write_output
from .program_output import output_to_stderr
from .reductions import WAYS, Target, Way, size_of

__all__ = ["Reducer", "main"]

Failure = str | None  # what a failure is told from others by; None: there is none
INTERRUPTED = 130


@dataclass
class ReduceOptions:
    """The options of `tritium reduce`."""

    passes: str | None = option("Run this pipeline, which fails", "pass-pipeline", "p", kind="value",
                                value="PASSES")  # fmt: skip
    test: str | None = option("Run this command, which fails on the program ({}: the file; if absent, appended)",
                              kind="value", value="COMMAND")  # fmt: skip
    says: str | None = option("Require a message that contains this text", kind="value", value="TEXT")
    timeout: str = option("End a command after this many seconds and count it as not failing", kind="value",
                          value="SECONDS", default="60")  # fmt: skip
    load: list[str] = option("Load a Python file or module with your own passes and operations", kind="list",
                             value="FILE.py")  # fmt: skip
    allow_unregistered_dialect: bool = option("Keep operations of unknown dialects, in generic form")
    output: str | None = option("Write the output to this file (-: stdout)", "o", kind="value", value="FILE")
    help: bool = option("Show this help", "h")


def main(arguments: Sequence[str]) -> int:
    """Run `tritium reduce` with these arguments; the exit status. Errors go to stderr."""
    try:
        options, files, _ = read_arguments(ReduceOptions, arguments, lambda name: False)
        if options.help or not files:
            _print_help()
            return 0 if options.help else 2
        if len(files) > 1:
            raise UsageError(f"one file at a time, not {len(files)}: {' '.join(files)}")
        with output_to_stderr():
            for name in options.load:
                load_passes(name)
        return _reduce(options, files[0])
    except interrupts():
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except (UsageError, InputError) as error:
        print(f"tritium reduce: error: {error}", file=sys.stderr)
    except TritiumError as error:
        text = str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium reduce: error: {text}", file=sys.stderr)
    return 1


def _print_help() -> None:
    print("usage: tritium reduce FILE [--passes PASSES | --test COMMAND] [--says TEXT] [options]\n")
    print("Reduce a program to the smallest one that still fails. A reproducer names its passes: it needs no option.\n")
    for d in described(ReduceOptions):
        print(f"  {d.spelling():<33} {d.help}")


def _reduce(options: ReduceOptions, file: str) -> int:
    text, name = read_input(file)
    resources: Resources = {}
    module = parse_module(
        text, name, allow_unregistered=options.allow_unregistered_dialect, text_locations=True, resources=resources
    )
    verify(module)
    named = take_reproducer(resources)
    fails = _predicate(options, name, named)
    reducer = Reducer(module, fails)
    begin, before = time.monotonic(), size_of(module)[1]
    interrupted = False
    try:
        with shown(reducer.describe), output_to_stderr():
            reducer.run()
    except interrupts():
        interrupted = True
    result = print_op(reducer.module) + "\n"
    if named is not None and options.test is None and options.passes is None:
        result = reproducer_text(result, named.pipeline, verify_each=named.verify_each)
    write_output(options.output, result)
    took = time.monotonic() - begin
    told = "interrupted; " if interrupted else ""
    left = size_of(reducer.module)[1] - 1
    told += f"{counted(before - 1, 'operation')} became {left}, by {counted(reducer.tests, 'test')} in {took:.1f} s"
    print(f"{told}; they fail by: {reducer.failure.splitlines()[0]}", file=sys.stderr)
    return INTERRUPTED if interrupted else 0


# ---- what fails -----------------------------------------------------------------------------------------------------


def _predicate(options: ReduceOptions, name: str, named: Reproducer | None) -> Callable[[Operation], Failure]:
    if options.test is not None and options.passes is not None:
        raise UsageError("either --test or --passes")
    if options.test is not None:
        return _Command(options.test, options.says, _seconds(options.timeout), os.path.splitext(name)[1])
    text = options.passes if options.passes is not None else named.pipeline if named is not None else None
    if text is None:
        raise UsageError(f"what fails? say --passes or --test: '{name}' names no passes itself")
    rows = parse_pipeline(text, source="--passes" if options.passes is not None else f"pipeline of {name}")
    return _Passes(rows, options.says)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise UsageError(f"option '--timeout' is a number of seconds, not '{text}'")
    return seconds


class _Passes:
    """Passes fail on a program: by an error, or because it does not verify after one of them."""

    def __init__(self, rows: Sequence[Row], says: str | None) -> None:
        self.rows, self.says = rows, says
        self.settings = RunSettings(verify_each=True, reproducer=os.devnull)

    def __str__(self) -> str:
        return f"the passes {print_pipeline(self.rows)} do not fail on it"

    def __call__(self, module: Operation) -> Failure:
        """The failure; None if all passes run, or if the message is not the expected one."""
        try:
            run_pipeline(module.clone(), self.rows, stage="reduce", verifier=verify, settings=self.settings)
        except PassInterrupted as interrupt:
            raise KeyboardInterrupt from interrupt
        except PassError as error:
            return self._told(str(error), f"pass {error.failed.name}: {type(error.__cause__).__name__}")
        except TritiumError as error:
            return self._told(str(error), f"{type(error).__name__}")
        return None

    def _told(self, message: str, kind: str) -> Failure:
        if self.says is None:
            return kind
        return f"{kind}, which says {self.says!r}" if self.says in message else None


class _Command:
    """A command fails on a program in a file of the same extension: its exit status is not 0."""

    def __init__(self, command: str, says: str | None, timeout: float, suffix: str) -> None:
        self.command, self.says, self.timeout = command, says, timeout
        self.name = f"reduced{suffix or '.mlir'}"

    def __str__(self) -> str:
        said = f" and say {self.says!r}" if self.says is not None else ""
        return f"the command does not fail{said} on it: {self.command}"

    def __call__(self, module: Operation) -> Failure:
        """The command, where it fails."""
        with tempfile.TemporaryDirectory(prefix="tritium-reduce-") as folder:
            path = os.path.join(folder, self.name)
            with open(path, "w") as f:
                f.write(print_op(module) + "\n")
            status, said = command_for(self.command, path, self.timeout)
        return self.command if status != 0 and (self.says is None or self.says in said) else None


# ---- the search -----------------------------------------------------------------------------------------------------


class Reducer:
    """Makes a module smaller while `fails` says of it what it says of the whole, and it verifies.

    `module` is the smallest so far, `tests` how often `fails` was asked. TritiumError where the whole does not fail.
    """

    def __init__(self, module: Operation, fails: Callable[[Operation], Failure]) -> None:
        self.module = module
        self.fails = fails
        self.tests = 1
        self.doing = ""
        self.whole = size_of(module)[1]
        self.seen: set[str] = set()
        failure = fails(module)
        if failure is None:
            raise TritiumError(f"nothing to reduce: {fails}")
        self.failure = failure

    def describe(self) -> str:
        """What is going on."""
        return f"reducing: {size_of(self.module)[1]} of {self.whole} operations, {self.tests} tests, {self.doing}"

    def run(self) -> Operation:
        """Reduce until no reduction applies; the smallest module."""
        while True:
            before = size_of(self.module)
            for way in WAYS:
                self.doing = way.name
                self.shrink(way)
            self.doing = "running passes"
            for name in ("inliner", "canonicalize", "symbol-dce", "dce"):
                self.accept(_after(self.module, name))
            if size_of(self.module) == before:
                return self.module

    def shrink(self, way: Way) -> None:
        """Take targets of a way in pieces: all at first, then halves, quarters, single ones."""
        targets = way.find(self.module)
        step = len(targets)
        while step:
            at = 0
            while at < len(targets):
                if self.accept(_taken(self.module, way, targets[at : at + step])):
                    targets = way.find(self.module)
                else:
                    at += step
            step //= 2

    def accept(self, candidate: Operation | None) -> bool:
        """Whether a candidate is smaller, verifies and fails alike; it is the module then."""
        if candidate is None or size_of(candidate) >= size_of(self.module):
            return False
        try:
            verify(candidate)
            text = print_op(candidate)
        except interrupts():
            raise
        except Exception:  # what was taken away was needed
            return False
        if text in self.seen:
            return False
        self.seen.add(text)
        self.tests += 1
        if self.fails(candidate) != self.failure:
            return False
        self.module = candidate
        return True


def _taken(module: Operation, way: Way, targets: Sequence[Target]) -> Operation | None:
    """A copy without the targets; None where they cannot be taken away."""
    copy = module.clone()
    try:
        way.take(list(copy.walk()), targets)
    except Exception:  # an operation that does not bear it
        return None
    return copy  # type: ignore[no-any-return]


def _after(module: Operation, name: str) -> Operation | None:
    """A copy after a pass; None where that fails."""
    copy = module.clone()
    try:
        run_pipeline(copy, [PASSES.lookup(name).row()], verifier=verify, settings=RunSettings(reproducer=os.devnull))
    except Exception:  # perhaps the very failure
        return None
    return copy  # type: ignore[no-any-return]
