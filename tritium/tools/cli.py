"""The command line, `tritium` or `python -m tritium`: a function a command, each no more than a call elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

import typer

from .. import __version__
from ..support import TritiumError
from ..support.lazy import LazyModule
from .cache_cli import app as cache_app
from .run import run_module, run_script

_check = LazyModule(".check.command", __package__)
_compile = LazyModule(".compile_command", __package__)
_demo = LazyModule(".demo", __package__)
_deprecations = LazyModule("..support.deprecations", __package__)
_gluon = LazyModule(".gluon.command", __package__)
_inspection = LazyModule(".inspection", __package__)
_link = LazyModule(".link_command", __package__)
_layout_view = LazyModule(".layout_view", __package__)
_opt = LazyModule(".opt", __package__)
_proton = LazyModule("..profiler.proton", __package__)
_reduce = LazyModule(".reduce", __package__)
_request = LazyModule(".request", __package__)
_trace_diff = LazyModule(".trace_diff", __package__)
_trace_show = LazyModule(".trace_show", __package__)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a script's own traceback is what its author wants to see
    help="A tile compiler for kernels in the Triton language.",
)


@app.callback()
def _before(context: typer.Context) -> None:
    """Tools show which options a kernel has; that defaults will change is for programs that launch."""
    if context.invoked_subcommand not in ("demo", "run"):
        _deprecations.prewarm_deprecation_warnings()


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


@app.command()
def demo() -> None:
    """Compile and run the five tutorial kernels; look at every stage, errors and speed."""
    _demo.demo()


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
)
def run(
    context: typer.Context,
    script: str = typer.Argument(..., metavar="SCRIPT", help="Python script with `import triton`"),
    module: bool = typer.Option(False, "-m", help="Run SCRIPT as the name of a module"),
) -> None:
    """Run a script written for Triton, unchanged, on this compiler. Arguments after SCRIPT are passed to it."""
    if not module and not os.path.isfile(script):
        raise typer.BadParameter(f"there is no script {script!r}")
    (run_module if module else run_script)(script, context.args)


@app.command(add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def opt(context: typer.Context) -> None:
    """Run passes on MLIR text and print the result."""
    raise SystemExit(_opt.main(context.args))


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
)
def profile(context: typer.Context) -> None:
    """Time the kernels of a script or of tests, by scope, for proton-viewer."""
    _proton.main(context.args, "tritium profile")


@app.command(add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reduce(context: typer.Context) -> None:
    """Reduce MLIR text on which passes, or a command, fail."""
    raise SystemExit(_reduce.main(context.args))


@app.command()
def compile(
    file: str = typer.Argument(
        ..., metavar="FILE", help="Source: FILE.py or FILE.py::KERNEL, or the text of a stage (k.ttir, k.llir, …)"
    ),
    kernel_name: str = typer.Option("", "--kernel-name", "-n", help="Select the kernel of FILE.py"),
    target: str = typer.Option(
        "",
        "--target",
        "-t",
        help="Compile for this target: cuda:90, cpu, cpu:x86-64-v3, …; default: that of the file, or this machine",
    ),
    signature: str = typer.Option(
        "",
        "--signature",
        "-s",
        help="Set types (:16 if divisible by 16) or constants in order: '*fp32:16, i32, 1024'",
    ),
    constants: str = typer.Option("", help="Set compile-time values: BLOCK=1024,EPS=1e-5"),
    stage: Annotated[
        list[str] | None, typer.Option(help="Print (or write) this stage, such as ptx or sass; may be repeated")
    ] = None,
    output: str = typer.Option(
        "",
        "-o",
        "--output",
        "--out-path",
        help="Write the stage to this file, or all stages to this folder; with --grid, the base name of the files",
    ),
    num_warps: int = typer.Option(
        None, "--num-warps", "-w", help="Set the number of warps per program; default with --grid: 1"
    ),
    num_stages: int = typer.Option(None, "--num-stages", "-ns", help="Set the number of software pipelining stages"),
    num_ctas: int = typer.Option(None, help="Set the number of CTAs per cluster"),
    option: Annotated[
        list[str] | None, typer.Option(help="Set any option of the target, NAME=VALUE; may be repeated")
    ] = None,
    grid: str = typer.Option(
        "", "--grid", "-g", help="Write C that launches the kernel on this grid: 'cdiv(n, 1024), 1, 1'"
    ),
    out_name: str = typer.Option("", "--out-name", "-on", help="Set the name of the C functions, with --grid"),
    trace: str = typer.Option("", metavar="FILE", help="Record stages, passes and rewrites: see `tritium trace show`"),
) -> None:
    """Compile a kernel without running it: no driver and no GPU are needed. Shows stages, times and resources.

    With --grid, writes NAME.HASH_SUFFIX.c and .h, with which C programs launch the kernel (for CPUs .o and .h)."""
    options = _options(option, num_warps, num_stages, num_ctas)
    request = _request.Request(
        file, target, signature, constants, stage or (), output, options, kernel_name, grid, out_name, trace
    )
    raise SystemExit(_compile.main(request))


@app.command()
def link(
    headers: Annotated[
        list[str], typer.Argument(metavar="HEADER...", help="Headers written by `tritium compile --grid`")
    ],
    out: str = typer.Option(..., "--out", "-o", help="Write the files OUT.h and OUT.c"),
    prefix: str = typer.Option("", help="Set the prefix of the names of the functions"),
) -> None:
    """Write C functions that select a variant of a kernel by its argument hints, or by an algorithm id."""
    raise SystemExit(_link.main(headers, out, prefix))


@app.command(context_settings={"allow_extra_args": True, "allow_interspersed_args": True})
def check(
    context: typer.Context,
    file: str = typer.Argument(..., metavar="FILE", help="Script: SCRIPT.py or SCRIPT.py::KERNEL, then its arguments"),
    target: str = typer.Option(
        "",
        "--target",
        "-t",
        help="Run on this target: cpu; cuda (this machine's GPU); cuda:90, hip:gfx942, … (emulated)",
    ),
    signature: str = typer.Option(
        "", "--signature", "-s", help="Make up a launch of KERNEL instead of running the script: '*fp32:16, i32, 1024'"
    ),
    constants: str = typer.Option("", help="Set compile-time values: BLOCK=1024,EPS=1e-5"),
    argument: Annotated[
        list[str] | None,
        typer.Option(
            help="Set an argument, with --signature: n=1000, or for an array its shape, x=64x64; may be repeated"
        ),
    ] = None,
    size: int = typer.Option(
        50, min=1, help="Set the value of integers, with --signature; arrays have SIZE * SIZE elements"
    ),
    grid: str = typer.Option("4", "--grid", "-g", help="Set the number of programs, with --signature: 4 or 4,2"),
    num_warps: int = typer.Option(None, help="Set the number of warps per program"),
    num_stages: int = typer.Option(None, help="Set the number of software pipelining stages"),
    num_ctas: int = typer.Option(None, help="Set the number of CTAs per cluster"),
    option: Annotated[
        list[str] | None, typer.Option(help="Set any option of the target, NAME=VALUE; may be repeated")
    ] = None,
    every: bool = typer.Option(False, "--every", help="Run the IR after every pass, however long it takes"),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Report every step"),
) -> None:
    """Run a kernel as Python, as IR after each pass and as machine code, and name what differs first.

    Status 1 where something differs: the pass, the rewrite, the operation and the element are named."""
    options = _options(option, num_warps, num_stages, num_ctas)
    request = _request.Request(file, target, signature, constants, options=options, grid=grid)
    wanted = _check.CheckRequest(request, argument or (), size, every, verbose, context.args)
    raise SystemExit(_check.main(wanted))


trace_app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Show and compare traces recorded with TRITIUM_TRACE=FILE."
)
app.add_typer(trace_app, name="trace")
app.add_typer(cache_app, name="cache")


@trace_app.command("show")
def trace_show(
    file: str = typer.Argument(..., metavar="FILE", help="Trace file"),
    kernel: str = typer.Option("", help="Show this kernel only"),
    stage: str = typer.Option("", help="Show this stage only"),
    only_pass: str = typer.Option("", "--pass", help="Show the changes of this pass as a diff"),
    every: bool = typer.Option(False, "--all", help="Include passes that changed nothing"),
    rewrites: bool = typer.Option(False, "--rewrites", help="Show every rewrite: rule, before, after, location"),
    text: bool = typer.Option(False, "--text", help="Show the texts of stages"),
) -> None:
    """Show the stages and passes of compiles: times, operations, rewrites, resources."""
    request = _trace_show.ShowRequest(file, kernel, stage, only_pass, every, rewrites, text)
    raise SystemExit(_told(lambda: _trace_show.show(request)))


@trace_app.command("diff")
def trace_diff(
    old: str = typer.Argument(..., metavar="OLD", help="Trace file"),
    new: str = typer.Argument(..., metavar="NEW", help="Trace file to compare with"),
    kernel: str = typer.Option("", help="Show this kernel only"),
    whole: bool = typer.Option(False, "--whole", help="Show the whole diff of the texts"),
) -> None:
    """Compare two compiles: the first pass whose output differs, times, resources. Status 1 where outputs differ."""
    raise SystemExit(_told(lambda: _trace_diff.diff(_trace_diff.DiffRequest(old, new, kernel, whole))))


def _told(command: Callable[[], int]) -> int:
    """The exit status of a command; 2 and a message on standard error for invalid input."""
    try:
        return command()
    except TritiumError as error:
        text = str(error)
        typer.echo(text if "error:" in text.split("\n")[0] else f"tritium: error: {text}", err=True)
        return 2


@app.command("analyse", hidden=True)  # its former name
@app.command("inspect")
def inspect(
    file: str = typer.Argument(
        ..., metavar="FILE", help="Source: FILE.py::KERNEL, or the text of a stage (k.ttir, k.ttgir)"
    ),
    target: str = typer.Option(
        "",
        "--target",
        "-t",
        help="Compile for this target: cuda:80, cuda:90, cpu, cpu:x86-64-v3, …; default: this machine",
    ),
    signature: str = typer.Option(
        "",
        "--signature",
        "-s",
        help="Set types (:16 if divisible by 16) or constants in order: '*fp32:16, i32, 1024'",
    ),
    constants: str = typer.Option("", help="Set compile-time values: BLOCK=1024,EPS=1e-5"),
    num_warps: int = typer.Option(None, help="Set the number of warps per program"),
    num_stages: int = typer.Option(None, help="Set the number of software pipelining stages"),
    num_ctas: int = typer.Option(None, help="Set the number of CTAs per cluster"),
    option: Annotated[
        list[str] | None, typer.Option(help="Set any option of the target, NAME=VALUE; may be repeated")
    ] = None,
    grid: str = typer.Option(
        "", "--grid", "-g", help="Show the roofline bound of a launch of this many programs: 1024 or 64,32"
    ),
    argument: Annotated[
        list[str] | None,
        typer.Option(
            help="Set an argument of that launch: n=1024, or for a pointer the shape that it points to, x=4096x4096"
        ),
    ] = None,
    listing: bool = typer.Option(False, "--listing", help="Print machine code interleaved with source lines"),
    json: bool = typer.Option(False, "--json", help="Print a JSON object"),
) -> None:
    """Show the resources and performance findings of a kernel: registers, memory, instructions, occupancy, roofline."""
    options = _options(option, num_warps, num_stages, num_ctas)
    request = _request.Request(file, target, signature, constants, options=options)
    wanted = _inspection.InspectOptions(json, listing, grid, argument or ())
    raise SystemExit(_inspection.main(request, wanted))


@app.command()
def gluon(
    file: str = typer.Argument(..., metavar="FILE", help="Source: FILE.py or FILE.py::KERNEL, or the text of a ttgir"),
    kernel_name: str = typer.Option("", "--kernel-name", "-n", help="Select the kernel of FILE.py"),
    target: str = typer.Option("cuda:90", "--target", "-t", help="Choose layouts for this target: cuda:80 or cuda:90"),
    signature: str = typer.Option(
        "",
        "--signature",
        "-s",
        help="Set types (:16 if divisible by 16) or constants in order: '*fp32:16, i32, 1024'",
    ),
    constants: str = typer.Option("", help="Set compile-time values: BLOCK=1024,EPS=1e-5"),
    output: str = typer.Option("", "-o", "--output", help="Write the kernel to this file"),
    num_warps: int = typer.Option(None, "--num-warps", "-w", help="Set the number of warps per program"),
    num_stages: int = typer.Option(None, "--num-stages", "-ns", help="Set the number of software pipelining stages"),
    num_ctas: int = typer.Option(None, help="Set the number of CTAs per cluster"),
    option: Annotated[
        list[str] | None, typer.Option(help="Set any option of the target, NAME=VALUE; may be repeated")
    ] = None,
) -> None:
    """Print a kernel of the Triton language in Gluon, with the layouts and copies that the compiler chose."""
    options = _options(option, num_warps, num_stages, num_ctas)
    request = _request.Request(file, target, signature, constants, ("ttgir",), output, options, kernel_name, "", "", "")
    raise SystemExit(_gluon.main(request))


def _options(option: list[str] | None, num_warps: int, num_stages: int, num_ctas: int) -> list[str]:
    given = {"num_warps": num_warps, "num_stages": num_stages, "num_ctas": num_ctas}
    return [*(option or ()), *(f"{name}={value}" for name, value in given.items() if value is not None)]


@app.command()
def layout(
    text: str = typer.Argument(..., metavar="LAYOUT", help="Layout attribute, such as '#ttg.blocked<{…}>'"),
    shape: str = typer.Option(..., help="Set the shape of the tensor: 16x32"),
    bits: int = typer.Option(
        32, min=1, help="Set the width of an element, which determines the banks of shared memory"
    ),
    svg: str = typer.Option(None, metavar="FILE", help="Write a picture instead of text"),
    whole: bool = typer.Option(False, "--all", help="Show all rows and columns, however many"),
) -> None:
    """Draw which register of which thread, or which offset of shared memory, holds each element of a tensor."""
    raise SystemExit(_layout_view.draw_layout(text, shape, bits, svg, whole))


def run_command(name: str, arguments: list[str], program: str) -> None:
    """Run one command, which calls itself `program`; does not return."""
    typer.main.get_command(app).commands[name].main(arguments, prog_name=program)  # type: ignore[attr-defined]


def main() -> None:
    """Run the command line."""
    app()
