"""The command line, `tritium` or `python -m tritium`: a function a command, each no more than a call elsewhere."""

from __future__ import annotations

import typer

from .. import __version__

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="A tile compiler for kernels in the Triton language."
)


@app.callback()
def tritium() -> None:
    """Keeps the commands named even while there is only one."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main() -> None:
    """Run the command line."""
    app()
