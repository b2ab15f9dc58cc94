"""`tritium compile`: a kernel of a file, or the text of a stage, through the stages of a target. Nothing is launched.

    tritium compile vector_add.py::add_kernel --target cuda:90 --signature '*fp32:16, *fp32:16, *fp32:16, i32' \\
        --constants BLOCK_SIZE=1024
    tritium compile kernel.ttgir --target cuda:80 --stage ptx
    tritium compile --kernel-name add_kernel --signature '*fp32:16, *fp32:16, *fp32:16, i32, 1024' \\
        --grid 'cdiv(n_elements, 1024)' vector_add.py

A signature names the types of the parameters in order (see `signature`). With a grid, files for a C program are written
(see `aot`). Neither a driver nor a GPU is needed. `python -m tritium.tools.compile` is the same command.
"""

from __future__ import annotations

import sys
from pathlib import Path

# by their whole names: the file can be run by its path, as people run Triton's
from tritium.support.dataclasses import dataclass
from tritium.support.lazy import LazyModule
from tritium.tools.cli import run_command
from tritium.tools.compile_command import main
from tritium.tools.kernel_file import CommandError
from tritium.tools.request import Request

__all__ = ["CompileArgs", "compile_kernel", "desc", "main"]

_aot = LazyModule("tritium.tools.aot.command")

desc = __doc__


@dataclass
class CompileArgs:
    """The arguments of `compile_kernel`, with the meaning and defaults of the command line's."""

    path: str = ""
    kernel_name: str = ""
    signature: str = ""
    grid: str = ""
    target: str | None = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: str | None = None
    out_path: Path | None = None


def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    """Compile a kernel of a Python file for C programs; the name of its launcher, and the files that were written.

    TritiumError for whatever is wrong with the arguments.
    """
    request = Request(
        args.path,
        target=args.target or "",
        signature=args.signature,
        output=str(args.out_path or ""),
        options=(f"num_warps={args.num_warps}", f"num_stages={args.num_stages}"),
        kernel_name=args.kernel_name,
        grid=args.grid,
        out_name=args.out_name or "",
    )
    if not args.grid:
        raise CommandError("grid is the number of programs of a launch, for example '1, 1, 1'")
    _, deliver = _aot.compile_for_c(request)
    return deliver.function, deliver()


if __name__ == "__main__":
    run_command("compile", sys.argv[1:], "python -m tritium.tools.compile")
