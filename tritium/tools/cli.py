"""The command line, `tritium` or `python -m tritium`: a function a command, each no more than a call elsewhere."""

from __future__ import annotations

import typer

from .. import __version__
from ..support.lazy import LazyModule

_demo = LazyModule(".demo", __package__)

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="A tile compiler for kernels in the Triton language."
)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


@app.command()
def demo() -> None:
    """Compile and run the five tutorial kernels; look at every stage, errors and speed."""
    _demo.demo()


def main() -> None:
    """Run the command line."""
    app()
