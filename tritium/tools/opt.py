"""`tritium opt`: read MLIR text, run passes on it, print it.

tritium opt kernel.ttir --passes inliner,canonicalize,cse
tritium opt kernel.ttir -inline -canonicalize -cse --print-after-change --diff
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from .. import conversion as _conversion  # noqa: F401  (passes that read other dialects than they write)
from .. import dialects as _dialects  # noqa: F401  (they register themselves)
from .. import transforms as _transforms  # noqa: F401  (so do their passes)
from ..hardware.nvidia import nvidia_gpu
from ..hardware.nvidia_features import TMA
from ..ir import (
    PASSES,
    ParseError,
    PassError,
    PipelineError,
    PipelineReport,
    Row,
    VerificationError,
    listening,
    parse_module,
    parse_pipeline,
    print_op,
    print_pipeline,
    run_pipeline,
    verify,
)
from ..ir.passes.dump import DumpSettings, takes_colours
from ..ir.passes.reproducer import take_reproducer
from ..ir.passes.run import RunSettings, parse_fuel
from ..ir.passes.text import read_pipeline
from ..ir.resources import Resources
from ..support import Diagnostic, TritiumError
from ..support.errors import interrupts
from ..support.lazy import LazyModule
from ..support.recursion import with_deep_recursion
from ..support.settings import compilation
from .arguments import UsageError
from .opt_input import InputError, Piece, pieces_of, read_input, write_output
from .opt_options import OptOptions, read_options
from .program_output import output_to_stderr

__all__ = ["load_passes", "main", "opt"]

_plugins = LazyModule("..compiler.plugins", __package__)
_bisect = LazyModule(".opt_bisect", __package__)
_compare = LazyModule(".opt_compare", __package__)
_diagnostics = LazyModule(".opt_diagnostics", __package__)
_help = LazyModule(".opt_help", __package__)
_output = LazyModule(".opt_output", __package__)
_nvidia = LazyModule("..backends.nvidia.stages", __package__)
_amd = LazyModule("..backends.amd.stages", __package__)
_amd_pipelines = LazyModule("..backends.amd.pipelines", __package__)
_gluon = LazyModule("..transforms.gluon.pipelines", __package__)
_lowering = LazyModule("..transforms.ttgir.pipelines", __package__)

PASSES.add_file("convert-tt-to-ttc", f"{__package__.rpartition('.')[0]}.backends.cpu.passes.convert_tt_to_ttc")


def _ttir_key(capability: int) -> str:
    return "cuda:90" if nvidia_gpu(capability).has(TMA) else "cuda:80"


for _capability in (80, 90, 100, 120):
    PASSES.add_pipeline(
        f"ttir-cuda-{_capability}",
        f"all passes from a kernel to ttir, for cuda:{_capability}",
        lambda capability=_capability: _nvidia.PIPELINES[_ttir_key(capability)],  # type: ignore[misc]
    )
    PASSES.add_pipeline(
        f"ttgir-cuda-{_capability}",
        f"all passes from ttir to ttgir, for cuda:{_capability}, 4 warps and 3 stages",
        lambda capability=_capability: _nvidia.default_ttgir_pipeline(capability),  # type: ignore[misc]
    )
PASSES.add_pipeline("gluon-cuda-80", "all passes from a kernel in Gluon to ttgir, for cuda:80", lambda: _gluon.PIPELINE)
PASSES.add_pipeline(
    "gluon-cuda-90",
    "all passes from a kernel in Gluon to ttgir, for cuda:90",
    lambda: _gluon.PIPELINE_WITH_TMA,
)
PASSES.add_pipeline(
    "gluon-hip-gfx942",
    "all passes from a kernel in Gluon to ttgir, for hip:gfx942",
    lambda: _gluon.PIPELINE_FOR_AMD,
)
PASSES.add_pipeline(
    "lowering-cuda", "all passes on ttgir before LLVM's IR is printed, for NVIDIA GPUs", lambda: _lowering.LOWERING
)
PASSES.add_pipeline(
    "ttir-hip-gfx942", "all passes from a kernel to ttir, for hip:gfx942", lambda: _amd.PIPELINES["hip:gfx942"]
)
PASSES.add_pipeline(
    "ttgir-hip-gfx942",
    "all passes from ttir to ttgir, for hip:gfx942, 4 warps and 2 stages",
    lambda: _amd_pipelines.default_ttgir_pipeline("gfx942"),
)
PASSES.add_pipeline(
    "ttgir-hip-gfx1100",
    "all passes from ttir to ttgir, for hip:gfx1100, 4 warps and 2 stages",
    lambda: _amd_pipelines.default_ttgir_pipeline("gfx1100"),
)
PASSES.add_pipeline(
    "lowering-hip",
    "all passes on ttgir before LLVM's IR is printed, for AMD GPUs",
    lambda: _amd_pipelines.LOWERING,
)
PASSES.add_pipeline(
    "ttcir-cpu",
    "from ttir to ttcir, for this machine's CPU",
    lambda: [PASSES.lookup("convert-tt-to-ttc").row(reason="tiles become loops over vectors")],
)

INTERRUPTED = 130  # what shells call a program that Ctrl-C ended


@with_deep_recursion("tritium opt")
def main(arguments: Sequence[str]) -> int:
    """Run `tritium opt` with these arguments; the exit status. Errors go to stderr."""
    options = OptOptions(traceback="--traceback" in arguments)
    try:
        options = _options(arguments)
        return opt(options)
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except interrupts() as interrupt:  # also a PassInterrupted
        _say(str(interrupt) or "interrupted")
        return INTERRUPTED
    except (UsageError, InputError) as error:
        _say(f"tritium opt: error: {error}")
        _trace(options, error)
    except TritiumError as error:
        _say(_message(error))
        _trace(options, error)
    except Exception as error:  # a bug of ours: its name and place are enough to report it
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
        _say(f"tritium opt: internal error: {type(error).__name__}: {error} ({place}; --traceback shows more)")
        _trace(options, error)
    return 1


def _options(arguments: Sequence[str]) -> OptOptions:
    """The options, after the files with passes of the user's own, whose names may be options too, were loaded."""
    with output_to_stderr():
        _load(arguments)
    return read_options(arguments)


def _load(arguments: Sequence[str]) -> None:
    if compilation.plugins:
        _plugins.load_plugins()
    for i, argument in enumerate(arguments):
        name, equals, value = argument.lstrip("-").partition("=")
        if argument.startswith("-") and name in ("load", "load-plugin", "load-pass-plugin", "load-dialect-plugin"):
            load_passes(value if equals else arguments[i + 1] if i + 1 < len(arguments) else "")


def load_passes(name: str) -> None:
    """Import a Python file, or a module by name, and know its passes. InputError where that cannot be."""
    if not name:
        return
    try:
        if name.endswith(".py") or os.sep in name:
            if not name.endswith(".py"):
                raise ImportError("it is no .py file")
            if os.path.exists(name) and not os.path.isfile(name):
                raise ImportError("it is no regular file")
            spec = importlib.util.spec_from_file_location(os.path.basename(name)[:-3], name)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[module.__name__] = module
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(name)
    except interrupts():
        raise
    except Exception as error:  # whatever the file does
        kind = "" if isinstance(error, (ImportError, OSError)) else f"{type(error).__name__}: "
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
        place = f" (line {frames[-1].lineno})" if frames else ""
        raise InputError(f"cannot load '{name}': {kind}{error}{place}") from error
    PASSES.add_module(module)


def _say(message: str) -> None:
    sys.stdout.flush()
    print(message, file=sys.stderr)


def _message(error: TritiumError) -> str:
    text = str(error)
    return text if "error:" in text.split("\n")[0] else f"error: {text}"


def _trace(options: OptOptions, error: BaseException) -> None:
    if options.traceback:
        traceback.print_exception(type(error), error, error.__traceback__)


def opt(options: OptOptions) -> int:
    """Run with the options; the exit status. Fatal errors are raised."""
    if options.help:
        _help.print_help()
        return 0
    if options.list_passes:
        _help.print_passes()
        return 0
    if options.show_dialects:
        _help.print_dialects()
        return 0
    if options.version:
        _help.print_version()
        return 0
    text, filename = read_input(options.file)
    job = _Job(options)
    if options.trace is not None:
        write_output(options.trace, "")  # a trace of what follows alone
    outputs = []
    for piece in pieces_of(text, filename, options.split_input_file):
        outputs.append(job.piece(piece))
    if not options.no_output and options.bisect is None:
        marker = f"{options.split_input_file}\n"
        write_output(options.output, marker.join(o for o in outputs if o is not None))
    job.tell()
    return 1 if job.failed else 0


class _Job:
    """One file's way through `tritium opt`."""

    def __init__(self, options: OptOptions) -> None:
        self.options = options
        self.rows = [] if options.run_reproducer else self.pipeline(options.pipelines)
        self.compared: Any = None
        self.settings = self.run_settings()
        self.failed = False
        self.report: PipelineReport | None = None
        self.times = {"Parser": 0.0, "Output": 0.0}

    def pipeline(self, given: list[tuple[str, str]]) -> list[Row]:
        rows: list[Row] = []
        for name, pipeline in given:
            if self.options.dump_pass_pipeline:  # also of passes that are not there
                nodes = read_pipeline(pipeline, name)
                print(f"Pass Manager with {len(nodes)} passes:\n{print_pipeline(nodes)}", file=sys.stderr)
            rows.extend(parse_pipeline(pipeline, source=name))
        return rows

    def reproduce(self, resources: Resources, filename: str) -> None:
        """Take the passes that the file itself names, before those of the arguments."""
        found = take_reproducer(resources)
        if found is None:
            raise InputError(f"'{filename}' names no passes to run: it has no 'mlir_reproducer' in {{-# … #-}}")
        self.rows = self.pipeline([(f"pipeline of {filename}", found.pipeline), *self.options.pipelines])
        self.settings = self.settings.replace(verify_each=found.verify_each and not self.options.no_verify)

    def run_settings(self) -> RunSettings:
        o = self.options
        limits = parse_fuel(o.fuel, "option '--fuel'")
        inherited = RunSettings.of_environment()
        dump = DumpSettings(
            before=("all",) if o.print_before_all else _passes(o.print_before),
            after=("all",) if o.print_after_all else _passes(o.print_after),
            changed=_passes(o.print_after_change) or (("all",) if o.diff else ()),
            failure=o.print_after_failure,
            functions=tuple(n.lstrip("@") for names in o.print_function for n in names.split(",") if n),
            whole_module=o.print_module,
            diff=o.diff,
            generic=o.generic,
            locations=o.locations,
            folder=o.print_to,
        )
        if o.compare:
            dump = self.compared = _compare.CompareSettings()
        self.timing = o.timing or inherited.timing
        self.statistics = o.statistics or inherited.statistics
        return inherited.replace(
            dump=dump if dump else inherited.dump,
            timing=False,  # told at the end, with reading and printing
            statistics=False,
            verify_each=(o.verify_each or inherited.verify_each) and not o.no_verify,
            fuel=limits[0] if o.fuel else inherited.fuel,
            rewrites=limits[1] if o.fuel else inherited.rewrites,
            reproducer=o.reproducer or inherited.reproducer,
            trace=o.trace or inherited.trace,
        )

    def piece(self, piece: Piece) -> str | None:
        """The output for a part of the file; None where there is none because something is wrong with it."""
        if self.options.verify_diagnostics is not None:
            return self.announced(piece)
        try:
            with listening(lambda told: _say(told.render())):
                return self.output(piece)
        except TritiumError as error:
            if self.options.split_input_file is None:
                raise
            self.failed = True
            _say(_message(error))
            _trace(self.options, error)
            return None

    def output(self, piece: Piece) -> str:
        """Read, verify, run, print."""
        o = self.options
        begin = time.perf_counter()
        resources: Resources = {}
        module = parse_module(
            piece.text,
            piece.filename,
            allow_unregistered=o.allow_unregistered_dialect,
            text_locations=True,
            resources=resources,
            first_line=piece.first_line,
        )
        self.times["Parser"] += time.perf_counter() - begin
        if o.run_reproducer:
            self.reproduce(resources, piece.filename)
        check = None if o.no_verify else verify
        if check is not None:
            check(module)
        if o.bisect is not None:
            found = _bisect.bisect_by_command(module, self.rows, o.bisect, self.text)
            print(found.report(colour=takes_colours(sys.stdout)))
            return ""
        with output_to_stderr() as results:
            if self.compared is not None:
                self.compared.tally.out = results
            report = run_pipeline(module, self.rows, stage="opt", verifier=check, settings=self.settings)
        if self.report is None:
            self.report = report
        else:
            self.report.add(report)
        begin = time.perf_counter()
        text = self.text(module, resources)
        self.times["Output"] += time.perf_counter() - begin
        if o.verify_roundtrip:
            again = parse_module(text, "output", allow_unregistered=o.allow_unregistered_dialect)
            if self.text(again, resources) != text:
                raise TritiumError("what is printed reads and prints differently")
        return _output.operation_counts(module) if o.emit == "counts" else text

    def text(self, module: Any, resources: Resources | None = None) -> str:
        o = self.options
        if o.name_locations:
            _output.name_by_locations(module)
        aliases = False if o.no_aliases else None
        text = print_op(module, generic=o.generic, locations=o.locations, aliases=aliases, resources=resources)
        return text if text.endswith("\n") else text + "\n"

    def announced(self, piece: Piece) -> str | None:
        """As `output`, where errors must be those that comments announce."""
        found: list[Diagnostic] = []
        output = None
        try:
            with listening(found.append):
                output = self.output(piece)
        except (InputError, PipelineError):  # no message about the file
            raise
        except TritiumError as error:
            found += _diagnostics_of(error)
        only = self.options.verify_diagnostics == "only-expected"
        wrong = _diagnostics.check_diagnostics(piece, found, only_expected=only)
        for diagnostic in wrong:
            self.failed = True
            _say(diagnostic.render())
        return output

    def tell(self) -> None:
        """Times and counts, if requested."""
        report = self.report
        if report is None:
            return
        if self.compared is not None:
            print(self.compared.tally)
        report.stage = "<stdin>" if self.options.file == "-" else self.options.file
        report.extra.update(self.times)
        if self.timing:
            print(report.tree(), file=sys.stderr)
        if self.statistics and report.statistics():
            print(report.statistics(), file=sys.stderr)


def _diagnostics_of(error: BaseException) -> list[Diagnostic]:
    """An error as messages with places."""
    if isinstance(error, ParseError):
        return [error.diagnostic]
    if isinstance(error, VerificationError):
        return [failure.diagnostic() for failure in error.failures]
    if isinstance(error, PassError):
        if error.__cause__ is not None and isinstance(error.__cause__, VerificationError):
            return _diagnostics_of(error.__cause__)
        if error.operation is not None:
            return [Diagnostic.at(error.operation.loc, str(error), context=0)]
    return [Diagnostic(str(error))]


def _passes(names: Iterable[str]) -> tuple[str, ...]:
    """The passes that options name, by our names for them; "all" stays."""
    given = [n.strip() for several in names for n in several.split(",") if n.strip()]
    return tuple("all" if n == "all" else PASSES.lookup(n).name for n in given)
