"""The command `tritium compile` (see `compile`): a table of stages, and the stages that are wanted."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ..backends.errors import BackendError
from ..compiler import CompiledKernel, compile, default_target
from ..compiler.stated_target import TargetWarning, choose_target
from ..support import TritiumError
from ..support.lazy import LazyModule
from ..support.quantities import counted
from .kernel_file import CommandError
from .program_output import output_to_stderr
from .request import Request, options_of, parse_target, source_of, traced
from .resource_summary import resource_summary

__all__ = ["compile_request", "main"]

_aot = LazyModule(".aot.command", __package__)


def main(request: Request) -> int:
    """Compile, show the table on standard error, print or write the stages that are wanted; the exit status."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            warnings.simplefilter("always", TargetWarning)
            kernel, deliver = _compiled(request)
        _table(kernel, Console(stderr=True, soft_wrap=True, highlight=False))
        if deliver is None:
            _deliver(kernel, request)
        else:
            print("\n".join(map(str, deliver())))
    except (TritiumError, BackendError, KeyError, OSError) as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        print(text if "error:" in text.split("\n")[0] else f"tritium compile: error: {text}", file=sys.stderr)
        return 1
    return 0


def _compiled(request: Request) -> tuple[CompiledKernel, Callable[[], list[Path]] | None]:
    """The kernel, and what writes its files where C is asked for."""
    if not request.grid:
        return compile_request(request), None
    with traced(request), output_to_stderr():
        return _aot.compile_for_c(request)  # type: ignore[no-any-return]


def _show_warning(message: Warning | str, *_: Any) -> None:
    """A warning without its location in the compiler."""
    text = str(message)
    print(text if "warning:" in text.split("\n")[0] else f"tritium compile: warning: {text}", file=sys.stderr)


def compile_request(request: Request) -> CompiledKernel:
    """The compiled kernel of a command line."""
    if request.out_name:
        raise CommandError("--out-name names the C functions, which need --grid")
    source = source_of(request)
    target = parse_target(request.target) if request.target else choose_target(source, default_target)
    with traced(request), output_to_stderr():  # kernels may print while they are compiled, plugins too
        return compile(source, target=target, options=options_of(request), until=_last(request))


def _last(request: Request) -> str | None:
    """The last stage to make: all of them, except where one alone is wanted."""
    return request.stages[0] if len(request.stages) == 1 and request.stages[0] not in ("sass", "source") else None


def _table(kernel: CompiledKernel, console: Console) -> None:
    """Print the stages with their sizes and times, and the resources of the code."""
    target = kernel.backend.describe()
    table = Table(box=box.SIMPLE, title=f"{kernel.name} for {target.backend}:{target.arch}", title_justify="left")
    table.add_column("stage")
    table.add_column("size", justify="right")
    table.add_column("ms", justify="right")
    for name in kernel.asm:
        known = dict.get(kernel.asm, name)
        size = "" if known is None else f"{len(known):,} bytes" if isinstance(known, bytes) else _lines(known)
        took = kernel.times.get(name)
        table.add_row(name, size or "on demand", "" if took is None else f"{took:.1f}")
    console.print(table)
    if not kernel.times:
        console.print("from the cache")
    summary = resource_summary(kernel.values)
    console.print(summary, end="\n" if summary else "")


def _lines(text: str) -> str:
    return counted(text.count(chr(10)) + 1, "line")


def _deliver(kernel: CompiledKernel, request: Request) -> None:
    """Print the stages that are wanted, or write them to a file or into a folder."""
    names = list(request.stages)
    if not request.output:
        for name in names:
            stage = kernel.asm[name]
            if isinstance(stage, bytes):
                raise CommandError(f"{name} is machine code: write it to a file with -o")
            print(stage, end="" if stage.endswith("\n") else "\n")
        return
    path = Path(request.output)
    if path.is_dir() or request.output.endswith("/"):
        path.mkdir(parents=True, exist_ok=True)
        for name in names or kernel.asm:
            _write(path / f"{kernel.name}.{name}", kernel.asm[name])
    elif len(names) > 1:
        raise CommandError(f"{len(names)} stages do not go into one file: let -o name a folder, {request.output}/")
    else:
        _write(path, kernel.asm[names[0] if names else list(kernel.asm)[-1]])


def _write(path: Path, stage: str | bytes) -> None:
    path.write_bytes(stage if isinstance(stage, bytes) else stage.encode())
    print(path)
