"""The commands below `tritium cache`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ..support import TritiumError
from ..support.lazy import LazyModule

__all__ = ["app"]

_cache = LazyModule(".cache", __package__)
_errors = LazyModule("..backends.errors", __package__)
_request = LazyModule(".request", __package__)

app = typer.Typer(
    no_args_is_help=True, help="List, show, verify and remove compiled kernels on disk, and explain cache misses."
)

_JSON = Annotated[bool, typer.Option("--json", help="Print JSON")]
_WANTED = typer.Argument("", metavar="[KEY|KERNEL]", help="First digits of a key, or name of a kernel; default: all")


def _run(command: Callable[[], int]) -> None:
    """Run a command; user errors are a line on standard error."""
    try:
        status = command()
    except (TritiumError, _errors.BackendError, KeyError, OSError, ValueError) as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium cache: error: {text}", file=sys.stderr)
        status = 1
    raise SystemExit(status)


@app.command()
def ls(
    wanted: str = _WANTED,
    target: str = typer.Option("", help="List entries for this target only: cuda:90, cpu:x86-64-v3"),
    sort: str = typer.Option("used", help="Sort by used, made, size or name"),
    json: _JSON = False,
) -> None:
    """List the entries: kernel, target, stages, size, times of creation and last use."""
    _run(lambda: _cache.list_entries(wanted, target, sort, json))


@app.command()
def show(
    wanted: str = typer.Argument(..., metavar="KEY|KERNEL", help="First digits of a key, or name of a kernel"),
    stage: str = typer.Option("", help="Print this stage and nothing else"),
    json: _JSON = False,
) -> None:
    """Show one entry: its stages, and all parts of its key."""
    _run(lambda: _cache.show_entry(wanted, stage, json))


@app.command()
def verify(delete: bool = typer.Option(False, help="Remove damaged entries"), json: _JSON = False) -> None:
    """Read and check every byte of every entry. The exit status is 1 if a damaged entry remains."""
    _run(lambda: _cache.verify_entries(delete, json))


@app.command()
def clear(wanted: str = _WANTED, json: _JSON = False) -> None:
    """Remove all entries, or those of a kernel. Processes that run meanwhile compile again."""
    _run(lambda: _cache.clear_entries(wanted, json))


@app.command()
def prune(
    max_size: str = typer.Option(
        "", help="Keep the most recently used entries up to this size: 500M, 4G; default: the setting"
    ),
    unused_for: str = typer.Option("", help="Remove entries not used for this long: 12h, 30d"),
    abandoned: str = typer.Option("", help="Remove incomplete files older than this; default: 1h"),
    json: _JSON = False,
) -> None:
    """Remove damaged and unused entries, and entries in excess of a size."""
    _run(lambda: _cache.prune_entries(max_size, unused_for, abandoned, json))


@app.command()
def why(
    wanted: str = typer.Argument(
        ..., metavar="KEY|KERNEL|FILE", help="Entry, or a source as for `tritium compile`: FILE.py::KERNEL, k.ttir, …"
    ),
    target: str = typer.Option(
        "", "--target", "-t", help="Look for code for this target: cuda:90, cpu, …; default: this machine"
    ),
    signature: str = typer.Option(
        "",
        "--signature",
        "-s",
        help="Set types (:16 if divisible by 16) or constants in order: '*fp32:16, i32, 1024'",
    ),
    constants: str = typer.Option("", help="Set compile-time values: BLOCK=1024,EPS=1e-5"),
    stage: str = typer.Option("", help="Look for a compile up to this stage, such as ptx"),
    option: Annotated[
        list[str] | None, typer.Option(help="Set any option of the target, NAME=VALUE; may be repeated")
    ] = None,
    num_warps: int = typer.Option(None, help="Set the number of warps per program"),
    num_stages: int = typer.Option(None, help="Set the number of software pipelining stages"),
    json: _JSON = False,
) -> None:
    """Explain a cache miss: the parts of the key that differ from the most similar entry."""

    def run() -> int:
        given: dict[str, Any] = {"num_warps": num_warps, "num_stages": num_stages}
        options = [*(option or ()), *(f"{name}={value}" for name, value in given.items() if value is not None)]
        stages = (stage,) if stage else ()
        request = _request.Request(wanted, target, signature, constants, stages, options=options)
        return int(_cache.why(wanted, request, json))

    _run(run)
