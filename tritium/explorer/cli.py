"""The command `tritium explore`, added to the command line by `tritium.__main__`."""

from __future__ import annotations

from typing import Annotated

import typer

from ..support.lazy import LazyModule

__all__ = ["add_to"]

_command = LazyModule(".command", __package__)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(context_settings={"allow_extra_args": True, "allow_interspersed_args": True})(explore)


def explore(
    context: typer.Context,
    file: str = typer.Argument(
        "",
        metavar="[FILE]",
        help="Script (SCRIPT.py, then its arguments), FILE.py::KERNEL with --signature, the text of a stage "
        "(k.ttir, k.ttgir, …), or a trace",
    ),
    target: str = typer.Option(
        "", "--target", "-t", help="Compile for this target: cpu, cuda:90, hip:gfx942, …; launches are emulated"
    ),
    export: str = typer.Option("", "--export", metavar="FILE", help="Write the page into this file, and serve nothing"),
    port: int = typer.Option(0, min=0, max=65535, help="Serve on this port; default: a free one"),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the page in a browser"),
    signature: str = typer.Option(
        "", "--signature", "-s", help="Compile KERNEL for these types, and run nothing: '*fp32:16, i32, 1024'"
    ),
    constants: str = typer.Option("", help="Set compile-time values: BLOCK=1024,EPS=1e-5"),
    option: Annotated[
        list[str] | None, typer.Option(help="Set an option of the target, NAME=VALUE; may be repeated")
    ] = None,
) -> None:
    """Follow kernels through every pass in the browser: IR, rewrites, layouts, values, performance; edit and re-run."""
    request = _command.ExploreRequest(
        file, context.args, target, signature, constants, option or (), export, port, browser
    )
    raise SystemExit(_command.main(request))
