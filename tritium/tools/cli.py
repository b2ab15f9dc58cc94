"""The command line, `tritium` or `python -m tritium`: a function a command, each no more than a call elsewhere."""

from __future__ import annotations

import os

import typer

from .. import __version__
from ..support.lazy import LazyModule
from .run import run_module, run_script

_demo = LazyModule(".demo", __package__)
_opt = LazyModule(".opt", __package__)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a script's own traceback is what its author wants to see
    help="A tile compiler for kernels in the Triton language.",
)


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
    script: str = typer.Argument(..., help="a Python script that says `import triton`"),
    module: bool = typer.Option(False, "-m", help="SCRIPT is the name of a module"),
) -> None:
    """Run a script written for Triton, unchanged, on this compiler. What follows SCRIPT are its arguments."""
    if not module and not os.path.isfile(script):
        raise typer.BadParameter(f"there is no script {script!r}")
    (run_module if module else run_script)(script, context.args)


@app.command(add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def opt(context: typer.Context) -> None:
    """Read MLIR text, run passes on it, print it: `tritium opt --help`."""
    raise SystemExit(_opt.main(context.args))


def main() -> None:
    """Run the command line."""
    app()
